"""Secrets of one declared type as exact numbers, and the way back from cells to that type."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import KindError, LevelError, OutOfDomainError
from metricdp.exact.grid import Grid
from metricdp.exact.refine import Integers

__all__ = [
    "CALENDAR",
    "TICKS",
    "ZONED",
    "Calendar",
    "Column",
    "Floating",
    "Missing",
    "Moments",
    "ResultType",
    "Undeclared",
    "WholeNumbers",
    "objects",
    "ticks",
]

Missing = NDArray[np.bool_]

_SECOND = Fraction(1, 86_400)
TICKS = {
    "W": Fraction(7),
    "D": Fraction(1),
    "h": Fraction(1, 24),
    "m": Fraction(1, 24 * 60),
    "s": _SECOND,
    "ms": _SECOND / 10**3,
    "us": _SECOND / 10**6,
    "ns": _SECOND / 10**9,
    "ps": _SECOND / 10**12,
    "fs": _SECOND / 10**15,
    "as": _SECOND / 10**18,
}
"""What one step of a type of moments is, in days."""

_INT64 = 2**63 - 1
_EPOCH = dt.date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Calendar:
    """The years in which moments may lie, first and last.

    Attributes:
        margin: days less at either end for results, so that a zone's own clock shows those years, too.
    """

    first: int = 1
    last: int = 9999
    margin: int = 0

    def ends(self, step: Fraction) -> tuple[int, int]:
        """The first and the last step that results may have: of these years, or of 64 bits where those end before."""
        first, end = self._bounds(step)
        margin = math.ceil(self.margin / step)
        return max(-_INT64, first) + margin, min(_INT64, end - 1) - margin

    def check(self, numbers: NDArray[Any], step: Fraction, missing: Missing) -> None:
        """Refuse moments, counted in steps of so many days, that are not in these years."""
        first, end = self._bounds(step)
        outside = np.zeros(len(numbers), dtype=bool)
        if numbers.dtype == object or first > -_INT64:
            outside |= (numbers < first).astype(bool)
        if numbers.dtype == object or end <= _INT64:
            outside |= (numbers >= end).astype(bool)
        outside &= ~missing
        if outside.any():
            raise OutOfDomainError(f"a moment lies in the years {self.first} to {self.last}", int(np.argmax(outside)))

    def _bounds(self, step: Fraction) -> tuple[int, int]:
        """The first step of these years, and the first after them."""
        days = dt.date(self.first, 1, 1).toordinal() - _EPOCH, dt.date(self.last, 12, 31).toordinal() + 1 - _EPOCH
        return math.ceil(days[0] / step), math.ceil(days[1] / step)


CALENDAR, ZONED = Calendar(), Calendar(margin=1)


class ResultType(Protocol):
    """A type that results are given back in."""

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> Any:
        """The points ``width * cells``, null where they are missing; ``missing`` is None where none can be.

        Refuses a width whose points the type does not hold; also for no cells at all, which is tried before any noise.
        """
        ...


@dataclass(frozen=True)
class Column:
    """Secrets as exact numbers, ``unit * numbers``.

    Attributes:
        numbers: integers, floats, or objects that are exact numbers.
        given: the type of the results, which depends on the declared type of the secrets alone.
        unit: what the numbers are counted in; for moments in days.
        missing: which secrets are null, where the type has nulls.
        pack: puts what ``given`` makes into the container that the secrets came in.
    """

    numbers: NDArray[Any]
    given: ResultType
    unit: Fraction = Fraction(1)
    missing: Missing | None = None
    pack: Callable[[Any], Any] = field(default=lambda results: results)


@dataclass(frozen=True)
class Undeclared:
    """Python's own numbers: integers where the resolution is whole, otherwise floats; None for null.

    For moments dates where the resolution is whole days, otherwise datetimes.
    """

    dates: bool

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> list[Any]:
        """See `ResultType.give`."""
        if not self.dates:
            listed: list[Any] = list(Grid.of(width).numbers(cells))
        else:
            step = "D" if width.denominator == 1 else "us"
            moments = Grid.of(ticks(width, TICKS[step], "of Python's datetimes, a microsecond"))
            listed = moments.within(cells, *CALENDAR.ends(TICKS[step])).view(f"M8[{step}]").tolist()
        if missing is not None:
            for row in np.flatnonzero(missing).tolist():
                listed[row] = None
        return listed


@dataclass(frozen=True)
class WholeNumbers:
    """Integers of 64 bits where the resolution is whole, otherwise floats; where there are nulls, objects or NaN."""

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> NDArray[Any]:
        """See `ResultType.give`."""
        if width.denominator != 1:
            return Floating(np.dtype(np.float64)).give(cells, width, missing)
        whole = Grid.of(width).whole_values(cells)
        if missing is None:
            return whole
        return objects([None if null else value for value, null in zip(whole.tolist(), missing, strict=True)])


@dataclass(frozen=True)
class Floating:
    """Floats of one width, which saturate at its ends; NaN for null."""

    dtype: np.dtype[Any]

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> NDArray[Any]:
        """See `ResultType.give`."""
        values = Grid.of(width).values(cells)
        if missing is not None:
            values[missing] = np.nan
        if self.dtype == np.float64:
            return values
        ends = np.finfo(self.dtype)
        return np.clip(values, float(ends.min), float(ends.max)).astype(self.dtype)


@dataclass(frozen=True)
class Moments:
    """Moments counted in steps of one length, which end with their calendar or with 64 bits; NaT for null."""

    dtype: np.dtype[Any]
    calendar: Calendar = CALENDAR

    @property
    def step(self) -> Fraction:
        """The step in days."""
        name, multiple = np.datetime_data(self.dtype)
        if name not in TICKS:
            raise KindError(f"dates counted in {name!r} have steps of uneven length; convert to days or seconds")
        return TICKS[name] * multiple

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> NDArray[Any]:
        """See `ResultType.give`."""
        grid = Grid.of(ticks(width, self.step, f"of these dates, {np.datetime_data(self.dtype)[0]!r}"))
        moments = grid.within(cells, *self.calendar.ends(self.step))
        if missing is not None:
            moments[missing] = np.iinfo(np.int64).min  # NaT
        return moments.view(self.dtype)


def ticks(width: Fraction, step: Fraction, whose: str) -> Fraction:
    """A resolution in steps of a type of moments, refused where it is no whole number of them."""
    if (width / step).denominator != 1:
        raise LevelError(
            f"the resolution of {width} days is no multiple of the step {whose}: give a coarser resolution, such as "
            "resolution=1 for whole days"
        )
    return width / step


def objects(values: Sequence[Any]) -> NDArray[Any]:
    """An array of objects, one for each value, whatever the values are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
