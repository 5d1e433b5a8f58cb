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

from metricdp.errors import KindError, LevelError, NotFiniteError, OffGridError, OutOfDomainError
from metricdp.exact.level import rational
from metricdp.queries.single.query import AnswerGrid, Query, check_count, is_missing, rows_of

__all__ = ["Average", "NumberQuery", "Percentile", "Sum", "maximum", "median", "minimum"]

Number = int | float | Fraction | Decimal | str
Outside = Literal["refuse", "clamp"]
Rounding = Literal["exact", "floor", "half-up"]


@dataclass(frozen=True, init=False, repr=False)
class NumberQuery(Query):
    """A query about one number for each record, with public bounds.

    Attributes:
        lo: the least value a record may have.
        hi: the greatest.
        step: values are ``lo``, ``lo + step``, .., ``hi``; None where they are any numbers in between.
        n: the number of records, where that is public; None where it is not.
        nulls: whether a record may be absent (None, NaN). Where ``n`` is not public, it always may.
        outside: "refuse" values beyond the bounds, naming the row, or "clamp" them to the nearer bound.

    A float is read as the point of the grid that it is the nearest float to, so that 0.3 is three steps of "0.1".
    """

    lo: Fraction
    hi: Fraction
    step: Fraction | None
    n: int | None
    nulls: bool
    outside: Outside

    def __init__(
        self,
        lo: Number | None = None,
        hi: Number | None = None,
        step: Number | None = 1,
        n: int | None = None,
        nulls: bool | None = None,
        outside: Outside = "refuse",
    ) -> None:
        if lo is None or hi is None:
            raise LevelError(
                f"{_a(self)} has bounds: give lo= and hi=, the least and the greatest value that a record may have, "
                "from what is public and not from the data"
            )
        low, high = rational(lo, "bound"), rational(hi, "bound")
        width = None if step is None else rational(step, "step")
        if not low < high:
            raise LevelError("the lower bound lies below the upper one")
        if width is not None and (width <= 0 or (high - low) % width):
            raise LevelError(f"a step is positive and goes into {high - low}, from lo to hi, a whole number of times")
        if outside not in ("refuse", "clamp"):
            raise LevelError('outside is "refuse" or "clamp"')
        count, absent = check_count(n, nulls)
        fields = {"lo": low, "hi": high, "step": width, "n": count, "nulls": absent, "outside": outside}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def k(self) -> int | None:
        """The number of steps from ``lo`` to ``hi``."""
        return None if self.step is None else int((self.hi - self.lo) / self.step)

    @property
    def middle(self) -> Fraction:
        """The value in the middle: what `Average` and `Percentile` say of no values at all."""
        if self.step is None or self.k is None:
            return (self.lo + self.hi) / 2
        return self.lo + self.k // 2 * self.step

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest answer, where both are known."""
        return self.lo, self.hi

    @property
    def universe(self) -> Sequence[Any] | None:
        """``lo`` to ``hi`` in steps, and None where a record may be absent."""
        if self.k is None or self.step is None or self.k > _MOST_VALUES:
            return None
        values = [_plain(self.lo + i * self.step) for i in range(self.k + 1)]
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
                return self.hi if value > 0 else self.lo
            raise OutOfDomainError("an infinite value, outside the declared bounds", row)
        exact = Fraction(value)
        if self.step is not None:
            point = self.lo + round((exact - self.lo) / self.step) * self.step
            if exact == point or (isinstance(value, float) and float(point) == value):
                exact = point
        if not self.lo <= exact <= self.hi:
            if self.outside == "clamp":
                return self.lo if exact < self.lo else self.hi
            raise OutOfDomainError('outside the declared bounds; widen them, or declare outside="clamp"', row)
        if self.step is not None and (exact - self.lo) % self.step:
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

    >>> spent = Sum(lo=0, hi=100, n=3)
    >>> spent.evaluate([20, 35, 50])
    Fraction(105, 1)
    >>> spent
    Sum(lo=0, hi=100, step=1, n=3)
    """

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """``n * lo`` and ``n * hi``, and 0 where all records may be absent; None where n is not public."""
        if self.n is None:
            return None
        least, greatest = self.n * self.lo, self.n * self.hi
        return (min(least, Fraction(0)), max(greatest, Fraction(0))) if self.nulls else (least, greatest)

    @property
    def grid(self) -> AnswerGrid | None:
        """All multiples of the step within `bounds`, where 0 is a value or no record is absent."""
        if self.step is None:
            return None
        if self.bounds is None:
            least = Fraction(0) if self.lo >= 0 else None
            greatest = Fraction(0) if self.hi <= 0 else None
        else:
            least, greatest = self.bounds
        with_zero = self.lo <= 0 <= self.hi and self.lo % self.step == 0
        if not self.nulls and least is not None:
            return AnswerGrid(least, self.step, least, greatest)
        step = self.step if with_zero else _common_step(self.lo, self.step)
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

    >>> Average(0, 100, n=3).evaluate([20, 35, 51])
    Fraction(106, 3)
    >>> Average(0, 100, n=3, nulls=True).evaluate([20, 35, None])
    Fraction(28, 1)
    """

    rounding: Rounding

    def __init__(
        self,
        lo: Number | None = None,
        hi: Number | None = None,
        step: Number | None = 1,
        n: int | None = None,
        nulls: bool | None = None,
        outside: Outside = "refuse",
        rounding: Rounding | None = None,
    ) -> None:
        super().__init__(lo, hi, step, n, nulls, outside)
        if rounding is None:
            rounding = "exact" if self.step is None or not self.nulls else "half-up"
        if rounding not in ("exact", "floor", "half-up"):
            raise LevelError(
                'an average is rounded by "floor" or "half-up", or left "exact"; half to even moves by two steps where '
                "the values move by one, and needs twice the noise"
            )
        if rounding != "exact" and self.step is None:
            raise LevelError("an average is rounded to the grid of its values: give step=, or rounding='exact'")
        object.__setattr__(self, "rounding", rounding)

    @property
    def grid(self) -> AnswerGrid | None:
        """The grid of the values, or where nothing is absent and nothing rounded, one that is n times as fine."""
        if self.step is None or (self.rounding == "exact" and self.nulls):
            return None
        finer = self.n if self.rounding == "exact" and self.n is not None else 1
        return AnswerGrid(self.lo, self.step / finer, self.lo, self.hi)

    def evaluate(self, data: Any) -> Fraction:
        """The true average, rounded as declared."""
        values = self.tally(data)
        if not values:
            return self.middle
        mean = _total(values) / sum(count for _, count in values)
        if self.rounding == "exact" or self.step is None:
            return mean
        steps = (mean - self.lo) / self.step + (Fraction(1, 2) if self.rounding == "half-up" else 0)
        return self.lo + math.floor(steps) * self.step


@dataclass(frozen=True, init=False, repr=False)
class Percentile(NumberQuery):
    """The p-percentile of the m values that are there: the ``⌊p m / 100⌋ + 1``-th in order, or the last.

    Of no values at all it is the middle of the bounds. See `NumberQuery` for the other attributes.

    Attributes:
        p: from 0, the minimum, by 50, the median, to 100, the maximum.

    References:
        Paper 1, Section 5 and the proof of Theorem 13.

    >>> [Percentile(p, 0, 100).evaluate([20, 35, 50, 90]) for p in (0, 50, 100)]
    [Fraction(20, 1), Fraction(50, 1), Fraction(90, 1)]
    """

    p: Fraction

    def __init__(
        self,
        p: Number,
        lo: Number | None = None,
        hi: Number | None = None,
        step: Number | None = 1,
        n: int | None = None,
        nulls: bool | None = None,
        outside: Outside = "refuse",
    ) -> None:
        super().__init__(lo, hi, step, n, nulls, outside)
        share = rational(p, "percentile")
        if not 0 <= share <= 100:
            raise LevelError("a percentile lies between 0 and 100")
        object.__setattr__(self, "p", share)

    @property
    def grid(self) -> AnswerGrid | None:
        """The grid of the values."""
        return None if self.step is None else AnswerGrid(self.lo, self.step, self.lo, self.hi)

    def evaluate(self, data: Any) -> Fraction:
        """The true percentile."""
        values = sorted(self.tally(data))
        if not values:
            return self.middle
        total = sum(count for _, count in values)
        before = min(math.floor(self.p * total / 100), total - 1)
        upto = itertools.accumulate(count for _, count in values)
        return next(value for (value, _), reached in zip(values, upto, strict=True) if reached > before)


def minimum(lo: Number | None = None, hi: Number | None = None, **options: Any) -> Percentile:
    """The least value: the 0-percentile. The options are those of `Percentile`.

    >>> minimum(0, 100).evaluate([20, 35, 50])
    Fraction(20, 1)
    """
    return Percentile(0, lo, hi, **options)


def median(lo: Number | None = None, hi: Number | None = None, **options: Any) -> Percentile:
    """The median: the 50-percentile, which of an even number of values is the upper of the two in the middle.

    >>> median(0, 100).evaluate([20, 35, 50])
    Fraction(35, 1)
    """
    return Percentile(50, lo, hi, **options)


def maximum(lo: Number | None = None, hi: Number | None = None, **options: Any) -> Percentile:
    """The greatest value: the 100-percentile.

    >>> maximum(0, 100).evaluate([20, 35, 50])
    Fraction(50, 1)
    """
    return Percentile(100, lo, hi, **options)


_MOST_VALUES = 1 << 16


def _common_step(one: Fraction, two: Fraction) -> Fraction:
    """The greatest rational of which both are multiples."""
    bottom = math.lcm(one.denominator, two.denominator)
    return Fraction(math.gcd(int(one * bottom), int(two * bottom)), bottom)


def _total(values: list[tuple[Fraction, int]]) -> Fraction:
    return sum((value * count for value, count in values), Fraction(0))


def _plain(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _a(query: NumberQuery) -> str:
    name = type(query).__name__.lower()
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
