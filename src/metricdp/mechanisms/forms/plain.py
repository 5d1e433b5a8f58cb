"""Numbers and moments in Python's own containers and in numpy's arrays."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import KindError, NotFiniteError
from metricdp.mechanisms.forms.column import (
    CALENDAR,
    TICKS,
    Calendar,
    Column,
    Floating,
    Moments,
    Undeclared,
    WholeNumbers,
    objects,
)
from metricdp.metrics.dates import day_number

__all__ = ["from_array", "from_moments", "from_values", "is_null", "native"]


def from_values(values: Sequence[Any], dates: bool, null: bool) -> Column:
    """Python's numbers or moments, which declare nothing: whatever they are, results are of one kind."""
    if dates:
        return _moments(values, null)
    numbers, missing = exact_numbers(values, null)
    return Column(numbers, Undeclared(dates=False), missing=missing)


def from_array(array: NDArray[Any], dates: bool, null: bool) -> Column:
    """A column of a numpy array, by its dtype."""
    kind = array.dtype.kind
    if kind == "O":
        return from_values(array.tolist(), dates, null)
    if dates:
        return from_moments(array)
    if kind == "f" and array.dtype.itemsize <= 8:
        return Column(native(array), Floating(array.dtype.newbyteorder("=")))
    if kind in "iu":
        return Column(native(array), WholeNumbers())
    raise KindError(f"numbers are wanted, not {array.dtype.name}")


def from_moments(array: NDArray[Any], calendar: Calendar = CALENDAR) -> Column:
    """Numpy's datetimes; with a zone, in UTC."""
    if array.dtype.kind != "M":
        raise KindError(f"dates or datetimes are wanted, not {array.dtype.name}")
    given = Moments(native(array).dtype, calendar)
    missing = np.isnat(array)
    numbers = native(array).view(np.int64)
    calendar.check(numbers, given.step, missing)
    return Column(numbers, given, given.step, missing)


def exact_numbers(values: Sequence[Any], null: bool) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Python's numbers as an array that holds each exactly, and which are null, where that is a secret."""
    kinds = set(map(type, values))
    if kinds <= {float, np.float64}:
        return np.array(values, dtype=np.float64), None
    if kinds == {int}:
        try:
            return np.array(values, dtype=np.int64), None
        except OverflowError:
            return objects(values), None
    if not null:
        return objects(values), None
    missing = np.array([is_null(value) for value in values], dtype=bool)
    return objects([0 if absent else value for value, absent in zip(values, missing, strict=True)]), missing


def _moments(values: Sequence[Any], null: bool) -> Column:
    missing = np.array([null and is_null(value) for value in values], dtype=bool)
    kinds = {type(value) for value, absent in zip(values, missing, strict=True) if not absent}
    given = Undeclared(dates=True)
    if kinds <= {dt.date} or (kinds <= {dt.date, dt.datetime} and not any(_zoned(value) for value in values)):
        step = "D" if kinds <= {dt.date} else "us"
        filled = [None if absent else value for value, absent in zip(values, missing, strict=True)]
        return Column(np.array(filled, dtype=f"M8[{step}]").view(np.int64), given, TICKS[step], missing)
    days = [
        Fraction(0) if absent else _day(value, row)
        for row, (value, absent) in enumerate(zip(values, missing, strict=True))
    ]
    CALENDAR.check(objects(days), Fraction(1), missing)
    return Column(objects(days), given, Fraction(1), missing)


def _day(value: Any, row: int) -> Fraction:
    if value is None:
        raise KindError("a date is wanted, and it is missing", row)
    if _zoned(value):
        raise KindError("moments without a time zone are wanted; convert to UTC first", row)
    if not isinstance(value, dt.date | np.datetime64):
        raise KindError("a date or a datetime is wanted", row)
    if is_null(value):
        raise NotFiniteError("a date is wanted, not NaT", row)
    return day_number(value)


def _zoned(value: Any) -> bool:
    return getattr(value, "tzinfo", None) is not None


def is_null(value: Any) -> bool:
    """None, NaN, NaT, and what pandas calls NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating | np.datetime64):
        return bool(value != value)
    return False


def native(array: NDArray[Any]) -> NDArray[Any]:
    """The same values in this machine's byte order."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
