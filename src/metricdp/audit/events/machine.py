"""What a machine writes besides the number: bits, grids, digits, types and lengths of a release.

Each function takes one release or an array of them, so that the code of an event runs on either.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Failure

__all__ = [
    "bit",
    "decimals",
    "distinct",
    "fields",
    "first_largest",
    "is_float",
    "is_single",
    "low_bits",
    "lowest_bit",
    "missing",
    "moment",
    "nan_bits",
    "nth",
    "nth_number",
    "nth_place",
    "numbers",
    "numbers_among",
    "outcome",
    "pattern",
    "remainder",
    "zero_sign",
]

_MOST_NUMBERS = 4096
_DEEPEST = 8
_NO_FIELDS = ("__dict__", "__weakref__")


def lowest_bit(z: Any) -> Any:
    """The exponent of the lowest bit that is set in a float; 0, NaN and infinity give 9999.

    0.75 is 2^-1 + 2^-2.

    >>> lowest_bit(0.75)
    -2
    """
    values = np.asarray(z, dtype=np.float64)
    bits = np.atleast_1d(np.ascontiguousarray(values)).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = bits & ((1 << 52) - 1)
    whole = np.where(exponent > 0, mantissa | (1 << 52), mantissa)
    lowest = whole & -whole
    _, power = np.frexp(lowest.astype(np.float64))
    found = np.where((whole == 0) | (exponent == 0x7FF), 9999, power - 1 + np.maximum(exponent, 1) - 1075)
    return int(found.item()) if np.ndim(z) == 0 else found.astype(np.float64)


def low_bits(z: Any) -> Any:
    """The lowest four of the 64 bits of a float.

    >>> low_bits(1.0), low_bits(0.1)
    (0, 10)
    """
    found = np.atleast_1d(np.ascontiguousarray(np.asarray(z, dtype=np.float64))).view(np.int64) & 15
    return int(found.item()) if np.ndim(z) == 0 else found.astype(np.float64)


def bit(z: Any, place: int) -> Any:
    """One of the 64 bits of a float, the lowest being 0.

    >>> bit(1.0, 0), bit(-1.0, 63)
    (0, 1)
    """
    values = np.atleast_1d(np.ascontiguousarray(np.asarray(z, dtype=np.float64))).view(np.uint64)
    found = (values >> np.uint64(place)) & np.uint64(1)
    return int(found.item()) if np.ndim(z) == 0 else found.astype(np.float64)


def zero_sign(z: Any) -> Any:
    """-1 for -0.0, 1 for 0.0, and NaN for everything else.

    >>> zero_sign(-0.0), zero_sign(2.0)
    (-1.0, nan)
    """
    values = np.asarray(z, dtype=np.float64)
    found = np.where(values == 0, np.copysign(1.0, values), np.nan)
    return float(found) if np.ndim(z) == 0 else found


def nan_bits(z: Any) -> Any:
    """The bits of a NaN below its exponent, negative where its sign is set; NaN for every number.

    >>> nan_bits(np.nan) == 2**51, nan_bits(2.0)
    (True, nan)
    """
    values = np.atleast_1d(np.ascontiguousarray(np.asarray(z, dtype=np.float64)))
    bits = (values.view(np.int64) & ((1 << 52) - 1)).astype(np.float64)
    found = np.where(np.isnan(values), np.copysign(bits, values), np.nan)
    return float(found.item()) if np.ndim(z) == 0 else found


def remainder(z: Any, unit: float, steps: int) -> Any:
    """How many units a number lies above a multiple of so many units.

    >>> remainder(0.75, 0.25, 2), remainder(2**60 + 1, 1, 2)
    (1, 1)
    """
    if isinstance(z, int):
        return z % steps
    found = np.mod(np.rint(np.asarray(z, dtype=np.float64) / unit), steps)
    return int(found) if np.ndim(z) == 0 and np.isfinite(found) else found


def decimals(z: Any) -> Any:
    """How many decimal digits after the point a float needs, 9 for more than 8.

    >>> decimals(0.25), decimals(3.0), decimals(1 / 3)
    (2, 0, 9)
    """
    values = np.asarray(z, dtype=np.float64)
    found = np.full(values.shape, 9)
    with np.errstate(invalid="ignore", over="ignore"):
        for digits in range(8, -1, -1):
            scale = 10.0**digits
            found = np.where(np.rint(values * scale) / scale == values, digits, found)
    return int(found.item()) if np.ndim(z) == 0 else found.astype(np.float64)


def is_single(z: Any) -> Any:
    """Whether a float is one of 32 bits."""
    values = np.asarray(z, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        found = values.astype(np.float32).astype(np.float64) == values
    return bool(found) if np.ndim(z) == 0 else found.astype(np.float64)


def distinct(z: Any) -> Any:
    """How many different numbers a point has."""
    values = np.sort(np.asarray(z, dtype=np.float64), axis=-1)
    found = (np.diff(values, axis=-1) != 0).sum(axis=-1) + 1
    return int(found) if np.ndim(found) == 0 else found.astype(np.float64)


def first_largest(z: Any) -> Any:
    """The place of the largest number of a point, the first of several."""
    found = np.argmax(np.asarray(z, dtype=np.float64), axis=-1)
    return int(found) if np.ndim(found) == 0 else found.astype(np.float64)


def numbers_among(z: Any, flags: Any) -> Any:
    """How many numbers of a point are none of the flags.

    >>> numbers_among([-1.0, 2.5, -1.0, 3.5], [-1.0])
    2
    """
    found = ~_flagged(z, flags)
    count = found.sum(axis=-1)
    return int(count) if np.ndim(count) == 0 else count


def nth_place(z: Any, flags: Any, number: int) -> Any:
    """The place of the first, second, ... number that is none of the flags, counted from 0; NaN where there is none.

    >>> nth_place([-1.0, 2.5, -1.0, 3.5], [-1.0], 1)
    3.0
    """
    return nth(z, flags, number)[0]


def nth_number(z: Any, flags: Any, number: int) -> Any:
    """The first, second, ... number that is none of the flags; NaN where there is none.

    >>> nth_number([-1.0, 2.5, -1.0, 3.5], [-1.0], 1)
    3.5
    """
    return nth(z, flags, number)[1]


def nth(z: Any, flags: Any, number: int) -> tuple[Any, Any]:
    """The place and the value, coordinate by coordinate: there are few of them and many points."""
    values = np.asarray(z, dtype=np.float64)
    seen = np.zeros(values.shape[:-1], dtype=np.int32)
    place, value = np.full(seen.shape, np.nan), np.full(seen.shape, np.nan)
    for coordinate in range(values.shape[-1]):
        column = values[..., coordinate]
        found = ~_flagged(column, flags)
        here = found & (seen == number)
        place, value = np.where(here, coordinate, place), np.where(here, column, value)
        seen = seen + found
    return (float(place), float(value)) if np.ndim(place) == 0 else (place, value)


def _flagged(z: Any, flags: Any) -> Any:
    values = np.asarray(z, dtype=np.float64)
    found = np.isnan(values)
    for flag in flags:
        found = found | (values == flag)
    return found


def moment(z: Any) -> float:
    """A date as a number, in units of its own."""
    return float(np.datetime64(z).astype(np.int64))


def missing(number: Callable[[], Any]) -> bool:
    """Whether a release has no such number: it is NaN, something else, or there is nothing to look at.

    >>> missing(lambda: float("nan")), missing(lambda: None), missing(lambda: (1, 2)[5]), missing(lambda: 3)
    (True, True, True, False)
    """
    try:
        return math.isnan(number())
    except (TypeError, ValueError, IndexError, AttributeError, KeyError):
        return True


def is_float(z: Any) -> bool:
    """Whether something is an int or a float that no float is too small for.

    >>> is_float(2), is_float(10**400), is_float("2")
    (True, False, False)
    """
    return isinstance(z, float) or (isinstance(z, int) and abs(z) <= sys.float_info.max)


def pattern(z: Any) -> tuple[float | None, ...]:
    """Numbers as something that can be compared: None for NaN, which is not even equal to itself.

    >>> pattern((1, float("nan")))
    (1.0, None)
    """
    return tuple(None if math.isnan(number) else number for number in map(float, z))


def numbers(z: Any) -> Any:
    """All numbers of a release in a row: of a complex number, a table, a nested list or a dictionary by its keys.

    Text and whatever else is no number is NaN. None where nothing in it is a number.

    >>> numbers(1 + 2j).tolist(), numbers([[1, 2], [3, 4]]).tolist(), numbers({"b": 1, "a": "x"}).tolist()
    ([1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [nan, 1.0])
    """
    found: list[float] = []
    _flatten(z, found, 0)
    return np.array(found) if any(map(math.isfinite, found)) else None


def _flatten(z: Any, found: list[float], depth: int) -> None:
    if len(found) >= _MOST_NUMBERS or depth > _DEEPEST:
        return
    if hasattr(type(z), "to_numpy"):  # a column or a table of pandas or Polars
        z = z.to_numpy()
    if isinstance(z, (np.datetime64, np.timedelta64)):
        found.append(math.nan if np.isnat(z) else float(z.astype(np.int64)))
        return
    if isinstance(z, (np.ndarray, np.generic)):
        z = z.tolist()
    if isinstance(z, dict):
        z = [z[key] for key in sorted(z, key=repr)]
    if isinstance(z, (tuple, list)):
        for part in z:
            _flatten(part, found, depth + 1)
    elif isinstance(z, complex):
        found += [z.real, z.imag]
    elif isinstance(z, (dt.date, dt.time, dt.timedelta)):
        found.append(_microseconds(z))
    elif not isinstance(z, (Real, Decimal, str)) and (parts := fields(z)) is not None:
        for part in parts.values():
            _flatten(part, found, depth + 1)
    else:
        try:
            found.append(float(z) if isinstance(z, (Real, Decimal)) else math.nan)
        except (OverflowError, ValueError):  # an int beyond all floats, a signalling NaN
            found.append(math.nan)


def _microseconds(z: Any) -> float:
    """Of a duration, since midnight, or since 1970; NaN where there is no such number, as for NaT."""
    try:
        if isinstance(z, dt.time):
            z = dt.datetime.combine(dt.date.min, z.replace(tzinfo=None)) - dt.datetime.min
        elif isinstance(z, dt.datetime):
            z = z - dt.datetime(1970, 1, 1, tzinfo=None if z.tzinfo is None else dt.UTC)
        elif isinstance(z, dt.date):
            z = z - dt.date(1970, 1, 1)
        return float(z / dt.timedelta(microseconds=1))
    except (TypeError, ValueError, OverflowError):
        return math.nan


def fields(z: Any) -> dict[str, Any] | None:
    """What an object of somebody's own class holds, by its attributes; None for other things.

    >>> from types import SimpleNamespace
    >>> fields(SimpleNamespace(value=1.5)), fields(1.5), fields(int)
    ({'value': 1.5}, None, None)
    """
    if callable(z) or isinstance(z, Failure):
        return None
    try:
        held = dict(getattr(z, "__dict__", None) or {})
        slots = [name for kind in type(z).__mro__ for name in _listed(vars(kind).get("__slots__", ()))]
        held |= {name: getattr(z, name) for name in slots if name not in _NO_FIELDS and hasattr(z, name)}
    except Exception:  # somebody's own class, which may do anything
        return None
    return held or None


def _listed(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def outcome(z: Any) -> str:
    """What kind of thing a release is: a failure's words, "NaN", or the name of its type with its dtype and shape.

    >>> outcome(1.5), outcome(float("nan")), outcome(None), outcome(np.float32(1))
    ('float', 'NaN', 'NoneType', 'float32')
    """
    if isinstance(z, Failure):
        return z.words
    if isinstance(z, (float, np.floating)) and math.isnan(z):
        return "NaN"
    if isinstance(z, (np.datetime64, np.timedelta64)) and np.isnat(z):
        return "NaT"
    if isinstance(z, np.ndarray):
        return f"array of {z.dtype} {z.shape}"
    if isinstance(z, (tuple, list)):
        return f"{type(z).__name__} of {len(z)}"
    return type(z).__name__
