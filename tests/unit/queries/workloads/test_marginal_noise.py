"""Noise for marginals: proved for every step of a record, and no more than it has to be."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from metricdp import ln
from metricdp.errors import ImpossibleError
from metricdp.exact.level import Level
from metricdp.metrics import Space, absolute, attributes, discrete, matrix, unprotected
from metricdp.policies.askable import absent_at
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.group_totals import Axis
from metricdp.queries.workloads.marginal_noise import allocate_marginals
from metricdp.queries.workloads.workload import Workload

METRICS = [discrete(), discrete() / 2, ln(2) * discrete(), absolute() / 3, ln(3) * absolute(), unprotected()]


def most_spent(axes, sets, scales, absent):
    """Over all pairs of cells, in Fractions: what the counts of all marginals spend together, of the distance."""
    points = list(itertools.product(*(range(len(axis.points)) for axis in axes)))
    metric = attributes({str(place): axis.metric for place, axis in enumerate(axes)})
    metric = metric if absent is None else absent_at(metric, absent)
    cells = [*points, None] if absent is not None else points
    most = Fraction(0)
    for one, other in itertools.combinations(cells, 2):
        distance = metric.enclose(one, other, bits=200)
        if distance.lower == float("inf"):
            continue
        spent = Fraction(0)
        for chosen, scale in zip(sets, scales, strict=True):
            if one is None or other is None:
                spent += 1 / Fraction(scale)
            elif any(one[axis] != other[axis] for axis in chosen):
                spent += 2 / Fraction(scale)
        most = max(most, spent / Fraction(distance.lower))
    return most


@pytest.mark.parametrize("absent", [None, Level.of(1)])
@pytest.mark.parametrize("seed", range(12))
def test_no_record_is_told_from_another_beyond_their_distance(seed, absent):
    draw = np.random.default_rng(seed)
    axes = [Axis(range(int(size)), METRICS[draw.integers(5)]) for size in draw.integers(2, 4, 3)]
    every = [one for order in (1, 2, 3) for one in itertools.combinations(range(3), order)]
    sets = [every[place] for place in sorted(draw.choice(7, int(draw.integers(1, 5)), replace=False))]
    noise = allocate_marginals(axes, sets, absent)
    spent = most_spent(axes, sets, noise.scales, absent)
    assert 1 - Fraction(1, 10**6) < spent <= 1
    assert most_spent(axes, sets, [scale / 1.1 for scale in noise.scales], absent) > 1  # 10% stronger is refused
    assert noise.tightest.upper <= 1
    assert noise.gap < 1e-6


def test_it_is_the_best_allocation_where_all_cells_are_alike():
    axes = [Axis(range(3), discrete()), Axis(range(2), discrete() / 2), Axis(range(4), discrete())]
    sets = [(0, 1), (1, 2), (0, 2)]
    noise = allocate_marginals(axes, sets)
    points = list(itertools.product(range(3), range(2), range(4)))
    rows, scales = [], []
    for chosen, scale in zip(sets, noise.scales, strict=True):
        for cell in itertools.product(*(range(len(axes[axis].points)) for axis in chosen)):
            rows.append(
                [int(all(point[axis] == value for axis, value in zip(chosen, cell, strict=True))) for point in points]
            )
            scales.append(scale)
    metric = attributes({str(place): axis.metric for place, axis in enumerate(axes)})
    best = allocate(Workload(rows, Space(points, metric)))
    assert sum(scale**2 for scale in scales) == pytest.approx(sum(scale**2 for scale in best.scales), rel=1e-5)


def test_what_needs_no_noise_gets_none_and_what_no_noise_hides_is_refused():
    free, hidden = Axis("ab", unprotected()), Axis("cd", discrete())
    noise = allocate_marginals([free, hidden], [(0,), (1,)])
    assert noise.scales == (0.0, 2.0)
    assert noise.mechanism(0, 10) is None
    twins = Axis("abc", matrix("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]], check=False))
    with pytest.raises(ImpossibleError, match="distance 0"):
        allocate_marginals([twins], [(0,)])
