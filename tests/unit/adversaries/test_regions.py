"""The privacy-constraints matrix, regular priors and the bounds that follow from them."""

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.adversaries.constraints_matrix import constraints_matrix, decay
from metricdp.adversaries.prior import Prior
from metricdp.adversaries.regions import (
    convex_coordinates,
    corner_priors,
    hamming_leakage_bound,
    leakage_bound,
    prior_bounds,
    utility_bound,
)
from metricdp.adversaries.regularity import Regularity, regular
from metricdp.errors import InputError, ShapeError
from metricdp.exact.level import ln
from metricdp.exact.outward import Bound
from metricdp.metrics import Scaled, Space
from metricdp.programs.nonnegative import least_solution

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
LINE = Space.line(3, ln(2) * metrics.absolute())
TWINS = metrics.matrix("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
APART = metrics.matrix("abc", [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]])


def product_prior(marginal, individuals):
    return [math.prod(shares) for shares in itertools.product(marginal, repeat=individuals)]


# The matrix


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


# Regular or not


@pytest.mark.parametrize("level", [ln(2), ln(7), 0.5, 3])
def test_uniform_on_a_line_is_regular_with_a_proof(level):
    found = regular("uniform", Space.line(6, level * metrics.absolute()))
    assert found
    assert found.interior
    assert found.check()
    assert (found.exact is None) == (not hasattr(level, "log_of"))


@pytest.mark.parametrize("level", [ln(2), 0.5])
def test_a_point_prior_is_not_regular_with_a_proof(level):
    space = Space.line(5, level * metrics.absolute())
    found = regular(Prior.point(range(5), 2), space)
    assert not found
    assert found.holds is False
    assert found.solution is None
    assert found.check()
    assert not Regularity(False, found.prior, space, None, tuple(-w for w in found.refutation)).check()


def test_a_wrong_proof_is_refused():
    found = regular("uniform", LINE)
    more = list(found.solution)
    more[0] = type(more[0])(more[0].lower + Fraction(1, 10**9), more[0].upper + Fraction(1, 10**9))
    assert not Regularity(True, found.prior, LINE, tuple(more)).check()


def test_the_border_belongs_to_the_region_and_a_hair_beyond_does_not():
    corner = corner_priors(LINE)[0].fractions
    assert regular(corner, LINE).exact == (Fraction(4, 7), 0, 0)
    hair = Fraction(1, 10**30)
    assert not regular([corner[0] + hair, corner[1] - hair, corner[2]], LINE)


def test_points_at_distance_zero_want_equal_shares():
    space = Space("abc", ln(2) * TWINS)
    assert regular(["0.3", "0.3", "0.4"], space).check()
    found = regular(["0.3", "0.2", "0.5"], space)
    assert not found
    assert found.check()
    assert found.refutation == (-1, 1, 0)


def test_parts_at_infinite_distance_stand_by_themselves():
    irrational = Space("abc", 1 * APART)
    found = regular([HALF, HALF, 0], irrational)
    assert found
    assert found.solution[2].upper == 0
    assert found.check()
    assert not regular([1, 0, 0], irrational)
    assert regular([0, 0, 1], irrational)


class Untold(Scaled):
    """A metric as a user may write one, that encloses its distances and does not say that their powers are rational."""

    def _exponential(self, x, y):
        return None


def test_what_cannot_be_decided_is_said_and_bounded_all_the_same():
    """K(3, 3) at exp(-ε) = 1/2 has the eigenvalue 1 + 2/4 - 3/2 = 0; no ball can tell."""
    parts = [[0 if i == j else 2 if i // 3 == j // 3 else 1 for j in range(6)] for i in range(6)]
    metric = ln(2) * metrics.matrix(range(6), parts)
    known, hidden = Space(range(6), metric), Space(range(6), Untold(metric.level, metric.unit))
    assert regular("uniform", Space(range(6), metrics.capped(metric, ln(4)))).check()
    assert regular("uniform", known).check()
    found = regular("uniform", hidden)
    assert found.holds is None
    assert not found
    assert not found.check()
    assert "undecided" in str(found)
    assert utility_bound("uniform", known).exact == THIRD
    assert THIRD <= utility_bound("uniform", hidden) < THIRD + 1e-6
    with pytest.raises(InputError, match="undecided"):
        convex_coordinates("uniform", hidden)


def test_words():
    assert "not regular" in str(regular([1, 0, 0], LINE))
    assert str(regular("uniform", LINE)).startswith("regular: utility is at most 0.555556")


def test_a_prior_of_the_wrong_length_is_refused():
    with pytest.raises(ShapeError, match="2 probabilities for 3"):
        regular([HALF, HALF], LINE)


# Nonnegative solutions


def test_least_solution_takes_the_least_sum_of_many():
    rows = [[Fraction(1), Fraction(2), Fraction(0)], [Fraction(2), Fraction(4), Fraction(0)]]
    assert least_solution(rows, [Fraction(1), Fraction(2)]).solution == (0, HALF, 0)


def test_least_solution_refutes():
    rows = [[Fraction(1), Fraction(1)], [Fraction(1), Fraction(2)]]
    w = least_solution(rows, [Fraction(1), Fraction(3)]).refutation
    assert w[0] * 1 + w[1] * 3 < 0
    assert all(w[0] * rows[0][j] + w[1] * rows[1][j] >= 0 for j in range(2))


# Corners, coordinates, bounds


def test_corners_are_one_sided_mixtures():
    for place, corner in enumerate(corner_priors(LINE)):
        assert [share.lower for share in convex_coordinates(corner, LINE)] == [int(i == place) for i in range(3)]
        assert utility_bound(corner, LINE).exact == corner.fractions[place]


def test_irrational_corners_are_near():
    space = Space.line(4, 0.3 * metrics.absolute())
    rows = np.exp(-space.distances)
    for corner, row in zip(corner_priors(space), rows, strict=True):
        assert np.allclose(corner.floats, row / row.sum(), rtol=1e-15, atol=0)


def test_coordinates_mix_the_corners_to_the_prior():
    prior = [Fraction(3, 10), Fraction(4, 10), Fraction(3, 10)]
    coordinates = [share.lower for share in convex_coordinates(prior, LINE)]
    corners = [corner.fractions for corner in corner_priors(LINE)]
    assert sum(coordinates) == 1
    assert [sum(g * c[j] for g, c in zip(coordinates, corners, strict=True)) for j in range(3)] == prior
    with pytest.raises(InputError, match="not regular"):
        convex_coordinates([1, 0, 0], LINE)


def test_prior_bounds_are_outward_where_irrational():
    bounds = prior_bounds(Space.line(3, 0.3 * metrics.absolute()))
    floats = np.exp(0.3 * np.array([0, 1, 2]))
    assert bounds.lower[0] == pytest.approx(1 / floats.sum(), rel=1e-15)
    assert bounds.upper[0] == pytest.approx(1 / (1 / floats).sum(), rel=1e-15)
    assert bounds.shares[0].lower < bounds.shares[0].upper
    assert prior_bounds(Space("abc", APART)).lower.tolist()[2] == 0


def test_prior_bounds_find_two_points_too_different():
    bounds = prior_bounds(LINE)
    assert bounds.violation([Fraction(6, 10), Fraction(2, 10), Fraction(2, 10)]) == (0, 1)
    assert bounds.violation("uniform") is None


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
    space = Space(
        itertools.product(range(values), repeat=individuals), metrics.hamming() * metrics.amounts.level_of(epsilon)
    )
    closed, solved = hamming_leakage_bound(values, individuals, epsilon), leakage_bound(None, space)
    assert closed == pytest.approx(solved, rel=4e-16)
    odds = math.exp(float(metrics.amounts.level_of(epsilon)))
    assert closed == pytest.approx(individuals * math.log2(values * odds / (values - 1 + odds)), rel=1e-13)


@pytest.mark.parametrize(("values", "individuals"), [(0, 1), (2, 0), (2.0, 1), (True, 1)])
def test_counts_are_positive_integers(values, individuals):
    with pytest.raises(ShapeError, match="positive integer"):
        hamming_leakage_bound(values, individuals, 1)


def test_bounds_are_floats_that_remember():
    bound = Bound.above(THIRD)
    again = pickle.loads(pickle.dumps(bound))
    assert (again, again.exact) == (bound, THIRD)
    assert Bound.below(THIRD) < THIRD < bound
    assert math.nextafter(Bound.below(THIRD), 1) == bound
