"""The Laplace mechanism on the globe: no projection, right at the poles and across the date line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import (
    ArgumentError,
    KindError,
    NotFiniteError,
    OutOfDomainError,
    ShapeError,
    UnsupportedMetricError,
)
from metricdp.exact.arrays import Floats
from metricdp.exact.assumed import ERROR
from metricdp.exact.balls import Real, ball
from metricdp.exact.bits import Words
from metricdp.exact.grid import Grid, Placed
from metricdp.exact.level import LevelLike
from metricdp.exact.refine import Approximation, Integers, Rows, Uniforms, fraction, nearest_integers
from metricdp.mechanisms.blocks import in_blocks
from metricdp.mechanisms.columns import release_points
from metricdp.mechanisms.continuous._noise import (
    circle,
    direction,
    direction_ball,
    exponentials,
)
from metricdp.mechanisms.forms.column import objects
from metricdp.mechanisms.mechanism import Mechanism, at_distance, probability_below, resolution_for
from metricdp.mechanisms.picture import NoisePicture, distances_from
from metricdp.metrics import Guarantee, Metric
from metricdp.metrics.sphere import GreatCircle
from metricdp.metrics.words import Measure, number

__all__ = ["SphereLaplace", "sphere_laplace"]

_SAFE = 1.25
"""Room for roundings, as in `metricdp.mechanisms.continuous._noise`."""


@dataclass(frozen=True)
class Latitudes:
    """Latitudes, of which floats need not hold every one.

    Attributes:
        degrees: nearly; the sign is right.
        from_pole: how far it is to the nearer pole, in degrees, but for 2^-51 of that.
        exact: the latitude of one row.
    """

    degrees: Floats
    from_pole: Floats
    exact: Callable[[int], Fraction]


@dataclass(frozen=True)
class SphereNoise:
    """Latitude, and longitude from the secret's own, of a point at angle t from the secret in a uniform direction.

    The angle has density proportional to ``sin(t) exp(-a t)`` on [0, pi], the same for every secret, with
    a = ``sharpness``, the level times the Earth's radius. It is drawn by rejection. For a >= 1 from t = E(2) / a, kept
    with probability sin(t) / t, and not beyond pi; for a < 1, where that would waste draws, from a uniform point of
    the sphere, kept with probability exp(-a t).

    Attributes:
        sharpness: a.
        cell: the width of the grid's cells, in degrees.
        latitudes: the secrets' latitudes.
        placed: the secrets' longitudes on the grid.
    """

    sharpness: Real
    cell: Fraction
    latitudes: Latitudes
    placed: Placed
    uniforms = 4
    outputs = 2

    def approximate(self, words: Words, rows: Rows) -> Approximation:
        """See `metricdp.exact.refine.Formula`."""
        angles, sines, cosines, error, keep, keep_error = self._angles(words)
        east_west, north_south = direction(words[3])
        # From the nearer pole, so that what is small keeps its digits; off by less than 2^-50 of itself, ERROR / 4.
        colatitudes = self.latitudes.from_pole[rows] * (math.pi / 180)
        colatitudes /= 2
        up, out = circle(colatitudes)
        np.copysign(up, self.latitudes.degrees[rows], out=up)
        north = sines * north_south
        x = cosines * out - north * up
        y = sines * east_west
        z = cosines * up + north * out
        flat = np.sqrt(x * x + y * y)
        degrees = 180 / math.pi / float(self.cell)
        values = np.stack([np.arctan2(z, flat), np.arctan2(y, x)]) * degrees
        values[1] += self.placed.fractions[rows]
        # With s = min(angle, 1): sines are off by ERROR s + error, cosines by ERROR s^2 + error, out by 2 ERROR out, up
        # and directions by 2 ERROR. So x and y together by less than ERROR (3 out + 10 s) + 2 error, which moves the
        # longitude by that over its arm; z and the arm by less than ERROR (5 + 16 s) + 2 error, over an arm of 1.
        small = ERROR * np.minimum(angles, 1)
        with np.errstate(divide="ignore"):
            east_error = (3 * ERROR * out + 10 * small + 2 * error) / flat + 2 * ERROR
        radius = np.stack([6 * ERROR + 16 * small + 2 * error, east_error])
        radius *= _SAFE * degrees
        radius += self.placed.radius + 2.0**-48
        return Approximation(values, radius, keep, keep_error)

    def _angles(self, words: Words) -> tuple[Floats, Floats, Floats, float | Floats, Floats, float | Floats]:
        """Proposed angles, their sines and cosines, a bound on the angles' error, and the margin to keep them by."""
        sharpness = float(self.sharpness)
        if sharpness >= 1:
            angles, error = exponentials(words[:2])
            angles /= sharpness
            error /= sharpness
            cosines, sines = circle(angles / 2)
            with np.errstate(invalid="ignore"):  # 0 / 0 is undecided
                keep = np.minimum(sines / angles - fraction(words[2]), math.pi - angles)
            return angles, sines, cosines, error, keep, 2 * error + 16 * ERROR
        levels = fraction(words[0])
        angles = 2 * np.arctan2(np.sqrt(levels), np.sqrt(1 - levels))
        sines = 2 * np.sqrt(levels * (1 - levels))
        keep = np.exp(-sharpness * angles) - fraction(words[2])
        # Near either end the square roots lose what the bits not read would say; up to here, less than 2^-46.
        keep[np.minimum(levels, 1 - levels) < 2.0**-12] = np.nan
        return angles, sines, 1 - 2 * levels, 4 * ERROR, keep, 32 * ERROR

    def ball(self, uniforms: Uniforms, row: int, wanted: Sequence[int]) -> list[arb]:
        """See `metricdp.exact.refine.Formula`."""
        sharpness = self.sharpness.ball()
        if float(self.sharpness) >= 1:
            angle = -uniforms.product(0, 2).log() / sharpness
            keep = (angle.sin() / angle - uniforms[2]).min(arb.pi() - angle)
            sine, cosine = angle.sin_cos()
        else:
            level = uniforms[0]
            sine, cosine = 2 * (level * (1 - level)).sqrt(), 1 - 2 * level
            keep = (-sharpness * arb.atan2(sine, cosine)).exp() - uniforms[2]
        east_west, north_south = direction_ball(uniforms[3])
        up, out = (ball(self.latitudes.exact(row)) / 180).sin_cos_pi()
        north = sine * north_south
        x, y = cosine * out - north * up, sine * east_west
        z = cosine * up + north * out
        degrees = 180 / arb.pi() / ball(self.cell)
        flat = (x * x + y * y).sqrt()
        longitude = arb.atan2(y, x) * degrees + ball(self.placed.exact(row))
        return [*(longitude if place else arb.atan2(z, flat) * degrees for place in wanted), keep]


_FINEST = Fraction(1, 1 << 52)
"""Of resolutions in degrees: 360 degrees are then fewer than 2^61 cells, so that every place is on the grid."""


@dataclass(frozen=True, repr=False)
class SphereLaplace(Mechanism):
    """The Laplace mechanism for great-circle distance, on (latitude, longitude) in degrees.

    Density proportional to ``exp(-e * distance(x, z))`` over the sphere's area, e = ``metric.level`` for a metre. The
    normalising constant is the same for every x, so no privacy is lost anywhere on the globe.

    Attributes:
        resolution: the width of the release grid in degrees, of which 180 is a multiple. A release within half a cell
            of a pole is the pole, with longitude 0.

    Guarantee:
        ``metric``, exactly.

    References:
        Paper 1, Definition 6 and section 6.2, on the sphere instead of a plane.
    """

    metric: Metric
    resolution: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """``metric``, with no delta."""
        return Guarantee(self.metric)

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`. One (latitude, longitude) gives one, rows give rows; longitudes in [-180, 180)."""
        return release_points(self, secrets, 2)

    def release_cells(
        self, secrets: NDArray[Any] | Sequence[NDArray[Any]], units: Sequence[Fraction] | None = None
    ) -> Integers:
        """Release places as multiples of ``resolution``: a row of latitude and longitude for each.

        Args:
            secrets: a matrix with two columns, or two arrays: floats, or integers of any size.
            units: what each is counted in, in degrees, of which 90 is a multiple; by default 1.
        """
        columns = list(secrets.T) if isinstance(secrets, np.ndarray) else list(secrets)
        if len(columns) != 2:
            raise ShapeError(f"(latitude, longitude) is wanted: 2 numbers a row, not {len(columns)}")
        parts = list(units or [Fraction(1)] * 2)
        return in_blocks(len(columns[0]), lambda rows: self._draw([column[rows] for column in columns], parts), 2)

    def _draw(self, columns: Sequence[NDArray[Any]], units: Sequence[Fraction]) -> Integers:
        if any(unit != 1 for unit in units):
            latitudes, placed = _counted(columns, units, self.resolution)
        else:
            degrees, placed = _placed([_degrees(column) for column in columns], Grid.of(self.resolution))
            latitudes = Latitudes(degrees, 90 - np.abs(degrees), lambda row: Fraction(float(degrees[row])))
        formula = SphereNoise(self._sharp, self.resolution, latitudes, placed)
        north, east = nearest_integers(formula, len(columns[0]))
        half = int(180 / self.resolution)
        east = (placed.cells + east + half) % (2 * half) - half
        east[2 * np.abs(north) == half] = 0
        return np.stack([north, east], axis=1)

    @property
    def _earth(self) -> Fraction:
        unit = self.metric.unit
        assert isinstance(unit, GreatCircle)
        return unit.radius

    @property
    def name(self) -> str:
        """Laplace noise on the globe."""
        return "Laplace noise on the globe"

    def words(self, measure: Measure | None = None) -> str:
        """With the resolution, which is in degrees."""
        del measure
        return f"{self.name}, to {number(float(self.resolution))} degrees"

    def _picture(self, unit: str) -> NoisePicture:
        level, earth = float(self.metric.level), float(self._earth)

        def density(lengths: Floats) -> Floats:
            return np.asarray(np.sin(np.minimum(lengths / earth, math.pi)) * np.exp(-level * lengths))

        return distances_from(density, self.radius(0.95), "distance from the secret", unit)

    def density(self, secret: Any, release: Any) -> float:
        """The density ``c exp(-e distance(x, z))`` of the noisy place before it is rounded, a square metre; a view.

        ``c = (1 + a²) / (2 pi R² (1 + exp(-a pi)))`` with the radius R of the globe and a = e R.

        Args:
            secret: x, as (latitude, longitude).
            release: z, likewise.

        References:
            Paper 1, Definition 6.

        >>> import metricdp as mdp
        >>> near = mdp.laplace(mdp.metrics.great_circle() / 1000).density((48, 2), (48, 2))
        >>> round(near * 2 * math.pi * 1000**2, 3)  # as in the plane, where it is e² / (2 pi)
        1.0
        """
        level, earth = float(self.metric.level), float(self._earth)
        sharp = level * earth
        constant = (1 + sharp**2) / (2 * math.pi * earth**2 * (1 + math.exp(-sharp * math.pi)))
        return constant * math.exp(-level * self.metric.unit(tuple(secret), tuple(release)))

    @cached_property
    def _sharp(self) -> Real:
        return Real(self._sharpness)

    def _sharpness(self) -> arb:
        return self.metric.level.ball() * ball(self._earth)

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """``(1 - exp(-a t) (a sin t + cos t)) / (1 + exp(-a pi))`` at the angle t, less the rounding."""
        # A cell's corner is at most half its diagonal away, and a degree of longitude no longer than one of latitude.
        half_diagonal = self.resolution * Fraction(71, 100)

        def probability() -> arb:
            a = self._sharpness()
            angle = ball(distance) / ball(self._earth) - ball(half_diagonal) * arb.pi() / 180
            if not angle > 0:
                return arb(0)
            if angle > arb.pi():
                return arb(1)
            return (1 - (-a * angle).exp() * (a * angle.sin() + angle.cos())) / (1 + (-a * arb.pi()).exp())

        return probability_below(probability)

    def _unit_error(self) -> float:
        return min(2 / float(self.metric.level), 1e7)


def sphere_laplace(metric: Metric, resolution: LevelLike | None = None) -> SphereLaplace:
    """The Laplace mechanism for a multiple of great-circle distance; ``resolution`` in degrees."""
    if not isinstance(metric.unit, GreatCircle):
        raise UnsupportedMetricError("sphere_laplace takes a multiple of great_circle()")
    earth = metric.unit.radius
    scale = Real(lambda: (180 / arb.pi() / (metric.level.ball() * ball(earth))).min(arb(1)))
    width = resolution_for(scale, resolution, bits=16)
    if resolution is None:
        width = max(width, _FINEST)
    if (90 / width).denominator != 1:
        raise ArgumentError("a resolution in degrees divides 90, so that the grid closes around the globe")
    if width < _FINEST:
        raise ArgumentError("a resolution in degrees is at least 2^-52, so that 64 bits count the globe's cells")
    return SphereLaplace(metric, width)


def _counted(columns: Sequence[NDArray[Any]], units: Sequence[Fraction], width: Fraction) -> tuple[Latitudes, Placed]:
    """Integers that count fractions of a degree, such as decimals, of which floats would round most."""
    for column, unit in zip(columns, units, strict=True):
        if column.dtype.kind not in "iuO" or (90 / unit).denominator != 1:
            raise KindError("degrees are wanted as floats or integers, or as integers that count a part of 90 degrees")
    tops = [int(most / unit) for most, unit in zip((90, 360), units, strict=True)]
    north, east = (column.astype(object) if top >= 2**62 else column for column, top in zip(columns, tops, strict=True))
    far = [(column > top) | (column < -top) for column, top in zip((north, east), tops, strict=True)]
    bad = (far[0] | far[1]).astype(bool)
    if bad.any():
        row = int(np.argmax(bad))
        name, most = ("latitude", 90) if far[0][row] else ("longitude", 360)
        raise OutOfDomainError(f"a {name} lies between -{most} and {most} degrees", row)
    if north.dtype == object:  # quotients of integers are the nearest floats
        pole = np.array([(tops[0] - abs(count)) / (1 / units[0]).numerator for count in north.tolist()])
        pole *= (1 / units[0]).denominator
        signs = np.array([(count > 0) - (count < 0) for count in north.tolist()])
    else:
        pole = (tops[0] - np.abs(north.astype(np.int64))).astype(np.float64) * float(units[0])
        signs = np.sign(north.astype(np.int64))
    degrees = signs * (90 - pole)
    latitudes = Latitudes(degrees, pole, lambda row: int(north[row]) * units[0])
    if east.dtype == object:  # the unit may be finer than any grid
        return latitudes, Grid.of(width).place(objects([count * units[1] for count in east.tolist()]))
    return latitudes, Grid.of(width / units[1]).place(east)


def _degrees(column: NDArray[Any]) -> Floats:
    """Degrees as floats, which hold them exactly; Decimals and Fractions are refused, whatever they are.

    An integer so large that a float would round it lies far outside the globe, and so does its float.
    """
    if column.dtype.kind in "fiu" and column.dtype.itemsize <= 8:
        return column.astype(np.float64)
    if column.dtype != object:
        raise KindError(f"degrees are wanted as numbers, not {column.dtype.name}", 0)
    kinds = int | float | np.integer | np.floating
    for row, degrees in enumerate(column):
        if isinstance(degrees, bool | np.longdouble | np.timedelta64) or not isinstance(degrees, kinds):
            raise KindError("degrees are wanted as numbers: floats or integers", row)
    most = 1 << 60
    return np.array([min(most, max(-most, x)) if isinstance(x, int) else float(x) for x in column], dtype=np.float64)


def _placed(columns: Sequence[Floats], grid: Grid) -> tuple[Floats, Placed]:
    """Latitudes, and longitudes on the grid; refused where one is none."""
    latitudes, longitudes = columns
    finite = np.isfinite(latitudes) & np.isfinite(longitudes)
    far = [np.abs(latitudes) > 90, np.abs(longitudes) > 360]
    bad = ~finite | far[0] | far[1]
    if bad.any():
        row = int(np.argmax(bad))
        if not finite[row]:
            raise NotFiniteError("a finite number of degrees is wanted", row)
        name, most = ("latitude", 90) if far[0][row] else ("longitude", 360)
        raise OutOfDomainError(f"a {name} lies between -{most} and {most} degrees", row)
    return latitudes, grid.place(longitudes)
