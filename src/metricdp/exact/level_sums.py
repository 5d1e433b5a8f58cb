"""Sums of levels, kept exactly: a rational and rational multiples of logarithms of rationals."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from metricdp.errors import LevelError
from metricdp.exact.balls import Enclosure, ball, decide_sign, enclose
from metricdp.exact.level import Level

__all__ = ["LevelSum"]

_MOST_BITS = 1 << 20


@dataclass(frozen=True)
class LevelSum:
    """``rational + sum(coefficient * ln(base))``: what levels add up to, which is not always a level.

    Equality and order are decided exactly. By the theorem of Lindemann such a sum is zero only where the rational is
    zero and the product of the powers ``base ** coefficient`` is 1, which integers decide; where it is not zero, ever
    more precise balls find its sign.

    Attributes:
        rational: the part that is no logarithm.
        logarithms: pairs of a base and its coefficient, which is not zero, in order of the bases.

    >>> from metricdp.exact.level import ln
    >>> total = LevelSum.of(ln(2)) + LevelSum.of(ln(3)) + LevelSum.of(0.5)
    >>> str(total), total < LevelSum.of(ln(10))
    ('0.5 + ln 2 + ln 3', True)
    >>> LevelSum.of(ln(2)) + LevelSum.of(ln(3)) == LevelSum.of(ln(6))
    True
    """

    rational: Fraction = Fraction(0)
    logarithms: tuple[tuple[Fraction, Fraction], ...] = ()

    @classmethod
    def of(cls, number: Level | Fraction | int | float) -> LevelSum:
        """A level or a rational as a sum of one."""
        if not isinstance(number, Level):
            return cls(Fraction(number))
        if number.log_of is None:
            return cls(number.coefficient)
        return cls(Fraction(0), ((number.log_of, number.coefficient),))

    @classmethod
    def total(cls, sums: Iterable[LevelSum]) -> LevelSum:
        """All of them together; rationals are added in pairs, so that long ones meet long ones."""
        rationals: list[Fraction] = []
        logarithms: dict[Fraction, Fraction] = {}
        for one in sums:
            rationals.append(one.rational)
            for base, coefficient in one.logarithms:
                logarithms[base] = logarithms.get(base, Fraction(0)) + coefficient
        while len(rationals) > 1:
            rationals = [sum(rationals[place : place + 2], Fraction(0)) for place in range(0, len(rationals), 2)]
        return cls._made(rationals[0] if rationals else Fraction(0), logarithms)

    @classmethod
    def parse(cls, text: str) -> LevelSum:
        """What `written` wrote.

        >>> LevelSum.parse("1/3 + 2 ln 5/2").logarithms
        ((Fraction(5, 2), Fraction(2, 1)),)
        """
        rational, logarithms = Fraction(0), {}
        try:
            for part in text.split(" + "):
                coefficient, _, base = part.partition(" ln ")
                if base:
                    logarithms[Fraction(base)] = Fraction(coefficient)
                else:
                    rational = Fraction(coefficient)
        except (ValueError, ZeroDivisionError):
            raise LevelError("this is no sum of levels") from None
        return cls._made(rational, logarithms)

    @classmethod
    def _made(cls, rational: Fraction, logarithms: Mapping[Fraction, Fraction]) -> LevelSum:
        return cls(rational, tuple(sorted((base, power) for base, power in logarithms.items() if power)))

    @property
    def written(self) -> str:
        """As text from which `parse` makes it again."""
        return " + ".join([str(self.rational), *(f"{power} ln {base}" for base, power in self.logarithms)])

    @property
    def level(self) -> Level | None:
        """The sum as one level, where it is one; None where it is zero, or of several kinds."""
        if not self.logarithms:
            return Level(self.rational) if self.rational > 0 else None
        if self.rational or len(self.logarithms) > 1:
            return None
        ((base, coefficient),) = self.logarithms
        return Level(coefficient, base)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels it is the sum of, each positive; refused where some part is negative."""
        parts = [Level(self.rational)] if self.rational else []
        parts += [Level(power, base) for base, power in self.logarithms]
        if any(part.coefficient <= 0 for part in parts):
            raise LevelError("a part of this sum is negative")
        return tuple(parts)

    def __add__(self, other: LevelSum) -> LevelSum:
        return self._plus(other, 1)

    def __sub__(self, other: LevelSum) -> LevelSum:
        return self._plus(other, -1)

    def _plus(self, other: LevelSum, sign: int) -> LevelSum:
        rational = self.rational + sign * other.rational
        if not other.logarithms:
            return LevelSum(rational, self.logarithms)
        logarithms = dict(self.logarithms)
        for base, power in other.logarithms:
            logarithms[base] = logarithms.get(base, Fraction(0)) + sign * power
        return self._made(rational, logarithms)

    def __mul__(self, factor: Level | Fraction | int) -> LevelSum:
        if not isinstance(factor, Level):
            return LevelSum(self.rational * factor, tuple((base, power * factor) for base, power in self.logarithms))
        if factor.log_of is None:
            return self * factor.coefficient
        if self.logarithms:
            raise LevelError("a product of two logarithms is not a level")
        return self._made(Fraction(0), {factor.log_of: factor.coefficient * self.rational})

    def ball(self) -> arb:
        """The sum as a ball at the working precision."""
        return sum((ball(power) * ball(base).log() for base, power in self.logarithms), ball(self.rational))

    def enclose(self, bits: int = 64) -> Enclosure:
        """The sum between two rationals; exactly, where it is one."""
        return enclose(self.ball, bits) if self.logarithms else Enclosure(self.rational, self.rational)

    def sign(self) -> int:
        """1, 0 or -1, decided exactly."""
        if not self.logarithms:
            return (self.rational.numerator > 0) - (self.rational.numerator < 0)
        if not self.rational and _product_is_one(self.logarithms):
            return 0
        sign = decide_sign(self.ball, _MOST_BITS)
        if not sign:
            raise LevelError(f"a sum of levels could not be told from zero in {_MOST_BITS} bits")
        return sign

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LevelSum) and (self - other).sign() == 0

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: LevelSum) -> bool:
        return (self - other).sign() < 0

    def __le__(self, other: LevelSum) -> bool:
        return (self - other).sign() <= 0

    def __gt__(self, other: LevelSum) -> bool:
        return (self - other).sign() > 0

    def __ge__(self, other: LevelSum) -> bool:
        return (self - other).sign() >= 0

    def __float__(self) -> float:
        return float(self.enclose(80))

    def __str__(self) -> str:
        parts = [str(Level(self.rational))] if self.rational else []
        parts += [str(Level(power, base)) for base, power in self.logarithms]
        return " + ".join(parts) or "0"


def _product_is_one(logarithms: tuple[tuple[Fraction, Fraction], ...]) -> bool:
    """Whether the product of the powers ``base ** coefficient`` is 1.

    The numerators and denominators are written as products of integers without common divisors; then the exponent of
    each of those must vanish. No number needs to be factored for it, and no power is formed.
    """
    none: list[int] = []
    coprime = functools.reduce(_refined, (part for base, _ in logarithms for part in base.as_integer_ratio()), none)
    for prime in coprime:
        exponent = sum(
            (
                power * (_exponent(base.numerator, prime) - _exponent(base.denominator, prime))
                for base, power in logarithms
            ),
            Fraction(0),
        )
        if exponent:
            return False
    return True


def _refined(coprime: list[int], number: int) -> list[int]:
    """Integers above 1 without common divisors, of which all the given ones and the number are products of powers."""
    waiting, done = [number], list(coprime)
    while waiting:
        new = waiting.pop()
        if new == 1:
            continue
        for place, old in enumerate(done):
            common = math.gcd(new, old)
            if common > 1:
                del done[place]
                waiting += [common, new // common, old // common]
                break
        else:
            done.append(new)
    return done


def _exponent(number: int, prime: int) -> int:
    """How often the one divides the other."""
    count = 0
    while number % prime == 0:
        number //= prime
        count += 1
    return count
