"""Prices that prove a bound without a search."""

import numpy as np
import pytest

import metricdp as mdp
from metricdp.design import optimal
from metricdp.design.optimal._dual_bound import all_to_one, sum_below


def bound(space, prior, losses):
    prices = all_to_one(prior[:, None] * losses, space.enclosures.upper, prior, 2.0**-48)
    assert np.count_nonzero(prices) <= 1
    return sum_below(prices, np.zeros(0))


@pytest.mark.parametrize("seed", range(8))
def test_prices_of_one_point_are_a_bound(seed):
    generator = np.random.default_rng(seed)
    count = int(generator.integers(2, 9))
    places = [tuple(place) for place in generator.random((count, 2)).tolist()]
    space = mdp.Space(places, float(generator.choice([0.1, 2, 20])) * mdp.metrics.euclidean())
    prior = generator.pareto(0.3, count) + 1
    prior /= prior.sum()
    assert 0 < bound(space, prior, space.distances) <= optimal(space, prior, space.distances, gap=1e-6).loss


def test_they_could_not_be_one_per_cent_higher():
    """Two points 0.01 apart: the best channel guesses wrong with probability 1/(1 + exp(0.01))."""
    space, prior = mdp.Space([0.0, 0.01], mdp.metrics.absolute()), np.array([0.5, 0.5])
    best = 1 / (1 + np.exp(0.01))
    assert 0.99 * best < bound(space, prior, 1 - np.eye(2)) <= best


def test_they_hold_where_distances_are_infinite():
    apart = np.array([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]])
    space = mdp.Space(range(3), mdp.metrics.matrix(range(3), apart))
    prior = np.array([0.5, 0.3, 0.2])
    losses = 1 - np.eye(3)
    assert 0 < bound(space, prior, losses) <= optimal(space, prior, losses).loss
