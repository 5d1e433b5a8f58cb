"""Days of a record, as SQL computes with them: their parts, where a month begins, and so many days or months later."""

from __future__ import annotations

import calendar
import datetime as dt
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = ["PARTS", "Span", "as_day", "minus", "plus", "span_of", "truncated"]

PARTS: dict[str, Callable[[Any], Any]] = {
    "year": lambda day: day.year,
    "quarter": lambda day: (day.month + 2) // 3,
    "month": lambda day: day.month,
    "day": lambda day: day.day,
    "dow": lambda day: day.isoweekday() % 7,
    "isodow": lambda day: day.isoweekday(),
    "week": lambda day: day.isocalendar().week,
    "isoyear": lambda day: day.isocalendar().year,
}
"""What ``extract`` takes of a day."""

_UNITS = {"day": (0, 1), "week": (0, 7), "month": (1, 0), "quarter": (3, 0), "year": (12, 0)}
"""How many months and days they are."""


@dataclass(frozen=True)
class Span:
    """So many months, and then so many days.

    >>> plus(dt.date(2024, 1, 31), Span(1, 1)), minus(dt.date(2024, 3, 31), Span(1, 0))
    (datetime.date(2024, 3, 1), datetime.date(2024, 2, 29))
    """

    months: int
    days: int


def span_of(node: Any) -> Span | None:
    """What ``interval '90 days'`` or ``interval 1 month`` stands for; None where it is no whole number of days."""
    from sqlglot import exp

    if not isinstance(node, exp.Interval) or not isinstance(node.this, exp.Literal) or node.args.get("unit") is None:
        return None
    number, unit = str(node.this.this).strip(), str(node.args["unit"].name).lower().removesuffix("s")
    if unit not in _UNITS or not number.removeprefix("-").isdecimal() or len(number) > 9:
        return None
    months, days = _UNITS[unit]
    return Span(months * int(number), days * int(number))


def plus(one: Any, two: Any) -> Any:
    """A sum of numbers; or a day and a span, or a whole number of days, in either order."""
    if isinstance(two, dt.date) and not isinstance(one, dt.date):
        one, two = two, one
    return _later(one, two, 1) if isinstance(one, dt.date) else operator.add(one, two)


def minus(one: Any, two: Any) -> Any:
    """A difference of numbers; a day so much before another; or how many days lie between two."""
    if not isinstance(one, dt.date):
        return operator.sub(one, two)
    if isinstance(one, dt.datetime) or not isinstance(two, dt.date):
        return _later(one, two, -1)
    return (one - as_day(two)).days


def _later(day: dt.date, by: Any, sign: int) -> dt.date:
    """So much after a day; the last of a month where that has fewer days."""
    if isinstance(by, int | Fraction) and not isinstance(by, bool) and by == int(by):
        by = Span(0, int(by))
    if not isinstance(by, Span):
        raise TypeError("days and days are not added up")
    years, month = divmod(day.year * 12 + day.month - 1 + sign * by.months, 12)
    last = calendar.monthrange(years, month + 1)[1]
    return day.replace(year=years, month=month + 1, day=min(day.day, last)) + dt.timedelta(days=sign * by.days)


def truncated(unit: str) -> Callable[[Any], Any] | None:
    """The function that finds where the year, the month and so on of a day begins; None of a unit that is not known."""

    def begin(day: Any) -> dt.date:
        first = day.date() if isinstance(day, dt.datetime) else day
        if unit == "week":
            return first - dt.timedelta(days=first.weekday())
        month = {"year": 1, "quarter": 3 * ((first.month - 1) // 3) + 1}.get(unit, first.month)
        return dt.date(first.year, month, first.day if unit == "day" else 1)

    return begin if unit in ("year", "quarter", "month", "week", "day") else None


def as_day(value: Any) -> dt.date:
    """The day that a text writes, or of a moment."""
    if isinstance(value, str):
        return dt.date.fromisoformat(value)
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    raise TypeError("no day")
