"""Metrics derived from another and finitely many points: its closure by shortest paths, its share of the diameter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from flint import arb

from metricdp.errors import ArgumentError, NotAMetricError
from metricdp.exact.arrays import Floats
from metricdp.exact.lists import as_list
from metricdp.metrics.amounts import Exact
from metricdp.metrics.axioms import Distances, Violation
from metricdp.metrics.coordinates import frozen
from metricdp.metrics.enclosures import Enclosures
from metricdp.metrics.finite import Listed, matrix
from metricdp.metrics.metric import Metric, operations
from metricdp.metrics.norms import Root, ball_norm, exact_sum, root_norm

__all__ = ["Closed", "Normalized", "close", "farthest", "normalize"]


@dataclass(frozen=True, repr=False)
class Closed(Listed):
    """The lengths of shortest paths over a list of points, where some distance is irrational.

    Each distance is kept as the path that attains it, so that it can be enclosed at any precision.

    Attributes:
        base: the distance of one step.
        points: the secrets.
        detours: the pairs of places (i < j) that are nearer by a path, each with the places in between.
    """

    base: Metric
    points: tuple[Any, ...]
    detours: tuple[tuple[tuple[int, int], tuple[int, ...]], ...]
    kind: ClassVar[str] = "closure"

    @property
    def listed(self) -> Sequence[Any]:
        """The points."""
        return self.points

    @property
    def proven(self) -> bool:
        """True: shortest paths are a metric."""
        return True

    @cached_property
    def _between_ends(self) -> dict[tuple[int, int], tuple[int, ...]]:
        return dict(self.detours)

    @cached_property
    def _floats(self) -> Floats:
        direct = self.base.pairwise(self.points)
        floats = np.minimum(direct, direct.T)
        np.fill_diagonal(floats, 0.0)
        mended = floats.copy()
        for (start, end), between in self.detours:
            path = (start, *between, end)
            mended[start, end] = mended[end, start] = floats[path[:-1], path[1:]].sum()
        return mended

    def _between(self, left: list[int], right: list[int]) -> Floats:
        return self._floats[np.ix_(left, right)]

    @cached_property
    def _bounds(self) -> Enclosures:
        direct = self.base.enclosures(self.points)
        steps = direct.minimum(Enclosures(direct.lower.T, direct.upper.T))
        lower, upper = steps.lower.copy(), steps.upper.copy()
        for (start, end), between in self.detours:
            path = (start, *between, end)
            length = Enclosures.exact(np.zeros((1, 1)))
            for i, j in itertools.pairwise(path):
                length = length + steps[[[i]], [[j]]]
            for there in ((start, end), (end, start)):
                lower[there], upper[there] = length.lower[0, 0], length.upper[0, 0]
        np.fill_diagonal(lower, 0.0)
        np.fill_diagonal(upper, 0.0)
        return Enclosures(lower, upper)

    def _enclosed_between(self, left: list[int], right: list[int]) -> Enclosures:
        return self._bounds[np.ix_(left, right)]

    def _steps(self, x: Any, y: Any) -> list[tuple[Any, Any]]:
        start, end = sorted((self._place(x), self._place(y)))
        path = (start, *self._between_ends.get((start, end), ()), end) if start < end else (start,)
        return [(self.points[i], self.points[j]) for i, j in itertools.pairwise(path)]

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        steps = [(self.base.exactly(*step), self.base.exactly(*step[::-1])) for step in self._steps(x, y)]
        return exact_sum([None if None in ways else _least(*ways) for ways in steps])

    def _square(self, x: Any, y: Any) -> Fraction | None:
        steps = self._steps(x, y)
        squares = [self.base.square(*way) for step in steps for way in (step, step[::-1])]
        known = [square for square in squares if square is not None]
        return min(known) if len(steps) == 1 and len(known) == 2 else None

    def _irrational(self, x: Any, y: Any) -> arb:
        return ball_norm([self.base.ball(*step).min(self.base.ball(*step[::-1])) for step in self._steps(x, y)], 1)

    def _exponential(self, x: Any, y: Any) -> Root | None:
        steps = [(self.base.exponential(*step), self.base.exponential(*step[::-1])) for step in self._steps(x, y)]
        return root_norm([None if one is None or two is None else min(one, two) for one, two in steps], 1)

    def _formula(self) -> str:
        return f"closure({self.base}; {len(self.points)} points)"

    def _arguments(self) -> dict[str, Any]:
        return {"base": self.base, "points": self.points}

    def __repr__(self) -> str:
        return f"({self.base!r}).closure({self.points!r})"


@dataclass(frozen=True, repr=False)
class Normalized(Metric):
    """A metric divided by an irrational distance, the largest over some points.

    Attributes:
        base: the metric.
        ends: the two points whose distance it is divided by.
    """

    base: Metric
    ends: tuple[Any, Any]
    kind: ClassVar[str] = "normalized"
    sound: ClassVar[bool] = True
    _keeps_geodesics: ClassVar[bool] = True
    _unit_name: ClassVar[str | None] = ""

    def _pairwise(self, points: Any, others: Any) -> Floats:
        return self.base.pairwise(points, others) / self.base(*self.ends)

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        low, high = self.base.enclose(*self.ends).outward
        if not low > 0:
            return Enclosures.unknown((len(points), len(others)))
        reciprocal = math.nextafter(1 / high, 0), math.nextafter(1 / low, math.inf)
        return self.base._enclosures(points, others).times(reciprocal)

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        distance = self.base.exactly(x, y)
        return distance if distance in (0, math.inf) else None

    def _irrational(self, x: Any, y: Any) -> arb:
        return self.base.ball(x, y) / self.base.ball(*self.ends)

    def _formula(self) -> str:
        return f"{self.base.bracketed}/diameter"

    def __repr__(self) -> str:
        return f"({self.base!r}).normalized({self.ends!r})"


def normalize(metric: Metric, points: Sequence[Any]) -> Metric:
    """See `Metric.normalized`."""
    unit = metric.unit
    ends = unit.farthest(points)
    diameter = unit.exactly(*ends)
    if diameter is None:
        return Normalized(unit, (frozen(ends[0]), frozen(ends[1])))
    if diameter in (0, math.inf):
        raise ArgumentError("a metric is divided by its diameter only where that is neither 0 nor infinite")
    return unit / Fraction(diameter)


def farthest(metric: Metric, points: Sequence[Any]) -> tuple[Any, Any]:
    """See `Metric.farthest`."""
    points = as_list(points, "points", "[0, 1]")
    distances = Distances(metric, points)
    apart = distances.enclosures
    first, *others = np.argwhere(np.triu(apart.upper >= apart.lower.max())).tolist()
    best = (first[0], first[1])
    for pair in ((i, j) for i, j in others):
        if distances.compare(pair, [best]) > 0:
            best = pair
    return points[best[0]], points[best[1]]


def close(metric: Metric, points: Sequence[Any]) -> Metric:
    """See `Metric.closure`."""
    points = tuple(frozen(point) for point in as_list(points, "points", "[0, 1]"))
    if metric.level.log_of is not None:  # without its logarithm the distances may be rational
        return close(metric.unit, points) * metric.level
    distances = Distances(metric, points)
    for axiom, places in distances.simple_violations():
        broken = Violation(axiom, (points[places[0]], points[places[1]]), (distances.shown(places),))
        if not broken.mendable:
            raise NotAMetricError(f"{broken}; paths cannot mend this", broken)
    if distances.all_rational():
        return matrix(points, _shortest(distances), check=False)
    direct = Closed(metric, points, ())
    return direct if metric.proven else _relaxed(direct)


def _shortest(distances: Distances) -> list[list[Exact]]:
    """Floyd and Warshall's algorithm, in integers: the distances times a common denominator."""
    places = range(len(distances.points))
    exact = [[_least(distances.exactly((i, j)), distances.exactly((j, i))) for j in places] for i in places]
    finite = [value for row in exact for value in row if isinstance(value, Fraction)]
    scale = math.lcm(*(value.denominator for value in finite))
    beyond = int(sum(finite) * scale) + 1  # longer than any path without an infinite step
    integers = [[int(value * scale) if isinstance(value, Fraction) else beyond for value in row] for row in exact]
    least = np.array(integers, dtype=np.int64 if beyond < 1 << 61 else object)
    np.fill_diagonal(least, 0)
    for middle in places:
        least = np.minimum(least, np.add.outer(least[:, middle], least[middle, :]))
    return [[math.inf if value >= beyond else Fraction(int(value), scale) for value in row] for row in least.tolist()]


def _least(one: Exact | None, two: Exact | None) -> Exact:
    return min(value for value in (one, two) if value is not None)


def _relaxed(metric: Closed) -> Closed:
    """Take the shorter way round every broken triangle, until none is left that is proven.

    Every round makes some path shorter and there are finitely many paths, so it ends. The triangles that enclosures
    prove broken go first, to spare the balls.
    """
    detours: dict[tuple[int, int], tuple[int, ...]] = {}
    while True:
        distances = Distances(metric, metric.points)
        shortcuts = _clear_shortcuts(distances.enclosures) or list(distances.broken_triangles())
        if not shortcuts:
            return metric
        detours |= {(x, z): (*_between(detours, x, y), y, *_between(detours, y, z)) for x, y, z in shortcuts}
        metric = Closed(metric.base, metric.points, tuple(sorted(detours.items())))


def _clear_shortcuts(apart: Enclosures) -> list[tuple[int, int, int]]:
    """For each pair x < z that is proved to be nearer by way of another point, the best such way (x, y, z)."""
    least, best = apart.lower.copy(), np.full(apart.lower.shape, -1)
    for middle in range(len(least)):
        legs = np.nextafter(np.add.outer(apart.upper[:, middle], apart.upper[middle, :]), math.inf)
        shorter = legs < least
        least[shorter], best[shorter] = legs[shorter], middle
    return [(x, int(best[x, z]), z) for x, z in np.argwhere(np.triu(best >= 0)).tolist()]


def _between(detours: dict[tuple[int, int], tuple[int, ...]], x: int, y: int) -> tuple[int, ...]:
    return detours.get((x, y), ()) if x < y else detours.get((y, x), ())[::-1]


operations.close = close
operations.farthest = farthest
operations.normalize = normalize
