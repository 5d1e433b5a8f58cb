"""Planar noise on grids of places: as qif computes it, by sums and integrals in floats, and tight."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import planar_geometric, planar_laplace, verify
from metricdp.errors import ArgumentError, LevelError, TooLargeError, UnsupportedMetricError

m = mdp.metrics
QIF = json.loads((Path(__file__).parents[2] / "fixtures/peers/qif_measures.json").read_text())["planar"]


def places(width, height, step, epsilon):
    """In qif's order: input y * width + x."""
    points = [(step * x, step * y) for y in range(height) for x in range(width)]
    return mdp.Space(points, epsilon * m.euclidean())


@pytest.mark.parametrize("case", QIF)
def test_the_numbers_of_qif(case):
    """qif cuts sums where 1e-6 of the mass is left; it integrates by random points, where 1e-4 is left."""
    space = places(*case["size"])
    assert np.abs(planar_geometric(space).matrix - case["geometric"]).max() < 2e-6
    assert np.abs(planar_laplace(space).matrix - case["laplace"]).max() < 3e-4


def test_geometric_by_a_plain_sum():
    space = mdp.Space.grid(2, 3, m.euclidean())
    channel = planar_geometric(space)
    steps = np.arange(-60, 61)
    mass = np.exp(-np.hypot(*np.meshgrid(steps, steps, indexing="ij")))
    mass /= mass.sum()
    for row, (x, y) in enumerate(space.points):
        expected = np.zeros((2, 3))
        np.add.at(expected, np.ix_(np.clip(x + steps, 0, 1), np.clip(y + steps, 0, 2)), mass)
        assert channel.matrix[row] == pytest.approx(expected.ravel(), abs=1e-12)


def test_laplace_by_a_plain_integral():
    space = mdp.Space.grid(3, 3, 2 * m.euclidean())
    matrix = planar_laplace(space).matrix
    nodes, weights = np.polynomial.legendre.leggauss(40)
    near, share = nodes / 2, weights / 2

    def cell(dx, dy):
        density = 4 / (2 * math.pi) * np.exp(-2 * np.hypot(*np.meshgrid(dx + near, dy + near)))
        return float(share @ density @ share)

    assert matrix[0, 4] == pytest.approx(cell(1, 1), abs=1e-9)  # the middle has no end; the cusp at 0 is in none
    assert matrix[2, 4] == pytest.approx(cell(1, -1), abs=1e-9)


@pytest.mark.parametrize("make", [planar_laplace, planar_geometric])
def test_it_keeps_its_promise_and_not_a_tenth_less(make):
    space = mdp.Space.grid(3, 2, mdp.ln(2) * m.euclidean())
    channel = make(space)
    assert channel.guarantee.metric == space.metric
    assert verify(channel, space)
    assert not verify(channel, mdp.Space(space.points, Fraction(9, 10) * space.metric))
    assert channel.moved < 2**-60


def test_a_coarser_grid_is_a_higher_level():
    fine, coarse = places(2, 2, 1, 2), places(2, 2, 2, 1)
    assert planar_laplace(fine).weights.tolist() == planar_laplace(coarse).weights.tolist()


@pytest.mark.parametrize("make", [planar_laplace, planar_geometric])
def test_what_is_refused(make):
    with pytest.raises(UnsupportedMetricError, match="euclidean"):
        make(mdp.Space.grid(2, 2, m.manhattan()))
    for points in (
        [(0, 0), (0, 1), (1, 0)],
        [(0, 0), (0, 1), (2, 0), (2, 1)],
        [(0, 0), (0, 1)],
        [(0, 0, 0), (1, 1, 1)],
    ):
        with pytest.raises(ArgumentError, match="full grid"):
            make(mdp.Space(points, m.euclidean()))
    with pytest.raises(TooLargeError, match="1,024"):
        make(mdp.Space.grid(33, 32))
    with pytest.raises(ArgumentError):
        make("no space")


def test_too_small_a_level_for_sums():
    with pytest.raises(LevelError, match="1,500 steps"):
        planar_geometric(mdp.Space.grid(2, 2, Fraction(1, 100) * m.euclidean()))
