"""Questions in SQL about a released table, answered by corrected counts, sums, averages and percentiles."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from metricdp.errors import ArgumentError, TooLargeError
from metricdp.estimates.computed import computed, kept_places, said_with
from metricdp.estimates.conditions import Product, group_cells, group_edges, number_thresholds, product_of, terms_of
from metricdp.estimates.group_numbers import GroupNumbers
from metricdp.estimates.known_counts import KnownCount, read_known
from metricdp.estimates.naive import Naive
from metricdp.estimates.plan import Counted, count
from metricdp.estimates.point_cells import ReleasedCells
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.results import CHOSEN, Estimate, Estimates, Truth
from metricdp.policies.column_type import ColumnType
from metricdp.policies.sql.expressions import Asked
from metricdp.policies.sql.predicates import compared_values
from metricdp.policies.sql.statements import Select, read_select
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
        self.table, self.select, self.every = table, select, every
        self._known_counts = known_counts
        self._known_surer: dict[float, GroupNumbers] = {}
        self.counted = self._count(counting)
        self.numbers = GroupNumbers(self.counted, confidence, truth, known_counts)
        self.numbers.linear.check_fit()
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
        binned = list(dict.fromkeys([*compared_values(select.where), *select.groups]))
        summed: list[str] = []
        for aggregate in sorted(select.aggregates, key=lambda one: one.kind not in ("sum", "average")):
            asked = aggregate.column
            if asked is None or asked in binned:
                continue
            column = self.table.column(asked)
            if aggregate.kind == "count" and column.missing == "refuse" and column.release == "noise":
                continue
            if aggregate.kind in ("sum", "average") and not isinstance(column, OneOf):
                summed.append(asked)
            else:  # a percentile needs outputs, whatever else is asked of the column
                binned.append(asked)
        summed = list(dict.fromkeys(summed))
        binned = list(dict.fromkeys([*binned, *compared]))
        if not binned and not summed:
            binned.append(self._any_column())
        return counting(self.table, binned, summed, thresholds)

    def _any_column(self) -> str:
        """Some column to count rows by."""
        columns = [column for column in self.table.policy.columns if column.release != "drop" and not column.rekeyed]
        columns.sort(key=lambda column: column.release == "keep")  # which may have many values
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
        rows = [self._row(one, self.numbers) for one in chosen]
        kept = kept_places(self.select.kept, labels, rows) if not self.every else range(len(labels))
        among = len(labels) / len(kept) if len(kept) and self._is_chosen else 1.0
        found = [self._shown(chosen[place], rows[place], among) for place in kept]
        return Estimates(
            self.select.text,
            self.select.groups,
            tuple(labels[place] for place in kept),
            tuple(one.name for one in self.select.shown),
            tuple(found),
            int(self.numbers.linear.rows),
            notes=self._common_notes(among > 1),
            private=self.table.private,
        )

    @property
    def _is_chosen(self) -> bool:
        """Whether which groups are shown hangs on their numbers."""
        kept = self.select.kept
        by_number = any(not isinstance(key, int) for key, _ in kept.order)
        return not self.every and (
            kept.having is not None or ((kept.limit is not None or kept.offset > 0) and by_number)
        )

    def _row(self, group: Product, numbers: GroupNumbers) -> tuple[Estimate, ...]:
        """The corrected numbers of one group."""
        products = [product_of(term, group) for term in self.terms]
        naive = self.naive.rows(group)
        return tuple(numbers.answer(aggregate, products, naive) for aggregate in self.select.aggregates)

    def _shown(self, group: Product, row: Sequence[Estimate], among: float) -> tuple[Estimate, ...]:
        """The columns of the answer for one group.

        Its numbers are those at a confidence that makes up for how many a column is computed from, and for how many
        groups there were to choose from for each that is shown.
        """
        rows, made = {1.0: row}, []
        for one in self.select.shown:
            times = among * max(1, len(one.inner.asked()))
            if times not in rows:
                rows[times] = self._row(group, self._surer(times))
            if isinstance(one.inner, Asked):
                made.append(said_with(rows[times][one.inner.place], self.numbers.confidence))
            else:
                made.append(computed(one.inner, rows[times], self.numbers.confidence))
        return tuple(made)

    def _surer(self, times: float) -> GroupNumbers:
        """The same numbers, with intervals that fail so many times less often."""
        if times not in self._known_surer:
            self._known_surer[times] = self.numbers.surer(times)
        return self._known_surer[times]

    def _common_notes(self, chosen: bool) -> tuple[str, ...]:
        notes = [*self.table.doubts, *self.numbers.known.notes(self.select.aggregates)]
        kept = self.select.kept
        if not self.every and (kept.having is not None or kept.limit is not None or kept.offset):
            notes.append(
                "Which groups are shown is judged by their corrected values: one near the line may belong beyond it."
            )
        if chosen:
            notes.append(CHOSEN)
        if not self.table.private:
            notes.append("The table says that its noise came from a seed: it is not private.")
        for name in dict.fromkeys(one.column for one in self.select.aggregates if one.kind != "count" and one.column):
            unit = _UNITS.get(self.table.column(name).type_name)
            if unit is not None:
                notes.append(f"{name} is in {unit}.")
        return tuple(notes)
