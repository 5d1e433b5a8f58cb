"""Exact points on a solver's support."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz_mat

from metricdp.errors import ArgumentError
from metricdp.programs import Echelon, LinearProgram, Sparse, point_on_support


def test_a_vertex_of_the_solver_becomes_rational():
    matrix = [[Fraction(1, 3), Fraction(1, 7), Fraction(2, 5), 1], [1, 1, 1, 0]]
    right = [Fraction(1, 4), 1]
    program = LinearProgram()
    program.add_columns([3, 1, 2, 10])
    floats = [float(side) for side in right]
    program.add_rows(floats, floats, Sparse.of_dense([[float(entry) for entry in row] for row in matrix]))
    solution = program.solve()
    exact = point_on_support(matrix, right, solution.basis.basic_columns)
    assert exact is not None
    assert [sum(a * x for a, x in zip(row, exact, strict=True)) for row in matrix] == right
    assert [float(x) for x in exact] == pytest.approx(solution.primal.tolist(), abs=1e-9)
    best = min(
        sum(c * x for c, x in zip([3, 1, 2, 10], point, strict=True))
        for support in itertools.combinations(range(4), 2)
        if (point := point_on_support(matrix, right, support)) is not None
    )
    assert sum(c * x for c, x in zip([3, 1, 2, 10], exact, strict=True)) == best


def test_no_point_is_none():
    assert point_on_support([[1, 0], [0, 1]], [1, -1], [0, 1]) is None  # negative
    assert point_on_support([[1, 0], [0, 1]], [1, 1], [0]) is None  # inconsistent
    assert point_on_support([[1, 0], [0, 1]], [1, 1], []) is None
    assert point_on_support([[1, 0], [0, 1]], [0, 0], []) == [0, 0]


def test_a_miss_of_one_part_in_10_to_the_30_is_seen():
    tiny = Fraction(1, 10**30)
    assert point_on_support([[1], [1]], [1, 1 + tiny], [0]) is None
    assert point_on_support([[1], [1 + tiny]], [1, 1 + tiny], [0]) == [1]


def test_echelon_against_numpy():
    rng = np.random.default_rng(4)
    for _ in range(20):
        rows, columns, rank = 4, 6, int(rng.integers(1, 5))
        matrix = rng.integers(-5, 6, size=(rows, rank)) @ rng.integers(-5, 6, size=(rank, columns))
        right = matrix @ rng.integers(-3, 4, size=(columns, 2))
        held = Echelon.of(fmpz_mat(matrix.tolist()), fmpz_mat(right.tolist()))
        assert held.consistent
        assert held.divisor > 0
        assert len(held.pivots) == np.linalg.matrix_rank(matrix)
        assert sorted((*held.pivots, *held.free)) == list(range(columns))
        for side in range(2):
            assert (matrix.astype(object) @ np.array(held.solution(side)) == right[:, side]).all()
        for free in held.free:
            vector = held.null_vector(free)
            assert vector[free] == 1
            assert not (matrix.astype(object) @ np.array(vector)).any()


def test_inconsistent_equations():
    held = Echelon.of(fmpz_mat([[1, 2], [2, 4]]), fmpz_mat([[1], [3]]))
    assert not held.consistent
    assert held.pivots == (0,)


def test_shapes():
    with pytest.raises(ArgumentError, match="2 rows of equal length need as many right-hand sides, not 1"):
        point_on_support([[1], [1]], [1], [0])
