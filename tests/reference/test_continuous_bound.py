"""The bound on a continuum beside the best channels on finer points, which it must not exceed, and come close to."""

import math

import numpy as np
import pytest

import metricdp as mdp
from metricdp.design import continuous, optimal
from metricdp.metrics import Space


def finer(metric, count, dimension, prior, side=1.0):
    """The loss of a channel on the middles of smaller cells: the coarse bound is one for it too."""
    width = side / count
    points = [p if dimension > 1 else p[0] for p in np.ndindex(*(count,) * dimension)]
    found = optimal(Space(points, width * metric), prior, gap=1e-3)
    return found.loss * width


@pytest.mark.parametrize("level", [1, 4, 10])
def test_on_the_line(level):
    metric = level * mdp.metrics.absolute()
    found = continuous(metric, (0, 1), [3, 1, 1, 2], cells=12, gap=0.02)
    prior = np.repeat([3 / 7, 1 / 7, 1 / 7, 2 / 7], 12) / 12
    fine = finer(metric, 48, 1, prior.tolist())
    assert found.bound <= fine <= found.loss * 1.001
    assert found.bound > 0.85 * fine


@pytest.mark.parametrize("level", [2, 5])
def test_in_the_plane(level):
    metric = level * mdp.metrics.euclidean()
    found = continuous(metric, ((0, 1), (0, 1)), cells=5, gap=0.02)
    fine = finer(metric, 10, 2, "uniform")
    assert found.bound <= fine <= found.loss * 1.001
    assert found.bound > 0.8 * fine


def test_on_a_long_line_it_is_that_of_laplace():
    """Far from the ends nothing is better than the Laplace mechanism, whose loss is 1 / level."""
    found = continuous(mdp.metrics.absolute(), (0, 60), cells=120, gap=0.02)
    assert 0.9 < found.bound < 1
    assert found.bound <= found.loss < 1.15
    # Nor does the bound exceed the loss of Laplace noise cut off at the ends, x ↦ min(max(x + noise, 0), 60).
    cut = 1 - (1 - math.exp(-60)) / 60
    assert found.bound <= cut
