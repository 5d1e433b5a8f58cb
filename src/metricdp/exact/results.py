"""What all results have in common: words for people, plain values for programs, and a notebook's view."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from metricdp.exact.balls import Enclosure, float_above, float_below

__all__ = ["Result", "enclosure_json", "number_json", "short"]


class Result(ABC):
    """Base of results: a notebook shows the words of ``str``; a result also has ``to_json``."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The result as plain values for JSON."""

    def _repr_html_(self) -> str:
        first, *rest = str(self).splitlines() or [""]
        lines = f"<pre>{html.escape(chr(10).join(rest))}</pre>" if rest else ""
        return f"<b>{html.escape(first)}</b>{lines}"


def number_json(value: Fraction | float | None) -> Any:
    """A number for JSON: itself where a float or an integer is exact, else text such as "1/3"; "infinite" for infinity.

    >>> number_json(Fraction(1, 3)), number_json(Fraction(1, 2)), number_json(math.inf), number_json(None)
    ('1/3', 0.5, 'infinite', None)
    """
    if value is None:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return "infinite" if value > 0 else "-infinite" if value < 0 else None
    exact = Fraction(value)
    if exact.denominator == 1 and abs(exact) < 1 << 53:
        return int(exact)
    nearest = float(exact) if abs(exact) < Fraction(10) ** 300 else math.inf
    return nearest if math.isfinite(nearest) and Fraction(nearest) == exact else str(exact)


def enclosure_json(value: Enclosure) -> dict[str, Any]:
    """A proved number for JSON: floats rounded outward, and the number itself where it is rational.

    >>> enclosure_json(Enclosure(Fraction(1, 3), Fraction(1, 3)))["exact"]
    '1/3'
    """
    lower, upper = float_below(value.lower), float_above(value.upper)
    held: dict[str, Any] = {"lower": number_json(lower), "upper": number_json(upper)}
    if value.lower == value.upper:
        held["exact"] = number_json(value.lower)
    return held


def short(value: Fraction | float | Enclosure | None, digits: int = 9) -> str:
    """A number for a line of text: a fraction where it is short, else rounded.

    >>> short(Fraction(1, 3)), short(Fraction(10**30 + 1, 10**31)), short(0.1), short(None)
    ('1/3', '0.1', '0.1', 'unknown')
    """
    if value is None:
        return "unknown"
    if isinstance(value, Enclosure):
        return short(value.lower, digits) if value.lower == value.upper else f"{float(value):.{digits}g}"
    if isinstance(value, Fraction) and value.denominator < 10**6 and abs(value) < 10**12:
        return str(value)
    return f"{float(value):.{digits}g}"
