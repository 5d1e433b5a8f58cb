import math
from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, NotAMetricError
from metricdp.exact.level import ln
from metricdp.metrics import (
    Closed,
    Matrix,
    Normalized,
    Space,
    absolute,
    discrete,
    euclidean,
    matrix,
    nullable,
    unprotected,
)


def test_closure_of_rationals_is_a_matrix():
    third = Fraction(1, 3)
    rows = [[0, third, 5], [third, 0, third], [5, third, 0]]
    closed = matrix("abc", rows, check=False).closure("abc")
    assert isinstance(closed, Matrix)
    assert closed.exactly("a", "c") == 2 * third
    assert closed.proven


def test_closure_keeps_the_scale():
    rows = [[0, 1, 5], [1, 0, 1], [5, 1, 0]]
    closed = (ln(2) * matrix("abc", rows, check=False)).closure("abc")
    assert closed == ln(2) * matrix("abc", [[0, 1, 2], [1, 0, 1], [2, 1, 0]])


def test_closure_mends_symmetry_and_self_distance_too():
    closed = matrix("ab", [[1, 3], [2, 0]], check=False).closure("ab")
    assert closed.pairwise("ab").tolist() == [[0, 2], [2, 0]]


@pytest.mark.parametrize("bad", [-1, math.nan])
def test_what_paths_cannot_mend(bad):
    with pytest.raises(NotAMetricError, match="cannot mend"):
        matrix("ab", [[0, bad], [bad, 0]], check=False).closure("ab")


def test_closure_of_irrationals_keeps_the_paths():
    points = [(0, 0), None, (3, 3), (1, 1)]
    closed = nullable(euclidean(), 1).closure(points)
    assert isinstance(closed, Closed)
    assert closed.exactly((0, 0), (3, 3)) == 2
    assert closed((1, 1), (0, 0)) == math.sqrt(2)
    assert closed.enclose((0, 0), (1, 1), 400).width < Fraction(1, 2**399)
    assert closed.violation(points) is None
    assert closed.detours == (((0, 2), (1,)), ((2, 3), (1,)))


def test_closure_of_a_metric_takes_no_detour():
    grid = Space.grid(4, 4)
    assert euclidean().closure(grid.points).detours == ()


def test_a_path_shorter_by_a_hair_is_taken():
    corners = [(0, 0), (1, 1), (2, 2)]
    hair = Fraction(1, 10**30)
    bonus = matrix(corners, [[0, 0, hair], [0, 0, 0], [hair, 0, 0]], check=False)
    closed = (euclidean() + bonus).closure(corners)
    assert closed.detours == (((0, 2), (1,)),)


def test_long_detours():
    line = [(step, step) for step in range(9)]
    rows = [[0 if abs(i - j) == 1 or i == j else math.inf for j in range(9)] for i in range(9)]
    closed = (euclidean() + matrix(line, rows, check=False)).closure(line)
    assert closed(line[0], line[8]) == pytest.approx(8 * math.sqrt(2))
    assert len(closed._steps(line[0], line[8])) == 8


def test_diameter():
    assert absolute().diameter([3, -1, 7]) == 8
    assert absolute().farthest([3, -1, 7]) == (-1, 7)
    assert (2 * absolute()).diameter([3, -1, 7]) == 16
    assert absolute().diameter([5]) == 0
    assert unprotected().diameter("ab") == math.inf
    assert euclidean().enclose(*euclidean().farthest([(0, 0), (1, 0), (1, 1)])).lower ** 2 < 2


def test_the_farthest_pair_is_decided_exactly():
    base, hair = Fraction(10**20), Fraction(1, 10**20)
    assert absolute().farthest([0, base, base + hair]) == (0, base + hair)


def test_normalized():
    assert (ln(2) * absolute()).normalized([0, 3]) == absolute() / 3
    d = (5 * euclidean()).normalized([(0, 0), (1, 1), (1, 0)])
    assert isinstance(d, Normalized)
    assert d((0, 0), (1, 1)) == 1
    assert 1 in d.enclose((0, 0), (1, 1), 200)
    half = d.enclose((0, 0), (1, 0), 200)
    assert half.lower**2 < Fraction(1, 2) < half.upper**2
    assert d.diameter([(0, 0), (1, 1)]) == 1
    for metric, points in [(absolute(), [5]), (unprotected(), "ab")]:
        with pytest.raises(ArgumentError):
            metric.normalized(points)
    assert discrete().normalized("ab") == discrete()
