"""Quantities as people write them: exact, in units that are known, or refused."""

from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.level import ln
from metricdp.policies.quantities import factor_level, quantity, unit_in


@pytest.mark.parametrize(
    ("written", "unit", "amount"),
    [
        ("200 m", "m", 200),
        ("1.5 km", "m", 1500),
        ("2 miles", "m", Fraction("3218.688")),
        ("10 feet", "m", Fraction("3.048")),
        ("36 hours", "days", Fraction(3, 2)),
        ("90 s", "days", Fraction(1, 960)),
        ("2 weeks", "days", 14),
        ("1 ms", "days", Fraction(1, 86_400_000)),
        ("0.001 degrees", "degrees", Fraction(1, 1000)),
        ("1,000 dollars", "", 1000),
        ("0.1", "", Fraction(1, 10)),
        ("1/3", "", Fraction(1, 3)),
        (5, "m", 5),
    ],
)
def test_quantities_are_exact(written, unit, amount):
    assert quantity(written, unit) == amount


@pytest.mark.parametrize(
    ("written", "unit"), [("5 parsecs", "m"), ("5 m", "days"), ("m", "m"), ("", ""), (None, ""), (True, ""), ([1], "m")]
)
def test_wrong_quantities(written, unit):
    with pytest.raises(ArgumentError):
        quantity(written, unit)


def test_units_that_are_for_people():
    assert unit_in("1,000 dollars a year") == "dollars a year"
    assert unit_in("1000") == unit_in(1000) == unit_in(None) == ""


def test_factors():
    assert factor_level(2) == ln(2)
    assert factor_level("3/2") == ln(Fraction(3, 2))
    for wrong in (1, 0, -3, "x", None, True):
        with pytest.raises((ArgumentError, LevelError)):
            factor_level(wrong)
