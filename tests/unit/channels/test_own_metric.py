"""The distance that a channel itself puts between its inputs."""

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.channels.own_metric import OwnMetric
from metricdp.errors import UnknownCategoryError
from metricdp.exact.balls import precision

F = Fraction


def channel(*rows, inputs=None):
    return Channel.from_matrix(inputs or range(len(rows)), range(len(rows[0])), rows)


LINE = channel(["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"])


def test_it_is_the_largest_difference_of_logarithms():
    metric = LINE.guarantee.metric
    assert metric.ratio(0, 1) == 2
    assert metric.ratio(0, 2) == metric.ratio(2, 0) == 4
    assert metric(0, 2) == pytest.approx(math.log(4), rel=1e-15)
    assert metric.exponential(0, 2).base == 4 ** metric.exponential(0, 2).degree
    assert metric.exactly(1, 1) == 0
    assert metric.exactly(0, 1) is None
    with precision(200):
        assert abs(metric.ball(0, 1) - 2 * metric.ball(0, 2) / 4) < 1e-50


def test_infinite_where_one_alone_can_give_an_output():
    metric = channel([1, 0, 0], ["1/2", "1/2", 0], ["1/3", "2/3", 0]).guarantee.metric
    for x, y in ((0, 1), (1, 0), (0, 2)):
        assert metric(x, y) == math.inf
        assert metric.exactly(x, y) == math.inf
        assert metric.ratio(x, y) is None
        assert metric.exponential(x, y) is None
    assert metric.ratio(1, 2) == F(3, 2)


def test_equal_rows_are_at_distance_zero():
    metric = channel(["1/2", "1/2"], ["1/2", "1/2"], ["1/3", "2/3"]).guarantee.metric
    assert metric(0, 1) == 0
    assert metric.exactly(0, 1) == 0
    assert metric.exponential(0, 1).base == 1
    assert metric(0, 2) > 0


@pytest.mark.parametrize("bits", [10, 64, 3000, 30_000])
def test_rows_that_differ_in_the_last_bit(bits):
    total = 1 << bits
    half, quarter = total // 2, total // 4
    weights = np.array([[half + 1, half - 1], [half, half], [quarter, 3 * quarter]], dtype=object)
    own = Channel((0, 1, 2), ("a", "b"), weights, total)
    metric = own.guarantee.metric
    assert metric.exactly(0, 1) is None
    assert metric.enclose(0, 1).lower > 0
    space = mdp.Space([0, 1, 2], metric)
    verdict = verify(own, space)
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 1.0, 1.0)
    worse = Channel((0, 1, 2), ("a", "b"), np.array([weights[0] + [1, -1], *weights[1:]], dtype=object), total)
    assert not verify(worse, space).holds


def test_a_channel_keeps_its_own_promise_exactly_and_nothing_stronger():
    rng = np.random.default_rng(0)
    for _ in range(10):
        weights = rng.integers(1, 100, (4, 3)).astype(object)
        weights[:, 0] += 400 - weights.sum(axis=1)
        own = Channel(tuple("abcd"), (0, 1, 2), weights, 400)
        metric = own.guarantee.metric
        verdict = verify(own, mdp.Space("abcd", metric))
        assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 1.0, 1.0)
        assert not verify(own, mdp.Space("abcd", F(999_999, 10**6) * metric)).holds
        assert metric.violation("abcd") is None


@pytest.mark.parametrize("times", [2, 3])
def test_released_twice(times):
    """A multiple of it is kept exactly by as many releases."""
    one = channel(["2/3", "1/3"], ["1/3", "2/3"])
    outputs = list(itertools.product(one.outputs, repeat=times))
    rows = [[math.prod(one.probability(x, z) for z in some) for some in outputs] for x in one.inputs]
    metric = times * one.guarantee.metric
    assert metric.exponential(0, 1).base == 2 ** (times * metric.exponential(0, 1).degree)
    verdict = verify(Channel.from_matrix(one.inputs, outputs, rows), mdp.Space(one.inputs, metric))
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 1.0, 1.0)
    root = F(1, times) * (F(times) * one.guarantee.metric)
    assert verify(one, mdp.Space(one.inputs, root)).holds


def test_it_is_that_of_the_matrix_not_of_the_promise():
    promised = LINE.promising(mdp.Guarantee(mdp.ln(2) * mdp.metrics.absolute()))
    assert OwnMetric.of(promised) == OwnMetric.of(LINE)
    assert hash(OwnMetric.of(promised)) == hash(OwnMetric.of(LINE))
    assert pickle.loads(pickle.dumps(OwnMetric.of(LINE))) == OwnMetric.of(LINE)


def test_other_points_are_refused_without_their_name():
    with pytest.raises(UnknownCategoryError) as caught:
        LINE.guarantee.metric(0, "TOP-SECRET")
    assert "TOP-SECRET" not in str(caught.value)


def test_words():
    assert "3×3" in str(LINE.guarantee.metric)
    assert "3×3" in LINE.explain()
