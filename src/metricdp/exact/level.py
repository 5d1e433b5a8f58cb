"""Levels: the number that stands before a metric, kept exactly.

A level is a rational or a rational multiple of the logarithm of a rational. ``exp(float(ln 2))`` is not 2,
and an exact verifier knows it; ``exp(ln(2))`` is.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import cast

from flint import arb, fmpz

from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.balls import Enclosure, ball, decide_sign, enclose

__all__ = ["LEVEL", "Level", "LevelLike", "ln", "rational"]

_MOST_BITS = 1 << 20
_LEAST, _GREATEST = Fraction(1, 10**100), Fraction(10**100)

# No text can be read in two ways by these, however long it is: to try them all would take for ever.
_DECIMAL = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_NUMBER = rf"(?:[0-9]+\s?/\s?[0-9]+|{_DECIMAL}(?:[eE][-+]?[0-9]{{1,3}})?)"

LEVEL = re.compile(
    rf"""
    (?:(?P<before>-?{_NUMBER})\s*(?:[*·]\s*)?)?
    ln\s*(?:\(\s*(?P<inside>{_NUMBER})\s*\)|(?P<of>{_DECIMAL}))
    (?:\s*/\s*(?P<divisor>{_DECIMAL}))?
    | (?P<number>-?{_NUMBER})
    """,
    re.VERBOSE,
)
"""A level as text."""


_LEVELS = ("level", "epsilon", "delta", "factor")


def rational(number: LevelLike, what: str = "level") -> Fraction:
    """The exact rational a number is; text is read as it is written, so ``"0.1"`` is one tenth.

    Args:
        number: a level is taken where it is no logarithm.
        what: what messages call it.

    Raises:
        LevelError: it is no finite rational number, and is called a level, epsilon, delta or factor.
        ArgumentError: the same for anything else.

    >>> rational(0.5), rational("0.1")
    (Fraction(1, 2), Fraction(1, 10))
    """
    wrong = LevelError if what in _LEVELS else ArgumentError
    article = "an" if what[:1] in "aeiou" else "a"
    if isinstance(number, Level):
        if number.log_of is not None:
            raise wrong(f"{article} {what} is a rational number here, not the logarithm {number}")
        return number.coefficient
    if isinstance(number, bool) or not isinstance(number, (int, float, Fraction, Decimal, str)):
        item = getattr(number, "item", None)  # numpy scalars
        if item is None or getattr(number, "size", 1) != 1 or isinstance(item(), bool):
            raise wrong(f"{article} {what} is a number, not {type(number).__name__}")
        number = item()
    try:
        return Fraction(cast("int | float | Fraction | Decimal | str", number))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise wrong(f"{article} {what} is a finite number") from None


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
        if isinstance(number, str):
            return _read(number)
        level = number if isinstance(number, Level) else cls(rational(number))
        if level.coefficient <= 0:
            raise LevelError("a level is positive: larger means less privacy, and 0 would release nothing")
        return level

    @classmethod
    def parse(cls, written: LevelLike) -> Level:
        """The level that a person wrote: in a policy, on the command line or in Python, it means the same.

        A number, a fraction, or a logarithm, perhaps with a factor before it or a divisor after it. The divisor divides
        the logarithm, as in what is printed: ``ln 5/3`` is a third of ln 5, and ``ln(5/3)`` the logarithm of 5/3.

        >>> Level.parse("ln 2/200") == ln(2) / 200, Level.parse("ln(5/3)") == ln(Fraction(5, 3))
        (True, True)
        >>> Level.parse("1/2") == Level.parse(0.5) == Level.parse(Fraction(1, 2))
        True

        Raises:
            LevelError: it is no level, not positive, or beyond 1e-100 to 1e100.
        """
        level = cls.of(written)
        if not all(_LEAST < part < _GREATEST for part in (level.coefficient, level.log_of or 1)):
            raise LevelError("a level lies between 1e-100 and 1e100")
        return level

    def ball(self) -> arb:
        """The level as a ball at the working precision, of which a factor however near to 1 loses nothing."""
        if self.log_of is None:
            return ball(self.coefficient)
        return ball(self.coefficient) * ball(self.log_of - 1).log1p()

    def enclose(self, bits: int = 64) -> Enclosure:
        """The level between two rationals; exactly, where it is one."""
        if self.log_of is None:
            return Enclosure(self.coefficient, self.coefficient)
        working = bits
        while True:  # ends, since the logarithm of a rational above 1 is positive
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
        if self.log_of == level.log_of:
            return (self.coefficient > level.coefficient) - (self.coefficient < level.coefficient)
        # They differ: the logarithm of a rational is transcendental, and these two have no common base. So this ends.
        sign = decide_sign(lambda: self.ball() - level.ball(), _MOST_BITS)
        if not sign:
            raise LevelError(f"two levels could not be told apart in {_MOST_BITS} bits")
        return sign

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


def _read(text: str) -> Level:
    found = LEVEL.fullmatch(text.strip())
    if found is None:
        raise LevelError(
            f"{text.strip()!r} is no level; write a number or a logarithm: 0.5, 1/2, ln 2, ln 2/200, ln(5/3)"
        )
    if found["number"] is not None:
        return Level.of(_number(found["number"]))
    divisor = _number(found["divisor"] or "1")
    if not divisor:
        raise LevelError("a level is not divided by 0")
    return Level.of(ln(_number(found["inside"] or found["of"])) * (_number(found["before"] or "1") / divisor))


def _number(text: str) -> Fraction:
    try:
        return Fraction(re.sub(r"\s", "", text))
    except ZeroDivisionError:
        raise LevelError(f"{text!r} is no number: a level is not divided by 0") from None
    except ValueError:  # an integer of thousands of digits
        raise LevelError("a level lies between 1e-100 and 1e100") from None


def _root(value: Fraction) -> tuple[Fraction, int]:
    """The value as ``base ** power`` with the largest power."""
    power = math.gcd(_largest_power(value.numerator), _largest_power(value.denominator))
    return Fraction(*(int(fmpz(part).root(power)) for part in (value.numerator, value.denominator))), power


def _largest_power(number: int) -> int:
    """The largest k for which a number from 2 on is a k-th power; 0 for 1, which is one for all k."""
    if number == 1:
        return 0
    base, power, prime = fmpz(number), 1, 2
    while base.is_perfect_power():
        while not fmpz(prime).is_prime() or (root := base.root(prime)) ** prime != base:
            prime += 1
        base, power = root, power * prime
    return power


def _decimal(number: Fraction) -> str:
    """A rational as a person writes it: short where it can be short, a fraction where that is exact."""
    if number.denominator == 1:
        return str(number.numerator)
    in_floats = Fraction(1, 10**300) < abs(number) < 10**300
    short = f"{float(number) if in_floats else _quotient(number):.12g}"
    if _is_decimal(number) and (
        Fraction(short) == number or (in_floats and float(short) == float(number) and _is_dyadic(number))
    ):
        return short
    return f"{number.numerator}/{number.denominator}" if number.denominator < 10**6 else short


def _quotient(number: Fraction) -> Decimal:
    """A number that no float comes near, rounded: neither 0 nor infinite."""
    with localcontext(Context(prec=30, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        return Decimal(number.numerator) / Decimal(number.denominator)


def _is_decimal(number: Fraction) -> bool:
    """Whether finitely many digits write it: its denominator has no other divisors than 2 and 5."""
    odd = number.denominator >> ((number.denominator & -number.denominator).bit_length() - 1)
    return pow(5, odd.bit_length(), odd) == 0


def _is_dyadic(number: Fraction) -> bool:
    return math.log2(number.denominator).is_integer() and number.denominator & (number.denominator - 1) == 0
