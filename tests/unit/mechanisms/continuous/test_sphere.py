"""Noise on the globe: latitudes, longitudes, and grids that close around it."""

from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import (
    ArgumentError,
    KindError,
    OutOfDomainError,
)
from tests.refused_secrets import GLOBE, refused

m = mdp.metrics


@pytest.mark.parametrize("latitude", [91.0, -91.0, 90.00000000000001, 1e300])
def test_latitude(latitude):
    refused(GLOBE, [[0.0, 0.0], [latitude, 0.0]], OutOfDomainError, 1, "latitude lies between -90 and 90")


def test_longitude():
    refused(GLOBE, [[0.0, 0.0], [0.0, 361.0]], OutOfDomainError, 1, "longitude lies between -360 and 360")
    for longitude in (180.0, -180.0, 359.5, -360.0):
        assert -180 <= GLOBE.release([0.0, longitude])[1] < 180


def test_degrees_may_be_integers_and_floats_together():
    assert len(GLOBE.release([48, 2.5])) == 2
    assert len(GLOBE.release([[48, 2.5], [0.0, -3]])) == 2
    assert GLOBE.release(np.array([[48, 2], [0, 3]])).shape == (2, 2)


@pytest.mark.parametrize("bad", [None, True, "48", 1j])
def test_degrees_of_the_wrong_kind(bad):
    refused(GLOBE, [[0.0, 0.0], [bad, 0.0]], KindError, 1, "number")


@pytest.mark.parametrize("bad", ["0.7", 7, 91, Fraction(180, 7)])
def test_a_grid_that_does_not_close_around_the_globe(bad):
    with pytest.raises(ArgumentError, match="divides 90"):
        mdp.laplace(m.great_circle().within(200), resolution=bad)


def test_every_place_is_on_the_grid_however_high_the_level():
    """At 1e30 a metre a degree had more cells than 64 bits count, and half of the globe was refused."""
    for level in (1e10, 1e30, mdp.ln(10**50), 1e90):
        mechanism = mdp.laplace(level * m.great_circle())
        for place in ([48.5, 2.25], [-90.0, 0.0], [0.0, -180.0], [12.0, 359.5]):
            latitude, longitude = mechanism.release(place)
            assert abs(latitude - place[0]) < 1e-6
            assert abs((longitude - place[1]) % 360) < 1e-6 or abs(place[0]) == 90 or (longitude - place[1]) % 360 > 359
    with pytest.raises(ArgumentError, match=r"at least 2\^-52"):
        mdp.laplace(m.great_circle(), resolution=Fraction(1, 1 << 53))
