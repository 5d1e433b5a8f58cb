"""Logarithms of integers with their error, and the greatest differences of rows, on one core and on all."""

import numpy as np
import pytest

from metricdp.channels import _logarithms
from metricdp.channels._logarithms import greatest_beyond, greatest_differences, logarithms
from metricdp.channels.near_sets import near_sets
from metricdp.exact.balls import Enclosure, ball, precision


@pytest.mark.parametrize("bits", [10, 60, 900, 1100])
def test_logarithms_are_within_their_error(bits):
    weights = np.array([[0, 1, 3], [(1 << bits) - 1, (1 << bits) + 1, 10**12 + 7]], dtype=object)
    logs, error = logarithms(weights)
    assert error < 1e-9
    for weight, found in zip(weights.ravel().tolist(), logs.ravel().tolist(), strict=True):
        if weight == 0:
            assert found == 0
            continue
        with precision(200):
            truth = Enclosure.of(ball(weight).log())
        assert float(truth.lower) - error <= found <= float(truth.upper) + error


@pytest.mark.parametrize("large", [0, 10**9])
@pytest.mark.parametrize("alike", [0, 1, 3])
def test_greatest_differences_on_any_number_of_cores(monkeypatch, large, alike):
    monkeypatch.setattr(_logarithms, "_LARGE", large)
    logs = np.random.default_rng(alike).normal(size=(9, 7))
    logs[:, :alike] = 4.0
    expected = (logs[:, None, :] - logs[None, :, :]).max(axis=2)
    assert np.array_equal(greatest_differences(logs), expected)


@pytest.mark.parametrize("most", [1, 4, 50])
@pytest.mark.parametrize("seed", range(4))
def test_greatest_differences_that_are_more_than_enough(seed, most):
    generator = np.random.default_rng(seed)
    places = generator.random((37, 2))
    apart = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    apart[0, 3:] = apart[3:, 0] = np.inf
    logs = -apart[:, generator.permutation(37)[:20]].clip(max=3) * generator.uniform(0.5, 1, 20)
    expected = (logs[:, None, :] - logs[None, :, :]).max(axis=2)
    sets = list(near_sets(apart, most))
    assert sorted(np.concatenate(sets).tolist()) == list(range(37))
    assert max(map(len, sets)) <= most
    for enough in (apart * 0.9, apart * 1.1, np.full(apart.shape, -np.inf), expected):
        found = greatest_beyond(logs, sets, lambda rows: enough[rows])  # noqa: B023  # used at once
        assert (found <= expected).all()
        assert (found == expected)[expected > enough].all()
