"""Sums, averages and percentiles of one number for each record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from metricdp.errors import ArgumentError, KindError, NotFiniteError, OffGridError, OutOfDomainError
from metricdp.exact.level import rational
from metricdp.queries.single.query import AnswerGrid, Query, check_count, is_missing, rows_of

__all__ = ["Average", "NumberQuery", "Percentile", "Sum", "maximum", "median", "minimum"]

Number = int | float | Fraction | Decimal | str
Bounds = tuple[Number, Number]
Outside = Literal["refuse", "clamp"]
Rounding = Literal["exact", "floor", "half-up"]


@dataclass(frozen=True, init=False, repr=False)
class NumberQuery(Query):
    """A query about one number for each record, with public bounds.

    Attributes:
        bounds: the least and the greatest value a record may have, from what is public and not from the data.
        step: values are the lower bound and whole steps above it; None where they are any numbers in between.
        records: how many there are, where that is public; None where it is not.
        nulls: whether a record may be absent (None, NaN). Where their number is not public, one always may.
        outside: "refuse" values beyond the bounds, naming the row, or "clamp" them to the nearer bound.

    A float is read as the point of the grid that it is the nearest float to, so that 0.3 is three steps of "0.1".
    """

    bounds: tuple[Fraction, Fraction]
    step: Fraction | None
    records: int | None
    nulls: bool
    outside: Outside

    def __init__(
        self,
        bounds: Bounds | None = None,
        *,
        step: Number | None = 1,
        records: int | None = None,
        nulls: bool | None = None,
        outside: Outside = "refuse",
    ) -> None:
        low, high = _read_bounds(bounds, self)
        width = None if step is None else rational(step, "step")
        if width is not None and (width <= 0 or (high - low) % width):
            raise ArgumentError(f"a step is positive and divides {high - low}, the width of the bounds")
        if outside not in ("refuse", "clamp"):
            raise ArgumentError('outside is "refuse" or "clamp"')
        count, absent = check_count(records, nulls)
        fields = {"bounds": (low, high), "step": width, "records": count, "nulls": absent, "outside": outside}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def low(self) -> Fraction:
        """The lower bound."""
        return self.bounds[0]

    @property
    def high(self) -> Fraction:
        """The upper bound."""
        return self.bounds[1]

    @property
    def steps(self) -> int | None:
        """How many steps there are from bound to bound."""
        return None if self.step is None else int((self.high - self.low) / self.step)

    @property
    def middle(self) -> Fraction:
        """The value in the middle: what `Average` and `Percentile` say of no values at all."""
        if self.step is None or self.steps is None:
            return (self.low + self.high) / 2
        return self.low + self.steps // 2 * self.step

    @property
    def answer_bounds(self) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest answer, where both are known."""
        return self.bounds

    @property
    def universe(self) -> Sequence[Any] | None:
        """From bound to bound in steps, and None where a record may be absent."""
        if self.steps is None or self.step is None or self.steps > _MOST_VALUES:
            return None
        values = [_plain(self.low + i * self.step) for i in range(self.steps + 1)]
        return [*values, None] if self.nulls else values

    def tally(self, data: Any) -> list[tuple[Fraction, int]]:
        """The values that are there, each with how often; refuses a row that breaks a rule, without its value."""
        values: dict[Any, Fraction] = {}
        counts: dict[Any, int] = {}
        for row, value in enumerate(rows_of(data, self)):
            if is_missing(value):
                if not self.nulls:
                    raise NotFiniteError("there is no value here; declare nulls=True if a record may be absent", row)
                continue
            if isinstance(value, np.generic):
                value = value.item()
            if isinstance(value, bool) or not isinstance(value, (int, float, Fraction, Decimal)):
                raise KindError("a number is wanted: int, float, Decimal or Fraction", row)
            if value not in values:
                values[value] = self._read(value, row)
            counts[value] = counts.get(value, 0) + 1
        return [(values[value], count) for value, count in counts.items()]

    def _read(self, value: int | float | Fraction | Decimal, row: int) -> Fraction:
        if not isinstance(value, (int, Fraction)) and not math.isfinite(value):
            if self.outside == "clamp":
                return self.high if value > 0 else self.low
            raise OutOfDomainError("an infinite value, outside the declared bounds", row)
        exact = Fraction(value)
        if self.step is not None:
            point = self.low + round((exact - self.low) / self.step) * self.step
            if exact == point or (isinstance(value, float) and float(point) == value):
                exact = point
        if not self.low <= exact <= self.high:
            if self.outside == "clamp":
                return self.low if exact < self.low else self.high
            raise OutOfDomainError('outside the declared bounds; widen them, or declare outside="clamp"', row)
        if self.step is not None and (exact - self.low) % self.step:
            raise OffGridError(
                "between two points of the declared grid; declare a finer step, as text where it is a decimal "
                '(step="0.1"), or step=None for any number',
                row,
            )
        return exact


@dataclass(frozen=True, init=False, repr=False)
class Sum(NumberQuery):
    """The sum of one number for each record, where an absent record adds nothing.

    See `NumberQuery` for the attributes.

    References:
        Paper 1, Section 5.

    >>> spent = Sum((0, 100), records=3)
    >>> spent.evaluate([20, 35, 50])
    Fraction(105, 1)
    >>> spent
    Sum(bounds=(0, 100), step=1, records=3)
    """

    @property
    def answer_bounds(self) -> tuple[Fraction, Fraction] | None:
        """As many times the bounds as there are records, and 0 where all may be absent; None where that is secret."""
        if self.records is None:
            return None
        least, greatest = self.records * self.low, self.records * self.high
        return (min(least, Fraction(0)), max(greatest, Fraction(0))) if self.nulls else (least, greatest)

    @property
    def grid(self) -> AnswerGrid | None:
        """All multiples of the step within `answer_bounds`, where 0 is a value or no record is absent."""
        if self.step is None:
            return None
        if self.answer_bounds is None:
            least = Fraction(0) if self.low >= 0 else None
            greatest = Fraction(0) if self.high <= 0 else None
        else:
            least, greatest = self.answer_bounds
        with_zero = self.low <= 0 <= self.high and self.low % self.step == 0
        if not self.nulls and least is not None:
            return AnswerGrid(least, self.step, least, greatest)
        step = self.step if with_zero else _common_step(self.low, self.step)
        return AnswerGrid(Fraction(0) if least is None else least, step, least, greatest, with_zero)

    def evaluate(self, data: Any) -> Fraction:
        """The true sum."""
        return _total(self.tally(data))


@dataclass(frozen=True, init=False, repr=False)
class Average(NumberQuery):
    """The average of the values that are there.

    Of no values at all it is the middle of the bounds. See `NumberQuery` for the other attributes.

    Attributes:
        rounding: "floor" or "half-up" to the grid of the values, or "exact". By default "exact" where the number of
            values is public or there is no grid, since its answers then lie on a finer grid, or on none; else
            "half-up". Rounding half to even is refused: it moves the average of databases that are one step apart by
            two steps.

    References:
        Paper 1, Section 5 and Theorem 13, which hold for averages that are rounded down or half up.

    >>> Average((0, 100), records=3).evaluate([20, 35, 51])
    Fraction(106, 3)
    >>> Average((0, 100), records=3, nulls=True).evaluate([20, 35, None])
    Fraction(28, 1)
    """

    rounding: Rounding

    def __init__(
        self,
        bounds: Bounds | None = None,
        *,
        step: Number | None = 1,
        records: int | None = None,
        nulls: bool | None = None,
        outside: Outside = "refuse",
        rounding: Rounding | None = None,
    ) -> None:
        super().__init__(bounds, step=step, records=records, nulls=nulls, outside=outside)
        if rounding is None:
            rounding = "exact" if self.step is None or not self.nulls else "half-up"
        if rounding not in ("exact", "floor", "half-up"):
            raise ArgumentError(
                'an average is rounded by "floor" or "half-up", or left "exact"; half to even moves by two steps where '
                "the values move by one, and needs twice the noise"
            )
        if rounding != "exact" and self.step is None:
            raise ArgumentError("an average is rounded to the grid of its values: give step=, or rounding='exact'")
        object.__setattr__(self, "rounding", rounding)

    @property
    def grid(self) -> AnswerGrid | None:
        """The grid of the values, or where nothing is absent and nothing rounded, a finer one."""
        if self.step is None or (self.rounding == "exact" and self.nulls):
            return None
        finer = self.records if self.rounding == "exact" and self.records is not None else 1
        return AnswerGrid(self.low, self.step / finer, self.low, self.high)

    def evaluate(self, data: Any) -> Fraction:
        """The true average, rounded as declared."""
        values = self.tally(data)
        if not values:
            return self.middle
        mean = _total(values) / sum(count for _, count in values)
        if self.rounding == "exact" or self.step is None:
            return mean
        steps = (mean - self.low) / self.step + (Fraction(1, 2) if self.rounding == "half-up" else 0)
        return self.low + math.floor(steps) * self.step


@dataclass(frozen=True, init=False, repr=False)
class Percentile(NumberQuery):
    """The p-percentile of the m values that are there: the ``⌊p m / 100⌋ + 1``-th in order, or the last.

    Of no values at all it is the middle of the bounds. See `NumberQuery` for the other attributes.

    Attributes:
        percent: p, from 0, the minimum, by 50, the median, to 100, the maximum.

    References:
        Paper 1, Section 5 and the proof of Theorem 13.

    >>> [Percentile(p, (0, 100)).evaluate([20, 35, 50, 90]) for p in (0, 50, 100)]
    [Fraction(20, 1), Fraction(50, 1), Fraction(90, 1)]
    """

    percent: Fraction

    def __init__(
        self,
        percent: Number,
        bounds: Bounds | None = None,
        *,
        step: Number | None = 1,
        records: int | None = None,
        nulls: bool | None = None,
        outside: Outside = "refuse",
    ) -> None:
        super().__init__(bounds, step=step, records=records, nulls=nulls, outside=outside)
        share = rational(percent, "percentile")
        if not 0 <= share <= 100:
            raise ArgumentError("a percentile lies between 0 and 100")
        object.__setattr__(self, "percent", share)

    @property
    def grid(self) -> AnswerGrid | None:
        """The grid of the values."""
        return None if self.step is None else AnswerGrid(self.low, self.step, self.low, self.high)

    def evaluate(self, data: Any) -> Fraction:
        """The true percentile."""
        values = sorted(self.tally(data))
        if not values:
            return self.middle
        total = sum(count for _, count in values)
        before = min(math.floor(self.percent * total / 100), total - 1)
        upto = itertools.accumulate(count for _, count in values)
        return next(value for (value, _), reached in zip(values, upto, strict=True) if reached > before)


def minimum(bounds: Bounds | None = None, **options: Any) -> Percentile:
    """The least value: the 0-percentile. The options are those of `Percentile`.

    >>> minimum((0, 100)).evaluate([20, 35, 50])
    Fraction(20, 1)
    """
    return Percentile(0, bounds, **options)


def median(bounds: Bounds | None = None, **options: Any) -> Percentile:
    """The median: the 50-percentile, which of an even number of values is the upper of the two in the middle.

    >>> median((0, 100)).evaluate([20, 35, 50])
    Fraction(35, 1)
    """
    return Percentile(50, bounds, **options)


def maximum(bounds: Bounds | None = None, **options: Any) -> Percentile:
    """The greatest value: the 100-percentile.

    >>> maximum((0, 100)).evaluate([20, 35, 50])
    Fraction(50, 1)
    """
    return Percentile(100, bounds, **options)


_MOST_VALUES = 1 << 16


def _common_step(one: Fraction, two: Fraction) -> Fraction:
    """The greatest rational of which both are multiples."""
    bottom = math.lcm(one.denominator, two.denominator)
    return Fraction(math.gcd(int(one * bottom), int(two * bottom)), bottom)


def _total(values: list[tuple[Fraction, int]]) -> Fraction:
    return sum((value * count for value, count in values), Fraction(0))


def _plain(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _read_bounds(bounds: Any, query: NumberQuery) -> tuple[Fraction, Fraction]:
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{_a(query)} has bounds: give bounds=(least, greatest), the values that a record may have, from what is "
            "public and not from the data"
        ) from None
    least, greatest = rational(low, "bound"), rational(high, "bound")
    if not least < greatest:
        raise ArgumentError("the lower bound lies below the upper one")
    return least, greatest


def _a(query: NumberQuery) -> str:
    name = type(query).__name__.lower()
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
