"""Quantities as a person writes them: ``"200 m"``, ``"1 hour"``, ``"5 dollars"``, ``5``."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.exact.level import Level, ln, rational

__all__ = ["example", "factor_level", "quantity", "unit_in"]

_METRES = {"m": 1, "metre": 1, "meter": 1, "km": 1000, "kilometre": 1000, "kilometer": 1000}
_METRES_EXACT = {"ft": Fraction("0.3048"), "foot": Fraction("0.3048"), "feet": Fraction("0.3048")}
_METRES_EXACT |= {"mi": Fraction("1609.344"), "mile": Fraction("1609.344")}
_SECONDS = {"s": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400, "day": 86400}
_SECONDS |= {"week": 7 * 86400}
_SMALL_SECONDS = {"ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}

UNITS: dict[str, dict[str, Fraction]] = {
    "m": {name: Fraction(value) for name, value in _METRES.items()} | _METRES_EXACT,
    "days": {name: Fraction(value) / 86400 for name, value in (_SECONDS | _SMALL_SECONDS).items()},
    "seconds": {name: Fraction(value) for name, value in (_SECONDS | _SMALL_SECONDS).items()},
    "degrees": {"degree": Fraction(1), "°": Fraction(1)},
}
"""For each unit that metrics count in: what may be written, and how many of the unit it is."""

_NUMBER = re.compile(r"\s*([-+]?[0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?:/[0-9]+)?)\s*(.*?)\s*")


def quantity(written: Any, unit: str) -> Fraction:
    """A positive amount in the given unit, exactly as it was written.

    >>> quantity("1.5 km", "m"), quantity("36 hours", "days"), quantity("0.1", "")
    (Fraction(1500, 1), Fraction(3, 2), Fraction(1, 10))
    """
    if isinstance(written, (int, float, Decimal)) and not isinstance(written, bool):
        return _in_range(written)
    found = _NUMBER.fullmatch(written) if isinstance(written, str) else None
    if found is None:
        raise ArgumentError(f"a quantity is wanted, such as {example(unit)}")
    number, name = _in_range(found[1].replace(",", "").replace("_", "")), found[2]
    if not name or unit not in UNITS:
        return number  # a name such as "dollars" is for people
    known = UNITS[unit]
    for spelling in (name, name.removesuffix("s")):
        if spelling in known:
            return number * known[spelling]
    raise ArgumentError(f"{name!r} is no unit here; write {example(unit)}")


def unit_in(written: Any) -> str:
    """The name of the unit that somebody wrote, perhaps none.

    >>> unit_in("1000 dollars"), unit_in(5)
    ('dollars', '')
    """
    found = _NUMBER.fullmatch(written) if isinstance(written, str) else None
    return found[2] if found else ""


def factor_level(written: Any) -> Level:
    """The level at which odds move by a factor.

    >>> factor_level("3/2") == ln(Fraction(3, 2))
    True
    """
    return Level.parse(ln(_in_range(written)))


def _in_range(written: Any) -> Fraction:
    """A number that is not absurdly large or small; 0 is left for others to refuse."""
    try:
        number = rational(written, "quantity")
    except (ZeroDivisionError, OverflowError, ValueError):
        raise ArgumentError("a number is wanted, such as 2") from None
    if number and not Fraction(1, 10**100) < abs(number) < 10**100:
        raise ArgumentError("a quantity lies between 1e-100 and 1e100")
    return number


def example(unit: str) -> str:
    """How a quantity in the unit is written."""
    examples = {"m": '"200 m"', "days": '"5 days"', "seconds": '"10 min"', "degrees": '"0.001 degrees"'}
    return examples.get(unit, "5")
