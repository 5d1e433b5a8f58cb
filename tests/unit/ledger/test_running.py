"""Running sums: enclosures of fixed length around an exact sum that may get too long to keep."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from metricdp.exact.level import ln
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.running import GRID_BITS, Running, grid_above, grid_below

fractions = st.fractions(min_value=0, max_value=10**6, max_denominator=10**9)


@given(st.lists(fractions, max_size=30))
def test_the_sum_lies_inside(parts):
    total = Running()
    for part in parts:
        total = total + Running.of(LevelSum(part))
    exact = sum(parts, Fraction(0))
    assert Fraction(total.lower, 1 << GRID_BITS) <= exact <= Fraction(total.upper, 1 << GRID_BITS)
    assert total.upper - total.lower <= len(parts)
    assert total.exact is None or total.exact.rational == exact
    assert Running.from_json(total.to_json()) == total


def test_a_sum_that_gets_too_long_is_let_go():
    total = Running()
    for k in range(1, 2500):
        total = total + Running.of(LevelSum(Fraction(1, k)))
    assert total.exact is None
    exact = sum((Fraction(1, k) for k in range(1, 2500)), Fraction(0))
    assert total.enclosure.lower <= exact <= total.enclosure.upper
    assert total.enclosure.width < Fraction(1, 1 << 240)
    assert (total + Running.of(LevelSum.of(1))).exact is None
    assert Running.from_json(total.to_json()) == total


def test_logarithms():
    total = Running.of(LevelSum.of(ln(2))) + Running.of(LevelSum.of(ln(3)))
    assert total.exact == LevelSum.of(ln(6))
    assert total.bound == LevelSum.of(ln(6))
    assert total.lower < total.upper


def test_the_grid_rounds_outward():
    third = Fraction(1, 3)
    assert grid_below(third) + 1 == grid_above(third)
    assert grid_below(5) == grid_above(5) == 5 << GRID_BITS
