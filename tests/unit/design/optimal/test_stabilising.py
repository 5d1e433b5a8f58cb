"""Interior points: equations of many points without inverses, and weights that meet them."""

import numpy as np
import pytest

from metricdp.design.optimal._stabilising import interior_point, met, solver


@pytest.mark.parametrize("count", [3, 499, 700])
def test_equations_are_solved(count):
    columns = np.random.default_rng(count).normal(size=(2 * count, count))
    system = columns.T @ columns + np.eye(count)
    solve = solver(system)
    for right in (np.ones(count), np.arange(count) / count):
        assert np.abs(system @ solve(right) - right).max() < 1e-10


def test_a_matrix_that_is_not_definite_is_solved_too():
    system = np.diag(np.where(np.arange(600) % 2, 1.0, -2.0))
    assert solver(system)(np.ones(600)) == pytest.approx(1 / np.diag(system))


@pytest.mark.parametrize("count", [40, 520])
def test_weights_meet_the_equations(count):
    apart = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(float)
    columns = np.concatenate([np.exp(-apart), np.exp(-apart / 2)])
    costs = (columns * apart[np.arange(2 * count) % count]).sum(axis=1)
    right = np.ones(count)
    weights, prices, solved = interior_point(columns, costs, right, np.zeros(count), np.full(count, 1e-6), 1e-5)
    assert solved
    even = met(columns, weights, right)
    assert even.min() >= 0
    assert np.abs(even @ columns - 1).max() < 1e-12
    assert even @ costs == pytest.approx(prices.sum(), rel=1e-3)
