"""Totals by group: which groups are alike, and the steps between their cells."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError
from metricdp.metrics import absolute, capped, discrete, matrix, nullable
from metricdp.queries.workloads.by_group import allocate_groups
from metricdp.queries.workloads.group_totals import Axis, GroupMeasure, GroupTotals

COUNT = (GroupMeasure(),)


def test_all_groups_of_a_product_of_lists_are_of_one_kind():
    axes = Axis(range(5), discrete()), Axis("abc", 2 * discrete())
    totals = GroupTotals(axes, np.arange(15).reshape(5, 3), COUNT)
    assert set(totals.kinds_of_groups.tolist()) == {0}
    assert len(totals.steps.limits()) == 2


def test_a_condition_tells_groups_apart():
    group = np.arange(15).reshape(5, 3)
    group[0, 0] = -1
    group = np.where(group > 0, group - 1, -1)
    totals = GroupTotals((Axis(range(5), discrete()), Axis("abc", 2 * discrete())), group, COUNT)
    # Next to the cell that is left out, along either attribute, and elsewhere.
    assert len(set(totals.kinds_of_groups.tolist())) == 3


def test_points_that_add_different_numbers_are_not_alike():
    totals = GroupTotals((Axis(range(4), discrete()),), np.zeros(4, dtype=int), (GroupMeasure(((0, (1, 1, 2, 2)),)),))
    assert totals.alike(0).tolist() == [0, 0, 2, 2]


def test_points_on_a_line_are_not_alike_and_have_neighbours():
    axis = Axis([0, 1, 5], absolute() / 2)
    found = {(i, j): float(distance) for pairs, distance in axis.steps([0, 1, 2]) for i, j in pairs.tolist()}
    assert found == {(0, 1): 0.5, (1, 2): 2.0}


def test_missing_values_are_one_step_from_each_other_value():
    axis = Axis([0, 1, 5, None], nullable(absolute(), 3) / 2)
    found = {(i, j): float(distance) for pairs, distance in axis.steps([0, 1, 2, 3]) for i, j in pairs.tolist()}
    assert found == {(0, 1): 0.5, (1, 2): 2.0, (0, 3): 1.5, (1, 3): 1.5, (2, 3): 1.5}


@pytest.mark.parametrize("metric", [capped(absolute(), 2), nullable(capped(absolute(), 2), 1)])
def test_where_no_neighbours_are_known_all_pairs_are_steps(metric):
    pairs = [pair for found, _ in Axis(range(5), metric).steps(range(5)) for pair in found.tolist()]
    assert len(pairs) == 10


def test_groups_that_tell_equal_cells_apart_are_refused():
    twins = matrix(["a", "b", "c"], [[0, 0, 1], [0, 0, 1], [1, 1, 0]], check=False)
    with pytest.raises(ImpossibleError, match="distance 0"):
        _ = GroupTotals((Axis("abc", twins),), np.arange(3), COUNT).steps
    together = GroupTotals((Axis("abc", twins),), np.array([0, 0, 1]), COUNT)
    assert len(together.steps.limits()) == 1


@pytest.mark.long
def test_what_is_too_large_is_refused():
    with pytest.raises(TooLargeError, match="wider cells"):
        _ = GroupTotals((Axis(range(3000), capped(absolute(), 9)),), np.arange(3000), COUNT).steps
    with pytest.raises(TooLargeError, match="digits"):
        _ = GroupTotals((Axis("ab", discrete()),), np.arange(2), (GroupMeasure(((0, (1, 1 << 60)),)),)).steps
    with pytest.raises(ArgumentError, match="every combination"):
        GroupTotals((Axis("ab", discrete()),), np.arange(3), COUNT)


@pytest.mark.parametrize("away", [0.5, 1, 3])
def test_values_that_are_alike_but_for_a_missing_one_are_all_told_apart(away):
    """Any two of them are looked at, not the first two alone."""
    metric = nullable(discrete(), away) / 8
    points = [0, 1, 2, 3, None]
    totals = GroupTotals((Axis(points, metric),), np.arange(5), (GroupMeasure(),))
    scales = allocate_groups(totals).scales
    for (i, one), (j, two) in itertools.combinations(enumerate(points), 2):
        assert Fraction(1) / Fraction(scales[i]) + 1 / Fraction(scales[j]) <= Fraction(metric.enclose(one, two).upper)
