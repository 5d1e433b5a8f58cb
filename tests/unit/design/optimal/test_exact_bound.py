"""Bounds in Fractions: where one point is far likelier than others, the proof is as near as the loss."""

from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import optimal
from metricdp.design.optimal._exact_bound import exact_bound
from metricdp.design.optimal._problem import Problem


def near_a_point(seed):
    """A few places, and a prior that has nearly all of its mass on one of them."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(3, 13))
    places = generator.random((count, 2)) * generator.choice([1, 3, 8]) if seed % 3 else None
    level = float(generator.choice([0.3, 1, 2, 5]))
    if places is None:
        space = mdp.Space.line(count, level * mdp.metrics.absolute())
    else:
        space = mdp.Space([tuple(place) for place in np.round(places, 4).tolist()], level * mdp.metrics.euclidean())
    tiny = 10.0 ** -generator.uniform(2, 14)
    weights = generator.random(count) * tiny * (generator.pareto(1.1, count) + 1 if seed % 2 else 1)
    weights[int(generator.integers(count))] = 1
    return space, (weights / weights.sum()).tolist()


@pytest.mark.parametrize("seed", [9, 45, 51, 66, 93, 104, 146, 166, 183])
def test_priors_near_a_point_are_proved(seed):
    """Each of these ended with a gap of 2e-4 to 7e-2."""
    space, prior = near_a_point(seed)
    channel = optimal(space, prior)
    assert channel.finished
    assert channel.gap <= 1e-4
    assert verify(channel, space)


@pytest.mark.long
def test_two_hundred_priors_near_a_point_are_proved():
    for seed in range(200):
        space, prior = near_a_point(seed)
        channel = optimal(space, prior)
        assert channel.finished, seed
        assert verify(channel, space), seed


@pytest.mark.parametrize("seed", [0, 9, 51, 66, 104])
def test_no_private_channel_is_below_the_bound(seed):
    """The exponential and the best found mechanism, and the bound of the problem with fewer outputs is no lower."""
    space, prior = near_a_point(seed)
    found = exact_bound(Problem.of(space, prior, "distance", None))
    assert 0 < found.bound <= Fraction(optimal(space, prior, time_limit=1e-6).loss)
    fewer = exact_bound(Problem.of(space, prior, "distance", space.points[::2]))
    assert fewer.bound >= found.bound * (1 - Fraction(1, 10**4))
    assert found.matrix.sum(axis=1) == pytest.approx(np.ones(len(space)), rel=1e-6)


def test_many_points_have_none():
    assert exact_bound(Problem.of(mdp.Space.line(60, mdp.metrics.absolute()), "uniform", "distance", None)) is None
