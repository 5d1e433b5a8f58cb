"""Bias, sizes and rounds by minimising bounds."""

import numpy as np
import pytest

from metricdp.errors import ArgumentError
from metricdp.metrics import Space, discrete, euclidean
from metricdp.queries import Workload, best_rounds, best_size, mwem_bound, preprocess, small_database

GENERATOR = np.random.default_rng(5)
POINTS = Space((GENERATOR.random((9, 2)) * 10).tolist(), euclidean() / 100)
ASKED = Workload(GENERATOR.random((4, 9)), POINTS)


@pytest.mark.parametrize("maker", ["small_database", "mwem"])
@pytest.mark.parametrize("total", [10, 1000, 10**7])
def test_no_scale_of_a_grid_is_better(maker, total):
    found = preprocess(ASKED, total, maker)
    assert found.bound <= found.unbiased * (1 + 1e-12)
    moved = found.workload.matrix
    assert np.abs(moved - ASKED.matrix).max() <= found.bias + 1e-9
    changes = np.abs(moved[:, :, None] - moved[:, None, :]).max(axis=0)
    assert (changes <= found.scale * POINTS.distances + 1e-9).all()
    steepest = np.abs(ASKED.matrix[:, :, None] - ASKED.matrix[:, None, :]).max(axis=0)
    logs = np.log(9) * np.log(4)
    for scale in np.linspace(0, 100, 501):
        bias = max(0, (steepest - scale * POINTS.distances).max() / 2)
        gamma = 16 * logs + 4 * np.log(20)
        noise = (scale * total**2 * gamma) ** (1 / 3)
        if maker == "mwem":
            noise = 20 / 5 ** (2 / 3) * (total**2 * logs * scale) ** (1 / 3)
        assert total * bias + noise >= found.bound * (1 - 1e-9)


def test_few_records_want_bias_and_many_want_none():
    assert preprocess(ASKED, 10).bias > 0
    assert preprocess(ASKED, 10**12).bias == pytest.approx(0, abs=1e-9)
    with pytest.raises(ArgumentError, match="'small_database' or 'mwem'"):
        preprocess(ASKED, 10, "other")


def test_rounds_and_sizes_are_where_the_bound_is_least():
    asked = Workload(np.eye(3), Space(range(3), discrete()))
    for total in (100, 10_000):
        rounds = best_rounds(asked, total)
        assert mwem_bound(asked, total, rounds) == min(
            mwem_bound(asked, total, t) for t in range(max(1, rounds - 2), rounds + 3)
        )
    size = best_size(asked, 60)
    bounds = {m: small_database(asked, [60, 0, 0], size=m).bound() for m in range(max(1, size - 2), size + 1)}
    assert bounds[size] == pytest.approx(min(bounds.values()), rel=1e-6)
