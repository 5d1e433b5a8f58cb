"""Numbers with few digits, for people; bounds stay bounds."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

__all__ = ["rounded"]


def rounded(number: float | Fraction, up: bool | None = None, digits: int = 6) -> str:
    """A number with few digits; rounded up or down where it is a bound.

    >>> rounded(1482.739), rounded(0.1234561, up=True), rounded(0.1234569, up=False), rounded(2.0)
    ('1,482.74', '0.123457', '0.123456', '2')
    """
    if isinstance(number, float) and math.isinf(number):
        return "infinity" if number > 0 else "-infinity"
    rounding = ROUND_HALF_EVEN if up is None else ROUND_CEILING if up else ROUND_FLOOR
    context = Context(prec=digits, rounding=rounding)
    exact = Fraction(number)
    short = context.divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize(context)
    return f"{short:,f}" if short == 0 or -5 < short.adjusted() < 15 else f"{short:e}"
