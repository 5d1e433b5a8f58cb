"""Pictures as data: what they show is the noise."""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.mechanisms.picture import short_number

m = mdp.metrics
LINE = mdp.laplace(m.absolute().within(5))


def area(picture):
    return picture.heights.sum() * (picture.places[1] - picture.places[0])


def test_a_density_around_zero():
    picture = LINE.picture("years")
    assert picture.shape == "curve"
    assert picture.label == "released - secret, years"
    assert picture.radius == LINE.radius(0.95)
    assert picture.marks == (-picture.radius, picture.radius)
    assert area(picture) == pytest.approx(1, abs=0.01)
    inside = picture.heights[picture.inside].sum() / picture.heights.sum()
    assert 0.94 < inside < 0.97
    assert picture.to_json()["shape"] == "curve"


def test_metres_become_kilometres_and_days_hours():
    far, near = mdp.laplace(m.great_circle().within(5000)), mdp.laplace(m.great_circle().within(50))
    assert far.picture().label == "distance from the secret, km"
    assert far.picture().radius == far.radius(0.95) / 1000
    assert near.picture().label == "distance from the secret, m"
    assert area(far.picture()) == pytest.approx(1, rel=1e-9)
    hours = mdp.laplace(m.dates().within(0.1), resolution="1/86400").picture()
    assert hours.label == "released - secret, hours"


def test_vectors_show_the_length_of_the_noise():
    picture = mdp.laplace(m.euclidean(), dim=3).picture()
    top = float(picture.places[picture.heights.argmax()])
    assert top == pytest.approx(2, abs=0.05)  # of r² exp(-r)
    assert picture.marks == (picture.radius,)


def test_steps_are_bars_while_they_are_few():
    few, many = mdp.geometric(mdp.ln(2) * m.absolute()).picture(), mdp.geometric(m.absolute() / 100).picture()
    assert (few.shape, many.shape) == ("bars", "curve")
    assert few.whole
    assert few.step == 1
    middle = few.heights[few.places == 0]
    assert middle == pytest.approx([1 / 3])
    assert few.heights.sum() == pytest.approx(1, abs=0.05)


def test_categories_and_sets():
    truth = mdp.randomized_response("abc", mdp.ln(2)).picture()
    assert truth.names == ("the truth: 50%", "each other value: 25%")
    assert truth.inside.tolist() == [True, False, False]
    many = mdp.randomized_response(range(100), 1).picture()
    assert len(many.places) == 13
    table = mdp.exponential(mdp.Space.line(3, m.absolute())).picture()
    assert table.shape == "table"
    assert table.heights.sum(axis=1) == pytest.approx([1, 1, 1])
    assert table.names == ("0", "1", "2")
    sets = mdp.set_response("abcd", mdp.ln(3)).picture()
    assert sets.heights.sum() == pytest.approx(1)
    assert float((sets.places * sets.heights).sum()) == pytest.approx(1)  # 4 elements, each wrong one time in 4


def test_missing_is_noted():
    nulls = mdp.laplace(m.nullable(m.absolute(), 100) / 20, bounds=(0, 100)).picture()
    assert nulls.note.startswith("missing: ")


def test_what_has_no_picture_says_where_one_is():
    with pytest.raises(UnsupportedMetricError, match=r"\.parts"):
        mdp.compose(LINE, LINE).picture()
    with pytest.raises(UnsupportedMetricError, match=r"\.mechanism"):
        mdp.postprocess(LINE, round).picture()
    assert mdp.compose(LINE, LINE).parts[0].picture().shape == "curve"


def test_units_from_outside_are_made_visible():
    assert "\x1b" not in LINE.picture("eu\x1b[31mros").label


def test_short_numbers():
    assert [short_number(value) for value in (0, 1234.5, 0.001234, 1e12)] == ["0", "1,234", "0.00123", "1e+12"]
    assert math.isfinite(float(np.float64(1)))


def test_a_channel_without_noise():
    shown = mdp.channels.Channel.from_matrix("ab", "ab", [[1, 0], [0, 1]]).picture()
    assert (shown.shape, shown.places.tolist(), shown.heights.tolist()) == ("bars", [0.0], [1.0])


def test_noise_that_floats_take_for_none_or_for_endless():
    """A flip of a set's element of exp(-1000), and steps of which 10^20 are likely."""
    assert mdp.set_response("abc", 1000).picture().heights[0] == 1
    assert mdp.geometric(Fraction(1, 10**20) * m.absolute()).picture().shape == "curve"


@pytest.mark.parametrize(
    "level", [10**400, Fraction(1, 10**400), 5e-324, 1e160], ids=["10^400", "10^-400", "5e-324", "1e160"]
)
def test_levels_that_no_grid_fits_are_refused_when_a_mechanism_is_made(level):
    for unit in (m.absolute(), m.euclidean()):
        with pytest.raises(ArgumentError, match="give a level between"):
            mdp.laplace(level * unit)
