"""Levels: the number that stands before a metric, kept exactly.

A level is a rational or a rational multiple of the logarithm of a rational. ``exp(float(ln 2))`` is not 2,
and an exact verifier knows it; ``exp(ln(2))`` is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from flint import arb, fmpz

from metricdp.errors import LevelError
from metricdp.exact.balls import Enclosure, ball, decide_sign, enclose

__all__ = ["Level", "LevelLike", "ln", "rational"]


def rational(number: int | float | Fraction | Decimal | str, what: str = "level") -> Fraction:
    """The exact rational a number is; text is read as it is written, so ``"0.1"`` is one tenth.

    >>> rational(0.5), rational("0.1")
    (Fraction(1, 2), Fraction(1, 10))
    """
    if isinstance(number, bool) or not isinstance(number, (int, float, Fraction, Decimal, str)):
        item = getattr(number, "item", None)  # numpy scalars
        if item is None or isinstance(item(), bool):
            raise LevelError(f"a {what} is a number, not {type(number).__name__}")
        number = item()
    try:
        return Fraction(number)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise LevelError(f"a {what} is a finite number") from None


@dataclass(frozen=True)
class Level:
    """``coefficient`` or, where ``log_of`` is given, ``coefficient * ln(log_of)``; positive, exact, hashable.

    Equal values are equal objects: ``log_of`` is above 1 and no perfect power, so ``ln(4) == 2 * ln(2)``.

    >>> ln(4) == 2 * ln(2), ln(2) < Level.of(0.7), str(3 * ln(2))
    (True, True, '3 ln 2')
    """

    coefficient: Fraction
    log_of: Fraction | None = None

    @classmethod
    def of(cls, number: LevelLike) -> Level:
        """The level a user wrote; refuses zero, negative, infinite and NaN."""
        level = number if isinstance(number, Level) else cls(rational(number))
        if level.coefficient <= 0:
            raise LevelError("a level is positive: larger means less privacy, and 0 would release nothing")
        return level

    def ball(self) -> arb:
        """The level as a ball at the working precision."""
        if self.log_of is None:
            return ball(self.coefficient)
        return ball(self.coefficient) * ball(self.log_of).log()

    def enclose(self, bits: int = 64) -> Enclosure:
        """The level between two rationals; exactly, where it is one."""
        if self.log_of is None:
            return Enclosure(self.coefficient, self.coefficient)
        working = bits
        while True:  # ends, since the logarithm of a rational above 1 is positive; one very near to 1 takes more bits
            enclosure = enclose(self.ball, working)
            if enclosure.width * (1 << bits) <= enclosure.lower:
                return enclosure
            working *= 2

    def __float__(self) -> float:
        """The nearest float; infinity beyond the largest."""
        try:
            return float(self.enclose(80))
        except OverflowError:
            return math.inf

    def __mul__(self, factor: LevelLike) -> Level:
        if isinstance(factor, (int, float, Fraction, Decimal)):
            return Level(self.coefficient * rational(factor), self.log_of)
        if not isinstance(factor, Level):
            return NotImplemented  # a metric knows how to be scaled
        if factor.log_of is None:
            return Level(self.coefficient * factor.coefficient, self.log_of)
        if self.log_of is None:
            return Level(self.coefficient * factor.coefficient, factor.log_of)
        raise LevelError("a product of two logarithms is not a level")

    __rmul__ = __mul__

    def __truediv__(self, divisor: int | float | Fraction) -> Level:
        return Level(self.coefficient / rational(divisor), self.log_of)

    def __lt__(self, other: LevelLike) -> bool:
        return self._compare(other) < 0

    def __le__(self, other: LevelLike) -> bool:
        return self._compare(other) <= 0

    def __gt__(self, other: LevelLike) -> bool:
        return self._compare(other) > 0

    def __ge__(self, other: LevelLike) -> bool:
        return self._compare(other) >= 0

    def _compare(self, other: LevelLike) -> int:
        level = other if isinstance(other, Level) else Level(rational(other))
        if self == level:
            return 0
        # Unequal levels differ (the logarithm of a rational is transcendental), so this ends.
        return decide_sign(lambda: self.ball() - level.ball(), most_bits=1 << 20)

    def __str__(self) -> str:
        if self.log_of is None:
            return _decimal(self.coefficient)
        of = _decimal(self.log_of)
        logarithm = f"ln({of})" if "/" in of else f"ln {of}"
        return logarithm if self.coefficient == 1 else f"{_decimal(self.coefficient)} {logarithm}"


LevelLike = int | float | Fraction | Decimal | str | Level


def ln(number: int | float | Fraction | str) -> Level:
    """The logarithm of a rational above 1, exactly: the level at which odds move by that factor.

    >>> float(ln(2))
    0.6931471805599453
    >>> ln(2) * 2 == ln(4)
    True
    """
    value = rational(number, "factor")
    if value <= 1:
        raise LevelError("ln takes a factor above 1: likelihoods within a factor 1 would release nothing")
    base, power = _root(value)
    return Level(Fraction(power), base)


def _root(value: Fraction) -> tuple[Fraction, int]:
    """The value as ``base ** power`` with the largest power."""
    for power in range(max(value.numerator, value.denominator).bit_length(), 1, -1):
        top, bottom = _exact_root(value.numerator, power), _exact_root(value.denominator, power)
        if top is not None and bottom is not None:
            return Fraction(top, bottom), power
    return value, 1


def _exact_root(number: int, power: int) -> int | None:
    root = int(fmpz(number).root(power))
    return root if root**power == number else None


def _decimal(number: Fraction) -> str:
    """A rational as a person writes it: short where it can be short, a fraction where that is exact."""
    if number.denominator == 1:
        return str(number.numerator)
    short = f"{float(number):.12g}"
    if Fraction(short) == number or (float(short) == float(number) and _is_dyadic(number)):
        return short
    return f"{number.numerator}/{number.denominator}" if number.denominator < 10**6 else short


def _is_dyadic(number: Fraction) -> bool:
    return math.log2(number.denominator).is_integer() and number.denominator & (number.denominator - 1) == 0
