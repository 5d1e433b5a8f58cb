"""The corrected numbers of one group of a released table: counts, sums, averages and percentiles, with their words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.estimates.conditions import Product, SecretFunction, indicator, product_of
from metricdp.estimates.honesty import notes_on
from metricdp.estimates.known_counts import KNOWN, KnownCount, KnownCounts
from metricdp.estimates.linear import LinearEstimator
from metricdp.estimates.monomials import LinearAnswer, Monomial
from metricdp.estimates.percentiles import percentile
from metricdp.estimates.plan import Counted, presence_of
from metricdp.estimates.results import AS_GOOD, TWO_SCORES, Estimate, Truth, day_of, known
from metricdp.policies.sql.statements import Aggregate

__all__ = ["GroupNumbers"]

_ROUNDS = 12
_NEAR = 1e-4


class GroupNumbers:
    """Corrected numbers at one confidence.

    Args:
        counted: the laws and the tally.
        confidence: of each interval by itself.
        truth: of the table, or of a population.
        known_counts: how many rows meet conditions, where that is known from elsewhere.
    """

    def __init__(
        self, counted: Counted, confidence: float, truth: Truth, known_counts: Sequence[KnownCount] = ()
    ) -> None:
        self.counted, self.confidence, self.truth = counted, confidence, truth
        self.table = counted.table
        self.linear = LinearEstimator(counted, confidence, truth)
        self._known_counts = known_counts

    @property
    def _drawn(self) -> bool:
        """Whether rows are taken to be drawn from a population."""
        return self.truth == "population"

    @cached_property
    def known(self) -> KnownCounts:
        """What the known counts say of other numbers."""
        return KnownCounts(self.linear, self._known_counts)

    def surer(self, times: float) -> GroupNumbers:
        """The same, with intervals that fail so many times less often."""
        return GroupNumbers(self.counted, 1 - (1 - self.confidence) / times, self.truth, self._known_counts)

    def answer(self, aggregate: Aggregate, products: list[Product], naive: Any) -> Estimate:
        """A number of the rows that a sum of products picks out, beside the same of the rows that look like it."""
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
        monomials = [Monomial(one) for one in chosen]
        found, most = self._found(monomials), self.linear.rows_behind(monomials)
        most = most if self.truth == "table" else rows
        spread = naive.count_spread(self._drawn)
        made = self._estimate(found, rows, naive.count(name), (0.0, most), chosen, naive_spread=spread)
        if found.low < found.high:
            return made
        whole = float(round(rows * found.value))  # nothing but rows was counted
        return replace(made, value=whole, interval=(whole, whole))

    def _sum_of(self, products: list[Product], name: str, naive: Any) -> Estimate:
        if name in self.counted.days:
            raise ArgumentError(f"column {name!r} holds days, which have no sum: ask for their average or median")
        if not products:
            return self._exactly(0.0, naive.total(name))
        monomials = [self._numbered(one, name, 0.0) for one in products]
        low, high = self.linear.number_ends(name)
        rows = self.linear.rows
        most = self.linear.rows_behind(monomials) if self.truth == "table" else rows
        ends = (most * min(low, 0.0), most * max(high, 0.0))
        spread = naive.count(name) * naive.mean_spread(name, self._drawn)
        found = self._found(monomials)
        return self._estimate(found, rows, naive.total(name), ends, products, name, naive_spread=spread)

    def _average_of(self, products: list[Product], name: str, naive: Any) -> Estimate:
        """Where the average of (x - R) over the rows is 0; the interval has every R for which it may be.

        This is Fieller's interval: it holds however few rows the group may have, where a quotient's would not.
        """
        present = [product_of(one, self._present(name)) for one in products]
        ends = self.linear.number_ends(name)
        if not products:
            return self._unknown(naive.mean(name), ends)
        share = self._share(present)
        total = self._found([self._numbered(one, name, 0.0) for one in products])
        part = share.by_scores if total.value == total.by_scores else share.value  # both of them by the same shares
        guess = total.value / part if part > 0 else 0.0
        if math.isfinite(ends[0]):
            guess = min(max(guess, ends[0]), ends[1])
        if share.low <= 0 or part <= 0:
            why = "The rows do not tell whether anybody belongs to the group at all, and so nothing of its average."
            return self._unknown(naive.mean(name), ends, why)

        def about(centre: float) -> LinearAnswer:
            return self._found(self._about(products, present, name, centre))

        residual = about(guess)
        if residual.low == residual.high == residual.value:  # nothing but kept rows: rounding alone is left
            whole = replace(residual, value=guess, low=guess, high=guess)
            return self._estimate(whole, 1.0, naive.mean(name), ends, products, name)
        low = guess - _last(lambda step: -about(guess - step).low, -residual.low, part, guess - ends[0])
        high = guess + _last(lambda step: about(guess + step).high, residual.high, part, ends[1] - guess)
        value, noise = guess + residual.value / part, residual.noise / part
        biased, narrowed = residual.biased or share.biased, residual.narrowed or share.narrowed
        made = LinearAnswer(value, low, high, noise, biased, residual.spread, narrowed=narrowed)
        spread = naive.mean_spread(name, self._drawn)
        return self._estimate(made, 1.0, naive.mean(name), ends, products, name, naive_spread=spread)

    def _share(self, present: list[Product]) -> LinearAnswer:
        if all(not one for one in present):
            return LinearAnswer(1.0, 1.0, 1.0, 0.0, False, 0.0, 1.0)
        return self._found([Monomial(one) for one in present])

    def _found(self, monomials: Sequence[Monomial]) -> LinearAnswer:
        """An average over the rows, with what is known."""
        found = self.linear.answer(monomials)
        return self.known.narrowed(monomials, found) or found

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
        naive_spread: float | None = None,
    ) -> Estimate:
        low, high = (min(max(scale * end, ends[0]), ends[1]) for end in (found.low, found.high))
        value = min(max(scale * found.value, low), high)
        columns = list(dict.fromkeys([*(key for one in products for key in one), *([] if name is None else [name])]))
        naive_noise = None if naive_spread is None else self.linear.z * naive_spread
        said = (low, high), self.confidence, naive_noise
        notes = notes_on(self.counted, columns, found, scale, ends, naive, value, *said)
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
            AS_GOOD in notes,
        )

    def _label(self, name: str) -> Any:
        if name not in self.counted.days:
            return lambda number: number
        return day_of

    def _method(self, found: LinearAnswer, columns: list[str]) -> tuple[str, bool]:
        if found.narrowed:
            return KNOWN, found.biased
        if all(self.linear.is_exact(name) for name in columns):
            return "counted: these columns are released as they are", False
        if found.by_two_scores:
            return TWO_SCORES, True
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


def _last(function: Callable[[float], float], start: float, slope: float, most: float) -> float:
    """The step from 0 at which a function that falls from ``start``, at first by about ``slope``, is 0; by secants.

    >>> round(_last(lambda step: 6 - 2 * step + step**2 / 8, 6.0, 2.0, 100.0), 4)
    4.0
    """
    if start <= 0 or not math.isfinite(start):
        return 0.0 if start <= 0 else most
    before, height, step = 0.0, start, start / slope
    for _ in range(_ROUNDS):
        if step >= most:
            return most if not math.isfinite(most) or function(most) >= 0 else _halved(function, before, most)
        now = function(step)
        if abs(now) <= _NEAR * start:
            return step
        if (now - height) * (step - before) >= 0:  # it falls no more: nothing ends it
            return most
        before, height, step = step, now, step + now * (step - before) / (height - now)
    return step


def _halved(function: Callable[[float], float], low: float, high: float) -> float:
    """The same between a step where the function is above 0 and one where it is below."""
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) >= 0 else (low, middle)
    return high
