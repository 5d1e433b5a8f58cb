"""Losses on cells, from above and from below."""

import math

import numpy as np
import pytest

from metricdp.design.continuous._costs import costs_above, losses_below, norm_of


@pytest.mark.parametrize("norm", [1, 2, math.inf])
def test_costs_are_above_the_integral_and_close(norm):
    """Beside a fine midpoint rule."""
    prior, widths = np.array([[0.1, 0.2, 0.05], [0.3, 0.25, 0.1]]), (0.5, 0.75)
    fine = 60
    t = (np.arange(fine) + 0.5) / fine
    weights = np.array([(1 - t) ** 2 / 2, 0.5 + t - t * t, t * t / 2])
    costs = np.zeros((6, 6))
    for (i, j), share in np.ndenumerate(prior):
        for z in range(6):
            x = [(i + t - z // 3 - 0.5) * widths[0], (j + t - z % 3 - 0.5) * widths[1]]
            sizes = norm_of([x[0][:, None], x[1][None, :]], norm)
            for a in (-1, 0, 1):
                for b in (-1, 0, 1):
                    cell = min(max(i + a, 0), 1) * 3 + min(max(j + b, 0), 2)
                    costs[cell, z] += share * (weights[a + 1] @ sizes @ weights[b + 1]) / fine**2
    found = costs_above(prior, widths, norm)
    assert (found >= costs * (1 - 1e-3)).all()
    assert found.sum() >= costs.sum() * (1 - 1e-5)
    assert (found <= costs * 1.02).all()


@pytest.mark.parametrize("norm", [1, 2, math.inf])
def test_interpolated_losses_are_never_above_the_norm(norm):
    shape, widths = (4, 3), (1.0, 0.7)
    below = losses_below(shape, widths, norm).reshape(4, 3, 4, 3)
    draws = np.random.default_rng(5)
    for _ in range(4000):
        s = draws.integers(0, shape)
        u = draws.uniform(0, np.array(shape) - 1)
        k = np.minimum(u.astype(int), np.array(shape) - 2)
        a, b = u - k
        mean = sum(
            share * below[s[0], s[1], k[0] + p, k[1] + q]
            for p, q, share in ((0, 0, (1 - a) * (1 - b)), (1, 0, a * (1 - b)), (0, 1, (1 - a) * b), (1, 1, a * b))
        )
        truth = float(norm_of([(u - s)[:1] * widths[0], (u - s)[1:] * widths[1]], norm)[0])
        assert mean <= truth
    far = float(norm_of([np.array(3.0), np.array(0.0)], norm))
    assert below[0, 0, 3, 0] > 0.9 * far


def test_on_the_line_nothing_is_lost():
    assert np.allclose(losses_below((3,), (2.0,), 1), [[0, 2, 4], [2, 0, 2], [4, 2, 0]])
