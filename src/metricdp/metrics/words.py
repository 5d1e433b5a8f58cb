"""Numbers, distances, probabilities and odds as people say them: in reports, explanations and answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction

__all__ = ["Measure", "factor_words", "listed", "number", "odds_range", "percent", "share"]

_CLOCK = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


@dataclass(frozen=True)
class Measure:
    """What distances are counted in.

    Attributes:
        unit: "m", "days", "seconds", or any other name, perhaps none.
        each: what one of several numbers is called, where secrets are vectors.

    >>> Measure("m").say(1368.6), Measure("days").say(0.03), Measure("dollars").say(4321.9), Measure("").say(2)
    ('1.37 km', '43.2 minutes', '4,322 dollars', '2')
    """

    unit: str
    each: str = "coordinate"

    def say(self, amount: float | Fraction) -> str:
        """A distance with its unit."""
        value = float(amount)
        if math.isinf(value):
            return "any distance"
        if self.unit == "m":
            return f"{number(value / 1000)} km" if value >= 1000 else f"{number(value)} m"
        if self.unit in ("days", "seconds"):
            return _time(value * (86400 if self.unit == "days" else 1))
        return f"{number(value)} {_counted(self.unit, value)}".strip()


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{number(seconds * 1000)} ms" if seconds >= 1e-3 else f"{number(seconds)} seconds"
    length, name = next(
        ((length, name) for length, name in _CLOCK if seconds >= 2 * length or _is_one(seconds, length)), _CLOCK[-1]
    )
    return f"{number(seconds / length)} {_counted(name + 's', seconds / length)}"


def _is_one(seconds: float, length: float) -> bool:
    return abs(seconds - length) < 1e-6 * length


def _counted(name: str, amount: float) -> str:
    """The name of a unit, without its s where there is one of it."""
    word = len(name) > 2 and name.isalpha() and name.islower()
    if abs(amount - 1) < 5e-4:
        return name.removesuffix("s") if word else name
    return name + "s" if word and not name.endswith("s") else name


def number(value: float) -> str:
    """A number with three digits, or whole and with commas where it is large.

    >>> number(4321.9), number(2.0), number(0.034567), number(1e18)
    ('4,322', '2', '0.0346', '1e+18')
    """
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def factor_words(factor: float) -> str:
    """A factor of at least 1, rounded up, so that nothing is promised that does not hold.

    >>> factor_words(2.0), factor_words(1.4143), factor_words(1234.2), factor_words(1.1e15), factor_words(math.inf)
    ('2', '1.42', '1,235', '1.1e+15', 'any')
    """
    if math.isinf(factor):
        return "any"
    exact = Decimal(factor)
    if factor >= 1e6:
        step = Decimal(1).scaleb(exact.adjusted() - 2)
        return f"{float((exact / step).to_integral_value(ROUND_CEILING) * step):.3g}"
    rounded = exact.quantize(Decimal("0.01") if factor < 100 else Decimal(1), ROUND_CEILING)
    return f"{rounded:,.2f}".removesuffix(".00")


def odds_range(factor: float) -> tuple[str, str]:
    """Where even odds can end: the least and the greatest probability, rounded outwards.

    >>> odds_range(2.0), odds_range(1e9)
    (('33.3%', '66.7%'), ('0.0%', '100.0%'))
    """
    if math.isinf(factor):
        return "0%", "100%"
    likely = Fraction(factor) / (1 + Fraction(factor))
    return _tenths(1 - likely, ROUND_FLOOR), _tenths(likely, ROUND_CEILING)


def _tenths(part: Fraction, rounding: str) -> str:
    percents = Decimal(part.numerator) / Decimal(part.denominator) * 100
    return f"{percents.quantize(Decimal('0.1'), rounding)}%"


def percent(probability: float) -> str:
    """A probability, never rounded to certainty.

    >>> percent(0.4999), percent(0.99999), percent(1e-16), percent(1.0)
    ('50%', 'over 99.9%', 'under 0.1%', '100%')
    """
    if 0.999 < probability < 1:
        return "over 99.9%"
    if 0 < probability < 0.001:
        return "under 0.1%"
    return f"{100 * probability:.3g}%"


def share(count: float) -> str:
    """An expected count.

    >>> share(0.75), share(12.0)
    ('0.75', '12')
    """
    return f"{count:.3g}"


def listed(names: tuple[str, ...] | list[str]) -> str:
    """Names in a row.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
