"""Intervals and triangles between given points, in exact arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from metricdp.errors import ArgumentError

__all__ = ["Mesh", "Point"]

Point = tuple[Fraction, ...]
_Whole = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Points and the intervals or triangles between them, which fill their convex hull without overlapping.

    Attributes:
        points: exact, of one or two coordinates.
        simplices: for each interval its two points, for each triangle its three, counter-clockwise; by number.

    >>> square = Mesh.of([(Fraction(x), Fraction(y)) for x in (0, 1) for y in (0, 1)])
    >>> sorted(map(sorted, square.simplices))
    [[0, 1, 2], [1, 2, 3]]
    """

    points: tuple[Point, ...]
    simplices: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, points: Sequence[Point]) -> Mesh:
        """Neighbours on a line, or a Delaunay triangulation in the plane.

        Raises:
            ArgumentError: two points are the same, or they do not span an interval or a plane.
        """
        first: dict[Point, int] = {}
        for place, point in enumerate(points):
            if first.setdefault(point, place) != place:
                raise ArgumentError(f"the inputs at {first[point]} and {place} are the same place; give it once")
        if len(points[0]) == 1:
            order = sorted(range(len(points)), key=lambda place: points[place])
            if len(order) < 2:
                raise ArgumentError("there is nothing between the inputs: at least two are wanted")
            return cls(tuple(points), tuple(itertools.pairwise(order)))
        scale = math.lcm(*(value.denominator for point in points for value in point))
        whole = [tuple(int(value * scale) for value in point) for point in points]
        return cls(tuple(points), tuple(_delaunay(whole)))

    @property
    def dimension(self) -> int:
        """One or two."""
        return len(self.points[0])

    def corners(self, simplex: int) -> tuple[Point, ...]:
        """The points of an interval or a triangle."""
        return tuple(self.points[place] for place in self.simplices[simplex])

    def shares(self, simplex: int, x: Point) -> list[Fraction]:
        """Barycentric coordinates: the weights of its corners whose mean is x; some are negative where it is outside.

        >>> Mesh.of([(Fraction(0),), (Fraction(4),)]).shares(0, (Fraction(1),))
        [Fraction(3, 4), Fraction(1, 4)]
        """
        corners = self.corners(simplex)
        if self.dimension == 1:
            (low,), (high,) = corners
            second = (x[0] - low) / (high - low)
            return [1 - second, second]
        whole = cross(*corners)
        a, b, c = corners
        return [cross(x, b, c) / whole, cross(a, x, c) / whole, cross(a, b, x) / whole]

    def holding(self, x: Point) -> int | None:
        """A simplex with x in it, the first of several; None where x lies outside of all."""
        return next((k for k in range(len(self.simplices)) if min(self.shares(k, x)) >= 0), None)


def cross(a: Sequence[Fraction], b: Sequence[Fraction], c: Sequence[Fraction]) -> Fraction:
    """Twice the area of a triangle; positive where its corners go counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _turn(a: _Whole, b: _Whole, c: _Whole) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _delaunay(points: list[_Whole]) -> list[tuple[int, int, int]]:
    """Points are added from left to right, each to the sides of the hull that it sees; then edges are flipped.

    An edge is flipped where the far corner of one triangle lies inside the circle through the other. Each flip lowers
    the paraboloid over the triangles, so flips end (Lawson).
    """
    order = sorted(range(len(points)), key=lambda place: points[place])
    start = next((k for k in range(2, len(order)) if _turn(*(points[order[i]] for i in (0, k - 1, k)))), None)
    if start is None:
        raise ArgumentError("the inputs lie on one line, so there is no region between them; give points off it")
    chain, apex = order[:start], order[start]
    triangles: set[tuple[int, int, int]] = set()
    opposite: dict[tuple[int, int], int] = {}

    def add(a: int, b: int, c: int) -> None:
        triangles.add(_named(a, b, c))
        opposite[a, b], opposite[b, c], opposite[c, a] = c, a, b

    left = _turn(points[chain[0]], points[chain[-1]], points[apex]) > 0
    for one, two in itertools.pairwise(chain):
        add(*((one, two, apex) if left else (two, one, apex)))
    hull = [*chain, apex] if left else [*reversed(chain), apex]
    for place in order[start + 1 :]:
        hull = _joined(points, hull, place, add)
    pending = [edge for edge in opposite if edge[::-1] in opposite]
    while pending:
        a, b = pending.pop()
        if (a, b) not in opposite or (b, a) not in opposite:
            continue
        c, d = opposite[a, b], opposite[b, a]
        if not _in_circle(points[a], points[b], points[c], points[d]):
            continue
        for old in (_named(a, b, c), _named(b, a, d)):
            triangles.remove(old)
        del opposite[a, b], opposite[b, a]
        add(c, d, b)
        add(d, c, a)
        pending += [(b, c), (c, a), (a, d), (d, b)]
    return sorted(triangles)


def _named(a: int, b: int, c: int) -> tuple[int, int, int]:
    """The same triangle, from its least corner on."""
    return min((a, b, c), (b, c, a), (c, a, b))


def _joined(points: list[_Whole], hull: list[int], place: int, add: Callable[[int, int, int], None]) -> list[int]:
    """The hull, counter-clockwise, with one more point to the right of all others."""
    size = len(hull)
    seen = [_turn(points[hull[k]], points[hull[(k + 1) % size]], points[place]) < 0 for k in range(size)]
    first = next(k for k in range(size) if seen[k] and not seen[k - 1])
    length = next(n for n in range(1, size + 1) if not seen[(first + n) % size])
    for n in range(length):
        one, two = hull[(first + n) % size], hull[(first + n + 1) % size]
        add(two, one, place)
    last = (first + length) % size
    kept = [hull[(last + n) % size] for n in range(size - length + 1)]
    return [*kept, place]


def _in_circle(a: _Whole, b: _Whole, c: _Whole, d: _Whole) -> bool:
    """Whether d lies strictly inside the circle through a, b, c, which go counter-clockwise."""
    (ax, ay), (bx, by), (cx, cy) = ((p[0] - d[0], p[1] - d[1]) for p in (a, b, c))
    lifted = [x * x + y * y for x, y in ((ax, ay), (bx, by), (cx, cy))]
    inside = lifted[0] * (bx * cy - cx * by) - lifted[1] * (ax * cy - cx * ay) + lifted[2] * (ax * by - bx * ay)
    return inside > 0
