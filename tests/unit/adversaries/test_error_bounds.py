"""Lower bounds on error, and the error that channels reach."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.adversaries.error_bounds import error_bound, reached_error
from metricdp.channels.channel import Channel
from metricdp.errors import ArgumentError, LevelError, NotAMetricError
from metricdp.exact.level import ln
from metricdp.metrics import Space

LINE = Space.line(4, ln(2) * metrics.absolute())


def brute_force(space, error, delta, decays):
    """Every bound by its definition, over all pairs and, for one point against others, all sets S."""
    n, keep = len(space), 1 - delta
    pairs = list(itertools.permutations(range(n), 2))
    largest = min(decays[i][j] for i, j in pairs)
    diameter, least = max(error[i][j] for i, j in pairs), min(error[i][j] for i, j in pairs)
    two = max(Fraction(error[i][j]) / (1 + 1 / decays[i][j]) for i, j in pairs)
    many = Fraction(0)
    for u in range(n):
        others = [v for v in range(n) if v != u]
        for size in range(1, n):
            for chosen in itertools.combinations(others, size):
                amounts = {v: error[u][v] * decays[u][v] for v in chosen}
                nearest = {v: min(error[v][w] for w in range(n) if w != v) for v in chosen}
                many = max(many, sum(amounts.values()) / (1 + sum(amounts[v] / Fraction(nearest[v]) for v in chosen)))
    published_7 = Fraction(least) * (n - 1) / (n - 1 + 1 / largest)
    return [keep * value for value in (diameter / (2 * (1 + 1 / largest)), published_7, two, many)]


@pytest.mark.parametrize("delta", [0, Fraction(1, 10)])
@pytest.mark.parametrize("points", [(0, 1), (0, 1, 2, 3), (0, 1, 5, 6, 20), (0, 3, 4, 9, 10)])
def test_every_bound_is_its_definition(points, delta):
    space = Space(points, ln(2) * metrics.absolute())
    error = [[abs(x - y) for y in points] for x in points]
    decays = [[Fraction(1, 2 ** abs(x - y)) for y in points] for x in points]
    bound = error_bound(space, delta=delta)
    found = [bound.theorem_6.exact, bound.theorem_7.exact, bound.sharper.exact, bound.sharper_7.exact]
    assert found == brute_force(space, error, delta, decays)


def test_the_error_metric_is_another_thing_than_the_privacy_metric():
    by_labels = error_bound(LINE, error=metrics.discrete())
    by_distance = error_bound(LINE)
    assert by_labels.sharper.exact == Fraction(1, 3)
    assert by_distance.sharper.exact == Fraction(2, 5)
    as_matrix = error_bound(LINE, error=1 - np.eye(4))
    assert as_matrix.sharper == by_labels.sharper
    assert as_matrix.sharper_7 == by_labels.sharper_7


def test_the_pair_and_the_point_give_the_bound():
    bound = error_bound(LINE)
    assert bound.pair == (0, 2)
    assert bound.point in (1, 2)


def test_what_holds_for_outputs_elsewhere():
    bound = error_bound(LINE)
    assert bound.anywhere == bound.sharper
    assert bound.best == bound.sharper_7
    assert bound.needs_outputs_in_space
    assert not error_bound(Space.line(2, ln(2) * metrics.absolute())).needs_outputs_in_space


def test_irrational_bounds_are_rounded_down():
    bound = error_bound(Space.line(2, 0.5 * metrics.absolute()))
    assert bound.sharper.exact is None
    assert bound.sharper == pytest.approx(1 / (1 + math.exp(0.5)), rel=1e-15)
    assert bound.sharper <= bound.sharper.enclosure.lower
    assert bound.sharper_7 == bound.sharper


def test_many_points_on_a_map():
    bound = error_bound(Space.grid(9, 9, 0.7 * metrics.euclidean()))
    distances = Space.grid(9, 9, metrics.euclidean()).distances
    assert bound.sharper == pytest.approx((distances / (1 + np.exp(0.7 * distances))).max(), rel=1e-14)
    assert bound.sharper_7 > bound.theorem_7


def test_one_point_may_be_released_as_it_is():
    bound = error_bound(Space([7], metrics.absolute()))
    assert bound.best == 0
    assert bound.pair is None


def test_infinite_and_zero_distances():
    free = Space("ab", metrics.unprotected())
    assert error_bound(free, error=metrics.discrete()).best == 0
    no_way_back = Space("ab", ln(2) * metrics.discrete())
    assert error_bound(no_way_back, error=metrics.unprotected()).best == math.inf
    assert error_bound(free, error=metrics.unprotected()).best == 0
    twins = Space("ab", metrics.matrix("ab", [[0, 0], [0, 0]]))
    assert error_bound(twins, error=metrics.discrete()).sharper.exact == Fraction(1, 2)
    assert error_bound(Space("ab", metrics.discrete()), error=[[0, 0], [0, 0]]).best == 0


def test_bad_input():
    with pytest.raises(LevelError, match="below 1"):
        error_bound(LINE, delta=1)
    with pytest.raises(LevelError, match="at least 0"):
        error_bound(LINE, delta=-0.1)
    with pytest.raises(ArgumentError, match="4 rows and columns"):
        error_bound(LINE, error=[[0, 1], [1, 0]])
    with pytest.raises(NotAMetricError, match="triangle"):
        error_bound(Space.line(3, metrics.absolute()), error=[[0, 1, 5], [1, 0, 1], [5, 1, 0]])


def test_reached_error_is_the_worst_row():
    space = Space.line(2, ln(2) * metrics.absolute())
    channel = Channel.from_matrix([1, 0], [0, 1, 5], [["1/4", "1/2", "1/4"], ["1/2", "1/4", "1/4"]])
    assert reached_error(channel, space).exact == Fraction(3, 2)
    assert reached_error(channel, space, metrics.discrete()).exact == Fraction(1, 2)


def test_reached_error_rounds_up_and_may_be_infinite():
    space = Space([(0, 0), (1, 1)], metrics.euclidean())
    channel = Channel.from_matrix(space.points, space.points, [["1/2", "1/2"], ["1/2", "1/2"]])
    assert reached_error(channel, space).exact is None
    assert Fraction(reached_error(channel, space)) ** 2 >= HALF
    assert reached_error(channel, space, metrics.unprotected()) == math.inf


def test_reached_error_wants_every_point_and_outputs_that_have_a_distance():
    channel = Channel.from_matrix([0, 1], ["x", "y"], [[1, 0], [0, 1]])
    with pytest.raises(ArgumentError, match="no input 2"):
        reached_error(channel, Space.line(3), metrics.discrete())
    with pytest.raises(ArgumentError, match="output 'x'"):
        reached_error(channel, Space.line(2))


HALF = Fraction(1, 2)
