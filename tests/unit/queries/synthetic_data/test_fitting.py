"""Fits to noisy marginals: consistent, nowhere negative, and as near as any."""

import itertools

import numpy as np
import pytest

from metricdp.exact.progress import Stopwatch
from metricdp.metrics import Guarantee, Space, discrete, records
from metricdp.queries.synthetic_data.fitting import fit_marginals
from metricdp.queries.workloads.consistent import consistent
from metricdp.queries.workloads.workload import Workload

SHAPE = (2, 3, 4)
PAIRS = list(itertools.combinations(range(3), 2))


def noisy_pairs(seed, scale):
    draw = np.random.default_rng(seed)
    counts = draw.multinomial(500, draw.dirichlet(np.full(24, 0.5))).reshape(SHAPE)
    sums = [counts.sum(axis=tuple(axis for axis in range(3) if axis not in pair)) for pair in PAIRS]
    return counts, [one + draw.laplace(size=one.shape) * scale for one in sums]


def test_without_noise_the_marginals_are_met():
    counts, noisy = noisy_pairs(1, 0)
    made = fit_marginals(SHAPE, PAIRS, noisy, [1.0] * 3, 500)
    for pair, wanted in zip(PAIRS, noisy, strict=True):
        assert made.counts(pair) == pytest.approx(wanted, abs=0.5)
    assert made.counts((1,)) == pytest.approx(counts.sum(axis=(0, 2)), abs=0.5)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_as_near_as_the_nearest_histogram(seed):
    _, noisy = noisy_pairs(seed, 10)
    made = fit_marginals(SHAPE, PAIRS, noisy, [10.0] * 3, 500)
    points = list(itertools.product(*map(range, SHAPE)))
    rows = [
        [int((point[i], point[j]) == cell) for point in points]
        for i, j in PAIRS
        for cell in itertools.product(range(SHAPE[i]), range(SHAPE[j]))
    ]
    workload = Workload(rows, Space(points, discrete()))
    flat = np.concatenate([one.ravel() for one in noisy])
    best = consistent(workload, flat, [10.0] * len(flat), 500, guarantee=Guarantee(records(discrete())))
    assert made.distance >= best.distance - best.gap - 1e-6
    assert made.distance <= best.distance + 0.02 * max(best.distance, 1)
    sums = [made.counts(pair).sum(axis=0) for pair in PAIRS]
    assert all(one.min() >= 0 for one in sums)
    assert sums[0] == pytest.approx(made.counts((1,)), rel=1e-9)  # all agree


def test_of_nobody_there_is_nothing_and_time_can_end_it():
    empty = fit_marginals((2, 2), [(0,), (1,)], [np.zeros(2), np.zeros(2)], [1.0, 1.0], 0)
    assert empty.counts((0,)).tolist() == [0, 0]
    _, noisy = noisy_pairs(2, 5)
    assert fit_marginals(SHAPE, PAIRS, noisy, [5.0] * 3, 500, watch=Stopwatch(1e-9)).steps == 1
