import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError, KindError, NotFiniteError, OutOfDomainError, ShapeError
from metricdp.metrics import EARTH_RADIUS, great_circle

D = great_circle()
R = float(EARTH_RADIUS)


def test_known_arcs():
    quarter = math.pi / 2 * R
    assert D((0, 0), (0, 90)) == D((0, 0), (90, 0)) == D((90, 17), (0, 0)) == pytest.approx(quarter, rel=1e-15)
    assert D((90, 0), (-90, 123)) == D((0, 0), (0, 180)) == D((30, 10), (-30, -170)) == pytest.approx(2 * quarter)
    assert D((0, 0), (0, 1)) == pytest.approx(math.pi / 180 * R, rel=1e-15)


def test_the_date_line_and_turns_of_360_degrees():
    assert D((0, 179.5), (0, -179.5)) == pytest.approx(math.pi / 180 * R, rel=1e-12)
    assert D.exactly((10, 180), (10, -180)) == 0
    assert D.exactly((10, 1), (10, 721)) == 0
    assert D((10, 1), (10, 721)) == D((10, 180), (10, -180)) == 0
    assert D.enclose((10, 179.5), (20, -179.5)) == D.enclose((10, -0.5), (20, 0.5))


def test_the_poles_are_points():
    assert D((90, 0), (90, 137.2)) == D((-90, 5), (-90, -5)) == 0
    assert D.exactly((90, 0), (90, 137.2)) == 0
    assert D((90, 0), (89, 50)) == D((90, 100), (89, 50)) == pytest.approx(math.pi / 180 * R, rel=1e-13)


def test_neighbours_and_antipodes_keep_their_digits():
    step = 2.0**-40
    assert D((0, 0), (0, step)) == pytest.approx(math.radians(step) * R, rel=1e-14)
    assert D((48, 2), (48 + step, 2)) == pytest.approx(math.radians(step) * R, rel=1e-14)
    half_turn = D.enclose((0, 0), (0, 180), 200)
    gap = D.enclose((0, 0), (0, 180 - Fraction(1, 2**40)), 200)
    missing = float(half_turn.lower - gap.lower)
    assert missing == pytest.approx(math.radians(step) * R, rel=1e-14)


def test_many_places_at_once():
    places = np.array([[48.85, 2.35], [51.5, -0.12], [-33.87, 151.2]])
    table = D.pairwise(places)
    assert table.shape == (3, 3)
    assert np.array_equal(table, table.T)
    assert [round(x / 1000) for x in table[0]] == [0, 343, 16960]


@pytest.mark.parametrize("latitude", [91, -90.000001, 1e300])
def test_a_latitude_beyond_the_pole(latitude):
    with pytest.raises(OutOfDomainError) as error:
        D.pairwise([(0, 0), (latitude, 0)])
    assert error.value.row == 1
    with pytest.raises(OutOfDomainError):
        D.exactly((0, 0), (latitude, 0))


def test_bad_places():
    for bad, error in [
        ((0, math.nan), NotFiniteError),
        ((0, "E"), KindError),
        ((0, 0, 0), ShapeError),
        (5, ShapeError),
    ]:
        with pytest.raises(error):
            D.pairwise([bad])
        with pytest.raises(error):
            D.exactly(bad, bad)


def test_other_spheres():
    assert great_circle(1)((0, 0), (0, 180)) == math.pi
    assert great_circle("6371008.8") == D
    assert str(great_circle(1)) == "great-circle(m, R = 1)"
    for bad in (0, -1, math.inf):
        with pytest.raises(ArgumentError):
            great_circle(bad)
