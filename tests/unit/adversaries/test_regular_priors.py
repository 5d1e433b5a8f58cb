"""Regular priors, with the proof either way."""

import math
from fractions import Fraction

import pytest

import metricdp.metrics as metrics
from metricdp.adversaries import (
    convex_coordinates,
    corner_priors,
    utility_bound,
)
from metricdp.adversaries.prior import Prior
from metricdp.adversaries.regular_priors import Regularity, regular
from metricdp.errors import ArgumentError
from metricdp.exact.level import ln
from metricdp.metrics import Scaled, Space
from metricdp.programs.nonnegative import least_solution

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
LINE = Space.line(3, ln(2) * metrics.absolute())
TWINS = metrics.matrix("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
APART = metrics.matrix("abc", [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]])


class Untold(Scaled):
    """A metric as a user may write one, that encloses its distances and does not say that their powers are rational."""

    def _exponential(self, x, y):
        return None


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


def test_the_proof_about_points_at_distance_zero_checks_where_distances_are_irrational_too():
    distances = [[0, 0, "11/5"], [0, 0, "11/5"], ["11/5", "11/5", 0]]
    found = regular(["3/5", "0", "2/5"], Space("abc", ln(2) * metrics.matrix("abc", distances)))
    assert not found
    assert found.check()
    assert not Regularity(False, found.prior, found.space, None, tuple(-w for w in found.refutation)).check()


def test_parts_at_infinite_distance_stand_by_themselves():
    irrational = Space("abc", 1 * APART)
    found = regular([HALF, HALF, 0], irrational)
    assert found
    assert found.solution[2].upper == 0
    assert found.check()
    assert not regular([1, 0, 0], irrational)
    assert regular([0, 0, 1], irrational)


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
    with pytest.raises(ArgumentError, match="undecided"):
        convex_coordinates("uniform", hidden)


def test_words():
    assert "not regular" in str(regular([1, 0, 0], LINE))
    assert str(regular("uniform", LINE)).startswith("regular: utility is at most 0.555556")


def test_a_prior_of_the_wrong_length_is_refused():
    with pytest.raises(ArgumentError, match="2 probabilities for 3"):
        regular([HALF, HALF], LINE)


def test_least_solution_takes_the_least_sum_of_many():
    rows = [[Fraction(1), Fraction(2), Fraction(0)], [Fraction(2), Fraction(4), Fraction(0)]]
    assert least_solution(rows, [Fraction(1), Fraction(2)]).solution == (0, HALF, 0)


def test_least_solution_refutes():
    rows = [[Fraction(1), Fraction(1)], [Fraction(1), Fraction(2)]]
    w = least_solution(rows, [Fraction(1), Fraction(3)]).refutation
    assert w[0] * 1 + w[1] * 3 < 0
    assert all(w[0] * rows[0][j] + w[1] * rows[1][j] >= 0 for j in range(2))
