import math
from fractions import Fraction

import pytest

from metricdp.exact.level import ln
from metricdp.metrics import Violation, absolute, euclidean, great_circle, matrix, nullable
from metricdp.metrics.axioms import Distances, find_violation


def triangle(excess):
    return matrix("abc", [[0, 1, 2 + excess], [1, 0, 1], [2 + excess, 1, 0]], check=False)


@pytest.mark.parametrize("excess", [1e-12, 2.0**-51, Fraction(1, 10**40), math.inf])
def test_the_smallest_excess_is_found(excess):
    violation = triangle(excess).violation("abc")
    assert violation.axiom == "triangle"
    assert violation.points == ("a", "b", "c")
    assert violation.amounts == (float(2 + excess), 1, 1)


@pytest.mark.parametrize("excess", [0, -1e-12, -2])
def test_equality_and_less_are_no_violation(excess):
    assert triangle(excess).violation("abc") is None


def test_rounded_sums_do_not_hide_a_violation():
    a, b = 1.0, 2.0**-53
    rows = [[0, a, math.nextafter(1, 2)], [a, 0, b], [math.nextafter(1, 2), b, 0]]
    assert math.nextafter(1, 2) > Fraction(a) + Fraction(b)
    assert matrix("abc", rows, check=False).violation("abc").axiom == "triangle"
    rows[0][2] = rows[2][0] = 1.0
    assert matrix("abc", rows, check=False).violation("abc") is None


def test_numbers_too_fine_for_floats_are_compared_as_fractions():
    third, tiny = Fraction(1, 3), Fraction(1, 10**60)
    rows = [[0, third, 2 * third], [third, 0, third], [2 * third, third, 0]]
    assert matrix("abc", rows, check=False).violation("abc") is None
    rows[0][2] = rows[2][0] = 2 * third + tiny
    assert matrix("abc", rows, check=False).violation("abc").axiom == "triangle"
    rows[0][2] = rows[2][0] = 2 * third - tiny
    assert matrix("abc", rows, check=False).violation("abc") is None


def test_irrational_distances_are_compared_in_balls():
    """√2 + √2 against 2√2 is a tie; with a hair more it is a violation."""
    corners = [(0, 0), (1, 1), (2, 2)]
    hair = Fraction(1, 10**30)
    bonus = matrix(corners, [[0, 0, hair], [0, 0, 0], [hair, 0, 0]], check=False)
    assert find_violation(euclidean(), corners) is None
    assert find_violation(euclidean() + bonus, corners).axiom == "triangle"
    assert find_violation(ln(3) * (euclidean() + bonus), corners).axiom == "triangle"


def test_a_scale_with_a_logarithm_changes_the_amounts_only():
    scaled = (ln(2) * triangle(1)).violation("abc")
    assert scaled.points == triangle(1).violation("abc").points
    assert scaled.amounts == pytest.approx((3 * math.log(2), math.log(2), math.log(2)))


def test_infinite_distances():
    alone = [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]
    assert matrix("abc", alone).violation("abc") is None


def test_identity_is_asked_for():
    same = [(0, 180), (0, -180), (1, 0)]
    assert great_circle().violation(same) is None
    violation = great_circle().violation(same, strict=True)
    assert (violation.axiom, violation.points) == ("identity", tuple(same[:2]))
    assert great_circle().violation(same[1:], strict=True) is None


def test_nulls_too_near():
    d = nullable(absolute(), 2)
    assert d.violation([None, 0, 4]) is None
    assert d.violation([None, 0, 5]).points == (0, None, 5)


def test_all_broken_triangles_of_balls_and_of_exact_floats_agree():
    rows = [[0, 3, 1, 9], [3, 0, 1, 9], [1, 1, 0, 1], [9, 9, 1, 0]]
    exact = Distances(matrix(range(4), rows, check=False), range(4))
    found = set(exact.broken_triangles())
    assert found == {
        (i, j, k) for i in range(4) for j in range(4) for k in range(4) if rows[i][k] > rows[i][j] + rows[j][k]
    }
    by_candidates = {
        triple
        for j in range(4)
        for triple in exact._candidates(j)
        if exact.compare((triple[0], triple[2]), [triple[:2], triple[1:]]) > 0
    }
    assert by_candidates == {triple for triple in found if triple[0] < triple[2]}


@pytest.mark.parametrize(
    ("violation", "sentence"),
    [
        (Violation("negative", ("a", "b"), (-1.0,)), "a distance is negative: d('a', 'b') = -1"),
        (Violation("symmetry", ("a", "b"), (1.0, 2.5)), "symmetry is broken: d('a', 'b') = 1 but d('b', 'a') = 2.5"),
        (Violation("self-distance", (1, 1), (3.0,)), "a point is not at distance 0 from itself: d(1, 1) = 3"),
        (Violation("identity", (1, 2), (0.0,)), "different points are at distance 0: d(1, 2) = 0"),
        (Violation("not a number", (1, 2), (math.nan,)), "a distance is not a number: d(1, 2) = nan"),
    ],
)
def test_sentences(violation, sentence):
    assert str(violation) == sentence
