import math
from fractions import Fraction

import pytest

from metricdp.errors import KindError, LevelError
from metricdp.exact.level import Level, ln
from metricdp.metrics.amounts import budget, code, formula, matrix_entry, plain, scaled_formula, sum_of_levels

LEVELS = [Level.of(value) for value in (1, 2, 0.1, 0.5, "1/3", 1e-300, 10**25)] + [ln(2), ln("3/2") / 7, ln(10) * 5]


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_levels_read_back_exactly(level):
    assert Level.of(plain(level)) == level
    assert Level.of(eval(code(level), {"ln": ln, "Fraction": Fraction})) == level


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "ln 1", "ln 0", "0 ln 2", "lnx", "", None, True, "-1 ln 2"])
def test_bad_levels(bad):
    with pytest.raises(LevelError):
        Level.of(bad)


def test_a_budget_may_be_infinite():
    assert budget(math.inf) == budget("inf") == math.inf
    assert budget("1/3") == Level(Fraction(1, 3))
    with pytest.raises(LevelError):
        budget(-math.inf)


@pytest.mark.parametrize(
    ("level", "text"),
    [(ln(2) / 200, "ln 2/200·d"), (Level.of(0.1), "0.1·d"), (Level.of("1/5000"), "d/5000"), (Level.of("2/3"), "2/3·d")],
)
def test_formula_of_a_scale(level, text):
    assert scaled_formula(level, "d") == text


def test_infinity_in_words():
    assert (formula(math.inf), code(math.inf), plain(math.inf)) == ("∞", "math.inf", "inf")


def test_levels_add_where_the_sum_is_a_level():
    assert sum_of_levels(ln(2), ln(4)) == 3 * ln(2)
    assert sum_of_levels(Level.of("1/3"), Level.of("1/6")) == Level.of("1/2")
    assert sum_of_levels(ln(2), Level.of(1)) is None


def test_matrix_entries_stay_what_they_are():
    assert matrix_entry("1/3") == Fraction(1, 3)
    assert matrix_entry(0.1) == Fraction(0.1) != Fraction(1, 10)
    assert matrix_entry("inf") == math.inf
    assert math.isnan(matrix_entry(math.nan))
    for bad in (True, None, 1j):
        with pytest.raises(KindError):
            matrix_entry(bad)
