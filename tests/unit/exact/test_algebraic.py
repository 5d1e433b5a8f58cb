"""Numbers made of one root of a polynomial: their signs, and systems solved with them."""

import math
from fractions import Fraction

import pytest
from flint import fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from metricdp.exact.algebraic import AlgebraicField, irreducible
from metricdp.exact.real_roots import PolynomialRoot, coprime_basis, roots_between, separated, sign_at
from metricdp.programs.nonnegative import has_solution, least_solution

GOLDEN = AlgebraicField(PolynomialRoot(fmpz_poly([-1, 1, 1]), Fraction(1, 2), Fraction(3, 4)))
VALUE = (math.sqrt(5) - 1) / 2


def number(a, b):
    return a * GOLDEN.one + b * GOLDEN.power(1)


@settings(max_examples=60, deadline=None)
@given(*(st.integers(-30, 30) for _ in range(4)))
def test_arithmetic_is_that_of_the_reals(a, b, c, d):
    one, two = number(a, b), number(c, d)
    x, y = a + b * VALUE, c + d * VALUE
    assert (one < two, one > two, one == two) == (
        (a, b) != (c, d) and x < y,
        (a, b) != (c, d) and x > y,
        (a, b) == (c, d),
    )
    if (c, d) != (0, 0):
        assert one / two * two == one
    assert one * two - two * one == 0
    assert GOLDEN.power(2) == number(1, -1)


def test_signs_that_floats_cannot_see():
    """Fibonacci's numbers F satisfy ``F(n) - F(n+1) α = ± α^(n+1)``."""
    before, after = 0, 1
    for _ in range(400):
        before, after = after, before + after
    tiny = number(before, -after)
    assert tiny == GOLDEN.power(401) or tiny == -1 * GOLDEN.power(401)
    assert (tiny > 0) is not (tiny < 0)


def test_division_by_zero():
    with pytest.raises(ZeroDivisionError):
        number(1, 1) / number(0, 0)


def test_the_irreducible_factor_of_a_root():
    whole = fmpz_poly([-2, 3]) * fmpz_poly([-1, 1, 1])
    rational, golden = (irreducible(root) for root in sorted(roots_between(whole), key=lambda r: -r.upper))
    assert {rational.exact, golden.exact} == {Fraction(2, 3), None}


def test_roots_are_kept_away_from_0_and_1():
    """At the ends themselves other polynomials vanish, so no sign may be asked for there."""
    near = [fmpz_poly([-(10**6) + 1, 10**6]), fmpz_poly([-1, 10**6]), fmpz_poly([-1, 1]), fmpz_poly([0, 1])]
    roots = separated(root for part in coprime_basis(near) for root in roots_between(part))
    assert len(roots) == 2
    for root in roots:
        assert 0 < root.lower <= root.upper < 1
        assert root.exact is not None or sign_at(root.polynomial, root.lower) * sign_at(root.polynomial, root.upper) < 0


def test_systems_over_a_field_of_numbers():
    alpha, one, zero = GOLDEN.power(1), GOLDEN.one, GOLDEN.zero
    assert has_solution([[one, alpha], [alpha, one]], [one, one], zero, one)
    assert not has_solution([[one, alpha], [alpha, alpha * alpha]], [one, one], zero, one)
    assert has_solution([[one, alpha], [alpha, alpha * alpha]], [one, alpha], zero, one)  # singular, and consistent
    rows = [[Fraction(1), Fraction(1, 2)], [Fraction(1, 2), Fraction(1, 4)]]
    for right in ([Fraction(2), Fraction(1)], [Fraction(1), Fraction(1)]):
        there = least_solution(rows, right).solution is not None
        assert has_solution(rows, right, Fraction(0), Fraction(1)) is there
