"""Prices that are repaired output by output: what they prove, against the definition and the optimum."""

from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.design import optimal
from metricdp.design.optimal._covering import Covering
from metricdp.design.optimal._dual_bound import left_over, sum_below
from tests.unit.design.optimal.test_start import city


def covering(count, seed):
    space, prior = city(count, seed)
    costs = prior[:, None] * space.distances
    decay = np.exp(-space.distances)
    above = space.enclosures.upper
    return Covering(space.distances, decay, above, costs, np.arange(count), 2.0**-48), space, prior, costs, decay


@pytest.mark.parametrize("seed", range(3))
def test_the_prices_are_a_bound_and_the_columns_show_what_was_wrong(seed):
    cover, space, prior, costs, decay = covering(40, seed)
    trial = np.linalg.solve(decay, (decay @ costs).min(axis=1)) * 1.05
    found = cover.visit(trial, np.arange(40), lambda: False)
    assert found.whole
    assert (found.prices <= trial).all()
    best = optimal(space, prior, gap=1e-3)
    bound = sum_below(found.prices, np.zeros(0))
    assert 0.5 * best.loss < bound <= best.loss
    columns = np.array([one.column(decay) for one in found.columns])
    assert (columns[:, :, None] * decay <= columns[:, None, :] * (1 + 1e-12)).all()
    assert ((columns @ costs).min(axis=1) < columns @ trial).any()
    # Prices that were repaired need no second repair, but for rounding.
    again = cover.visit(found.prices, np.arange(40)[::-1], lambda: False)
    assert again.prices.sum() == pytest.approx(found.prices.sum(), rel=1e-4)


def test_prices_that_are_too_high_by_a_tenth_are_lowered():
    cover, space, prior, _, _ = covering(30, 5)
    best = optimal(space, prior, gap=1e-4)
    found = cover.visit(np.zeros(30), np.arange(30), lambda: False)
    assert found.prices.tolist() == [0] * 30  # nothing to repair
    for share in (1.1, 3.0):
        found = cover.visit(np.full(30, best.loss * share / 30), np.arange(30), lambda: False)
        assert sum_below(found.prices, np.zeros(0)) <= best.loss


def test_in_a_hurry_prices_are_still_a_bound():
    cover, space, prior, costs, decay = covering(40, 1)
    trial = np.linalg.solve(decay, (decay @ costs).min(axis=1))
    careful = cover.visit(trial, np.arange(40), lambda: False)
    hurried = cover.visit(trial, np.arange(40), lambda: True)
    assert not hurried.whole
    assert not hurried.columns
    assert 0 < hurried.prices.sum() <= careful.prices.sum() * (1 + 1e-6)
    assert sum_below(hurried.prices, np.zeros(0)) <= optimal(space, prior, gap=1e-3).loss


def test_what_is_left_over_is_rounded_down():
    """Against rationals: with a distance of ln 2 a unit at one point is worth half a unit at the other."""
    space = mdp.Space.line(2, mdp.ln(2) * mdp.metrics.absolute())
    costs, prices = np.array([0.1, 0.7]), np.array([0.3, 0.2])
    flow = (np.array([0]), np.array([1]), np.array([0.45]))
    left = left_over(costs, prices, flow, space.enclosures.upper, 0.0)
    exact = [Fraction(0.1) - Fraction(0.3) + Fraction(0.45) / 2, Fraction(0.7) - Fraction(0.2) - Fraction(0.45)]
    for value, truth in zip(left.tolist(), exact, strict=True):
        assert Fraction(value) <= truth
        assert float(truth - Fraction(value)) < 1e-14
