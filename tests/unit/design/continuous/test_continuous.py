"""The best mechanism for every point of a rectangle, and its bound."""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import continuous
from metricdp.errors import ArgumentError, TooLargeError, UnsupportedMetricError
from metricdp.metrics import Space

SQUARE = ((0, 1), (0, 1))


@pytest.fixture(scope="module")
def skewed():
    return continuous(3 * mdp.metrics.euclidean(), SQUARE, [[6, 1], [1, 2]], cells=6, gap=0.3)


def test_it_keeps_the_metric(skewed):
    assert skewed.level <= 3
    draws = np.random.default_rng(1).integers(0, 65, size=(30, 2)) / 64
    points = list(dict.fromkeys(map(tuple, draws.tolist())))
    assert verify(mdp.channels.of(skewed, points), Space(points, 3 * mdp.metrics.euclidean()))


def test_its_loss_is_what_it_says(skewed):
    """Beside releases of secrets drawn from the prior."""
    draws = np.random.default_rng(4)
    count = 60_000
    cells = draws.choice(4, size=count, p=[0.6, 0.1, 0.1, 0.2])
    x = (np.column_stack([cells // 2, cells % 2]) + draws.uniform(size=(count, 2))) / 2
    with mdp.seeded(3):
        away = np.linalg.norm(skewed.release(x) - x, axis=1)
    error = 6 * away.std() / math.sqrt(count)
    assert skewed.loss - 0.01 * skewed.loss - error < away.mean() < skewed.loss + error


def test_it_is_finished_when_the_gap_is_proved(skewed):
    assert skewed.finished
    assert not skewed.reason
    assert 0 < skewed.bound <= skewed.loss
    other = continuous(3 * mdp.metrics.euclidean(), SQUARE, cells=3, gap=1e-3)
    assert not other.finished
    assert other.reason
    assert "bound" in repr(other)
    assert other.to_json()["continuous"]["finished"] is False


@pytest.mark.parametrize("metric", [2 * mdp.metrics.manhattan(), mdp.ln(7) * mdp.metrics.chebyshev()])
def test_other_norms_and_unequal_sides(metric):
    found = continuous(metric, ((-1, 1), (Fraction(1, 3), 2)), cells=(8, 6), gap=0.3)
    assert found.level <= metric.level
    assert found.bound <= found.loss < 1.4 * found.bound
    assert found.release([-0.3, 1.1]) in found.channel.outputs


def test_outputs_lie_in_the_region():
    found = continuous(2 * mdp.metrics.absolute(), (10, 13), [1, 5, 1])
    assert all(10 < z < 13 for z in found.channel.outputs)
    assert len(found.channel.outputs) % 3 == 0
    assert 10 < found.release(13) < 13


def test_a_weak_level_gives_the_best_constant():
    """Whoever must tell nothing says the middle; from the level 0.01 on nobody does much better."""
    found = continuous(0.01 * mdp.metrics.absolute(), (0, 1), cells=9)
    assert found.loss == pytest.approx(0.25, rel=0.02)
    assert found.bound > 0.23


def test_a_time_limit_is_kept():
    found = continuous(6 * mdp.metrics.euclidean(), SQUARE, np.arange(1, 101).reshape(10, 10), time_limit=1.0)
    assert found.level <= 6
    assert found.bound <= found.loss


def test_bad_arguments_are_refused():
    metric = 2 * mdp.metrics.euclidean()
    with pytest.raises(UnsupportedMetricError):
        continuous(mdp.metrics.great_circle().within(500), SQUARE)
    with pytest.raises(UnsupportedMetricError):
        continuous(mdp.metrics.discrete(), SQUARE)
    for prior in ("worst", [1, 2], [[1, 2], [3]], [[-1, 2]], [[0, 0]], [[math.nan, 1]], []):
        with pytest.raises(ArgumentError):
            continuous(metric, SQUARE, prior)
    for cells in (0, -1, 2.5, (3,), "many", True):
        with pytest.raises(ArgumentError, match="cells"):
            continuous(metric, SQUARE, cells=cells)
    with pytest.raises(ArgumentError, match="multiple"):
        continuous(metric, SQUARE, [[1, 2, 3]] * 3, cells=4)
    with pytest.raises(ArgumentError, match="bounds"):
        continuous(metric, ((0, 1), (1, 0)))
    with pytest.raises(ArgumentError, match="coordinates"):
        continuous(mdp.metrics.absolute(), SQUARE)
    with pytest.raises(TooLargeError):
        continuous(metric, SQUARE, cells=100)
    with pytest.raises(ArgumentError, match="gap"):
        continuous(metric, SQUARE, gap=0)
