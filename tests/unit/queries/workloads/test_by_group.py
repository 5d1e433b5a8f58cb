"""Noise for totals by group: never more than the metric allows, and no more noise than the matrix needs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp import ln
from metricdp.exact.level import Level
from metricdp.metrics import Space, absolute, attributes, discrete, nullable, unprotected
from metricdp.policies.askable import absent_at
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.by_group import allocate_groups
from metricdp.queries.workloads.group_totals import Axis, GroupMeasure, GroupTotals
from metricdp.queries.workloads.workload import Workload

METRICS = [
    discrete(), discrete() / 2, ln(2) * discrete(), absolute() / 3, ln(3) * absolute(), unprotected(),
]  # fmt: skip


def random_totals(seed, absent=None):
    draw = np.random.default_rng(seed)
    sizes = [int(size) for size in draw.integers(1, 5, draw.integers(1, 4))]
    axes = tuple(Axis(range(size), METRICS[draw.integers(len(METRICS))]) for size in sizes)
    kind = draw.integers(3)
    if kind == 0:
        group = np.arange(np.prod(sizes)).reshape(sizes)
    elif kind == 1:  # by the first attribute alone
        group = np.broadcast_to(np.arange(sizes[0]).reshape([-1] + [1] * (len(sizes) - 1)), sizes).copy()
    else:
        group = draw.integers(-1, 4, sizes)
    if draw.random() < 0.4:
        group[tuple(draw.integers(size) for size in sizes)] = -1
    old = sorted(set(group.ravel().tolist()) - {-1})
    group = np.array([old.index(g) if g >= 0 else -1 for g in group.ravel().tolist()]).reshape(sizes)
    axis = int(draw.integers(len(sizes)))
    values = tuple(Fraction(int(n), int(draw.integers(1, 3))) for n in draw.integers(-2, 4, sizes[axis]))
    one, other = (axis, values), (0, tuple(Fraction(int(n)) for n in draw.integers(-1, 3, sizes[0])))
    measures = [
        (GroupMeasure(),),
        (GroupMeasure(), GroupMeasure((one,))),
        (GroupMeasure((one,)),),
        (GroupMeasure((other,)), GroupMeasure((one, other))),
    ][draw.integers(4)]
    return GroupTotals(axes, group, measures, absent)


def as_workload(totals):
    """All queries one by one, over all cells: what the totals by group stand for."""
    names = [f"axis {place}" for place in range(len(totals.axes))]
    points = list(itertools.product(*(axis.points for axis in totals.axes)))
    metric = attributes({name: axis.metric for name, axis in zip(names, totals.axes, strict=True)})
    group = totals.group.ravel().tolist()
    rows = []
    for number, measure in totals.asked:
        one = totals.measures[measure]
        adds = [math.prod((values[cell[axis]] for axis, values in one.factors), start=Fraction(1)) for cell in points]
        rows.append([add if of == number else Fraction(0) for add, of in zip(adds, group, strict=True)])
    if totals.absent is not None:
        points, rows = [*points, None], [[*row, Fraction(0)] for row in rows]
        metric = absent_at(metric, totals.absent)
    return rows, Space(points, metric)


def most_spent(rows, space, scales):
    """The largest part of a distance that is spent, over all pairs, in Fractions; from above."""
    most = Fraction(0)
    for i, j in itertools.combinations(range(len(space)), 2):
        distance = space.metric.enclose(space.points[i], space.points[j], bits=200)
        moved = [(abs(row[i] - row[j]), scale) for row, scale in zip(rows, scales, strict=True) if row[i] != row[j]]
        if moved and distance.lower != float("inf"):
            assert all(scale > 0 for _, scale in moved)
            most = max(most, sum(by / Fraction(scale) for by, scale in moved) / Fraction(distance.lower))
    return most


@pytest.mark.parametrize("absent", [None, Level.of(1)])
@pytest.mark.parametrize("seed", range(14))
def test_no_two_cells_are_told_apart_beyond_their_distance(seed, absent):
    totals = random_totals(seed, absent)
    if not totals.groups:
        return
    noise = allocate_groups(totals)
    rows, space = as_workload(totals)
    spent = most_spent(rows, space, noise.scales)
    assert spent <= 1
    if any(noise.scales):
        assert spent > 1 - Fraction(1, 10**6)
        assert most_spent(rows, space, [scale / 1.1 for scale in noise.scales]) > 1  # 10% stronger is refused
        assert noise.tightest.upper <= 1
        assert noise.witness is not None


@pytest.mark.parametrize("seed", range(12))
def test_it_is_as_good_as_the_best_over_the_matrix(seed):
    totals = random_totals(seed)
    noise = allocate_groups(totals) if totals.groups else None
    if noise is None or not any(noise.scales):
        return
    rows, space = as_workload(totals)
    weights = [1 / (max(map(abs, row)) or Fraction(1)) ** 2 for row in rows]
    best = allocate(Workload(rows, space), weights=weights)
    value = sum(weight * Fraction(scale) ** 2 for weight, scale in zip(weights, noise.scales, strict=True))
    other = sum(weight * Fraction(scale) ** 2 for weight, scale in zip(weights, best.scales, strict=True))
    assert float(value / other) == pytest.approx(1, abs=1e-5)
    assert noise.gap < 1e-5


def test_disjoint_counts_have_a_closed_form():
    """A record moves from one count to another, so both change by 1: 1 / c + 1 / c <= eps."""
    for epsilon in (Fraction(1, 2), Fraction(2, 3), Fraction(1)):
        axis = Axis(range(20_000), discrete() * epsilon)
        noise = allocate_groups(GroupTotals((axis,), np.arange(20_000), (GroupMeasure(),)))
        assert noise.scales[0] == noise.scales[-1] == float(2 / epsilon)
        assert noise.tightest.lower == noise.tightest.upper == 1


def test_counts_that_are_too_many_to_solve_share_a_scale_and_say_what_that_costs():
    axes = Axis(range(41), absolute()), Axis(range(40), absolute() / 2)
    noise = allocate_groups(GroupTotals(axes, np.arange(1640).reshape(41, 40), (GroupMeasure(),)))
    assert set(noise.scales) == {4.0}
    assert noise.gap < 0.01  # the best is no more than a hundredth better


def test_a_missing_value_is_a_cell_too():
    axis = Axis([0, 1, 2, None], nullable(absolute(), 3))
    totals = GroupTotals((axis,), np.arange(4), (GroupMeasure(),))
    rows = np.eye(4, dtype=int).tolist()
    assert most_spent(rows, Space([0, 1, 2, None], axis.metric), allocate_groups(totals).scales) <= 1


def test_the_noise_of_equal_scales_is_one_object():
    noise = allocate_groups(GroupTotals((Axis(range(50), discrete()),), np.arange(50), (GroupMeasure(),)))
    assert noise.mechanism(0, 1000) is noise.mechanism(49, 1000)
    assert noise.mechanism(0, 1000).guarantee.metric(0, 1) == 0.5
