"""Statistical queries: averages as workloads, and attribute_averages attribute by attribute."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.errors import ArgumentError, ImpossibleError, KindError, UnsupportedMetricError
from metricdp.metrics import Space
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.statistical import attribute_averages, statistical


def cube(budgets, values=(-1, 1)):
    d = metrics.attributes({f"a{place}": epsilon for place, epsilon in enumerate(budgets)})
    return Space(itertools.product(values, repeat=len(budgets)), d)


def test_an_average_is_a_linear_query():
    workload = statistical(lambda u: (u, u * u), Space.line(4), total=8, names=["mean", "square"])
    assert workload.entries[1] == tuple(Fraction(u * u, 8) for u in range(4))
    assert workload.truth([2, 2, 2, 2]) == (Fraction(3, 2), Fraction(7, 2))
    assert allocate(statistical(lambda u: u, Space.line(4), total=8)).scales == (0.125,)


def test_bad_functions_are_refused():
    with pytest.raises(ArgumentError, match="different lengths"):
        statistical(lambda u: [0] * (u + 1), Space.line(3), 5)
    with pytest.raises(KindError, match="not str"):
        statistical(str, Space.line(3), 5)
    with pytest.raises(ArgumentError, match="positive integer"):
        statistical(lambda u: u, Space.line(3), 0)


@pytest.mark.parametrize(("epsilon", "total"), [(1, 10), (0.5, 4), (0.1, 21), (0.1, 19), (0.01, 100)])
def test_signs_by_hand(epsilon, total):
    """Values -1 and 1: 2/(n ε) without bias while n ε >= 2; else the middle, without noise."""
    allocation = attribute_averages(cube([epsilon] * 2), total)
    if total * Fraction(epsilon) >= 2:
        assert allocation.scales == pytest.approx([2 / (total * epsilon)] * 2, rel=1e-12)
        assert not allocation.biased
    else:
        assert allocation.scales == (0.0, 0.0)
        assert not allocation.answered.matrix.any()
    assert allocation.absolute_error(total) == pytest.approx(2 * min(1, 2 / (total * epsilon)), rel=1e-9)
    assert attribute_averages(cube([epsilon] * 2), total, bias=False).scales == pytest.approx(
        [2 / (total * epsilon)] * 2
    )


@pytest.mark.parametrize("seed", range(6))
def test_one_attribute_against_a_search(seed):
    """The least of b + c(b) on a fine grid of biases is not below what is found, nor far above."""
    generator = np.random.default_rng(seed)
    values = sorted(set(generator.integers(0, 20, 5).tolist()))
    total = int(generator.integers(2, 40))
    metric = metrics.blowfish(metrics.absolute(), 4, 0.25) if seed % 2 else metrics.absolute() / 16
    space = Space([(value,) for value in values], metrics.attributes({"a": metric}))
    allocation = attribute_averages(space, total)
    apart = np.abs(np.subtract.outer(values, values)).astype(float)
    distances = space.distances + np.eye(len(values))
    grid = np.linspace(0, (values[-1] - values[0]) / 2, 5001)
    scale = [max(0.0, float(((apart - 2 * b) / (total * distances))[apart > 0].max(initial=0))) for b in grid]
    least = float((grid + np.array(scale)).min())
    found = allocation.absolute_error(total)
    assert found <= least * (1 + 1e-9)
    assert found >= least - 0.02
    assert allocation.verdict.holds


def test_marginals_have_the_budgets_of_their_attributes():
    """Joint allocation of the same queries can do no better: each attribute's own pairs already limit it."""
    space = cube([1, 0.25])
    allocation = attribute_averages(space, 100)
    assert allocation.scales == (0.02, 0.08)
    assert allocate(statistical(list, space, 100)).scales == pytest.approx(allocation.scales, rel=1e-9)
    answers = allocation.release([25, 25, 25, 25])
    assert answers.names == ("a0", "a1")
    assert abs(answers["a0"]) < 1


def test_free_attributes_need_no_noise():
    assert attribute_averages(cube([math.inf, 1]), 10).scales == (0.0, 0.2)


def test_marginals_refuse_other_metrics_and_hidden_values():
    with pytest.raises(UnsupportedMetricError, match="attributes"):
        attribute_averages(Space.line(3), 5)
    hidden = metrics.matrix([0, 1], [[0, 0], [0, 0]])
    with pytest.raises(ImpossibleError, match="distance 0"):
        attribute_averages(Space([(0,), (1,)], metrics.attributes({"a": hidden})), 5)
    words = Space([("x",), ("y",)], metrics.attributes({"a": 1}))
    with pytest.raises(KindError):
        attribute_averages(words, 5)
