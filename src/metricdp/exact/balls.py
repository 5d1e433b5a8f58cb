"""Ball arithmetic: real numbers enclosed, at any precision, never guessed.

python-flint's precision is global to the process, so every use of it goes through `precision`,
which holds a lock and puts the old value back. Balls do not pickle and do not leave the block in
which they were made: what leaves is an `Enclosure` of Fractions or an outward-rounded float.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz

__all__ = [
    "Enclosure",
    "Real",
    "ball",
    "decide_sign",
    "enclose",
    "exp_bounds",
    "float_above",
    "float_below",
    "log_bounds",
    "precision",
]

_LOCK = threading.RLock()
_LONGEST = 1 << 20
"""Bits of a rational that encloses: numbers such as exp(-10^20) have exponents that no memory holds."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Run a block with flint's working precision set to ``bits``, one thread at a time."""
    with _LOCK:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(number: int | float | Fraction) -> arb:
    """The number as a ball at the working precision; integers and floats are exact.

    >>> with precision(64):
    ...     ball(Fraction(1, 3)) * 3 - 1 < ball(2.0**-60)
    True
    """
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    if isinstance(number, int):
        return arb(fmpz(number))
    return arb(number)


@dataclass(frozen=True)
class Enclosure:
    """Two exact numbers with a real number between them: ``lower <= value <= upper``.

    >>> Enclosure(Fraction(1, 4), Fraction(1, 2)).width
    Fraction(1, 4)
    """

    lower: Fraction | float
    upper: Fraction | float

    @classmethod
    def of(cls, value: arb) -> Enclosure:
        """The enclosure a ball stands for; a ball that is not finite encloses everything above its floor."""
        if value.is_finite():
            return cls(_end(value.lower(), -1), _end(value.upper(), 1))
        if value > 0 and not value.is_nan():
            return cls(math.inf, math.inf)
        return cls(-math.inf, math.inf)

    @property
    def width(self) -> Fraction | float:
        """``upper - lower``; 0 where both are infinite, for the value is then known."""
        return Fraction(0) if self.lower == self.upper else self.upper - self.lower

    @property
    def outward(self) -> tuple[float, float]:
        """The same as floats, rounded outward."""
        return float_below(self.lower), float_above(self.upper)

    def __contains__(self, number: Fraction | float) -> bool:
        return self.lower <= number <= self.upper

    def __float__(self) -> float:
        return float(self.lower if self.lower == self.upper else (self.lower + self.upper) / 2)


@dataclass(frozen=True)
class Real:
    """A real constant that can be had to any precision, with the float next to it.

    >>> float(Real(lambda: ball(2).sqrt()))
    1.4142135623730951
    """

    ball: Callable[[], arb]

    @functools.cached_property
    def _nearest(self) -> float:
        found = enclose(self.ball, 80)
        return _nearest(found.lower if found.lower == found.upper else (found.lower + found.upper) / 2)

    def __float__(self) -> float:
        """Within a relative 2^-52 of the constant; infinite beyond the largest float."""
        return self._nearest


def enclose(value: Callable[[], arb], bits: int = 64) -> Enclosure:
    """Evaluate ``value`` in ball arithmetic with ``bits`` bits, and some to spare, and enclose the result."""
    with precision(bits + 16):
        return Enclosure.of(value())


def decide_sign(value: Callable[[], arb], most_bits: int = 1024) -> int:
    """The sign of a real number, from ever more precise balls; 0 where ``most_bits`` cannot tell it from zero.

    >>> decide_sign(lambda: ball(2).sqrt() * 5 - 7)
    1
    """
    bits = 64
    while bits <= most_bits:
        with precision(bits):
            result = value()
            if result > 0:
                return 1
            if result < 0:
                return -1
            if result.is_zero():
                return 0
        bits *= 2
    return 0


def exp_bounds(number: int | float | Fraction) -> tuple[float, float]:
    """Floats below and above exp(number).

    >>> low, high = exp_bounds(1)
    >>> low < high and low <= math.e <= high
    True
    """
    return enclose(lambda: ball(number).exp()).outward


def log_bounds(number: int | float | Fraction) -> tuple[float, float]:
    """Floats below and above ln(number), for a positive number.

    >>> below, above = log_bounds(2)
    >>> below <= 0.6931471805599453 <= above and above - below < 1e-15
    True
    """
    return enclose(lambda: ball(number).log()).outward


def float_above(number: Fraction | float) -> float:
    """The least float that is not below ``number``."""
    nearest = _nearest(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


def float_below(number: Fraction | float) -> float:
    """The greatest float that is not above ``number``."""
    nearest = _nearest(number)
    return nearest if nearest <= number else math.nextafter(nearest, -math.inf)


def _nearest(number: Fraction | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _end(exact: arb, way: int) -> Fraction | float:
    """An end of a ball as a rational; moved outward where it would take more than a million bits to write down."""
    mantissa, exponent = (int(part) for part in exact.man_exp())
    size = mantissa.bit_length() + exponent
    if mantissa and size > _LONGEST:
        return way * math.inf if mantissa * way > 0 else Fraction(-way * 2**_LONGEST)
    if mantissa and exponent < -_LONGEST:
        if size > -_LONGEST:
            shifted = -((-mantissa * way) >> (-_LONGEST - exponent)) * way
            return Fraction(shifted, 2**_LONGEST)
        return Fraction(way, 2**_LONGEST) if mantissa * way > 0 else Fraction(0)
    return Fraction(mantissa) * (Fraction(2) ** exponent)
