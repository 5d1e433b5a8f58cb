"""Metrics a little below others: how far below, and that they are metrics."""

import networkx
import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels.pairs import Pairs
from metricdp.channels.shorter import SLACK, merging_distance, shorter_distances

MANY = 510


def places(count, seed=0):
    return np.random.default_rng(seed).random((count, 2))


def pairs_of(points, metric):
    space = mdp.Space([tuple(point) for point in points.tolist()], metric)
    return Pairs.of(space.points, space)


def check(pairs, shorter, share):
    """Below d by the slack, by a share of d at most, and a metric."""
    known = pairs.enclosures
    apart = shorter > 0
    assert (shorter[apart] <= known.lower[apart] - SLACK / 2).all()
    assert (shorter[apart] >= known.upper[apart] * (1 - share)).all()
    assert np.array_equal(shorter, shorter.T)
    for middle in np.random.default_rng(1).integers(0, len(shorter), 60).tolist():
        through = shorter[:, middle, None] + shorter[middle]
        assert (shorter <= through * (1 + 1e-14)).all()


def test_many_points_need_no_shortest_paths():
    pairs = pairs_of(places(MANY), 20 * mdp.metrics.euclidean())
    shorter = shorter_distances(pairs)
    check(pairs, shorter, 1e-8)
    assert (shorter > 0).sum() == MANY * (MANY - 1)


def test_points_next_to_each_other_become_one():
    here = places(MANY // 2, 3)
    away = np.concatenate([here, here + 1e-9])
    pairs = pairs_of(away, 20 * mdp.metrics.euclidean())
    shorter = shorter_distances(pairs)
    check(pairs, shorter, 1e-4)
    twins = np.arange(MANY // 2)
    assert (shorter[twins, twins + MANY // 2] == 0).all()
    assert np.array_equal(shorter[twins], shorter[twins + MANY // 2])
    assert (shorter > 0).sum() == 4 * len(twins) * (len(twins) - 1)


def test_chains_of_near_points_are_one_point():
    step = 0.9 * merging_distance(pairs_of(places(MANY), mdp.metrics.euclidean()))
    chain = 5 + np.outer(np.arange(10), [step, 0])
    pairs = pairs_of(np.concatenate([places(MANY - 10), chain[::-1]]), 20 * mdp.metrics.euclidean() / 20)
    shorter = shorter_distances(pairs)
    assert (shorter[-10:, -10:] == 0).all()
    check(pairs, shorter, 1e-2)


def test_towns_that_do_not_constrain_each_other_stay_so():
    towns = networkx.disjoint_union(networkx.balanced_tree(2, 7), networkx.path_graph(MANY - 255))
    space = mdp.Space(towns.nodes, mdp.metrics.graph(towns) / 3)
    apart = space.distances
    assert np.isinf(apart).any()
    shorter = shorter_distances(Pairs.of(space.points, space))
    assert np.array_equal(np.isinf(shorter), np.isinf(apart))
    finite = np.isfinite(shorter) & (shorter > 0)
    assert (shorter[finite] < space.enclosures.lower[finite]).all()


@pytest.mark.parametrize("spread", [0.01, 0.3])
def test_on_the_globe_it_is_below_by_more_than_floats_can_tell(spread):
    """Its bounds are 10^-7 m apart: with less room, every tight pair had to be looked at in balls."""
    pairs = pairs_of(45 + spread * places(MANY, 7), mdp.metrics.great_circle() / 700)
    known, shorter = pairs.enclosures, shorter_distances(pairs)
    apart = shorter > 0
    assert (shorter[apart] < known.lower[apart] - 2 * (known.upper - known.lower)[apart]).all()
    check(pairs, shorter, 1e-6)
