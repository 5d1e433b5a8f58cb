"""Monotone losses: made, and recognised."""

import pytest

import metricdp as mdp
from metricdp.adversaries import (
    as_loss,
    is_monotone,
    is_strictly_monotone,
    monotone,
)
from metricdp.errors import ArgumentError
from metricdp.metrics import Space, absolute, euclidean

LINE = Space.line(3, mdp.ln(2) * absolute())


def test_monotone_losses():
    assert monotone(LINE, lambda d: min(d, 1)).entries == as_loss("bin", range(3)).entries
    diagonal = monotone(Space.grid(2, 2, euclidean()), lambda d: d**2)
    assert diagonal.matrix[0] == pytest.approx([0, 1, 1, 2])
    with pytest.raises(ArgumentError, match="decreases, from the distance 1 to 2"):
        monotone(LINE, lambda d: -((d - 1) ** 2))


def test_monotone_with_irrational_distances():
    grid = Space.grid(2, 2, euclidean())
    assert is_strictly_monotone(grid, monotone(grid, lambda d: 3 * d))
    assert not is_strictly_monotone(grid, as_loss("bin", grid.points))
    assert is_monotone(grid, as_loss("bin", grid.points))
