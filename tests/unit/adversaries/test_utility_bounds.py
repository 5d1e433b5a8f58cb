"""Bounds on the utility and the leakage of every private mechanism."""

import itertools
import math
import pickle
from fractions import Fraction

import pytest

import metricdp.metrics as metrics
from metricdp.adversaries import (
    hamming_leakage_bound,
    leakage_bound,
    utility_bound,
)
from metricdp.adversaries.prior import Prior
from metricdp.adversaries.regular_priors import regular
from metricdp.errors import ArgumentError
from metricdp.exact.level import Level, ln
from metricdp.exact.outward import Bound
from metricdp.metrics import Space

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
LINE = Space.line(3, ln(2) * metrics.absolute())
TWINS = metrics.matrix("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_beyond_the_region_the_bound_still_holds_and_is_reached():
    """One value excluded: the best private guess never names it, and three values remain."""
    space = Space("abcd", ln(2) * metrics.discrete())
    assert utility_bound([THIRD, THIRD, THIRD, 0], space).exact == HALF  # 1 / (1 + 2/2), by a channel with 3 outputs
    irrational = Space("abcd", 0.5 * metrics.discrete())
    wanted = 1 / (1 + 2 * math.exp(-0.5))
    bound = utility_bound([THIRD, THIRD, THIRD, 0], irrational)
    assert bound == pytest.approx(wanted, rel=1e-8)
    assert bound.enclosure.lower <= Fraction(bound)
    assert bound.enclosure.width < 1e-8


def test_beyond_the_region_of_many_points():
    """Every other point is excluded: those left are a line of their own, and its tight channel fits inside."""
    space = Space.line(40, ln(2) * metrics.absolute())
    assert utility_bound(Prior.point(range(40), 0), space) == pytest.approx(1, rel=1e-9)
    bound = utility_bound(Prior.proportional(range(40), [1, 0] * 20), space)
    alone = utility_bound("uniform", Space(range(0, 40, 2), ln(2) * metrics.absolute()))
    assert bound == pytest.approx(alone, rel=1e-8)
    assert bound.enclosure.width < 1e-8


def test_beyond_the_region_of_points_at_distance_zero():
    """A channel gives both the same row: it can name one of the two, so the larger share counts."""
    space = Space("abc", ln(2) * TWINS)
    # Two rows only: 'a' with 'b', and 'c'. The best constant guess 'c' has 1/2; the tight channel (1/2 + 3/10) * 2/3.
    assert utility_bound([Fraction(3, 10), Fraction(2, 10), HALF], space).exact == Fraction(8, 15)


def test_leakage_is_never_below_zero_bits_and_rounded_up():
    bound = leakage_bound("uniform", Space.line(3, ln(2) * metrics.absolute()))
    assert bound.exact is None  # log2(5/3)
    assert bound == pytest.approx(math.log2(5 / 3), rel=1e-15)
    assert 2 ** Fraction(bound) >= 5 / 3
    assert leakage_bound(Prior.point(range(3), 1), LINE) == 0


def test_leakage_for_all_priors_also_where_uniform_is_not_regular():
    star = metrics.matrix(
        range(5), [[0, 1, 1, 1, 1], *([1] + [0 if i == j else 2 for j in range(4)] for i in range(4))]
    )
    space = Space(range(5), ln(2) * star)
    assert not regular("uniform", space)
    bound = leakage_bound(None, space)
    # Guesses of the four leaves: the hub's row, 4 x / 2 <= 1, allows x = 1/2 each, two in all.
    assert bound == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("epsilon", [ln(2), ln(5), 0.5, "1/3 ln 2"])
@pytest.mark.parametrize(("values", "individuals"), [(2, 1), (2, 4), (3, 2), (4, 2)])
def test_the_closed_form_is_the_bound_on_hamming_spaces(values, individuals, epsilon):
    space = Space(itertools.product(range(values), repeat=individuals), metrics.hamming() * Level.of(epsilon))
    closed, solved = hamming_leakage_bound(values, individuals, epsilon), leakage_bound(None, space)
    assert closed == pytest.approx(solved, rel=4e-16)
    odds = math.exp(float(Level.of(epsilon)))
    assert closed == pytest.approx(individuals * math.log2(values * odds / (values - 1 + odds)), rel=1e-13)


@pytest.mark.parametrize(("values", "individuals"), [(0, 1), (2, 0), (2.0, 1), (True, 1)])
def test_counts_are_positive_integers(values, individuals):
    with pytest.raises(ArgumentError, match="positive integer"):
        hamming_leakage_bound(values, individuals, 1)


def test_bounds_are_floats_that_remember():
    bound = Bound.above(THIRD)
    again = pickle.loads(pickle.dumps(bound))
    assert (again, again.exact) == (bound, THIRD)
    assert Bound.below(THIRD) < THIRD < bound
    assert math.nextafter(Bound.below(THIRD), 1) == bound
