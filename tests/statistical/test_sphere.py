"""Laplace noise on the globe: the angle t from the secret has density sin(t) exp(-a t), its azimuth is uniform."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import metricdp as mdp
from tests.statistical.harness import DRAWS, check_law, check_scale, fits, plausible, unrelated

m = mdp.metrics
EARTH = float(m.EARTH_RADIUS)
PLACES = {
    "mid latitude": (48.8566, 2.3522),
    "north pole": (90.0, 10.0),
    "south pole": (-90.0, 0.0),
    "by the pole": (-89.9999, -180.0),
    "date line": (0.0, 179.99999),
    "date line, other side": (-17.0, -180.0),
    "London": (51.5, -0.125),
}
RADII = {"200 m": 200.0, "20 km": 2e4, "2,000 km": 2e6, "6,000 km": 6e6}


class Angle:
    """Density proportional to sin(t) exp(-a t) on [0, pi], integrated numerically."""

    def __init__(self, a):
        self.a = a
        self.most = min(math.pi, 80 / a)
        self.total = self._below(self.most)

    def _below(self, t):
        value, _ = integrate.quad(lambda s: math.sin(s / self.a) * math.exp(-s), 0, t * self.a, epsabs=0, epsrel=1e-11)
        return value

    def cdf(self, ts):
        return np.array([self._below(min(t, self.most)) / self.total for t in np.atleast_1d(ts)])

    def ppf(self, qs):
        return [optimize.brentq(lambda t, q=q: self.cdf(t)[0] - q, 0, self.most) for q in np.atleast_1d(qs)]


def seen_from(place, released):
    """Angles and azimuths of the releases, by vectors; the azimuth is from a fixed direction in the tangent plane."""
    latitude, longitude = np.radians(place)
    up = np.array(
        [math.cos(latitude) * math.cos(longitude), math.cos(latitude) * math.sin(longitude), math.sin(latitude)]
    )
    east = np.array([-math.sin(longitude), math.cos(longitude), 0.0])
    north = np.cross(up, east)
    phi, lam = np.radians(released.T)
    points = np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=1)
    chords = np.linalg.norm(points - up, axis=1)
    return 2 * np.arcsin(np.minimum(chords / 2, 1)), np.arctan2(points @ north, points @ east)


@pytest.mark.parametrize("radius", RADII.values(), ids=RADII)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_angle_and_azimuth(place, radius):
    count = DRAWS if radius < 1e6 else 2 * DRAWS  # 10% of a weak level is less to see
    released = mdp.laplace(m.great_circle().within(radius)).release(np.tile(place, (count, 1)))
    assert (np.abs(released[:, 0]) <= 90).all()
    assert ((released[:, 1] >= -180) & (released[:, 1] < 180)).all()
    angles, azimuths = seen_from(place, released)
    sharpness = math.log(2) / radius * EARTH
    check_scale(angles, lambda factor: Angle(sharpness / factor))
    uniform = stats.uniform(-math.pi, 2 * math.pi)
    check_law(azimuths, uniform, unlike=[stats.uniform(-math.pi * 0.9, 2 * math.pi * 0.9)])
    assert unrelated(angles, azimuths)


def test_almost_uniform_on_the_globe():
    """A level so weak that both ends of the Earth are likely: 10% of it shows in millions of draws."""
    place, radius = (48.8566, 2.3522), 2e7
    mechanism = mdp.laplace(m.great_circle().within(radius))
    angles, azimuths = seen_from(place, mechanism.release(np.tile(place, (15 * DRAWS, 1))))
    check_scale(angles, lambda factor: Angle(math.log(2) / radius * EARTH / factor))
    assert fits(azimuths, stats.uniform(-math.pi, 2 * math.pi), np.linspace(-3, 3, 13))


def test_both_sides_of_the_date_line():
    released = mdp.laplace(m.great_circle().within(200)).release(np.tile([0.0, 180.0], (DRAWS, 1)))
    assert plausible((released[:, 1] > 0).sum(), DRAWS, 0.5)
    assert np.abs(released[:, 1]).min() > 179.9


def test_a_flat_map_would_fail():
    """Planar noise in degrees, as a projection would give it, is far from the law at a weak level."""
    a = math.log(2) / 2e6 * EARTH
    flat = mdp.laplace(math.radians(a) * m.euclidean(), dim=2).release(np.zeros((DRAWS, 2)))
    angles, _ = seen_from((0.0, 0.0), flat[np.abs(flat[:, 0]) <= 90])
    assert not fits(angles, Angle(a), Angle(a).ppf([0.25, 0.5, 0.75]))
