"""Columns of a universe whose cells are intervals: integers, numbers and dates."""

from __future__ import annotations

import calendar
import datetime as dt
import zoneinfo
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

from metricdp.errors import ArgumentError
from metricdp.exact.level import rational
from metricdp.policies.cells.listed import Cells

__all__ = ["MOST_CELLS", "DateCells", "IntegerCells", "Interval", "JustAfter", "NumberCells", "OrderedCells"]

MOST_CELLS = 1_000_000
"""More cells than this no universe has."""

Outside = Literal["refuse", "clamp"]


class JustAfter(Fraction):
    """Where a cell begins that holds all numbers greater than another: as a number, the next of 60 decimal places.

    Columns of values are compared with ``of`` itself, so that nothing lies between, whatever they are stored as.
    """

    of: Fraction

    def __new__(cls, value: Any) -> JustAfter:
        """After this number."""
        made = super().__new__(cls, Fraction(value) + Fraction(1, 10**60))
        made.of = Fraction(value)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return JustAfter, (self.of,)

    def __deepcopy__(self, memo: Any) -> JustAfter:
        return self


@dataclass(frozen=True)
class Interval:
    """The values of a cell: from ``first`` to ``last``, which belongs to it where ``closed``."""

    first: Any
    last: Any
    closed: bool = True


@dataclass(frozen=True)
class OrderedCells(Cells):
    """A column of values in order, cut into neighbouring intervals between two bounds.

    Attributes:
        bounds: the least and the greatest value; both are inside.
        edges: where new cells begin, between the bounds. None: each value is a cell, or as a width says.
        outside: "clamp" for values beyond the bounds to be counted in the first or the last cell.
    """

    bounds: tuple[Any, Any] = (0, 0)
    edges: tuple[Any, ...] | None = None
    outside: Outside = "refuse"

    def _check(self) -> None:
        low, high = self.bounds
        if self.outside not in ("refuse", "clamp"):
            raise self.refusal("outside is 'refuse' or 'clamp'; other = .. names a cell for values outside")
        if self.outside == "clamp" and self.other is not None:
            raise self.refusal("values outside are clamped or go to the cell that other names, not both")
        if not low <= high or (low == high and not self._single_values):
            raise self.refusal("bounds = [least, greatest], in that order")
        starts = self.starts
        if starts[-1] > high or any(not one < two for one, two in pairwise(starts)):
            raise self.refusal("edges lie between the bounds, in increasing order, and each begins a new cell")
        for label in (self.missing, self.other):
            if label in self.declared_labels:
                raise self.refusal("missing and other have names of their own, not that of an interval")

    _single_values: ClassVar[bool] = True  # whether values are isolated, as integers and days are

    @property
    @abstractmethod
    def starts(self) -> tuple[Any, ...]:
        """The first value of each cell."""

    @cached_property
    @abstractmethod
    def intervals(self) -> tuple[Interval, ...]:
        """The values of each cell."""

    @abstractmethod
    def value(self, written: Any) -> Any:
        """A value of this column as somebody wrote it in a bound, an edge or a question."""

    @property
    def single(self) -> bool:
        """Whether each cell holds one value only."""
        return all(cell.closed and cell.first == cell.last for cell in self.intervals)

    @property
    def declared(self) -> tuple[Any, ...]:
        """The first value of each cell."""
        return self.starts

    def _set(self, **fields: Any) -> None:
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def _bounds(self, bounds: Any) -> tuple[Any, Any]:
        try:
            low, high = bounds
        except (TypeError, ValueError):
            raise self.refusal("bounds = [least, greatest]") from None
        return self.value(low), self.value(high)

    def _edges(self, edges: Iterable[Any] | None, width: Any) -> tuple[Any, ...] | None:
        """Where cells begin, given one by one or by a common width."""
        if edges is not None and width is not None:
            raise self.refusal("edges or width, not both")
        if edges is not None:
            return tuple(self.value(edge) for edge in edges)
        if width is None:
            return None
        step, (low, high) = self.value(width), self.bounds
        if step <= 0:
            raise self.refusal("a width is positive")
        if (high - low) / Fraction(step) > MOST_CELLS:
            raise self.refusal(f"so narrow a width makes more than {MOST_CELLS:,} cells")
        edges_found, edge = [], low + step
        while edge < high or (edge == high and self._single_values):
            edges_found.append(edge)
            edge += step
        return tuple(edges_found)


@dataclass(frozen=True)
class IntegerCells(OrderedCells):
    """Integers between two bounds: each a cell, or cells that begin at the edges, or of one width.

    >>> age = IntegerCells("age", (0, 120), edges=(18, 40, 65))
    >>> age.labels, age.points
    (('0..17', '18..39', '40..64', '65..120'), (0, 18, 40, 65))
    """

    def __init__(
        self,
        name: str,
        bounds: tuple[int, int],
        *,
        edges: Iterable[int] | None = None,
        width: int | None = None,
        outside: Outside = "refuse",
        missing: str | None = None,
        other: str | None = None,
    ) -> None:
        self._set(name=name, missing=missing, other=other, outside=outside)
        self._set(bounds=self._bounds(bounds))
        self._set(edges=self._edges(edges, width))
        self.__post_init__()

    @property
    def csv_type(self) -> str:
        """Integers."""
        return "int64"

    def value(self, written: Any) -> int:
        """An integer of 64 bits."""
        if isinstance(written, bool) or not isinstance(written, int) or abs(written) >= 1 << 63:
            raise self.refusal("bounds, edges and width are integers, of 64 bits")
        return written

    @property
    def crowded(self) -> bool:
        """Whether there are more than a million integers, and nobody said how they are counted."""
        return self.edges is None and self.bounds[1] - self.bounds[0] >= MOST_CELLS

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first integer of each cell."""
        low, high = self.bounds
        if self.edges is not None:
            return (low, *self.edges)
        return (low,) if self.crowded else tuple(range(low, high + 1))

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """From the first to the last integer of each cell."""
        ends = (*(start - 1 for start in self.starts[1:]), self.bounds[1])
        return tuple(Interval(first, last) for first, last in zip(self.starts, ends, strict=True))

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """An integer, or the first and the last."""
        return tuple(
            str(cell.first) if cell.first == cell.last else f"{cell.first}..{cell.last}" for cell in self.intervals
        )


@dataclass(frozen=True)
class NumberCells(OrderedCells):
    """Numbers between two bounds, in intervals that hold their lower end and not their upper; the last holds both.

    Bounds and edges are finite decimals, as written: 0.3 is three tenths. Decimals and integers are compared with them
    exactly, floats with the nearest float of their width: 0.3 is in the cell that begins at 0.3, whichever it is.

    >>> NumberCells("pay", (0, 5), edges=["0.5", 2]).labels
    ('[0, 0.5)', '[0.5, 2)', '[2, 5]')
    """

    _single_values: ClassVar[bool] = False

    def __init__(
        self,
        name: str,
        bounds: tuple[Any, Any],
        *,
        edges: Iterable[Any] | None = None,
        width: Any = None,
        outside: Outside = "refuse",
        missing: str | None = None,
        other: str | None = None,
    ) -> None:
        self._set(name=name, missing=missing, other=other, outside=outside)
        self._set(bounds=self._bounds(bounds))
        self._set(edges=self._edges(edges, width) or ())
        self.__post_init__()

    @property
    def csv_type(self) -> str:
        """Floats."""
        return "float64"

    def value(self, written: Any) -> int | Fraction:
        """The decimal as it is written, exactly."""
        if isinstance(written, JustAfter):
            return written
        try:
            exact = rational(repr(written) if isinstance(written, float) else written, "bound or edge")
        except ArgumentError as problem:
            raise self.refusal(str(problem)) from None
        if 10**60 % exact.denominator or abs(exact) >= 10**60:
            raise self.refusal(
                "bounds, edges and width are decimals such as 0.25, below 1e60 and with at most 60 places"
            )
        return exact.numerator if exact.denominator == 1 else exact

    @property
    def starts(self) -> tuple[Any, ...]:
        """The lower end of each cell."""
        return (self.bounds[0], *(self.edges or ()))

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """Half-open, but for the last."""
        ends = (*self.starts[1:], self.bounds[1])
        last = len(ends) - 1
        return tuple(Interval(a, b, k == last) for k, (a, b) in enumerate(zip(self.starts, ends, strict=True)))

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """Intervals as mathematics writes them."""
        return tuple(
            f"[{decimal_text(cell.first)}, {decimal_text(cell.last)}{']' if cell.closed else ')'}"
            for cell in self.intervals
        )


@dataclass(frozen=True)
class DateCells(OrderedCells):
    """Days between two bounds, each a cell, or by month or year, or in cells that begin at the edges.

    A moment belongs to its day, and days are what a metric compares: two moments of neighbouring days are one day
    apart, however near. Where the table's moments have a time zone, ``zone`` says whose days are meant; where they have
    none, they are taken as they stand.

    Attributes:
        by: "day", "month" or "year"; None where edges are given.
        zone: the name of a time zone, such as "Europe/Paris".
        moments: whether a CSV file holds moments, and not days alone.

    >>> DateCells("visit", ("2024-01-15", "2024-03-31"), by="month").labels
    ('2024-01-15..2024-01-31', '2024-02', '2024-03')
    """

    by: Literal["day", "month", "year"] | None = "day"
    zone: str | None = None
    moments: bool = False

    def __init__(
        self,
        name: str,
        bounds: tuple[Any, Any],
        *,
        by: Literal["day", "month", "year"] | None = None,
        edges: Iterable[Any] | None = None,
        zone: str | None = None,
        moments: bool = False,
        outside: Outside = "refuse",
        missing: str | None = None,
        other: str | None = None,
    ) -> None:
        self._set(name=name, missing=missing, other=other, outside=outside, zone=zone, moments=moments)
        self._set(bounds=self._bounds(bounds))
        self._set(edges=self._edges(edges, None), by=by if edges is not None else by or "day")
        if edges is not None and by is not None:
            raise self.refusal("edges or by, not both")
        self.__post_init__()

    @property
    def csv_type(self) -> str:
        """Days, or moments."""
        return "timestamp[us]" if self.moments else "date32"

    def _check(self) -> None:
        if self.by not in ("day", "month", "year", None):
            raise self.refusal("by is 'day', 'month' or 'year'")
        if self.zone is not None:
            try:
                zoneinfo.ZoneInfo(self.zone)
            except (zoneinfo.ZoneInfoNotFoundError, ValueError, TypeError, OSError):
                raise self.refusal("zone names a time zone, such as 'Europe/Paris' or 'UTC'") from None
        if not dt.date(1700, 1, 1) <= self.bounds[0] <= self.bounds[1] <= dt.date(2250, 12, 31):
            raise self.refusal("bounds = [first day, last day], from 1700-01-01 to 2250-12-31")  # what all engines hold
        super()._check()

    def value(self, written: Any) -> dt.date:
        """A day, given as a date or as text such as 2024-01-31."""
        if isinstance(written, str):
            try:
                written = dt.date.fromisoformat(written)
            except ValueError:
                written = None
        if not isinstance(written, dt.date) or isinstance(written, dt.datetime):
            raise self.refusal("days are dates, such as 2024-01-31")
        return written

    @cached_property
    def starts(self) -> tuple[dt.date, ...]:
        """The first day of each cell."""
        low, high = self.bounds
        if self.edges is not None:
            return (low, *self.edges)
        days = (low + dt.timedelta(days=n) for n in range((high - low).days + 1))
        if self.by == "day":
            return tuple(days)
        january_alone = self.by == "year"
        return tuple(day for day in days if day == low or (day.day == 1 and (day.month == 1 or not january_alone)))

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """From the first to the last day of each cell."""
        ends = (*(start - dt.timedelta(days=1) for start in self.starts[1:]), self.bounds[1])
        return tuple(Interval(first, last) for first, last in zip(self.starts, ends, strict=True))

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """A day, a month, a year, or the first and the last day."""
        return tuple(_days(cell.first, cell.last) for cell in self.intervals)


def decimal_text(number: int | Fraction) -> str:
    """A finite decimal, exactly.

    >>> decimal_text(Fraction(-1, 8)), decimal_text(100)
    ('-0.125', '100')
    """
    exact, places = Fraction(number), 0
    while (exact * 10**places).denominator != 1:
        places += 1
    digits = f"{abs(int(exact * 10**places)):0{places + 1}d}"
    body = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{body}" if exact < 0 else body


def _days(first: dt.date, last: dt.date) -> str:
    if first == last:
        return first.isoformat()
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
        return str(first.year)
    whole_month = first.day == 1 and last.day == calendar.monthrange(first.year, first.month)[1]
    if whole_month and (first.year, first.month) == (last.year, last.month):
        return f"{first.year}-{first.month:02d}"
    return f"{first.isoformat()}..{last.isoformat()}"
