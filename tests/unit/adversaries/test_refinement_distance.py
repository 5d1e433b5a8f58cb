"""How far one channel is from refining another: as qif computes it, and proved from both sides."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import metricdp as mdp
from metricdp.adversaries import Prior, RefinementDistance, refinement_distance, vulnerability
from metricdp.channels import Channel, random_channel, refines
from metricdp.errors import ArgumentError

QIF = json.loads((Path(__file__).parents[2] / "fixtures/peers/qif_measures.json").read_text())["cases"]
pytestmark = pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")


@pytest.mark.parametrize("case", [case for case in QIF if case["refinement"] is not None])
def test_the_numbers_of_qif(case):
    found = refinement_distance(case["p"], case["C"], case["D"])
    assert float(found) == pytest.approx(case["refinement"], abs=1e-9)
    assert 0 <= found.upper - found.lower < 1e-9


def test_the_gain_is_worth_what_is_said():
    with mdp.seeded(4):
        prior, one, two = Prior.random("abc"), random_channel("abc", range(4)), random_channel("abc", range(3))
    found = refinement_distance(prior, one, two)
    apart = vulnerability(prior, one, found.gain, exact=True) - vulnerability(prior, two, found.gain, exact=True)
    assert apart == found.lower > 0
    assert all(value <= 1 for action in found.gain for value in action)
    assert (0, 0, 0) in found.gain
    assert not refines(one, two)


def test_zero_just_where_it_refines():
    with mdp.seeded(5):
        two, post = random_channel("abc", range(3)), random_channel(range(3), range(2))
    one = two @ post
    assert refines(one, two)
    assert refinement_distance("uniform", one, two).lower == 0
    assert refinement_distance("uniform", one, two).upper < 1e-9
    assert refinement_distance("uniform", two, one).lower > 0


def test_no_gain_does_better_on_a_grid_of_gains():
    """Two secrets, one action beside the one that gains nothing: gains in steps of 1/2 between -3 and 1."""
    one, two = [["3/4", "1/4"], ["1/8", "7/8"]], [["1/2", "1/2"], ["1/4", "3/4"]]
    found = refinement_distance(["1/3", "2/3"], one, two)
    best = Fraction(0)
    for left in range(-6, 3):
        for right in range(-6, 3):
            gain = [[Fraction(left, 2), Fraction(right, 2)], [0, 0]]
            apart = [vulnerability(["1/3", "2/3"], channel, gain, exact=True) for channel in (one, two)]
            best = max(best, apart[0] - apart[1])
    assert 0 < best <= found.upper


def test_outputs_that_exclude_a_secret_and_other_orders():
    telling = Channel.from_matrix("ab", "xy", [[1, 0], [0, 1]])
    silent = Channel.from_matrix("ba", "z", [[1], [1]])
    found = refinement_distance({"a": 0.25, "b": 0.75}, telling, silent)
    assert found.lower == found.upper == 1
    assert refinement_distance({"a": 1, "b": 0}, telling, silent).upper == 0
    assert refinement_distance("uniform", telling, telling).upper == 0


def test_words_and_json():
    found = refinement_distance("uniform", [[1, 0], [0, 1]], [[1], [1]])
    assert isinstance(found, RefinementDistance)
    assert str(found) == "the first channel is worth up to 1 more than the second"
    assert found.to_json()["distance"] == {"lower": 1, "upper": 1, "exact": 1}


def test_bad_arguments():
    with pytest.raises(ArgumentError):
        refinement_distance("uniform", [[1, 0], [0, 1]], [[1], [1], [1]])
    with pytest.raises(ArgumentError):
        refinement_distance([0.5, 0.25, 0.25], [[1, 0], [0, 1]], [[1], [1]])
    with pytest.raises(ArgumentError):
        refinement_distance("uniform", "no channel", [[1], [1]])
