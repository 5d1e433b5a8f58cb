"""Noise for groups and marginals has the scale that was proved: the true one passes, 10% off fails."""

from fractions import Fraction

import numpy as np
from scipy import stats

from metricdp.metrics import discrete
from metricdp.queries.workloads.allocation import released
from metricdp.queries.workloads.by_group import allocate_groups
from metricdp.queries.workloads.group_totals import Axis, GroupMeasure, GroupTotals
from metricdp.queries.workloads.marginal_noise import allocate_marginals
from tests.statistical.harness import check_scale

COUNT = 40_000


def test_counts_of_groups():
    axis = Axis(range(COUNT), discrete() / 2)
    noise = allocate_groups(GroupTotals((axis,), np.arange(COUNT), (GroupMeasure(),)))
    assert noise.scales[0] == 4
    drawn = released([noise.mechanism(place, 10**6) for place in range(COUNT)], [Fraction(17)] * COUNT)
    check_scale([value - 17 for value, _ in drawn], lambda factor: stats.laplace(scale=4 * factor))


def test_counts_of_marginals():
    axes = [Axis("ab", discrete()), Axis("cd", discrete()), Axis("ef", discrete())]
    noise = allocate_marginals(axes, [(0, 1), (1, 2), (0, 2)])
    assert noise.scales == (4.0, 4.0, 4.0)
    drawn = released([noise.mechanism(1, 1000)] * COUNT, [Fraction(5)] * COUNT)
    check_scale([value - 5 for value, _ in drawn], lambda factor: stats.laplace(scale=4 * factor))
