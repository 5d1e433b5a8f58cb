"""A mechanism for every point between the inputs of a channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channels.channel import Channel
from metricdp.channels.extended._locate import OUTSIDE, Locator
from metricdp.channels.extended._mesh import Mesh, Point, cross
from metricdp.channels.extended._snapping import EVERY, Snapping
from metricdp.channels.extended._steepness import Steepness
from metricdp.errors import (
    ArgumentError,
    MetricDPError,
    OutOfDomainError,
    UnsupportedMetricError,
)
from metricdp.exact.balls import float_below
from metricdp.exact.choice import draw_shares
from metricdp.exact.lists import as_list
from metricdp.mechanisms.mechanism import at_distance
from metricdp.metrics import Guarantee, Metric
from metricdp.metrics.coordinates import vector
from metricdp.metrics.words import Measure

__all__ = ["Extended", "extended"]

_WIDEST = 120  # degrees


@dataclass(frozen=True, repr=False)
class Extended(Snapping):
    """The mechanism on a continuous region that a channel on some of its points gives; see `extended`.

    A secret x lies in an interval or triangle whose corners are inputs of the channel. One of the corners is drawn,
    with the barycentric weights λ_k(x) of x, and goes through the channel: ``K'(x)(z) = Σ_k λ_k(x) K(corner_k)(z)``.

    Attributes:
        channel: on the corners.
        base: the metric without its level.
        region: corners of the convex region that secrets lie in, counter-clockwise, or the ends of an interval.
        level: the least level, rounded up, for which ``level · base`` is kept by every two points of the region.

    Guarantee:
        ``level · base``. Each output's probability is linear on a simplex, so along a straight line its logarithm
        changes by at most ``‖∇v‖ / v`` in the dual norm times the length; the largest of these over all outputs and
        simplices is the level. On the globe lines are straight in degrees, and the little by which they are longer than
        great circles is added.

    References:
        Paper 1, Definition 1, on a continuous set of secrets.
    """

    channel: Channel
    base: Metric
    region: tuple[Point, ...]
    level: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """``level · base``, with no delta."""
        return Guarantee(self.level * self.base)

    @property
    def name(self) -> str:
        """What it does with a secret."""
        return "a channel on points, and random snapping to them between"

    def words(self, measure: Measure | None = None) -> str:
        """With the number of points."""
        del measure
        return f"random snapping to {len(self.channel.inputs)} points, then a channel"

    @property
    def secrets_to_try(self) -> Sequence[Any]:
        """The corners of the region and their mean."""
        count = len(self.region)
        mean = tuple(
            sum((corner[k] for corner in self.region), Fraction(0)) / count for k in range(self._mesh.dimension)
        )
        tried = [tuple(float(value) for value in corner) for corner in [*self.region, mean]]
        inside = [point for point in tried if self._holds(tuple(map(Fraction, point)))]
        return inside if self._mesh.dimension > 1 else [point[0] for point in inside]

    @property
    def dimension(self) -> int:
        """One or two."""
        return self._mesh.dimension

    def _snapped(self, numbers: Sequence[NDArray[Any]], units: Sequence[Fraction]) -> NDArray[np.int64]:
        located = self._locator.locate(numbers, units)
        drawn = draw_shares(located.shares, located.radius, located.exact_shares)
        corners: NDArray[np.int64] = self._locator.corners[located.simplices, drawn]
        return corners

    def _shares(self, x: Point, row: int | None = None) -> list[tuple[int, Fraction]]:
        """The corners around a point, with their weights."""
        wound = self._locator.wound(x)
        simplex = self._mesh.holding(wound) if self._holds(wound) else None
        if simplex is None:
            raise OutOfDomainError(OUTSIDE, row)
        return list(zip(self._mesh.simplices[simplex], self._mesh.shares(simplex, wound), strict=True))

    def _holds(self, x: Point) -> bool:
        return self._locator.in_region(self._locator.wound(x))

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """For every secret, at least this: a corner of its simplex is drawn, and an output near that corner follows.

        An output within ``distance − e`` of a corner is within ``distance`` of all that is within e of it; e is the
        longest edge at that corner.
        """
        channel, unit = self.channel, self.base
        reach = float_below(distance)
        near = unit.enclosures(list(channel.inputs), list(channel.outputs)).upper <= reach - self._edges[:, None]
        used = sorted({corner for simplex in self._used for corner in self._mesh.simplices[simplex]})
        return float_below(min(Fraction(sum(channel.weights[x][near[x]].tolist()), channel.total) for x in used))

    @cached_property
    def _edges(self) -> NDArray[np.float64]:
        """The longest edge at each input, rounded up."""
        longest = np.zeros(len(self.channel.inputs))
        apart = self.base.enclosures(list(self.channel.inputs)).upper
        for corners in self._mesh.simplices:
            for corner in corners:
                longest[corner] = max(longest[corner], *(apart[corner, other] for other in corners))
        return longest * (1 + 2.0**-40)

    def _unit_error(self) -> float:
        return float(self._edges.max())

    @cached_property
    def _mesh(self) -> Mesh:
        return _mesh_of(self.channel)

    @cached_property
    def _used(self) -> list[int]:
        return _touching(self._mesh, self.region)

    @cached_property
    def _locator(self) -> Locator:
        return Locator(self._mesh, self.region, self.base.on_globe)


def extended(channel: Channel, region: Sequence[Any] | None = None, *, metric: Metric | None = None) -> Extended:
    """A mechanism for every point between the inputs of a channel, which are numbers, points of the plane or places.

    Args:
        channel: private on its inputs. An output that is impossible at one input and not at its neighbour is refused.
        region: where secrets lie: the corners of a convex polygon among the inputs, or the two ends of an interval. By
            default all that lies between the inputs, their convex hull.
        metric: the metric, where the channel promises none; of the channel's promise by default. A norm of R or of the
            plane, or the great circle. Its level does not matter: the level that holds is computed.

    Returns:
        A mechanism whose `level` is the least for which it is private between all points, rounded up. On the points
        alone the channel may keep a stronger promise.

    Raises:
        UnsupportedMetricError: the metric is no norm and no great circle.
        ArgumentError: the inputs are no points, lie on one line, coincide, touch a pole or lie on two sides of the
            globe; or the region is not convex, or not among them.
        ImpossibleError: an output is impossible at one input and not at its neighbour.

    >>> import metricdp as mdp
    >>> K = mdp.channels.of(mdp.truncated_geometric(mdp.ln(2) * mdp.metrics.absolute(), 3), range(4))
    >>> between = K.extended()
    >>> between.guarantee, between.release(1.25) in range(4)
    (Guarantee(absolute()), True)
    """
    base = _base(channel, metric)
    mesh = _mesh_of(channel)
    if base.on_globe:
        _refuse_far_places(mesh)
    corners = _region(mesh, region)
    used = _touching(mesh, corners)
    rows = channel.weights[sorted({corner for simplex in used for corner in mesh.simplices[simplex]})].tolist()
    same = all(row == rows[0] for row in rows)
    return Extended(channel, base, corners, EVERY if same else Steepness(mesh, base).above(channel.weights, used))


def _base(channel: Channel, metric: Metric | None) -> Metric:
    if metric is None:
        if channel.promise is None:
            raise ArgumentError("the channel promises nothing, so say which metric is meant: extended(metric=...)")
        metric = channel.promise.metric
    if not isinstance(metric, Metric):
        raise ArgumentError(f"a metric is wanted here, such as mdp.metrics.euclidean(), not {type(metric).__name__}")
    if metric.on_globe or metric.norm is not None:
        return metric.unit
    raise UnsupportedMetricError(
        "only between numbers, points of the plane and places on the globe is there anything between: "
        f"a norm or the great circle is wanted, not {metric}"
    )


def _mesh_of(channel: Channel) -> Mesh:
    try:
        points = [vector(point) for point in channel.inputs]
    except MetricDPError:
        raise ArgumentError(
            "the inputs of the channel are not points: numbers or pairs of numbers are wanted"
        ) from None
    sizes = {len(point) for point in points}
    if len(sizes) > 1 or max(sizes) > 2:
        raise ArgumentError(
            "the inputs of the channel are numbers, or pairs of numbers, not points of more coordinates"
        )
    return Mesh.of(points)


def _refuse_far_places(mesh: Mesh) -> None:
    if mesh.dimension != 2:
        raise ArgumentError("a place is a pair (latitude, longitude)")
    if max(abs(latitude) for latitude, _ in mesh.points) >= 90:
        raise ArgumentError("at a pole straight lines in degrees are no ways on the globe; leave the poles out")
    longitudes = [longitude for _, longitude in mesh.points]
    if max(longitudes) - min(longitudes) > _WIDEST:
        raise ArgumentError(
            f"the places are more than {_WIDEST} degrees of longitude apart; where they lie on both sides of the 180th "
            "meridian, count longitudes on beyond 180"
        )


def _region(mesh: Mesh, given: Sequence[Any] | None) -> tuple[Point, ...]:
    """Corners of the region, counter-clockwise."""
    if given is None:
        return _hull(mesh.points)
    corners = tuple(vector(point) for point in as_list(given, "corners", "[(0, 0), (1, 0), (0, 1)]"))
    if any(len(corner) != mesh.dimension for corner in corners):
        raise ArgumentError(f"corners of the region have {mesh.dimension} coordinates, as the inputs do")
    if mesh.dimension == 1:
        if len(corners) != 2 or corners[0] >= corners[1]:
            raise ArgumentError("a region on the line is (low, high), with low below high")
    elif len(corners) < 3 or set(_hull(corners)) != set(corners):
        raise ArgumentError("the region is a convex polygon: at least three corners, each of them needed")
    else:
        corners = _hull(corners)
    if any(mesh.holding(corner) is None for corner in corners):
        raise ArgumentError("the region reaches beyond the inputs of the channel: it lies among them")
    return corners


def _hull(points: Sequence[Point]) -> tuple[Point, ...]:
    """The convex hull: the ends on the line, corners counter-clockwise in the plane."""
    order = sorted(set(points))
    if len(order[0]) == 1:
        return order[0], order[-1]
    sides = []
    for way in (order, order[::-1]):
        side: list[Point] = []
        for point in way:
            while len(side) > 1 and cross(side[-2], side[-1], point) <= 0:
                side.pop()
            side.append(point)
        sides.append(side[:-1])
    return tuple(sides[0] + sides[1])


def _touching(mesh: Mesh, region: tuple[Point, ...]) -> list[int]:
    """The simplices that share more than their edge with the region."""
    if mesh.dimension == 1:
        (low,), (high,) = region
        pairs = [(mesh.points[a][0], mesh.points[b][0]) for a, b in mesh.simplices]
        return [k for k, (left, right) in enumerate(pairs) if left < high and right > low]
    return [
        k
        for k in range(len(mesh.simplices))
        if not _apart(mesh.corners(k), region) and not _apart(region, mesh.corners(k))
    ]


def _apart(polygon: Sequence[Point], other: Sequence[Point]) -> bool:
    """Whether one side of a convex polygon has all corners of the other on its outer side."""
    return any(all(cross(polygon[k - 1], polygon[k], corner) <= 0 for corner in other) for k in range(len(polygon)))
