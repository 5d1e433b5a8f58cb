"""Interior points: the best is found where it is known, and the bound is one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metricdp.programs.convex import InverseSquares, Logarithms, best_shares


def random_rows(seed, rows, columns):
    generator = np.random.default_rng(seed)
    found = generator.random((rows, columns)) * (generator.random((rows, columns)) < 0.7)
    found[0] = 1
    return found / found.max(axis=0), generator


@pytest.mark.parametrize("kind", [InverseSquares, Logarithms])
@pytest.mark.parametrize("spread", [0, 2])
def test_the_excess_vanishes_and_the_limits_hold(kind, spread):
    rows, generator = random_rows(4, 60, 12)
    objective = kind(10 ** (spread * generator.standard_normal(12)))
    found = best_shares(objective, rows)
    assert found.excess < 1e-8
    assert (rows @ found.x).max() <= 1
    assert (found.multipliers >= 0).all()
    # Complementarity: multipliers live where limits are met.
    assert float(found.multipliers @ (1 - rows @ found.x)) < 1e-7 * float(found.multipliers.sum())


def test_one_limit_by_hand():
    found = best_shares(InverseSquares(np.array([1.0, 8.0])), np.array([[1.0, 1.0]]))
    assert found.x == pytest.approx([1 / 3, 2 / 3], rel=1e-6)
    found = best_shares(Logarithms(np.array([1.0, 3.0])), np.array([[1.0, 1.0]]))
    assert found.x == pytest.approx([1 / 4, 3 / 4], rel=1e-6)


@pytest.mark.parametrize("kind", [InverseSquares, Logarithms])
@given(seed=st.integers(0, 1000))
@settings(max_examples=30)
def test_no_point_within_the_limits_is_below_a_bound(kind, seed):
    """Whatever the multipliers and whatever the point."""
    rows, generator = random_rows(seed, 8, 3)
    objective = kind(generator.random(3) + 0.1)
    multipliers, x = generator.random(8), generator.random(3) + 0.01
    x = x / float((rows @ x).max())
    bound = objective.bound(rows.T @ multipliers, float(multipliers.sum()))
    assert bound <= objective.value(x) + 1e-9 * abs(objective.value(x))


def test_very_uneven_weights():
    """Queries of very different size once made the limits close before the slopes met."""
    rows, generator = random_rows(9, 100, 10)
    found = best_shares(InverseSquares(10 ** (3 * generator.standard_normal(10))), rows)
    assert found.excess < 1e-8


def test_a_start_is_only_a_hint():
    rows, _ = random_rows(1, 20, 4)
    one, other = (best_shares(InverseSquares(np.ones(4)), rows, start) for start in (None, np.array([5.0, 1, 1, 1])))
    assert one.x == pytest.approx(other.x, rel=1e-6)
