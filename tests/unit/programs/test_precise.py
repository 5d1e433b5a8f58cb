"""Iterative refinement: errors shrink far below what floats hold, and optima are those of brute force."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError
from metricdp.programs import PreciseProgram, point_on_support


def random_program(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 1000, size=(3, 6))
    right = matrix @ rng.integers(1, 9, size=6)
    costs = rng.integers(1, 50, size=6)
    rows = [(list(range(6)), [int(entry) for entry in row]) for row in matrix]
    return matrix.tolist(), right.tolist(), costs.tolist(), PreciseProgram(costs.tolist(), rows, right.tolist(), 1000)


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_of_brute_force_to_sixty_digits(seed):
    matrix, right, costs, program = random_program(seed)
    vertices = (point_on_support(matrix, right, support) for support in itertools.combinations(range(6), 3))
    best = min(sum(c * x for c, x in zip(costs, point, strict=True)) for point in vertices if point is not None)
    errors = []
    for answer in program.rounds(8):
        primal = [Fraction(value, 1 << answer.primal_bits) for value in answer.primal]
        duals = [Fraction(value, 1 << answer.dual_bits) for value in answer.duals]
        assert all(value == 0 for place, value in enumerate(primal) if place not in answer.basic)
        primal_value = sum(c * x for c, x in zip(costs, primal, strict=True))
        dual_value = sum(b * y for b, y in zip(right, duals, strict=True)) / 1000  # b is right / divisor
        errors.append(max(abs(primal_value - best), abs(dual_value - best)))
    assert errors[0] < 1e-3
    assert errors[-1] < Fraction(1, 10**60)
    assert point_on_support(matrix, right, answer.basic) is not None


def test_a_cost_that_only_the_second_round_sees():
    """x and y cost the same up to 2^-60: the solver's floats are equal, the optimum is not."""
    costs = [2**60 + 1, 2**60]
    *_, answer = PreciseProgram(costs, [([0, 1], [1, 1])], [1], 1).rounds(6)
    assert answer.basic == {1}
    assert answer.primal == [0, 1 << answer.primal_bits]


def test_no_optimum_no_answer():
    assert not list(PreciseProgram([1], [([0], [1])], [-1], 1).rounds())  # x = -1
    assert not list(PreciseProgram([-1, 0], [([0, 1], [1, -1])], [0], 1).rounds())  # unbounded


def test_shapes():
    with pytest.raises(ArgumentError, match="1 rows need as many right-hand sides, not 2"):
        PreciseProgram([1], [([0], [1])], [1, 2])
