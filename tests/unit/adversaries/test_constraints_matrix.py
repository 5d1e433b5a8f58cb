"""The privacy-constraints matrix: exact where it is rational, and quick on products."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.adversaries.constraints_matrix import constraints_matrix, decay
from metricdp.adversaries.regular_priors import regular
from metricdp.exact.level import ln
from metricdp.metrics import Space

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
LINE = Space.line(3, ln(2) * metrics.absolute())


def product_prior(marginal, individuals):
    return [math.prod(shares) for shares in itertools.product(marginal, repeat=individuals)]


def test_entries_are_exact_where_they_are_rational():
    phi = constraints_matrix(LINE)
    assert phi.exact == ((1, HALF, HALF**2), (HALF, 1, HALF), (HALF**2, HALF, 1))
    assert np.array_equal(np.asarray(phi), [[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]])
    assert constraints_matrix(Space.line(2, 1 * metrics.absolute())).exact is None


@pytest.mark.parametrize(
    ("metric", "x", "y", "wanted"),
    [
        (ln(Fraction(3, 2)) * metrics.absolute(), 0, 2, Fraction(4, 9)),
        (ln(2) / 2 * metrics.absolute(), 0, 4, Fraction(1, 4)),
        (ln(2) / 2 * metrics.absolute(), 0, 3, None),
        (ln(2) * metrics.euclidean(), (0, 0), (1, 1), None),
        (ln(2) * metrics.euclidean(), (0, 0), (3, 4), Fraction(1, 32)),
        (ln(2) * metrics.absolute() + ln(3) * metrics.discrete(), 1, 3, Fraction(1, 12)),
        (metrics.unprotected(), 1, 3, 0),
        (metrics.absolute(), 3, 3, 1),
        (metrics.absolute(), 3, 4, None),
    ],
)
def test_decay(metric, x, y, wanted):
    assert decay(metric, x, y) == wanted


def test_a_product_is_solved_along_its_axes():
    space = Space(itertools.product("abc", (0, 1), "xy"), ln(2) * metrics.hamming())
    (block,) = constraints_matrix(space).blocks
    assert [len(axis) for axis in block.axes] == [3, 2, 2]
    shuffled = Space(space.points[::-1][:5] + space.points[:7], ln(2) * metrics.hamming())
    assert [len(block.axes) for block in constraints_matrix(shuffled).blocks] == [1]
    assert [len(block.axes) for block in constraints_matrix(Space.grid(3, 3, metrics.euclidean())).blocks] == [1]


@pytest.mark.parametrize("level", [ln(2), 1])
def test_along_the_axes_or_all_at_once_the_answer_is_one(level):
    points = list(itertools.product((0, 1, 2), (0, 1, 3)))
    marginal = [Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)]
    shares = product_prior(marginal, 2)
    by_axes = regular(shares, Space(points, level * metrics.manhattan()))
    order = [4, 0, 1, 2, 3, 5, 6, 7, 8]
    whole = regular([shares[i] for i in order], Space([points[i] for i in order], level * metrics.manhattan()))
    assert by_axes
    assert by_axes.check()
    assert whole.check()
    for place, i in enumerate(order):
        assert float(by_axes.solution[i]) == pytest.approx(float(whole.solution[place]), rel=1e-15)


def test_a_product_with_an_infinite_or_zero_distance_is_taken_whole():
    base = metrics.matrix("ab", [[0, 0], [0, 0]])
    space = Space(itertools.product("ab", repeat=2), metrics.records(base))
    assert [block.places for block in constraints_matrix(space).blocks] == [(0,)]
    assert regular("uniform", space).exact == (Fraction(1, 4), 0, 0, 0)
