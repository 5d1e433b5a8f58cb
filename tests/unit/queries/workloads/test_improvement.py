"""Improvement factors, and allocations for absolute error."""

import math

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.metrics import Space, discrete, euclidean
from metricdp.queries import Workload, allocate, improvement_factor


def workload(seed, queries, cells=12):
    generator = np.random.default_rng(seed)
    space = Space((generator.random((cells, 2)) * 10).tolist(), euclidean())
    return Workload(generator.random((queries, cells)), space)


def test_the_factor_by_its_formula():
    asked = workload(1, 3)
    found = allocate(asked, "shared")
    columns = asked.matrix.T
    change = max(np.abs(a - b).sum() for a in columns for b in columns)
    least = asked.space.distances[~np.eye(12, dtype=bool)].min()
    expected = np.prod([change / least / c for c in found.scales]) ** (1 / 3)
    assert improvement_factor(found) == pytest.approx(expected)
    assert improvement_factor(asked) >= improvement_factor(found) * (1 - 1e-9)
    assert improvement_factor(found, epsilon=2 * least) == pytest.approx(expected / 2)


def test_no_gain_in_the_discrete_metric_and_no_noise_at_all():
    asked = Workload([[0, 1, 0]], Space("abc", mdp.ln(2) * discrete()))
    assert improvement_factor(asked) == pytest.approx(1)
    free = Workload([[0, 1]], Space("ab", mdp.metrics.unprotected()))
    assert improvement_factor(free, 1) == math.inf
    with pytest.raises(ArgumentError):
        improvement_factor([[0, 1]])


@pytest.mark.parametrize("seed", range(4))
def test_absolute_error_is_least_and_proved(seed):
    asked = workload(seed, 4)
    found = allocate(asked, objective="absolute")
    assert found.value == pytest.approx(sum(found.scales) / 4)
    assert 0 <= found.gap < 1e-6
    for objective in ("mean", "geometric", "worst"):
        other = allocate(asked, objective=objective)
        assert sum(other.scales) >= sum(found.scales) * (1 - 1e-6)
    assert allocate(asked).value <= 2 * sum(c**2 for c in found.scales) / 4 * (1 + 1e-6)


def test_absolute_by_calculus():
    found = allocate(Workload([[0, 1, 2], [0, 0, 3]], Space.line(3)), objective="absolute")
    assert found.value == pytest.approx((1 + math.sqrt(3)) ** 2 / 2, rel=1e-6)
    assert found.bound <= (1 + math.sqrt(3)) ** 2 / 2
