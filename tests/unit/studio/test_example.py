import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.studio.example import Example

PARIS, LOUVRE = (48.8566, 2.3522), (48.8606, 2.3376)


def made(**changes):
    given = {
        "first": 40.0,
        "second": 50.0,
        "seen": 47.0,
        "radius": Fraction(10),
        "factor": Fraction(2),
        "candidates": (40.0, 50.0, 60.0),
        "prior": (1, 1, 2),
    }
    return Example(**(given | changes))


def test_the_promise_is_that_of_the_package():
    example = made()
    assert example.mechanism == mdp.laplace(mdp.metrics.absolute().within(10, factor=2))
    assert example.odds == 2
    assert example.sentence == example.mechanism.explain([10])
    assert example.radii == (example.mechanism.radius(0.5), example.mechanism.radius(0.95))


def test_places_are_on_the_globe():
    example = made(
        first=PARIS, second=LOUVRE, seen=PARIS, radius=Fraction(200), candidates=(PARIS, LOUVRE), prior=(1, 1)
    )
    assert example.mechanism == mdp.laplace(mdp.metrics.great_circle().within(200))
    assert example.measure.say(example.distance) == "1.16 km"
    assert example.posterior[0] / example.posterior[1] == pytest.approx(example.odds, rel=1e-9)
    assert example.moved == pytest.approx(example.odds, rel=1e-9)


def test_the_posterior_is_bayes_rule_with_densities():
    example = made()
    density = [example.mechanism.density(place, 47.0) for place in example.candidates]
    weights = [share * one for share, one in zip((1, 1, 2), density, strict=True)]
    assert example.posterior == pytest.approx([weight / sum(weights) for weight in weights], rel=1e-9)
    assert example.before == [0.25, 0.25, 0.5]
    assert example.moved == pytest.approx(density[0] / density[1])


@pytest.mark.parametrize("seen", [-1e6, 0.0, 47.0, 1e9])
def test_no_release_moves_odds_beyond_the_promise(seen):
    example = made(seen=seen)
    assert 1 / example.odds <= example.moved * (1 + 1e-7)
    assert example.moved <= example.odds * (1 + 1e-7)
    assert sum(example.posterior) == pytest.approx(1)


def test_a_prior_of_nothing_means_that_all_are_alike():
    assert made(prior=(0, 0, 0)).before == pytest.approx([1 / 3] * 3)


def test_what_is_believed_impossible_stays_so():
    assert made(prior=(0, 1, 0)).posterior == [0, 1, 0]
    far = made(seen=1e9, radius=Fraction(1, 1000), candidates=(40.0, 1e9), prior=(1, 0))
    assert far.posterior == [1, 0], "the only place that is believed in has no density that a float can hold"


def test_a_factor_is_greater_than_one():
    with pytest.raises(ArgumentError, match="greater than 1"):
        _ = made(factor=Fraction(1)).odds


@pytest.mark.parametrize("swap", [False, True])
def test_places_at_the_ends_of_the_earth(swap):
    far = ((89.9, 2.0), (-48.0, -150.0))[:: -1 if swap else 1]
    example = made(first=far[0], second=far[1], seen=far[0], radius=Fraction(10), candidates=far, prior=(1, 1))
    assert example.moved_either_way == math.inf
    assert example.odds == math.inf
    assert made().moved_either_way == pytest.approx(max(made().moved, 1 / made().moved))
