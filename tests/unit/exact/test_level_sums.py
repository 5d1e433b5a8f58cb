"""Sums of levels: exact, ordered, written and read."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import LevelError
from metricdp.exact.level import Level, ln
from metricdp.exact.level_sums import LevelSum

fractions = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50)
levels = st.one_of(fractions.map(Level), st.builds(lambda base, k: ln(base + 1) * k, fractions, fractions))


@given(st.lists(levels, min_size=1, max_size=6))
def test_sums_in_any_order_are_equal_and_enclosed(parts):
    total = LevelSum.total(map(LevelSum.of, parts))
    backwards = LevelSum()
    for part in reversed(parts):
        backwards = backwards + LevelSum.of(part)
    assert total == backwards
    assert LevelSum.parse(total.written) == total
    assert abs(float(total) - sum(map(float, parts))) < 1e-9 * float(total)
    inside = total.enclose(128)
    assert inside.lower <= inside.upper
    assert LevelSum.of(Fraction(inside.lower)) <= total <= LevelSum.of(Fraction(inside.upper))
    assert (total - total).sign() == 0
    assert (total + LevelSum.of(Fraction(1, 10**60))) > total


def test_products_that_are_one_are_found_without_factoring():
    six, four = LevelSum.of(ln(6)), LevelSum.of(ln(4))
    assert six * 2 == four + LevelSum.of(ln(9))
    assert LevelSum.of(ln(Fraction(3, 2))) + LevelSum.of(ln(2)) == LevelSum.of(ln(3))
    assert six * 2 != four + LevelSum.of(ln(10))
    large = 10**40 + 7
    assert LevelSum.of(ln(large * 3)) == LevelSum.of(ln(large)) + LevelSum.of(ln(3))


def test_a_near_miss_is_no_equality():
    near = LevelSum.of(ln(Fraction(10**60 + 1, 10**60)))
    assert near.sign() == 1
    assert LevelSum.of(ln(2)) < LevelSum.of(ln(2)) + near


def test_what_it_is_as_a_level():
    assert LevelSum.of(ln(2)).level == ln(2)
    assert LevelSum().level is None
    assert (LevelSum.of(ln(2)) + LevelSum.of(1)).level is None
    assert (LevelSum.of(ln(2)) + LevelSum.of(1)).levels == (Level(Fraction(1)), ln(2))
    with pytest.raises(LevelError, match="negative"):
        _ = (LevelSum() - LevelSum.of(1)).levels
    with pytest.raises(LevelError, match="two logarithms"):
        LevelSum.of(ln(2)) * ln(3)
    with pytest.raises(LevelError, match="no sum"):
        LevelSum.parse("one")
