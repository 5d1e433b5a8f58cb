"""Floats below and above distances, proved: where every proof gets its distances from.

`Metric.pairwise` is a picture: it may be zero where the distance is not, or miss it by any factor. `Metric.enclosures`
is arithmetic on intervals. Each step is one that IEEE 754 rounds correctly, and its result is moved outward unless it
is known to be exact. So these hold of every entry, whatever the metric:

- ``lower <= distance <= upper``;
- ``upper == 0`` says that the distance is zero, and ``lower == inf`` that it is infinite;
- where it is neither, ``0 < lower`` and ``upper < inf``, unless it is beyond what floats hold (see `Enclosures.held`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats, each_block, row_blocks
from metricdp.exact.balls import Enclosure, float_above, float_below
from metricdp.exact.level import Level
from metricdp.exact.lists import as_list

if TYPE_CHECKING:
    from metricdp.metrics.metric import Metric

__all__ = ["VIEW_ERROR", "EnclosedRows", "Enclosures", "amount_bounds", "in_blocks", "nearest_distances", "sides"]

Mask = NDArray[np.bool_]

VIEW_ERROR = 1e-7
"""Relative: how far apart the two bounds of an enclosure may be before balls are asked."""

_LEAST, _LARGEST = 1e-290, 1e290
_TINY, _MOST = 5e-324, sys.float_info.max
_ROOT_ERROR = 2.0**-49
_EXACT = 1 << 53
_MANY = 1 << 22
_BLOCK, _LARGE_BLOCK = 1 << 16, 1 << 20


@dataclass(frozen=True)
class Enclosures:
    """A matrix of floats below, and one of floats above, a matrix of distances.

    Attributes:
        lower: nowhere above the distance.
        upper: nowhere below it.

    >>> tenths = Enclosures.rounded(np.array([[0.1]]), exact=np.array([[False]]))
    >>> tenths.lower[0, 0] < Fraction(1, 10) < tenths.upper[0, 0]
    True
    """

    lower: Floats
    upper: Floats

    # What is known of them

    @cached_property
    def zero(self) -> Mask:
        """Where the distance is proved to be zero."""
        return self._where(lambda lower, upper: (lower == 0) & (upper == 0))

    @cached_property
    def infinite(self) -> Mask:
        """Where the distance is proved to be infinite."""
        return np.asarray(self.lower == math.inf)

    @cached_property
    def constrained(self) -> Mask:
        """Where the distance is positive and finite, or not proved to be zero or infinite."""
        return self._where(lambda lower, upper: ~(((lower == 0) & (upper == 0)) | (lower == math.inf)))

    @cached_property
    def held(self) -> Mask:
        """Where floats hold the distance well: closely enclosed, and away from both ends of their range."""
        return self._where(lambda lower, upper: (lower > _LEAST) & (upper < _LARGEST) & _close(lower, upper))

    @cached_property
    def close(self) -> Mask:
        """Where the bounds are within a relative `VIEW_ERROR`."""
        return self._where(_close)

    @cached_property
    def nearest(self) -> Floats:
        """Floats between the bounds: zero and infinite only where distances are, within `VIEW_ERROR` where `held`."""
        middle = np.empty(self.lower.shape)

        def fill(rows: Any) -> None:
            lower, upper = self.lower[rows], self.upper[rows]
            with np.errstate(invalid="ignore", over="ignore", under="ignore"):
                between = lower / 2 + upper / 2
                if _between(lower, between, upper):
                    middle[rows] = between
                    return
                between = np.where(lower == upper, lower, between)
            middle[rows] = np.where(self.constrained[rows], np.clip(between, _TINY, _MOST), between)

        each_block(fill, self._blocks)
        middle.setflags(write=False)
        return middle

    def around(self, view: Floats) -> Floats:
        """A view of the same distances, moved to the nearest bound where it is not between them."""
        inside = np.empty(self.lower.shape)
        for rows in self._blocks:
            lower, upper, some = self.lower[rows], self.upper[rows], view[rows]
            if _between(lower, some, upper):
                inside[rows] = some
                continue
            kept = np.clip(some, lower, upper)
            if (unknown := np.isnan(some)).any():
                kept = np.where(unknown, self.nearest[rows], kept)
            inside[rows] = np.where(self.constrained[rows], np.clip(kept, _TINY, _MOST), lower)
        return inside

    @property
    def _blocks(self) -> Sequence[Any]:
        return list(row_blocks(self.lower.shape)) if self.lower.ndim == 2 else [...]

    def _where(self, rule: Callable[[Floats, Floats], Mask]) -> Mask:
        """Where a rule holds of the two bounds, block by block."""
        holds = np.empty(self.lower.shape, dtype=bool)
        each_block(lambda rows: holds.__setitem__(rows, rule(self.lower[rows], self.upper[rows])), self._blocks)
        return holds

    def __getitem__(self, places: Any) -> Enclosures:
        return Enclosures(self.lower[places], self.upper[places])

    def spread(self, shape: tuple[int, ...]) -> Enclosures:
        """A row or a column of them, repeated."""
        return Enclosures(np.broadcast_to(self.lower, shape), np.broadcast_to(self.upper, shape))

    # Where they come from

    @classmethod
    def exact(cls, values: Floats) -> Enclosures:
        """Distances that are just these floats."""
        return cls(values, values)

    @classmethod
    def rounded(cls, values: Floats, exact: Mask) -> Enclosures:
        """Distances that these floats are the nearest to, infinity for what is too large; some of them exactly so."""
        lower, upper = np.nextafter(values, -math.inf), np.nextafter(values, math.inf)
        return cls(np.where(exact, values, np.maximum(lower, 0)), np.where(exact, values, upper))

    @classmethod
    def unknown(cls, shape: tuple[int, int]) -> Enclosures:
        """Distances of which nothing is known yet."""
        return cls(np.full(shape, -math.inf), np.full(shape, math.inf))

    @classmethod
    def constant(cls, shape: tuple[int, int], bounds: tuple[float, float]) -> Enclosures:
        """The same distance everywhere, between two floats."""
        return cls(np.full(shape, bounds[0]), np.full(shape, bounds[1]))

    @classmethod
    def ratios(cls, whole: NDArray[Any], scale: int) -> Enclosures:
        """Integers over a common denominator, those below zero standing for infinity."""
        if whole.dtype != object and scale < _EXACT and int(whole.max(initial=0)) < _EXACT:
            values = np.where(whole < 0, math.inf, whole / scale)  # integers that floats hold: rounded but once
            return cls.rounded(values, (whole < 0) | (whole % scale == 0))
        known = {value: amount_bounds(Fraction(value, scale)) for value in set(whole.ravel().tolist())}
        known |= {value: (math.inf, math.inf) for value in known if value < 0}
        bounds = np.array([known[value] for value in whole.ravel().tolist()]).reshape(*whole.shape, 2)
        return cls(bounds[..., 0], bounds[..., 1])

    def sharpened(self, enclose: Callable[[int, int], Enclosure], symmetric: bool = False) -> Enclosures:
        """The same with the distances that are not closely enclosed taken from elsewhere."""
        if self.close.all():
            return self
        loose = ~self.close
        places = np.argwhere(np.triu(loose) if symmetric else loose).tolist()
        lower, upper = self.lower.copy(), self.upper.copy()
        for i, j in places:
            lower[i, j], upper[i, j] = enclose(i, j).outward
            if symmetric:
                lower[j, i], upper[j, i] = lower[i, j], upper[i, j]
        return Enclosures(lower, upper)

    # Arithmetic, of distances that are not negative; of others, and of what is no number, nothing is known

    def __add__(self, other: Enclosures) -> Enclosures:
        with np.errstate(invalid="ignore", over="ignore"):
            low, low_error = _sum(self.lower, other.lower)
            high, high_error = _sum(self.upper, other.upper)
            lower = np.where(low_error >= 0, low, np.nextafter(low, -math.inf))
            lower = np.where(self.infinite | other.infinite, math.inf, np.minimum(lower, _MOST))
            upper = np.where(high_error <= 0, high, np.nextafter(high, math.inf))
        return Enclosures(lower, upper)._known(self, other)

    def maximum(self, other: Enclosures) -> Enclosures:
        """The larger one of each two."""
        larger = Enclosures(np.maximum(self.lower, other.lower), np.maximum(self.upper, other.upper))
        return larger._known(self, other)

    def minimum(self, other: Enclosures) -> Enclosures:
        """The smaller one of each two."""
        smaller = Enclosures(np.minimum(self.lower, other.lower), np.minimum(self.upper, other.upper))
        return smaller._known(self, other)

    def hypot(self, other: Enclosures) -> Enclosures:
        """``sqrt(d² + e²)``."""
        lower = _root(self.lower, other.lower, -1)
        lower = np.where(self.infinite | other.infinite, math.inf, np.minimum(lower, _MOST))
        return Enclosures(lower, _root(self.upper, other.upper, 1))._known(self, other)

    def combined(self, other: Enclosures, p: float) -> Enclosures:
        """Two distances by the norm p: 1, 2 or infinity."""
        return self + other if p == 1 else self.hypot(other) if p == 2 else self.maximum(other)

    def times(self, bounds: tuple[float, float]) -> Enclosures:
        """Times a positive number between two floats; zero stays zero and infinity infinity."""
        low, high = bounds
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            lower, upper = self.lower * max(low, 0.0), self.upper * high
            np.nextafter(lower, -math.inf, out=lower)
            np.nextafter(upper, math.inf, out=upper)
        np.clip(lower, 0, _MOST, out=lower)
        np.copyto(lower, math.inf, where=self.infinite)
        np.copyto(upper, 0.0, where=self.upper == 0)
        return Enclosures(lower, upper)._known(self)

    def _known(self, *operands: Enclosures) -> Enclosures:
        """Without what was computed from numbers that are no distances."""
        if all(operand.lower.min(initial=0) >= 0 and operand.upper.min(initial=0) >= 0 for operand in operands):
            return self  # NaN is not
        good = np.asarray(True)
        for operand in operands:
            good = good & (operand.lower >= 0) & (operand.upper >= 0)
        return Enclosures(np.where(good, self.lower, -math.inf), np.where(good, self.upper, math.inf))


@dataclass(frozen=True)
class EnclosedRows:
    """What encloses the distances of some points, a slice of them, to all others, once both have been read.

    Attributes:
        quickly: the enclosures of a slice.
        at_once: whether it may be asked for several slices at a time; balls are not to be.
    """

    quickly: Callable[[slice], Enclosures]
    at_once: bool = False

    def each(self, work: Callable[[slice], object], shape: tuple[int, int]) -> None:
        """Do something for every slice of rows of a matrix."""
        if self.at_once:
            each_block(work, list(row_blocks(shape, _BLOCK)))
            return
        for rows in row_blocks(shape, _LARGE_BLOCK):
            work(rows)


def in_blocks(rows_of: EnclosedRows, shape: tuple[int, int]) -> Enclosures:
    """The enclosures of very many pairs block by block, so that what is computed on the way takes no memory."""
    if shape[0] * shape[1] < _MANY:
        return rows_of.quickly(slice(None))
    lower, upper = np.empty(shape), np.empty(shape)

    def fill(rows: slice) -> None:
        some = rows_of.quickly(rows)
        lower[rows], upper[rows] = some.lower, some.upper

    rows_of.each(fill, shape)
    return Enclosures(lower, upper)


def nearest_distances(metric: Metric, points: Sequence[Any], others: Sequence[Any]) -> Floats:
    """`Enclosures.nearest` for a metric, with the bounds held of a block at a time.

    >>> from metricdp.metrics import absolute
    >>> nearest_distances(absolute(), [0, 1], [3, 5]).tolist()
    [[3.0, 5.0], [2.0, 4.0]]
    """
    rows_of, loose = metric._by_rows(points, others), list[slice]()
    found = np.empty((len(points), len(others)))

    def fill(rows: slice) -> None:
        some = rows_of.quickly(rows)
        if some.close.all():
            found[rows] = some.nearest
        else:
            loose.append(rows)

    rows_of.each(fill, found.shape)
    for rows in loose:
        found[rows] = metric.enclosures(points[rows], others).nearest
    return found


def sides(points: Any, others: Any) -> tuple[Any, Any]:
    """Points and others as what has a length and slices; the same twice where there are no others."""
    left = points if isinstance(points, (list, tuple, np.ndarray)) else as_list(points, "points")
    return left, left if others is None else others if isinstance(others, (list, tuple, np.ndarray)) else list(others)


def amount_bounds(amount: Level | Fraction | float) -> tuple[float, float]:
    """Floats below and above a number that a metric holds: a level, a rational or infinity.

    >>> amount_bounds(Fraction(1, 2)), amount_bounds(math.inf)
    ((0.5, 0.5), (inf, inf))
    """
    if isinstance(amount, Level):
        return amount.enclose().outward
    return float_below(amount), float_above(amount)


def _close(lower: Floats, upper: Floats) -> Mask:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((lower == upper) | (upper <= lower * (1 + VIEW_ERROR / 2)))


def _between(lower: Floats, view: Floats, upper: Floats) -> bool:
    """Whether a view of finite distances lies between the bounds everywhere, and is zero only where they are."""
    inside = ((lower <= view) & (view <= upper)).all() and (upper < math.inf).all()
    return bool(inside and np.count_nonzero(view) == np.count_nonzero(upper))


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and its error, exactly (Knuth); NaN for the error where the sum is not finite."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _root(a: Floats, b: Floats, way: int) -> Floats:
    """A bound on ``sqrt(a² + b²)``, below or above; a itself where b is zero, and the other way round.

    Both are divided by a power of two, which is exact, so that squares neither overflow nor underflow to any effect;
    squares, sum and root are rounded correctly, four times 2^-53 together.
    """
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        largest = np.maximum(a, b)
        _, exponent = np.frexp(np.where(np.isfinite(largest), largest, 1.0))
        one, two = np.ldexp(a, -exponent), np.ldexp(b, -exponent)
        root = np.sqrt(one * one + two * two) * (1 + way * _ROOT_ERROR)
        moved = np.nextafter(np.ldexp(root, exponent), way * math.inf)
    bound = np.where(a == 0, b, np.where(b == 0, a, np.maximum(moved, 0)))
    return np.where(np.isinf(largest), math.inf, bound)
