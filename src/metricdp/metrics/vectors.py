"""Distances between numbers and between points of R^n, by the three norms of the papers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ShapeError
from metricdp.exact.balls import ball
from metricdp.metrics.amounts import Exact, positive
from metricdp.metrics.coordinates import Floats, coordinates, same_length, to_floats, vector
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


@dataclass(frozen=True, repr=False)
class Norm(Metric):
    """A distance ``‖x − y‖`` between vectors, with ``p`` 1, 2 or infinity. The points tell the dimension."""

    p: ClassVar[float]
    sound: ClassVar[bool] = True
    _geodesic: ClassVar[bool] = True

    def _read(self, points: Any) -> NDArray[Any]:
        return coordinates(points)

    def _pairwise(self, points: Any, others: Any) -> Floats:
        left, right = self._read(points), self._read(others)
        same_length(left[0], right[0])
        if object in (left.dtype, right.dtype):  # exact differences, rounded only then
            left, right = _exact(left), _exact(right)
        combine = COMBINE[self.p]
        total = np.zeros((len(left), len(right)))
        with np.errstate(over="ignore"):
            for column in range(left.shape[1]):
                total = combine(total, to_floats(abs(np.subtract.outer(left[:, column], right[:, column]))))
        return total

    def view_error(self, dimension: int = 1) -> float:
        """Two roundings for each coordinate, of its difference and of a sum, a root or a maximum; four times that."""
        return (dimension + 4) * 2.0**-50

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        return exact_norm(self._differences(x, y), self.p)

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


def _exact(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.dtype == object else np.vectorize(Fraction, otypes=[object])(array)
