"""Which interval or triangle points lie in, and the weights of its corners: in floats first, then exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channels.extended._mesh import Mesh, Point, cross
from metricdp.channels.extended._steepness import gradients
from metricdp.errors import NotFiniteError, OutOfDomainError
from metricdp.exact.arrays import Floats
from metricdp.exact.refine import Integers
from metricdp.metrics.coordinates import number

__all__ = ["OUTSIDE", "Located", "Locator", "as_floats"]

OUTSIDE = "outside of the region that the mechanism is made for"

_ERROR = 2.0**-48
_EXACT = 2.0**53
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Located:
    """Where points lie.

    Attributes:
        simplices: a simplex for each.
        shares: about the weights of its corners, a row for each corner.
        radius: a bound on the error of any sum of them; NaN where only the exact ones are known.
        mesh: the simplices.
        points: the exact point of a row.
    """

    simplices: Integers
    shares: Floats
    radius: Floats
    mesh: Mesh
    points: Any

    def exact_shares(self, row: int) -> Sequence[Fraction]:
        """The weights of the corners of one point."""
        return self.mesh.shares(int(self.simplices[row]), self.points(row))


@dataclass(frozen=True, eq=False)
class Locator:
    """Finds points among simplices.

    Attributes:
        mesh: the simplices.
        region: the corners of the convex region to which points have to belong.
        on_globe: whether the second coordinate counts modulo 360.
    """

    mesh: Mesh
    region: tuple[Point, ...]
    on_globe: bool

    @cached_property
    def corners(self) -> Integers:
        """The numbers of the corners, a row for each simplex."""
        return np.array(self.mesh.simplices, dtype=np.int64)

    def wound(self, x: Point) -> Point:
        """The same place with its longitude next to those of the mesh."""
        if not self.on_globe:
            return x
        turns = math.floor((x[1] - self._middle) / 360 + Fraction(1, 2))
        return x[0], x[1] - 360 * turns

    @cached_property
    def _middle(self) -> Fraction:
        longitudes = [point[1] for point in self.mesh.points]
        return (min(longitudes) + max(longitudes)) / 2

    def in_region(self, x: Point) -> bool:
        """Whether a point belongs to the region, its edges included."""
        if self.mesh.dimension == 1:
            return self.region[0] <= x <= self.region[1]
        return all(cross(self.region[k - 1], self.region[k], x) >= 0 for k in range(len(self.region)))

    def locate(self, numbers: Sequence[NDArray[Any]], units: Sequence[Fraction]) -> Located:
        """Find all points, given as a column of exact numbers for each coordinate, and what these are counted in.

        Raises:
            NotFiniteError, OutOfDomainError: with the first row.
        """
        count, exact = len(numbers[0]), [column.astype(object) for column in numbers]
        floats, sure = as_floats(numbers, units)

        def point(row: int) -> Point:
            return self.wound(tuple(number(column[row], row) * unit for column, unit in zip(exact, units, strict=True)))

        simplices = np.full(count, -1, dtype=np.int64)
        shares = np.full((self.corners.shape[1], count), np.nan)
        radius = np.full(count, np.nan)
        for start in range(0, count, self._block):
            part = slice(start, start + self._block)
            found, weights, error = self._quickly(floats[:, part])
            found[~sure[part]] = -1
            simplices[part], shares[:, part], radius[part] = found, weights, error
        for row in np.flatnonzero(simplices < 0).tolist():
            x = point(row)
            place = self.mesh.holding(x) if self.in_region(x) else None
            if place is None:
                raise OutOfDomainError(OUTSIDE, row)
            simplices[row], radius[row] = place, np.nan
        return Located(simplices, shares, radius, self.mesh, point)

    @cached_property
    def _block(self) -> int:
        return max(1, _BLOCK // len(self.mesh.simplices))

    @cached_property
    def _floats(self) -> tuple[Floats, Floats]:
        """A corner of each simplex, and the gradients of its barycentric coordinates."""
        origins = np.array(
            [[float(value) for value in self.mesh.corners(k)[0]] for k in range(len(self.mesh.simplices))]
        )
        slopes = np.array(
            [
                [[float(value) for value in row] for row in gradients(self.mesh, k)]
                for k in range(len(self.mesh.simplices))
            ]
        )
        return origins, slopes

    def _quickly(self, x: Floats) -> tuple[Integers, Floats, Floats]:
        """The simplex of each point, or -1 where floats cannot tell; its weights; a bound on their error."""
        origins, slopes = self._floats
        away = x.T[:, None, :] - origins[None]
        weights = np.einsum("psd,skd->pks", away, slopes)
        weights[:, 0] += 1
        reach = np.abs(x.T)[:, None, :] + np.abs(origins)[None]
        error = _ERROR * (1 + np.einsum("psd,sd->ps", reach, np.abs(slopes).max(axis=1)))
        inside = (weights > error[:, None, :]).all(axis=1)
        found = np.where(inside.any(axis=1) & self._surely_in_region(x), inside.argmax(axis=1), -1)
        rows = np.arange(len(found))
        return found, weights[rows, :, found].T, 4 * error[rows, found]

    def _surely_in_region(self, x: Floats) -> NDArray[np.bool_]:
        corners = np.array([[float(value) for value in corner] for corner in self.region])
        if len(x) == 1:
            low, high = corners[:, 0]
            slack = _ERROR * (np.abs(x[0]) + abs(low) + abs(high))
            return np.asarray((x[0] > low + slack) & (x[0] < high - slack))
        sure = np.ones(x.shape[1], dtype=bool)
        size = np.abs(x).max(axis=0) + np.abs(corners).max()
        for k in range(len(corners)):
            (ax, ay), (bx, by) = corners[k - 1], corners[k]
            turn = (bx - ax) * (x[1] - ay) - (by - ay) * (x[0] - ax)
            sure &= turn > 8 * _ERROR * size * size
        return sure


def as_floats(numbers: Sequence[NDArray[Any]], units: Sequence[Fraction]) -> tuple[Floats, NDArray[np.bool_]]:
    """Columns of exact numbers as rows of floats, and for which of them these are what was given.

    Raises:
        NotFiniteError: with the first row.
    """
    count = len(numbers[0])
    floats, sure = np.empty((len(numbers), count)), np.ones(count, dtype=bool)
    for axis, (column, unit) in enumerate(zip(numbers, units, strict=True)):
        if column.dtype == object or unit != 1:
            floats[axis], sure[:] = np.nan, False
            continue
        floats[axis] = column
        if column.dtype.kind == "f" and not bool(np.isfinite(floats[axis]).all()):
            raise NotFiniteError("NaN or infinity where a number belongs", int(np.argmin(np.isfinite(floats[axis]))))
        if column.dtype.kind != "f":
            sure &= np.abs(floats[axis]) < _EXACT
    return floats, sure
