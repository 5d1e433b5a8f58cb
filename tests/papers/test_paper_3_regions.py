"""Paper 3, Sections 3 and 4 and Appendix B: regular priors and the bounds for them."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import metricdp.metrics as metrics
from metricdp.adversaries import (
    convex_coordinates,
    corner_priors,
    hamming_leakage_bound,
    leakage_bound,
    prior_bounds,
    utility_bound,
)
from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.adversaries.regular_priors import regular
from metricdp.exact.balls import exp_bounds
from metricdp.exact.level import ln
from metricdp.metrics import Space

SHARES = [Fraction(30, 100), Fraction(27, 100), Fraction(23, 100), Fraction(20, 100)]
DATABASES = tuple(itertools.product((1, 2, 3, 4), repeat=5))
PRIOR = [math.prod(shares) for shares in itertools.product(SHARES, repeat=5)]


def path(base):
    return Space.line(3, ln(base) * metrics.absolute())


def complete(count, base):
    return Space(range(count), ln(base) * metrics.discrete())


def databases(epsilon):
    return Space(DATABASES, epsilon * metrics.hamming())


# Section 3


@pytest.mark.parametrize(
    ("space", "first"),
    [
        (path(2), ("4/7", "2/7", "1/7")),
        (path(5), ("25/31", "5/31", "1/31")),
        (complete(3, 2), ("1/2", "1/4", "1/4")),
        (complete(3, 5), ("5/7", "1/7", "1/7")),
    ],
)
def test_example_1_corners_of_figure_2(space, first):
    assert corner_priors(space)[0].fractions == [Fraction(share) for share in first]


@pytest.mark.parametrize("space_of", [path, lambda base: complete(3, base)])
def test_example_1_the_region_grows_with_epsilon(space_of):
    """The corners at e^-ε = 1/2 are regular at 1/5; those at 1/5 are not regular at 1/2."""
    assert all(regular(corner, space_of(5)) for corner in corner_priors(space_of(2)))
    assert not any(regular(corner, space_of(2)) for corner in corner_priors(space_of(5))[:1])


def test_example_2_figure_3_shows_four_results_that_are_all_adjacent():
    """Its corners (.4, .2, .2) and (.6, .1, .1) are those of the complete graph: 2/5, 1/5 and 5/8, 1/8.

    A database of at most one record turns any result into any other. The square that Figure 1 draws at n = 1 would
    have 4/9, 2/9, 2/9 and 25/36, 5/36, 5/36 beside 1/9 and 1/36, and its printed corners would not all look alike.
    """
    assert corner_priors(complete(4, 2))[0].fractions[:3] == [Fraction(2, 5), Fraction(1, 5), Fraction(1, 5)]
    assert corner_priors(complete(4, 5))[0].fractions[:3] == [Fraction(5, 8), Fraction(1, 8), Fraction(1, 8)]
    square = Space.bits(2, ln(2) * metrics.hamming())
    assert corner_priors(square)[1].fractions == [Fraction(part, 9) for part in (2, 4, 1, 2)]


def test_proposition_2_is_not_enough():
    """Ratios within e^ε do not make a prior regular."""
    space = Space((1, 2, 3, 4), ln(Fraction(5, 3)) * metrics.discrete())
    assert max(SHARES) / min(SHARES) < Fraction(5, 3)
    assert prior_bounds(space).violation(SHARES) is None
    found = regular(SHARES, space)
    assert not found
    assert found.check()


@pytest.mark.parametrize("space", [path(2), path(5), complete(4, 2), Space.bits(3, ln(3) * metrics.hamming())])
def test_propositions_2_and_3_hold_with_equality_at_corners(space):
    bounds, corners = prior_bounds(space), [corner.fractions for corner in corner_priors(space)]
    for i, corner in enumerate(corners):
        assert corner[i] == bounds.shares[i].upper
        assert all(bounds.shares[j].lower <= share <= bounds.shares[j].upper for j, share in enumerate(corner))
        assert bounds.violation(corner) is None
    assert min(min(corner) for corner in corners) >= min(share.lower for share in bounds.shares)


def test_proposition_4_coordinates_and_the_utility_bound_by_them():
    space = path(2)
    prior = [Fraction(35, 100), Fraction(40, 100), Fraction(25, 100)]
    shares = [share.lower for share in convex_coordinates(prior, space)]
    sums = [sum(row) for row in constraints_matrix(space).exact]
    assert sum(shares) == 1
    assert min(shares) >= 0
    assert utility_bound(prior, space).exact == sum(g / s for g, s in zip(shares, sums, strict=True))


# Section 4


def test_theorem_1_equality_does_not_need_tight_constraints_where_y_is_zero():
    """At a corner, to say the corner's own result always reaches the bound, with Φ diag = (1, 1/2) and not 1."""
    space = Space.line(2, ln(2) * metrics.absolute())
    corner = corner_priors(space)[0]
    constant_utility = corner.fractions[0] * 1 + corner.fractions[1] * 0
    assert utility_bound(corner, space).exact == constant_utility == Fraction(2, 3)
    assert not regular(corner, space).interior
    phi = constraints_matrix(space).exact
    assert [row[0] * 1 + row[1] * 0 for row in phi] == [1, Fraction(1, 2)]


@pytest.mark.parametrize(("values", "individuals", "base"), [(2, 3, 2), (3, 2, 5), (4, 2, Fraction(3, 2)), (2, 6, 3)])
def test_theorem_2_and_its_vector(values, individuals, base):
    space = Space(itertools.product(range(values), repeat=individuals), ln(base) * metrics.hamming())
    found = regular("uniform", space)
    assert set(found.exact) == {(base / (values * (values - 1 + Fraction(base)))) ** individuals}
    assert found.check()
    closed = hamming_leakage_bound(values, individuals, ln(base))
    assert closed == pytest.approx(leakage_bound(None, space), rel=4e-16)


@pytest.mark.long
def test_example_3_the_prior_is_regular_from_ln_2_on_not_from_048():
    """The paper "numerically verified" 0.48 <= ε <= 1; the least entry of y is below zero for every ε < ln 2.

    For one individual y(v) = (π(v) - a / (1 + 3a)) / (1 - a) with a = e^-ε, so that π(4) = 1/5 wants a <= 1/2.
    A product of priors is regular exactly where each factor is.
    """
    steps = [Fraction(k, 100) for k in (*range(48, 64, 5), *range(66, 73), *range(75, 101, 5))]
    assert [bool(regular(PRIOR, databases(epsilon))) for epsilon in steps] == [
        epsilon > Fraction(69, 100) for epsilon in steps
    ]
    for space in (databases(ln(2)), Space((1, 2, 3, 4), ln(2) * metrics.discrete())):
        found = regular(PRIOR if len(space) > 4 else SHARES, space)
        assert found
        assert min(found.exact) == 0
    assert not regular(PRIOR, databases(ln(2) * Fraction(10**12 - 1, 10**12)))


def test_example_3_by_another_way_numpy_solves_all_1024_points():
    """And it shows where 0.48 comes from: there the least entry of y is first above -10^-4."""

    def least(epsilon):
        phi = np.exp(-epsilon * metrics.hamming().pairwise(DATABASES))
        return np.linalg.solve(phi, np.array([float(share) for share in PRIOR])).min()

    assert least(0.47) < -1e-4 < least(0.48) < -9.9e-5
    assert least(0.69) < -1e-7
    assert least(0.70) > 0


def test_example_3_refuted_with_a_proof_at_one_half():
    """Two individuals, so that the proof is checked against the whole Φ; five follow by the product."""
    pairs = Space(itertools.product((1, 2, 3, 4), repeat=2), Fraction(1, 2) * metrics.hamming())
    found = regular([a * b for a, b in itertools.product(SHARES, repeat=2)], pairs)
    assert found.holds is False
    assert found.check()


def test_example_3_bounds_at_one_half():
    """Published: at most 1.2 for this prior, and 2.5 for all. Theorem 2 gives 2.5226; Proposition 6 does not apply.

    Its formula would give 1.2074. Without its condition the bound is 1.3450.
    """
    a = math.exp(-0.5)
    assert leakage_bound(None, databases(0.5)) == pytest.approx(5 * math.log2(4 / (1 + 3 * a)), rel=1e-13)
    assert round(hamming_leakage_bound(4, 5, 0.5), 4) == 2.5226
    formula = 5 * math.log2(1 / (1 + 3 * a) / 0.3)
    assert round(formula, 4) == 1.2074
    bound = leakage_bound(PRIOR, databases(0.5))
    assert bound == pytest.approx(5 * math.log2(0.8 / (1 + 2 * a) / 0.3), rel=1e-6)
    assert bound > 1.34 > formula


def test_example_3_a_private_channel_leaks_more_than_published():
    """One individual: three outputs, value 4 answered evenly. Five of them, independent, leak 1.32 bits and not 1.2."""
    a = Fraction(61, 100)
    assert 1 / a < exp_bounds(Fraction(1, 2))[0]
    x = 1 / (1 + 2 * a)
    rows = [[x if i == z else a * x for z in range(3)] for i in range(3)] + [[Fraction(1, 3)] * 3]
    assert all(sum(row) == 1 for row in rows)
    assert all(one[z] <= other[z] / a for one in rows for other in rows for z in range(3))
    guessed = sum(max(share * row[z] for share, row in zip(SHARES, rows, strict=True)) for z in range(3))
    leaked = 5 * math.log2(guessed / max(SHARES))  # the vulnerability of independent channels and priors is a product
    assert 1.32 < leaked < leakage_bound(PRIOR, databases(0.5))


@pytest.mark.parametrize("epsilon", [Fraction(70, 100), Fraction(85, 100), Fraction(1)])
def test_example_3_figure_4_where_the_prior_is_regular(epsilon):
    a = math.exp(-epsilon)
    for_this, for_all = leakage_bound(PRIOR, databases(epsilon)), leakage_bound(None, databases(epsilon))
    assert for_this == pytest.approx(5 * math.log2(1 / (1 + 3 * a) / 0.3), rel=1e-13)
    assert for_all == pytest.approx(hamming_leakage_bound(4, 5, epsilon), rel=4e-16)
    assert for_this < for_all - 1.3


# Appendix B


def cube(alpha):
    """The cube with its long diagonals: the distance of nodes that differ in three bits is 1."""
    apart = (0, 1, 2, 1)
    distances = [[apart[(i ^ j).bit_count()] for j in range(8)] for i in range(8)]
    return Space(range(8), ln(1 / alpha) * metrics.matrix(range(8), distances))


def determinant(space):
    rows = constraints_matrix(space).exact
    return fmpq_mat([[fmpq(value.numerator, value.denominator) for value in row] for row in rows]).det()


def test_appendix_b_singular_at_one_third():
    alpha = Fraction(1, 3)
    rows = constraints_matrix(cube(alpha)).exact
    even = [i for i in range(8) if i.bit_count() % 2 == 0]
    odd = [i for i in range(8) if i.bit_count() % 2]
    sums = [[sum(rows[i][j] for i in side) for j in range(8)] for side in (even, odd)]
    assert sums[0] == sums[1] == [Fraction(4, 3)] * 8
    assert 1 + 3 * alpha**2 == 4 * alpha
    assert determinant(cube(alpha)) == 0


@pytest.mark.parametrize("alpha", [Fraction(1, 7), Fraction(1, 10), Fraction(1, 2), Fraction(1, 4), Fraction(33, 100)])
def test_appendix_b_invertible_elsewhere(alpha):
    assert determinant(cube(alpha)) != 0


def test_appendix_b_regular_or_not_where_singular():
    space = cube(Fraction(1, 3))
    uniform = regular("uniform", space)
    assert uniform
    assert uniform.check()
    assert uniform.total.lower == uniform.total.upper == Fraction(3, 8)
    by_symmetry = sum(Fraction(3, 64) * value for value in constraints_matrix(space).exact[0])
    assert by_symmetry == Fraction(1, 8)  # another y, with the same sum
    assert regular(corner_priors(space)[3], space).check()
    hair = Fraction(1, 10**9)
    outside = [Fraction(1, 8) + hair, Fraction(1, 8) - hair, *[Fraction(1, 8)] * 6]
    assert all(abs(share - Fraction(1, 8)) <= hair for share in outside)
    found = regular(outside, space)  # its parity sums differ, and those of every row of Φ agree
    assert found.holds is False
    assert found.check()
    assert regular(outside, cube(Fraction(33, 100))).holds
