"""Levels are exact: equal values are equal objects, and order is decided, not rounded."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import LevelError
from metricdp.exact.balls import Real, precision
from metricdp.exact.level import Level, ln, rational
from metricdp.metrics import absolute
from metricdp.metrics.reading import metric_in_words
from metricdp.policies import Policy


@pytest.mark.parametrize(
    ("number", "exact"),
    [
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        ("0.1", Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (np.float64(0.5), Fraction(1, 2)),
        (np.int64(3), Fraction(3)),
    ],
)
def test_numbers_are_the_rationals_they_are(number, exact):
    assert rational(number) == exact


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "a lot", True, None, [1], 1j])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(LevelError):
        Level.of(bad)


@pytest.mark.parametrize("bad", [0, -1, -0.5, "0"])
def test_a_level_is_positive(bad):
    with pytest.raises(LevelError, match="positive"):
        Level.of(bad)


@pytest.mark.parametrize("bad", [1, 0.5, 0, -2])
def test_ln_takes_a_factor_above_one(bad):
    with pytest.raises(LevelError, match="above 1"):
        ln(bad)


def test_logarithms_have_one_form():
    assert ln(8) == 3 * ln(2) == Level(Fraction(3), Fraction(2))
    assert ln("9/4") == 2 * ln("3/2")
    assert ln(6) != ln(2)
    assert hash(ln(4)) == hash(2 * ln(2))
    assert pickle.loads(pickle.dumps(ln(2))) == ln(2)


def test_a_logarithm_is_not_its_float():
    assert ln(2) != Level.of(math.log(2))
    assert (ln(2) > Level.of(math.log(2))) != (ln(2) < Level.of(math.log(2)))
    # ln 2 = 0.693147180559945309417..., and the float is a little below.
    assert ln(2) > Level.of(math.log(2))


@given(st.fractions(min_value=Fraction(11, 10), max_value=50, max_denominator=40), st.integers(1, 6))
def test_ln_of_a_power(base, power):
    assert ln(base**power) == power * ln(base)


@given(st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50))
def test_enclosures_hold_the_level(value):
    level = value * ln(3)
    enclosure = level.enclose(200)
    assert enclosure.lower <= enclosure.upper
    assert enclosure.width < Fraction(1, 2**180)
    assert math.isclose(float(level), float(value) * math.log(3), rel_tol=1e-15)


def test_a_product_of_logarithms_is_refused():
    with pytest.raises(LevelError, match="two logarithms"):
        ln(2) * ln(3)


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (ln(2), "ln 2"),
        (3 * ln(2), "3 ln 2"),
        (Level.of("0.1"), "0.1"),
        (Level.of("1/3"), "1/3"),
        (Level.of(2), "2"),
    ],
)
def test_it_prints_as_mathematics(level, text):
    assert str(level) == text


@pytest.mark.parametrize(
    "written", ["ln 2/1000", "ln 5/3", "ln(5/3)", "0.5", "1/3", 0.5, 2, Fraction(1, 3), Decimal("0.1")]
)
def test_a_level_means_the_same_wherever_it_is_written(written):
    """In a policy, for tables and for questions, on the command line and in Python."""
    level = Level.parse(written)
    assert Level.of(written) == level
    text = written if isinstance(written, str) else str(written)
    assert metric_in_words(f"{text} absolute") == level * absolute()
    quoted = f'"{text}"'
    for entry in (f"epsilon = {quoted}", f'metric = "{text} absolute"'):
        bounds = "bounds = [0, 9], missing = 'refuse'"
        policy = Policy.parse(f"format = 2\nrecords = 9\ncolumns.x = {{type = 'number', {bounds}, {entry}}}\n")
        assert policy.columns[0].mechanism.guarantee.metric == level * absolute()
        assert policy.askable.metric("x") == level * absolute()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(1, 10**400), "1e-400"),
        (Fraction(1, 3 * 10**400), "3.33333333333e-401"),
        (Fraction(10**400 + 1, 2), f"{10**400 + 1}/2"),
    ],
)
def test_a_number_beyond_floats_prints_as_neither_zero_nor_an_error(number, text):
    assert str(Level(number)) == text


@pytest.mark.parametrize(
    "text", ["9" * 20_000, "9" * 20_000 + "x", "1" + " " * 20_000 + "x", "ln " + "9" * 20_000 + "x"]
)
def test_a_long_text_is_read_in_one_way(text):
    """Digits were read as before and after a point that is not there, in every way: for minutes."""
    with pytest.raises(LevelError):
        Level.parse(text)


@pytest.mark.parametrize("factor", [Fraction(2), Fraction(9, 4), Fraction(729, 128)])
def test_ln_of_a_power_of_many_digits(factor):
    """`verify` asks this of ratios of tens of thousands of bits; to try all powers took minutes."""
    assert ln(factor**10_000) == ln(factor) * 10_000
    assert ln(factor**10_000 + 1).coefficient == 1


@pytest.mark.parametrize("power", [3, 20, 60, 99])
def test_a_logarithm_near_zero_keeps_its_digits(power):
    """At any precision, since what is read of it is a scale of noise."""
    level = ln(1 + Fraction(1, 10**power))
    with precision(96):
        value = level.ball()
        assert value.rad() * 2**90 < value.mid()
    assert float(Real(level.ball)) == pytest.approx(10.0**-power, rel=10.0**-2)
