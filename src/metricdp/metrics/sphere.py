"""Great-circle distance on the globe."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from metricdp.errors import OutOfDomainError, ShapeError
from metricdp.exact.arrays import Floats
from metricdp.exact.assumed import trusted
from metricdp.exact.balls import ball, float_below
from metricdp.metrics.amounts import Exact, formula, positive
from metricdp.metrics.coordinates import coordinates, to_floats, vector
from metricdp.metrics.enclosures import EnclosedRows, Enclosures, amount_bounds
from metricdp.metrics.globe_angles import ANGLE_ERROR, angles, unit_vectors
from metricdp.metrics.metric import Metric

__all__ = ["EARTH_RADIUS", "GreatCircle", "great_circle"]

EARTH_RADIUS = Fraction("6371008.8")
"""The mean radius of the Earth in metres, (2a + b)/3 of the ellipsoid of GRS 80 and WGS 84, to the decimetre."""


@dataclass(frozen=True, repr=False)
class GreatCircle(Metric):
    """See `great_circle`.

    Attributes:
        radius: of the sphere, in metres.
    """

    radius: Fraction = EARTH_RADIUS
    kind: ClassVar[str] = "great_circle"
    sound: ClassVar[bool] = True
    _geodesic: ClassVar[bool] = True
    _unit_name: ClassVar[str | None] = "m"

    @property
    def on_globe(self) -> bool:
        """They are."""
        return True

    @property
    def dimension(self) -> int:
        """Two: latitude and longitude."""
        return 2

    def _pairwise(self, points: Any, others: Any) -> Floats:
        return float_below(self.radius) * _angles(to_floats(self._read(points)), to_floats(self._read(others)))

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        return self._by_rows(points, others).quickly(slice(None))

    def _by_rows(self, points: Any, others: Any) -> EnclosedRows:
        left, right = self._read(points), self._read(others)
        if not trusted():
            return EnclosedRows(lambda rows: Enclosures.unknown((len(left[rows]), len(right))))
        radius, known = amount_bounds(self.radius), dict[Any, Any]()
        units, others_units = (unit_vectors(side.tolist(), known) for side in (left, right))

        def quickly(rows: slice) -> Enclosures:
            proved = angles(units[rows], others_units)
            same = np.equal.outer(left[rows, 0], right[:, 0]) & np.equal.outer(left[rows, 1], right[:, 1])
            lower = np.nextafter(np.maximum(proved - ANGLE_ERROR, 0), 0)
            upper = np.nextafter(proved + ANGLE_ERROR, np.inf)
            return Enclosures(np.where(same, 0.0, lower), np.where(same, 0.0, upper)).times(radius)

        return EnclosedRows(quickly, at_once=True)

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        (latitude, longitude), (latitude_, longitude_) = _point(x), _point(y)
        if latitude == latitude_ and (abs(latitude) == 90 or (longitude - longitude_) % 360 == 0):
            return Fraction(0)
        return None  # transcendental: the arc of an algebraic number is, by Lindemann's theorem

    def _irrational(self, x: Any, y: Any) -> arb:
        (latitude, longitude), (latitude_, longitude_) = _point(x), _point(y)
        half = (longitude - longitude_) % 360 / 2
        cosines = _cos(latitude) * _cos(latitude_)
        sine = _sin((latitude - latitude_) / 2) ** 2 + cosines * _sin(half) ** 2
        cosine = _sin((latitude + latitude_) / 2) ** 2 + cosines * _cos(half) ** 2
        return 2 * ball(self.radius) * arb.atan2(sine.sqrt(), cosine.sqrt())

    def _read(self, points: Any) -> NDArray[Any]:
        """Places with their longitudes between -360 and 360, exactly: as floats where they are floats."""
        array = coordinates(points)
        if array.shape[1] != 2:
            raise ShapeError("a place is a pair (latitude, longitude)", 0)
        beyond = np.asarray(abs(array[:, 0]) > 90, dtype=bool)
        if beyond.any():
            raise _beyond(int(beyond.argmax()))
        longitudes = array[:, 1] % 360 if array.dtype == object else np.fmod(array[:, 1], 360)
        return np.stack([array[:, 0], longitudes], axis=1)

    def _formula(self) -> str:
        sphere = "" if self.radius == EARTH_RADIUS else f", R = {formula(self.radius)}"
        return f"great-circle(m{sphere})"

    def _arguments(self) -> dict[str, Any]:
        return {} if self.radius == EARTH_RADIUS else {"radius": self.radius}


def great_circle(radius: int | float | str | Fraction = EARTH_RADIUS) -> GreatCircle:
    """The distance in metres along the globe between places (latitude, longitude) in degrees.

    The globe is a sphere of the Earth's mean radius, 6 371 008.8 m, unless another ``radius`` is given. Longitudes
    count modulo 360 degrees; a latitude beyond ±90 is refused.

    >>> round(great_circle()((48.8566, 2.3522), (40.7128, -74.0060)))
    5837249
    >>> great_circle()((0, 180), (0, -180)), great_circle()((90, 0), (90, 123))
    (0.0, 0.0)
    """
    return GreatCircle(positive(radius, "radius"))


def _point(place: Any) -> tuple[Fraction, Fraction]:
    coordinates = vector(place)
    if len(coordinates) != 2:
        raise ShapeError("a place is a pair (latitude, longitude)")
    latitude, longitude = coordinates
    if abs(latitude) > 90:
        raise _beyond(None)
    return latitude, longitude


def _beyond(row: int | None) -> OutOfDomainError:
    return OutOfDomainError("a latitude lies between -90 and 90 degrees; is the order (latitude, longitude)?", row)


def _angles(left: Floats, right: Floats) -> Floats:
    """The angle between all pairs of places, as seen from the middle of the globe, in radians."""
    # Both are sums of non-negative terms and add up to 1, so neither loses digits: not between neighbours, where the
    # arc cosine does, nor between antipodes, where the arc sine does.
    #   sin²(t/2) = sin²((φ₁ − φ₂)/2) + cos φ₁ cos φ₂ sin²(Δλ/2)
    #   cos²(t/2) = sin²((φ₁ + φ₂)/2) + cos φ₁ cos φ₂ cos²(Δλ/2)
    latitude, latitude_ = left[:, 0, None], right[None, :, 0]
    degrees = left[:, 1, None] - right[None, :, 1]
    half = np.radians(degrees - 360 * np.round(degrees / 360)) / 2
    cosines = np.sqrt(_cosine(latitude) * _cosine(latitude_))
    sine = np.hypot(np.sin(np.radians((latitude - latitude_) / 2)), cosines * np.sin(half))
    cosine = np.hypot(np.sin(np.radians((latitude + latitude_) / 2)), cosines * np.cos(half))
    return np.asarray(2 * np.arctan2(sine, cosine))


def _cosine(latitude: Floats) -> Floats:
    return np.asarray(np.sin(np.radians(90 - abs(latitude))))  # exactly 0 at the poles


def _sin(degrees: Fraction) -> arb:
    return arb.sin_pi_fmpq(fmpq(degrees.numerator, degrees.denominator * 180))


def _cos(degrees: Fraction) -> arb:
    return arb.cos_pi_fmpq(fmpq(degrees.numerator, degrees.denominator * 180))
