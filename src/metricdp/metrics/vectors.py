"""Distances between numbers and between points of R^n, by the three norms of the papers."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ShapeError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball
from metricdp.metrics.amounts import Exact, positive
from metricdp.metrics.coordinates import coordinates, same_length, to_floats, vector
from metricdp.metrics.enclosures import EnclosedRows, Enclosures
from metricdp.metrics.metric import Metric
from metricdp.metrics.norms import COMBINE, ball_norm, exact_norm

__all__ = [
    "Absolute",
    "Chebyshev",
    "Euclidean",
    "Manhattan",
    "Norm",
    "absolute",
    "chebyshev",
    "euclidean",
    "manhattan",
    "normalized_manhattan",
]


_SMALL, _LARGE = 1e-100, 1e100
_LONG = 1 << 40


@dataclass(frozen=True, repr=False)
class Norm(Metric):
    """A distance ``‖x − y‖`` between vectors, with ``p`` 1, 2 or infinity. The points tell the dimension."""

    p: ClassVar[float]
    sound: ClassVar[bool] = True
    _geodesic: ClassVar[bool] = True

    @property
    def norm(self) -> float:
        """``p``."""
        return self.p

    @property
    def grows(self) -> bool:
        """It does, for vectors of one number."""
        return True

    def on_numbers(self) -> Metric:
        """The absolute difference."""
        return absolute()

    @property
    def adds_up(self) -> bool:
        """For the norm 1."""
        return self.p == 1

    def _read(self, points: Any) -> NDArray[Any]:
        return coordinates(points)

    def _pairwise(self, points: Any, others: Any) -> Floats:
        left, right = self._read(points), self._read(others)
        same_length(left[0], right[0])
        if object in (left.dtype, right.dtype):  # exact differences, rounded only then
            left, right = _exact(left), _exact(right)
        combine = COMBINE[self.p]
        with np.errstate(over="ignore"):
            total = to_floats(abs(np.subtract.outer(left[:, 0], right[:, 0])))
            for column in range(1, left.shape[1]):
                total = combine(total, to_floats(abs(np.subtract.outer(left[:, column], right[:, column]))))
        return total

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        return self._by_rows(points, others).quickly(slice(None))

    def _by_rows(self, points: Any, others: Any) -> EnclosedRows:
        left, right = self._read(points), self._read(others)
        same_length(left[0], right[0])
        if _ordinary(left) and _ordinary(right):
            return EnclosedRows(lambda rows: self._quickly(left[rows], right), at_once=True)
        return EnclosedRows(lambda rows: self._carefully(left[rows], right))

    def _carefully(self, left: NDArray[Any], right: NDArray[Any]) -> Enclosures:
        """For any coordinates, one after the other."""
        total = Enclosures.exact(np.zeros((len(left), len(right))))
        for column in range(left.shape[1]):
            total = total.combined(_differences(left[:, column], right[:, column]), self.p)
        return total

    def _quickly(self, left: Floats, right: Floats) -> Enclosures:
        """The same for coordinates whose squares floats hold: few roundings for each, and all of them relative."""
        total = np.zeros((len(left), len(right)))
        for column in range(left.shape[1]):
            apart = np.subtract.outer(left[:, column], right[:, column])
            if self.p == 2:
                apart *= apart
            else:
                np.abs(apart, out=apart)
            total = np.maximum(total, apart, out=total) if self.p == math.inf else np.add(total, apart, out=total)
        if self.p == 2:
            np.sqrt(total, out=total)
        error = (left.shape[1] + 4) * 2.0**-51
        return Enclosures(total * (1 - error), total * (1 + error))

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        return exact_norm(self._differences(x, y), self.p)

    def integers(self, points: Sequence[Any]) -> NDArray[np.int64] | None:
        """For points of integers that are not too large, and all norms but the Euclidean one."""
        rows = [point if isinstance(point, tuple) else (point,) for point in points]
        whole = all(type(entry) is int and abs(entry) < _LONG for row in rows for entry in row)
        if self.p == 2 or not whole or len({len(row) for row in rows}) != 1:
            return None
        table = np.array(rows, dtype=np.int64)
        apart = (np.abs(np.subtract.outer(column, column)) for column in table.T)
        whole_distances: NDArray[np.int64] = functools.reduce(np.maximum if self.p == math.inf else np.add, apart)
        return whole_distances

    def _square(self, x: Any, y: Any) -> Fraction | None:
        return sum(
            (difference**2 for difference in self._differences(x, y)), Fraction(0)
        )  # of the norm 2: others are exact

    def _irrational(self, x: Any, y: Any) -> arb:
        return ball_norm([ball(difference) for difference in self._differences(x, y)], self.p)

    def _differences(self, x: Any, y: Any) -> list[Fraction]:
        left, right = (vector(point) for point in (x, y))
        same_length(left, right)
        return [abs(a - b) for a, b in zip(left, right, strict=True)]


@dataclass(frozen=True, repr=False)
class Absolute(Norm):
    """See `absolute`."""

    kind: ClassVar[str] = "absolute"
    symbol: ClassVar[str] = "|x − y|"
    p: ClassVar[float] = 1

    @property
    def on_line(self) -> bool:
        """It is."""
        return True

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    @property
    def adds_up(self) -> bool:
        """A number has no positions."""
        return False

    def _read(self, points: Any) -> NDArray[Any]:
        array = coordinates(points)
        if array.shape[1] != 1:
            raise ShapeError(f"a number is expected, not {array.shape[1]} coordinates", 0)
        return array

    def _differences(self, x: Any, y: Any) -> list[Fraction]:
        differences = super()._differences(x, y)
        if len(differences) != 1:
            raise ShapeError(f"a number is expected, not {len(differences)} coordinates")
        return differences


@dataclass(frozen=True, repr=False)
class Manhattan(Norm):
    """See `manhattan`."""

    kind: ClassVar[str] = "manhattan"
    symbol: ClassVar[str] = "d₁"
    p: ClassVar[float] = 1


@dataclass(frozen=True, repr=False)
class Euclidean(Norm):
    """See `euclidean`."""

    kind: ClassVar[str] = "euclidean"
    symbol: ClassVar[str] = "d₂"
    p: ClassVar[float] = 2


@dataclass(frozen=True, repr=False)
class Chebyshev(Norm):
    """See `chebyshev`."""

    kind: ClassVar[str] = "chebyshev"
    symbol: ClassVar[str] = "d∞"
    p: ClassVar[float] = math.inf


def absolute() -> Absolute:
    """The distance ``|x − y|`` between numbers, the d_R of the papers.

    >>> absolute()(3, 5.5)
    2.5
    """
    return Absolute()


def manhattan() -> Manhattan:
    """The distance d₁ between vectors: the sum of the coordinates' differences (paper 1, Section 2).

    >>> manhattan()((0, 0), (3, 4))
    7.0
    """
    return Manhattan()


def euclidean() -> Euclidean:
    """The distance d₂ between vectors: the length of the straight line (paper 1, Section 6.2).

    >>> euclidean()((0, 0), (3, 4))
    5.0
    """
    return Euclidean()


def chebyshev() -> Chebyshev:
    """The distance d∞ between vectors: the largest difference of a coordinate (paper 1, Section 6.1).

    >>> chebyshev()((0, 0), (3, 4))
    4.0
    """
    return Chebyshev()


def normalized_manhattan(diameter: int | float | Fraction) -> Metric:
    """The distance d₁/diameter between numeric records whose values lie within ``diameter`` of each other.

    Records that differ in one value are at most 1 apart, and much less where the values are close, so that it is
    nowhere above the Hamming distance.

    References:
        Paper 1, Section 5.1 and Proposition 3.

    >>> normalized_manhattan(100)((20, 55), (20, 60))
    0.05
    """
    return manhattan() / positive(diameter, "diameter")


def _ordinary(coordinates: NDArray[Any]) -> bool:
    """Whether floats hold the coordinates, and the squares of all their differences, far from the ends of their range.

    Two floats that differ do so by at least 2^-53 of the lesser one, or by the other where that is zero.
    """
    if coordinates.dtype == object:
        return False
    sizes = np.abs(coordinates)
    return bool((sizes < _LARGE).all() and sizes.min(initial=1.0, where=sizes > 0) > _SMALL)


def _differences(left: NDArray[Any], right: NDArray[Any]) -> Enclosures:
    """``|a − b|`` for all pairs of numbers, enclosed."""
    if object in (left.dtype, right.dtype):
        exact = abs(np.subtract.outer(_exact(left), _exact(right)))
        return Enclosures.rounded(to_floats(exact), exact == 0)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.subtract.outer(left, right)
        part = rounded - left[:, None]  # the error of a rounded difference is a float, too (Knuth)
        error = (left[:, None] - (rounded - part)) - (right[None, :] + part)
    return Enclosures.rounded(abs(rounded), error == 0)


def _exact(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.dtype == object else np.vectorize(Fraction, otypes=[object])(array)
