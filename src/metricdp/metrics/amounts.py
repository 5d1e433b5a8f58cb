"""Amounts: the numbers a metric holds. Exact, perhaps infinite, and written the same way everywhere.

A `Level` is finite; a `Budget` may also be infinite, which says "may be told apart freely". Every amount is written
three ways: as mathematics (`formula`), as Python (`code`) and as a plain TOML or JSON value (`plain`), and the last
two read back to the same amount.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from flint import arb

from metricdp.errors import ArgumentError
from metricdp.exact.balls import ball
from metricdp.exact.level import Level, LevelLike, rational
from metricdp.metrics.coordinates import number

__all__ = [
    "Budget",
    "Exact",
    "budget",
    "code",
    "exact_ball",
    "exact_value",
    "formula",
    "matrix_entry",
    "plain",
    "plain_label",
    "positive",
    "scaled_formula",
    "sum_of_budgets",
    "sum_of_levels",
]

Budget = Level | float
"""A level, or ``math.inf``."""

Exact = Fraction | float
"""A rational, or ``math.inf``."""


def budget(value: LevelLike) -> Budget:
    """A level, where infinity is allowed too."""
    if isinstance(value, (int, float, str)) and value in (math.inf, "inf"):
        return math.inf
    return Level.of(value)


def exact_ball(amount: Exact | Budget) -> arb:
    """An amount as a ball at the working precision."""
    if isinstance(amount, Level):
        return amount.ball()
    return arb.pos_inf() if amount == math.inf else ball(amount)


def exact_value(amount: Budget) -> Exact | None:
    """A budget as a rational or infinity; None where it is a logarithm."""
    if isinstance(amount, Level):
        return amount.coefficient if amount.log_of is None else None
    return amount


def sum_of_levels(one: Level, two: Level) -> Level | None:
    """Their sum, where that is a level again: two rationals, or two multiples of one logarithm."""
    return Level(one.coefficient + two.coefficient, one.log_of) if one.log_of == two.log_of else None


def sum_of_budgets(budgets: Iterable[Budget]) -> Budget:
    """Their sum: infinite where one is, and rounded up to a rational where it is no level.

    >>> from metricdp.exact.level import ln
    >>> sum_of_budgets([ln(2), ln(2)]) == ln(4), sum_of_budgets([ln(2), math.inf])
    (True, inf)
    """
    known = list(budgets)
    levels = [amount for amount in known if isinstance(amount, Level)]
    if len(levels) < len(known) or not levels:
        return math.inf
    if len({level.log_of for level in levels}) == 1:
        return Level(sum((level.coefficient for level in levels), Fraction(0)), levels[0].log_of)
    return Level(sum((Fraction(level.enclose().upper) for level in levels), Fraction(0)))


def formula(amount: Exact | Budget) -> str:
    """An amount as mathematics.

    >>> from metricdp.exact.level import ln
    >>> formula(ln(2) / 200), formula(Fraction(1, 3)), formula(math.inf)
    ('ln 2/200', '1/3', '∞')
    """
    if amount == math.inf:
        return "∞"
    level = amount if isinstance(amount, Level) else Level(Fraction(amount))
    if level.log_of is not None and level.coefficient.numerator == 1 < level.coefficient.denominator:
        return f"{Level(Fraction(1), level.log_of)}/{level.coefficient.denominator}"
    return str(level)


def scaled_formula(level: Level, what: str) -> str:
    """``level·what``, or ``what/n`` where the level is 1/n and no short decimal.

    >>> from metricdp.exact.level import ln
    >>> scaled_formula(Level.of(0.5), "d"), scaled_formula(Level.of("1/3"), "d"), scaled_formula(ln(2), "d")
    ('0.5·d', 'd/3', 'ln 2·d')
    """
    decimal, reciprocal = formula(level), level.log_of is None and level.coefficient.numerator == 1
    if reciprocal and ("/" in decimal or len(decimal) > len("0.25")):
        return f"{what}/{level.coefficient.denominator}"
    return f"{decimal}·{what}"


def code(amount: Any) -> str:
    """An amount as Python that gives it back.

    >>> from metricdp.exact.level import ln
    >>> code(ln(2) / 200), code(Fraction(1, 3)), code(Fraction(1, 2))
    ('ln(2) / 200', 'Fraction(1, 3)', '0.5')
    """
    if isinstance(amount, Level):
        if amount.log_of is None:
            return code(amount.coefficient)
        logarithm = f"ln({code(amount.log_of)})"
        if amount.coefficient == 1:
            return logarithm
        if amount.coefficient.numerator == 1:
            return f"{logarithm} / {amount.coefficient.denominator}"
        return f"{code(amount.coefficient)} * {logarithm}"
    if isinstance(amount, Fraction):
        short = _as_int_or_float(amount)
        return repr(amount) if short is None else repr(short)
    return "math.inf" if amount == math.inf else repr(amount)


def plain(amount: Exact | Budget) -> int | float | str:
    """An amount as a TOML or JSON value; text where neither an integer nor a float is exact.

    >>> from metricdp.exact.level import ln
    >>> plain(ln(2) / 200), plain(Fraction(1, 3)), plain(Fraction(1, 2)), plain(math.inf)
    ('1/200 ln 2', '1/3', 0.5, 'inf')
    """
    if isinstance(amount, Level):
        if amount.log_of is None:
            return plain(amount.coefficient)
        logarithm = f"ln {amount.log_of}" if amount.log_of.denominator == 1 else f"ln({amount.log_of})"
        return logarithm if amount.coefficient == 1 else f"{amount.coefficient} {logarithm}"
    if isinstance(amount, float) and not math.isfinite(amount):
        return str(amount)
    short = _as_int_or_float(Fraction(amount))
    return str(amount) if short is None else short


def positive(value: Any, what: str) -> Fraction:
    """A positive rational, such as a threshold."""
    exact = rational(value, what)
    if exact <= 0:
        raise ArgumentError(f"a {what} is positive, not {value}")
    return exact


def matrix_entry(value: Any) -> Exact:
    """An entry of a distance matrix as it is: exact, and also infinite or NaN, for the axioms to judge."""
    if isinstance(value, str):
        return float(value) if value in ("inf", "-inf", "nan") else rational(value, "distance")
    return value if isinstance(value, float) and not math.isfinite(value) else number(value)


def _as_int_or_float(exact: Fraction) -> int | float | None:
    if exact.denominator == 1 and abs(exact.numerator) < 1 << 63:  # TOML's integers have 64 bits
        return exact.numerator
    try:
        nearest = float(exact)
    except OverflowError:
        return None
    return nearest if Fraction(nearest) == exact else None


def plain_label(value: Any) -> Any:
    """A secret or an output as plain values for JSON."""
    if isinstance(value, (tuple, list)):
        return [plain_label(part) for part in value]
    if isinstance(value, frozenset | set):
        return sorted((plain_label(part) for part in value), key=repr)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
