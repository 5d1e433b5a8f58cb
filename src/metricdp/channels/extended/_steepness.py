"""How fast the logarithm of a piecewise linear probability can change, rounded up."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from metricdp.channels.extended._mesh import Mesh, Point
from metricdp.errors import ImpossibleError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball, enclose, float_above
from metricdp.exact.weights import Weights
from metricdp.metrics import Metric

__all__ = ["Steepness", "chart_factor", "gradients", "normalised"]

_TINY = 1e-280
_BLOCK = 1 << 21
_SLACK = 2.0**-46
_NEAR = 2.0**-30
_MOST_EXACT = 20_000
_ZERO = (
    "an output has probability zero at one input and not at its neighbour, so no level holds between them; "
    "mix the channel with one that has no zeros"
)


@dataclass(frozen=True, eq=False)
class Steepness:
    """The largest ``‖∇v‖ / v`` of any column v of a matrix that is linear on each simplex, in a metric's dual norm.

    On a simplex v is linear, so its gradient is constant and v is least at a corner:
    ``max ‖∇v‖ / v = ‖Σ_k u_k ∇λ_k‖`` with ``u_k = v_k / min v − 1`` and the gradients of barycentric coordinates
    ``∇λ_k``. Floats compute it with a bound on their error; what they cannot hold is computed in Fractions.

    Attributes:
        mesh: the simplices.
        metric: of which the norm is the dual: L1, L2, L-infinity, or the great circle on (latitude, longitude).
    """

    mesh: Mesh
    metric: Metric

    def above(self, weights: Weights, simplices: Iterable[int]) -> Fraction:
        """A number that no column exceeds on any of some simplices.

        Raises:
            ImpossibleError: a column is zero at one corner and not at another.
        """
        some = list(simplices)
        if not some:
            return Fraction(0)
        corners = np.array([self.mesh.simplices[k] for k in some])
        exact = [self._stretched(k) for k in some]
        rounded = np.array([[[float(value) for value in row] for row in rows] for rows in exact])
        columns = np.array(normalised(weights))
        positive = np.array([[value > 0 for value in row] for row in weights.tolist()])
        largest = 0.0
        close: list[tuple[float, int, int]] = []
        block = max(1, _BLOCK // weights.shape[1])
        for start in range(0, len(some), block):
            part = slice(start, start + block)
            values, present = columns[corners[part]], positive[corners[part]]
            if bool((present.any(axis=1) & ~present.all(axis=1)).any()):
                raise ImpossibleError(_ZERO)
            least = values.min(axis=1)
            held = least > _TINY
            upper = self._upper(values / np.where(held, least, 1.0)[:, None, :], rounded[part])
            largest = max(largest, float(upper.max(initial=0.0, where=held)))
            shown = np.where(held, upper, np.where(present.any(axis=1), np.inf, 0.0))
            cases = np.argwhere(shown >= largest * (1 - _NEAR)).tolist()
            close += [(float(shown[row, column]), start + row, column) for row, column in cases]
        close = [case for case in close if case[0] >= largest * (1 - _NEAR)]
        if len(close) > _MOST_EXACT:  # what floats hold stays as they have it, rounded up
            close = [case for case in close if math.isinf(case[0])]
        else:
            largest *= 1 - _NEAR
        for _, row, column in close:
            at_corners = [int(weights[place, column]) for place in corners[row]]
            largest = max(largest, self._exactly(at_corners, exact[row]))
        return Fraction(float_above(Fraction(largest) * self.unit))

    @property
    def unit(self) -> Fraction:
        """What a gradient in coordinates is multiplied by at most to be one in the metric."""
        return chart_factor(self.mesh.points, self.metric) if self.metric.on_globe else Fraction(1)

    def _upper(self, ratios: Floats, slopes: Floats) -> Floats:
        """``‖Σ (ratio_k − 1) ∇λ_k‖`` with the error of floats added; simplices by columns."""
        summed = np.einsum("skc,skd->scd", ratios - 1, slopes)
        error = np.einsum("skc,sk->sc", ratios, self._norm(slopes))
        return np.asarray(self._norm(summed) * (1 + _SLACK) + _SLACK * error)

    def _norm(self, vectors: Floats) -> Floats:
        sizes = np.abs(vectors)
        if self._dual == 1:
            return np.asarray(sizes.sum(axis=-1))
        if self._dual == math.inf:
            return np.asarray(sizes.max(axis=-1))
        return np.asarray(np.sqrt((sizes * sizes).sum(axis=-1)))

    def _exactly(self, weights: list[int], slopes: list[Point]) -> float:
        least = min(weights)
        vector = [
            sum(
                (Fraction(weight - least, least) * slope[axis] for weight, slope in zip(weights, slopes, strict=True)),
                Fraction(0),
            )
            for axis in range(self.mesh.dimension)
        ]
        sizes = [abs(value) for value in vector]
        if self._dual == 2:
            return enclose(lambda: ball(sum((size * size for size in sizes), Fraction(0))).sqrt()).outward[1]
        return float_above(sum(sizes, Fraction(0)) if self._dual == 1 else max(sizes))

    @property
    def _dual(self) -> float:
        norm = 2.0 if self.metric.on_globe else self.metric.norm
        return {1.0: math.inf, math.inf: 1.0}.get(norm or 1.0, 2.0) if self.mesh.dimension > 1 else 1.0

    def _stretched(self, simplex: int) -> list[Point]:
        """The gradients, along the circles of latitude as long as they are where these are shortest."""
        slopes = gradients(self.mesh, simplex)
        if not self.metric.on_globe:
            return slopes
        highest = max(abs(latitude) for latitude, _ in self.mesh.corners(simplex))
        along = Fraction(enclose(lambda: 1 / _cos(highest)).outward[1])
        return [(slope[0], slope[1] * along) for slope in slopes]


def gradients(mesh: Mesh, simplex: int) -> list[Point]:
    """The gradients of the barycentric coordinates of an interval or a triangle.

    >>> gradients(Mesh.of([(Fraction(0),), (Fraction(2),)]), 0)
    [(Fraction(-1, 2),), (Fraction(1, 2),)]
    """
    corners = mesh.corners(simplex)
    if mesh.dimension == 1:
        width = corners[1][0] - corners[0][0]
        return [(-1 / width,), (1 / width,)]
    a, b, c = corners
    area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return [((q[1] - r[1]) / area, (r[0] - q[0]) / area) for q, r in ((b, c), (c, a), (a, b))]


def chart_factor(points: Iterable[Point], metric: Metric) -> Fraction:
    """By how much a change along a line of the chart, per degree, exceeds one along the globe, per metre, at most.

    Between two places with latitudes and longitudes Δφ and Δλ apart, in radians, the straight line of the chart has the
    length ``∫ √(Δφ² + cos²φ Δλ²)``, at most ``√(Δφ² + mean(cos²φ) Δλ²)``, for the root is concave; the mean is at most
    ``P + Δφ²/3`` with P the product of the two cosines. The great circle θ has
    ``θ/2 >= sin(θ/2) = √(sin²(Δφ/2) + P sin²(Δλ/2)) >= s √(Δφ² + P Δλ²) / 2`` with ``s = sin(u)/u`` for the larger u of
    Δφ/2 and Δλ/2. So the line is longer by a factor of at most ``√(1 + Δλ²/3) / s``.
    """
    places = list(points)
    spans = [max(place[axis] for place in places) - min(place[axis] for place in places) for axis in (0, 1)]
    radius = metric.unit.radius  # type: ignore[attr-defined]  # of the one metric on the globe

    def factor() -> arb:
        high, wide = (ball(span) * arb.pi() / 180 for span in spans)
        half = (high if spans[0] > spans[1] else wide) / 2
        longer = (1 + wide * wide / 3).sqrt() * half / half.sin()
        return longer * 180 / (arb.pi() * ball(radius))

    return Fraction(enclose(factor).outward[1])


def _cos(degrees: Fraction) -> arb:
    return (ball(degrees) * arb.pi() / 180).cos()


def normalised(weights: Weights) -> list[list[float]]:
    """Each column over its largest weight, as the nearest floats: only ratios within a column matter."""
    largest = [max(column) or 1 for column in weights.T.tolist()]
    return [[value / most for value, most in zip(row, largest, strict=True)] for row in weights.tolist()]
