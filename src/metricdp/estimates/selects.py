"""Questions in SQL about a released table, answered by corrected counts, sums, averages and percentiles."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, TooLargeError
from metricdp.estimates.computed import computed, kept_places, most_combined
from metricdp.estimates.conditions import (
    Product,
    SecretFunction,
    group_cells,
    group_edges,
    indicator,
    number_thresholds,
    product_of,
    terms_of,
)
from metricdp.estimates.honesty import notes_on
from metricdp.estimates.known_counts import KNOWN, KnownCount, KnownCounts, read_known
from metricdp.estimates.linear import LinearAnswer, LinearEstimator, Monomial
from metricdp.estimates.naive import Naive
from metricdp.estimates.percentiles import percentile
from metricdp.estimates.plan import Counted, count, presence_of
from metricdp.estimates.point_cells import ReleasedCells
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.results import Estimate, Estimates, Truth, known
from metricdp.policies.column_type import ColumnType
from metricdp.policies.sql.expressions import Asked
from metricdp.policies.sql.predicates import compared_values
from metricdp.policies.sql.statements import Aggregate, Select, read_select
from metricdp.policies.types._finite import OneOf
from metricdp.policies.types._line import OnALine

__all__ = ["answer_select", "read_question"]

_MOST_GROUPS = 5000
_MOST_KEPT = 100_000
_UNITS = {"time_of_day": "seconds since midnight", "duration": "seconds"}


def read_question(text: str, table: ReleasedTable) -> Select:
    """Read a question in SQL against a released table; see `metricdp.policies.read_select`."""
    select = read_select(text, ReleasedCells(table.policy, table, lambda column: _kept_values(table, column)))
    select.refuse_more()
    return select


def _kept_values(table: ReleasedTable, column: ColumnType) -> Sequence[Any]:
    """The different values of a column that is released as it is, in order."""
    found: dict[Any, None] = {}
    for ((array,),) in table.batches([column]):
        found |= dict.fromkeys(array.unique().to_pylist())
        if len(found) > _MOST_KEPT:
            break
    return sorted((value for value in found if value is not None), key=lambda value: (str(type(value)), value))


def answer_select(
    table: ReleasedTable,
    question: str,
    confidence: float,
    truth: Truth,
    counting: Callable[..., Counted] = count,
    *,
    every: bool = False,
    known: Mapping[str, Any] | None = None,
) -> Estimates:
    """Answer a question in SQL.

    Args:
        table: that was released.
        question: the text.
        confidence: of each interval by itself.
        truth: of the table, or of a population.
        counting: what counts the rows, as `metricdp.estimates.plan.count` does.
        every: whether all groups are shown, whatever ``having`` and ``limit`` say.
        known: how many rows meet conditions, where that is known from elsewhere.
    """
    select, counts = read_question(question, table), read_known(known, lambda text: read_question(text, table))
    return _Answering(table, select, confidence, truth, counting, every, counts).answers()


class _Answering:
    """One question about one table."""

    def __init__(
        self,
        table: ReleasedTable,
        select: Select,
        confidence: float,
        truth: Truth,
        counting: Callable[..., Counted],
        every: bool,
        known_counts: Sequence[KnownCount],
    ) -> None:
        self.table, self.select, self.confidence, self.truth, self.every = table, select, confidence, truth, every
        self._known_counts = known_counts
        self._known_surer: _Answering | None = None
        self.counted = self._count(counting)
        self.linear = LinearEstimator(self.counted, confidence, truth)
        self.linear.check_fit()
        self.known = KnownCounts(self.linear, known_counts)
        self.terms = terms_of(select.where, self.counted)
        self.naive = Naive(self.counted, select.where)
        self.groups = [group_cells(self.counted, name) for name in select.groups]

    # What is needed

    def _count(self, counting: Callable[..., Counted]) -> Counted:
        select = self.select
        thresholds = number_thresholds(select.where)
        for one in self._known_counts:
            for name, cuts in number_thresholds(one.where).items():
                thresholds[name] = sorted({*thresholds.get(name, []), *cuts})
        for name in select.groups:
            column = self.table.column(name)
            if not isinstance(column, OneOf) and column.release == "noise":
                thresholds.setdefault(name, []).extend(group_edges(column))
        compared = [name for one in self._known_counts for name in compared_values(one.where)]
        binned = list(dict.fromkeys([*compared_values(select.where), *select.groups, *compared]))
        summed: list[str] = []
        for aggregate in select.aggregates:
            asked = aggregate.column
            if asked is None or asked in binned or asked in summed:
                continue
            column = self.table.column(asked)
            if aggregate.kind == "count" and column.missing == "refuse" and column.release == "noise":
                continue
            if aggregate.kind in ("sum", "average") and not _counted_singly(column):
                summed.append(asked)
            else:
                binned.append(asked)
        for aggregate in select.aggregates:  # a percentile needs outputs, whatever else is asked of the column
            if aggregate.kind in ("percentile", "count") and aggregate.column in summed:
                binned.append(str(aggregate.column))
        if not binned and not summed:
            binned.append(self._any_column())
        return counting(self.table, binned, summed, thresholds)

    def _any_column(self) -> str:
        """Some column to count rows by."""
        columns = [column for column in self.table.policy.columns if column.release != "drop" and not column.rekeyed]
        for column in columns:
            if isinstance(column, OneOf | OnALine) or column.release == "keep":
                return column.columns[0]
        raise ArgumentError("the released table has no column whose rows can be counted")

    # Answers

    def answers(self) -> Estimates:
        """Every group, and every thing asked of it."""
        labels = list(itertools.product(*(group.labels for group in self.groups)))
        if len(labels) > _MOST_GROUPS:
            raise TooLargeError(f"{len(labels):,} groups are too many at once", f"{len(labels):,} groups")
        factors = itertools.product(*(group.factors for group in self.groups))
        chosen = [dict(zip(self.select.groups, one, strict=True)) for one in factors]
        rows = [self._row(one) for one in chosen]
        combined = most_combined([one.inner for one in self.select.shown])
        surer = rows if combined == 1 else [self._surer(combined)._row(one) for one in chosen]
        kept = kept_places(self.select.kept, labels, rows) if not self.every else range(len(labels))
        return Estimates(
            self.select.text,
            self.select.groups,
            tuple(labels[place] for place in kept),
            tuple(one.name for one in self.select.shown),
            tuple(self._shown(rows[place], surer[place]) for place in kept),
            int(self.linear.rows),
            notes=self._common_notes(),
            private=self.table.private,
        )

    def _row(self, group: Product) -> tuple[Estimate, ...]:
        """The corrected numbers of one group."""
        products = [product_of(term, group) for term in self.terms]
        naive = self.naive.rows(group)
        return tuple(self._answer(aggregate, products, naive) for aggregate in self.select.aggregates)

    def _shown(self, row: Sequence[Estimate], surer: Sequence[Estimate]) -> tuple[Estimate, ...]:
        """The columns of the answer for one group, from its numbers at this confidence, and at a greater one."""
        made = []
        for one in self.select.shown:
            if isinstance(one.inner, Asked):
                made.append(row[one.inner.place])
            else:
                made.append(computed(one.inner, row if len(one.asked()) < 2 else surer, self.confidence))
        return tuple(made)

    def _surer(self, combined: int) -> _Answering:
        """The same question, with intervals that fail so many times less often."""
        if self._known_surer is None:
            made = copy(self)
            made.confidence = 1 - (1 - self.confidence) / combined
            made.linear = LinearEstimator(self.counted, made.confidence, self.truth)
            made.known = KnownCounts(made.linear, self._known_counts)
            self._known_surer = made
        return self._known_surer

    def _common_notes(self) -> tuple[str, ...]:
        notes = [*self.table.doubts, *self.known.notes(self.select.aggregates)]
        kept = self.select.kept
        if not self.every and (kept.having is not None or kept.limit is not None or kept.offset):
            notes.append(
                "Which groups are shown is judged by their corrected values: one near the line may belong beyond it."
            )
        if not self.table.private:
            notes.append("The table says that its noise came from a seed: it is not private.")
        for name in dict.fromkeys(one.column for one in self.select.aggregates if one.kind != "count" and one.column):
            unit = _UNITS.get(self.table.column(name).type_name)
            if unit is not None:
                notes.append(f"{name} is in {unit}.")
        return tuple(notes)

    def _answer(self, aggregate: Aggregate, products: list[Product], naive: Any) -> Estimate:
        name = aggregate.column
        if aggregate.kind == "count":
            return self._count_of(products, name, naive)
        assert name is not None
        if aggregate.kind == "percentile":
            assert aggregate.p is not None
            return percentile(self.linear, name, float(aggregate.p) / 100, products, naive, self._estimate)
        if aggregate.kind == "sum":
            return self._sum_of(products, name, naive)
        return self._average_of(products, name, naive)

    def _count_of(self, products: list[Product], name: str | None, naive: Any) -> Estimate:
        rows = self.linear.rows
        chosen = products if name is None else [product_of(one, self._present(name)) for one in products]
        if not products:
            return self._exactly(0.0, naive.count(name))
        if all(not one for one in chosen):
            return self._exactly(rows * len(chosen), naive.count(name))
        found = self.linear.answer([Monomial(one) for one in chosen])
        narrowed = self.known.narrowed(chosen, found)
        made = self._estimate(narrowed or found, rows, naive.count(name), (0.0, rows), chosen)
        if narrowed is not None:
            found, made = narrowed, replace(made, method=KNOWN)
        if found.low < found.high:
            return made
        whole = float(round(rows * found.value))  # nothing but rows was counted
        return replace(made, value=whole, interval=(whole, whole))

    def _sum_of(self, products: list[Product], name: str, naive: Any) -> Estimate:
        if name in self.counted.days:
            raise ArgumentError(f"column {name!r} holds days, which have no sum: ask for their average or median")
        if not products:
            return self._exactly(0.0, naive.total(name))
        found = self.linear.answer([self._numbered(one, name, 0.0) for one in products])
        low, high = self.linear.number_ends(name)
        rows = self.linear.rows
        ends = (rows * min(low, 0.0), rows * max(high, 0.0))
        return self._estimate(found, rows, naive.total(name), ends, products, name)

    def _average_of(self, products: list[Product], name: str, naive: Any) -> Estimate:
        """The sum by the count: around a first guess R, the average of (x - R) over the rows, by their share."""
        present = [product_of(one, self._present(name)) for one in products]
        ends = self.linear.number_ends(name)
        if not products:
            return self._unknown(naive.mean(name), ends)
        share = self._share(present)
        total = self.linear.answer([self._numbered(one, name, 0.0) for one in products])
        part = share.by_scores if total.value == total.by_scores else share.value  # both of them by the same shares
        guess = total.value / part if part > 0 else 0.0
        if math.isfinite(ends[0]):
            guess = min(max(guess, ends[0]), ends[1])
        residual = self.linear.answer(self._about(products, present, name, guess))
        if share.low <= 0 or part <= 0:
            why = "Too few rows are left to tell how many belong to the group, so their average is not known."
            return self._unknown(naive.mean(name), ends, why)
        value = guess + residual.value / part
        low = guess + residual.low / (share.low if residual.low < 0 else share.high)
        high = guess + residual.high / (share.low if residual.high > 0 else share.high)
        noise = residual.noise / part
        if not residual.biased and share.noise < 0.2 * part:
            low, high = guess + residual.low / part, guess + residual.high / part
        made = LinearAnswer(value, low, high, noise, residual.biased or share.biased, residual.spread)
        return self._estimate(made, 1.0, naive.mean(name), ends, products, name)

    def _share(self, present: list[Product]) -> LinearAnswer:
        if all(not one for one in present):
            return LinearAnswer(1.0, 1.0, 1.0, 0.0, False, 0.0, 1.0)
        return self.linear.answer([Monomial(one) for one in present])

    def _about(self, products: list[Product], present: list[Product], name: str, centre: float) -> list[Monomial]:
        if name in self.counted.moments:
            numbered = [Monomial(one, name) for one in products]
            return [*numbered, *(Monomial(one, None, -centre) for one in present)]
        return [self._numbered(one, name, centre) for one in products]

    def _numbered(self, product: Product, name: str, centre: float) -> Monomial:
        """The product times the number of a column, less a centre."""
        if name in self.counted.moments and name not in product:
            return Monomial(product, name)
        law = self.counted.laws[name]
        numbers = np.where(law.missing, 0.0, self.counted.numbers(name) - centre)
        return Monomial(product_of(product, {name: SecretFunction(numbers, numbers)}))

    def _present(self, name: str) -> Product:
        """1 where the column has a value."""
        column = self.table.column(name)
        if column.missing == "refuse" and column.release == "noise":
            return {}
        key = presence_of(name) if presence_of(name) in self.counted.laws else name
        law = self.counted.laws[key]
        return {} if not law.missing.any() else {key: indicator(law, ~law.missing)}

    # Words

    def _estimate(
        self,
        found: LinearAnswer,
        scale: float,
        naive: float | None,
        ends: tuple[float, float],
        products: Sequence[Product],
        name: str | None = None,
        as_label: Any = None,
    ) -> Estimate:
        low, high = (min(max(scale * end, ends[0]), ends[1]) for end in (found.low, found.high))
        value = min(max(scale * found.value, low), high)
        columns = list(dict.fromkeys([*(key for one in products for key in one), *([] if name is None else [name])]))
        notes = notes_on(self.counted, columns, found, scale, ends, naive, value, (low, high), self.confidence)
        say = (lambda number: number) if as_label is None else as_label
        if as_label is None and name is not None:
            say = self._label(name)
        days = name in self.counted.days
        method, conservative = self._method(found, columns)
        return Estimate(
            say(value),
            (say(_whole(low, -1) if days else low), say(_whole(high, 1) if days else high)),
            None if naive is None else say(naive),
            self.confidence,
            known(scale * found.noise),
            method,
            conservative,
            self.truth,
            notes,
            int(self.linear.rows),
        )

    def _label(self, name: str) -> Any:
        if name not in self.counted.days:
            return lambda number: number
        epoch = dt.date(1970, 1, 1)
        return lambda days: epoch + dt.timedelta(days=round(days)) if abs(days) < 700_000 else math.inf

    def _method(self, found: LinearAnswer, columns: list[str]) -> tuple[str, bool]:
        if all(self.linear.is_exact(name) for name in columns):
            return "counted: these columns are released as they are", False
        if found.biased:
            return "scores with bounded bias: holds for every table that fits the counts", True
        return "inversion of the noise, with its covariance", False

    def _exactly(self, value: float, naive: float | None) -> Estimate:
        said = "counted: the number of rows is public"
        return Estimate(
            value, (value, value), naive, self.confidence, 0.0, said, truth=self.truth, rows=int(self.linear.rows)
        )

    def _unknown(self, naive: float | None, ends: tuple[float, float], why: str = "No row is left.") -> Estimate:
        return Estimate(
            math.nan,
            ends,
            naive,
            self.confidence,
            None,
            "nothing is known but the bounds",
            True,
            self.truth,
            (why,),
            int(self.linear.rows),
        )


def _whole(number: float, side: int) -> float:
    """The whole number next to a number on one side: an interval of days is never cut short by rounding."""
    return float(side * math.ceil(side * number - 1e-9)) if math.isfinite(number) else number


def _counted_singly(column: ColumnType) -> bool:
    """Whether each output of a column is counted by itself, so that its numbers need no sums."""
    if isinstance(column, OneOf):
        return True
    if not isinstance(column, OnALine) or column.release != "noise":
        return False
    return column.secret_step is not None and column.bounds is not None and _few(column)


def _few(column: OnALine) -> bool:
    assert column.bounds is not None
    assert column.secret_step is not None
    return (column.bounds[1] - column.bounds[0]) / column.secret_step < 300
