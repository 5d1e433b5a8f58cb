"""Running sums: an enclosure of fixed length, and the exact sum for as long as it is short."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.exact.balls import Enclosure
from metricdp.exact.level_sums import LevelSum

__all__ = ["GRID_BITS", "Running", "grid_above", "grid_below"]

GRID_BITS = 256
"""Enclosures are whole numbers of 2^-256: an addition costs the same after a million of them."""

_LONGEST = 1024
"""Characters of an exact sum that is kept beside its enclosure."""


_ZERO = LevelSum()


@dataclass(frozen=True)
class Running:
    """A sum of numbers: two whole numbers of 2^-256 around it, and the sum itself while it is short.

    Attributes:
        lower: nowhere above the sum.
        upper: nowhere below it.
        exact: the sum; None where it got too long, and has to be added up again from the entries when it is needed.

    >>> third = Running.of(LevelSum.of(Fraction(1, 3)))
    >>> (third + third + third).exact == LevelSum.of(1)
    True
    """

    lower: int = 0
    upper: int = 0
    exact: LevelSum | None = _ZERO

    @classmethod
    def of(cls, exact: LevelSum) -> Running:
        """A number that is known exactly."""
        if not exact.logarithms:
            top, bottom = exact.rational.numerator << GRID_BITS, exact.rational.denominator
            lower, rest = divmod(top, bottom)
            return cls(lower, lower + bool(rest), exact)
        around = exact.enclose(GRID_BITS)
        return cls(grid_below(around.lower), grid_above(around.upper), exact)

    @classmethod
    def above(cls, bound: Fraction | float) -> Running:
        """A number of which only an upper bound is wanted."""
        upper = grid_above(bound)
        return cls(upper, upper, None)

    def __add__(self, other: Running) -> Running:
        if not other.upper:
            return self
        exact = None if self.exact is None or other.exact is None else self.exact + other.exact
        if exact is not None and _length(exact) > _LONGEST:
            exact = None
        return Running(self.lower + other.lower, self.upper + other.upper, exact)

    @property
    def enclosure(self) -> Enclosure:
        """As two rationals."""
        if self.exact is not None and not self.exact.logarithms:
            return Enclosure(self.exact.rational, self.exact.rational)
        return Enclosure(Fraction(self.lower, 1 << GRID_BITS), Fraction(self.upper, 1 << GRID_BITS))

    @property
    def bound(self) -> LevelSum:
        """The sum, or the upper end of its enclosure."""
        return LevelSum(Fraction(self.upper, 1 << GRID_BITS)) if self.exact is None else self.exact

    def to_json(self) -> list[Any]:
        """Plain values, of which `from_json` makes it again."""
        return [f"{self.lower:x}", f"{self.upper:x}", None if self.exact is None else self.exact.written]

    @classmethod
    def from_json(cls, values: list[Any]) -> Running:
        """What `to_json` wrote."""
        lower, upper, exact = values
        return cls(int(lower, 16), int(upper, 16), None if exact is None else LevelSum.parse(exact))


def grid_below(number: Fraction | float) -> int:
    """The number in steps of 2^-256, rounded down."""
    exact = Fraction(number)
    return (exact.numerator << GRID_BITS) // exact.denominator


def grid_above(number: Fraction | float) -> int:
    """The number in steps of 2^-256, rounded up."""
    exact = Fraction(number)
    return -((-exact.numerator << GRID_BITS) // exact.denominator)


def _length(exact: LevelSum) -> int:
    """About how many characters it takes."""
    bits = exact.rational.numerator.bit_length() + exact.rational.denominator.bit_length()
    for part in (part for pair in exact.logarithms for part in pair):
        bits += part.numerator.bit_length() + part.denominator.bit_length()
    return bits // 3
