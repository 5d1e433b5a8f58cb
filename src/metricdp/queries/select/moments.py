"""Variances, covariances, correlations and slopes, from noisy counts, sums, and sums of squares and products."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from metricdp.queries.select.amounts import Amount
from metricdp.queries.select.averages import CONFIDENCE, Noisy
from metricdp.queries.select.spreads import spread
from metricdp.queries.select.table_answers import TableAnswer

__all__ = ["Moment", "Role"]

Role = Literal["count", "x", "y", "xx", "yy", "xy"]
"""What an amount is to a moment: a number of records, a sum of one of two columns, or of a square or product."""

_SURE = Fraction(999, 1000)
"""How sure it is that there are no fewer records than a sample's moment is bounded by."""

_NEEDED: dict[str, tuple[Role, ...]] = {
    "var_pop": ("xx", "x", "count"),
    "var_samp": ("xx", "x", "count"),
    "stddev_pop": ("xx", "x", "count"),
    "stddev_samp": ("xx", "x", "count"),
    "covar_pop": ("xy", "x", "y", "count"),
    "covar_samp": ("xy", "x", "y", "count"),
    "corr": ("xy", "xx", "yy", "x", "y", "count"),
    "regr_r2": ("xy", "xx", "yy", "x", "y", "count"),
    "regr_slope": ("xy", "yy", "x", "y", "count"),
    "regr_intercept": ("xy", "yy", "x", "y", "count"),
}


@dataclass(frozen=True)
class Moment:
    """One function of moments, of one or two columns.

    With n records, sums X and Y of values from the centres on, and sums XX, YY, XY of squares and products: the
    variance of the first column is ``XX / n - (X / n)²``, the covariance ``XY / n - X Y / n²``, the slope of the first
    column on the second their covariance by the second one's variance. For a sample, n - 1 takes the place of n.

    Attributes:
        function: as SQL calls it.
        bounds: of the values of each column.
        centres: what is taken from the values in sums, for each column.

    >>> moment = Moment("var_pop", ((0, 10),), (Fraction(5),))
    >>> float(moment.of({"count": 4.0, "x": 0.0, "xx": 64.0}, 100))  # 1, 1, 9 and 9
    16.0
    """

    function: str
    bounds: tuple[tuple[Any, Any], ...]
    centres: tuple[Fraction, ...]

    @property
    def roles(self) -> tuple[Role, ...]:
        """What it is computed from; the number of records is the last."""
        return _NEEDED[self.function]

    def middle(self, place: int) -> Fraction:
        """What squares and products of a column are counted from: the middle of its bounds."""
        low, high = self.bounds[place]
        return (Fraction(low) + Fraction(high)) / 2

    def half(self, place: int) -> Fraction:
        """How far values of a column are from the middle at most."""
        low, high = self.bounds[place]
        return (Fraction(high) - Fraction(low)) / 2

    def of(self, sums: Mapping[Role, Any], records: int) -> Any:
        """The moment, from numbers or arrays of them, which may be noisy: it may then lie beyond its range.

        NaN where it is not defined.
        """
        sample = self.function.endswith("_samp")
        number = np.clip(sums["count"], 2.0 if sample else 1.0, float(max(records, 2)))
        ones: tuple[Role, ...] = ("x", "y")
        mean = [
            sums[role] / number + float(self.centres[place] - self.middle(place))
            for place, role in enumerate(ones)
            if role in sums
        ]

        def variance(place: int, role: Role) -> Any:
            return sums[role] / number - mean[place] ** 2

        with np.errstate(all="ignore"):
            found = variance(0, "xx") if len(self.bounds) == 1 else sums["xy"] / number - mean[0] * mean[1]
            if sample:
                found = found * (number / (number - 1))
            if self.function.startswith("stddev"):
                return np.sqrt(np.maximum(found, 0.0))
            if self.function in ("corr", "regr_r2"):
                found = _divided(found, np.sqrt(np.maximum(variance(0, "xx"), 0) * np.maximum(variance(1, "yy"), 0)))
                return found**2 if self.function == "regr_r2" else found
            if self.function.startswith("regr"):
                found = _divided(found, variance(1, "yy"))
            if self.function == "regr_intercept":
                ahead = [float(self.middle(place)) + mean[place] for place in (0, 1)]
                found = ahead[0] - found * ahead[1]
        return found

    @property
    def range(self) -> tuple[float, float]:
        """Between what it lies, whatever the records are; of a sample, before its part `_larger` is put on."""
        if self.function in ("corr", "regr_r2"):
            return (-1.0 if self.function == "corr" else 0.0), 1.0
        if self.function.startswith("regr"):
            return -math.inf, math.inf
        most = float(math.prod(self.half(place) for place in range(len(self.bounds))))
        if self.function.startswith("covar"):
            return -most, most
        most = float(self.half(0) ** 2)
        return 0.0, math.sqrt(most) if self.function.startswith("stddev") else most

    def answer(self, noisy: Sequence[Noisy], amounts: Sequence[Amount], records: int) -> TableAnswer:
        """The moment of noisy sums, with an error bar that covers the noise of all of them (see `spread`).

        What was taken from each square is added again, so that the error of the count is felt as it is.

        Args:
            noisy: in the order of ``roles``.
            amounts: what they are.
            records: how many there are at most.
        """
        shifts = [float(amount.shift) for amount in amounts]

        def compute(numbers: Sequence[Any]) -> Any:
            count = numbers[-1]
            whole = (number + shift * count if shift else number for number, shift in zip(numbers, shifts, strict=True))
            return self.of(dict(zip(self.roles, whole, strict=True)), records)

        values = [one.value for one in noisy]
        if len(self.bounds) == 1:  # squares that no values have are taken for the nearest that some have
            variance = replace(self, function="var_pop").of
            sums = dict(zip(self.roles, [values[0] + shifts[0] * values[-1], *values[1:]], strict=True))
            off = float(variance(sums, records))
            values[0] += (min(max(off, 0.0), float(self.half(0) ** 2)) - off) * min(
                max(values[-1], 1.0), max(records, 2)
            )
        bars = {place: one.bar(CONFIDENCE) for place, one in enumerate(noisy)}
        larger = self._larger(noisy[-1])
        found, (low, high) = float(compute(values)), (end * larger for end in self.range)
        if not math.isfinite(found):  # the noisy variance to divide by is none
            bar = 1.0 if math.isfinite(high) else math.inf
            return TableAnswer(0.0, bar, False)
        value = min(max(found, low), high)  # which is no farther from the truth
        bar = min(spread(compute, values, bars), max(value - low, high - value))
        enough = noisy[-1].value + noisy[-1].bar(CONFIDENCE) >= (2 if self.function.endswith("_samp") else 1)
        return TableAnswer(value, bar, enough and 2 * bar < (high - low if math.isfinite(high) else self._steep))

    def _larger(self, count: Noisy) -> float:
        """By what a sample's moment can lie beyond the range: n / (n - 1) for the least number n that is likely."""
        if not self.function.endswith("_samp"):
            return 1.0
        fewest = max(2.0, count.value - count.bar(_SURE))
        larger = fewest / (fewest - 1)
        return math.sqrt(larger) if self.function.startswith("stddev") else larger

    @property
    def _steep(self) -> float:
        """How much a slope, or where a line begins, may be off and still say something."""
        span = 2 * self.half(0)
        return float(span / self.half(1) if self.function == "regr_slope" else span)


def _divided(left: Any, right: Any) -> Any:
    """A quotient, NaN where there is nothing to divide by."""
    return np.where(right > 0, left / np.where(right > 0, right, 1.0), np.nan)
