"""Numbers and moments in Arrow's arrays: every result has the type that the secrets had."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import KindError
from metricdp.exact.grid import RESULT_CELLS, Grid
from metricdp.exact.refine import Integers
from metricdp.mechanisms.forms.column import (
    CALENDAR,
    TICKS,
    ZONED,
    Calendar,
    Column,
    Floating,
    Missing,
    ResultType,
    objects,
    ticks,
)

__all__ = ["from_arrow", "is_arrow", "unscaled_cells"]


def is_arrow(secrets: Any) -> bool:
    """Whether it is an Arrow array, in one piece or in several."""
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(secrets, arrow.Array | arrow.ChunkedArray)


def from_arrow(secrets: Any, dates: bool, zoned: Calendar | None = None) -> Column:
    """A column of an Arrow array, by its type.

    ``zoned``: where moments with a zone may lie, in and out, for those who show fewer years of them than there are.
    """
    arrow = sys.modules["pyarrow"]
    array, in_pieces = secrets, isinstance(secrets, arrow.ChunkedArray)
    if in_pieces:
        array = arrow.concat_arrays(secrets.chunks) if secrets.num_chunks else arrow.array([], secrets.type)
    numbers, unit, given = (_moments if dates else _numbers)(arrow, array)
    missing = np.asarray(array.is_null())
    if isinstance(given, _Dates):
        narrower = zoned if given.has_zone else None
        given = replace(given, narrower=narrower)
        (narrower or CALENDAR).check(numbers, unit, missing)
    pack = (lambda made: arrow.chunked_array([made])) if in_pieces else (lambda made: made)
    return Column(numbers, given, unit, missing, pack)


def _numbers(arrow: Any, array: Any) -> tuple[NDArray[Any], Fraction, ResultType]:
    types, kind = arrow.types, array.type
    if types.is_integer(kind):
        return _plain(array), Fraction(1), _Typed(kind)
    if types.is_floating(kind):
        return np.array(array.to_numpy(zero_copy_only=False)), Fraction(1), _Typed(kind)
    if types.is_decimal(kind):
        return _unscaled(array), Fraction(1, 10) ** kind.scale, _Decimals(kind)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        raise KindError("numbers are wanted as they are, not encoded: decode the column first")
    raise KindError(f"numbers are wanted, not an Arrow array of {kind}")


def _moments(arrow: Any, array: Any) -> tuple[NDArray[Any], Fraction, ResultType]:
    types, kind = arrow.types, array.type
    if types.is_date32(kind):
        return _plain(array.view(arrow.int32())).astype(np.int64), TICKS["D"], _Dates(kind, TICKS["D"])
    if types.is_date64(kind):
        return _plain(array.view(arrow.int64())), TICKS["ms"], _Dates(kind, TICKS["D"])
    if types.is_timestamp(kind):
        return _plain(array.view(arrow.int64())), TICKS[kind.unit], _Dates(kind, TICKS[kind.unit])
    raise KindError(f"dates or timestamps are wanted, not an Arrow array of {kind}")


@dataclass(frozen=True)
class _Typed:
    """Integers and floats of a type, which saturate at its ends; where the resolution is not whole, floats."""

    kind: Any

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> Any:
        """See `ResultType.give`."""
        arrow = sys.modules["pyarrow"]
        dtype = np.dtype(self.kind.to_pandas_dtype())
        if dtype.kind == "f" or width.denominator != 1:
            floats = Floating(dtype if dtype.kind == "f" else np.dtype(np.float64)).give(cells, width, None)
            return arrow.array(floats, mask=missing)
        ends = np.iinfo(dtype)
        values = Grid.of(width).within(cells, int(ends.min), min(int(ends.max), 2**63 - 1))
        return arrow.array(values.astype(dtype), mask=missing)


@dataclass(frozen=True)
class _Dates:
    """Dates and timestamps, which end with the years 1 and 9999 or with their own type."""

    kind: Any
    step: Fraction
    narrower: Calendar | None = None

    @property
    def has_zone(self) -> bool:
        """Whether they have one."""
        return getattr(self.kind, "tz", None) is not None

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> Any:
        """See `ResultType.give`."""
        arrow = sys.modules["pyarrow"]
        grid = Grid.of(ticks(width, self.step, f"of {self.kind}"))
        calendar = self.narrower or (ZONED if self.has_zone else CALENDAR)
        values = grid.within(cells, *calendar.ends(self.step))
        if self.kind == arrow.date32():
            return arrow.array(values.astype(np.int32), mask=missing).view(self.kind)
        if self.kind == arrow.date64():
            values = values * 86_400_000
        return arrow.array(values, mask=missing).view(self.kind)


@dataclass(frozen=True)
class _Decimals:
    """Decimals of a precision and a scale; a point between two of their steps goes to the nearest, half to even."""

    kind: Any

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> Any:
        """See `ResultType.give`."""
        arrow = sys.modules["pyarrow"]
        size = self.kind.bit_width // 8
        unscaled = unscaled_cells(cells, width, self.kind.precision, self.kind.scale)
        if unscaled.dtype == object:
            data = b"".join(value.to_bytes(size, "little", signed=True) for value in unscaled.tolist())
        elif size <= 8:
            data = unscaled.astype(f"<i{size}").tobytes()
        else:
            words = np.empty((len(unscaled), size // 8), dtype="<i8")
            words[:, 0] = unscaled
            words[:, 1:] = (unscaled >> 63)[:, np.newaxis]
            data = words.tobytes()
        valid = None if missing is None else arrow.array(~missing).buffers()[1]
        return arrow.Array.from_buffers(self.kind, len(unscaled), [valid, arrow.py_buffer(data)])


def unscaled_cells(cells: Integers, width: Fraction, precision: int, scale: int) -> NDArray[Any]:
    """The points ``width * cells`` counted in steps of ``10^-scale``, saturating at ``precision`` digits.

    Integers of 64 bits where the type's fit, otherwise objects.
    """
    steps = width * Fraction(10) ** scale
    most = 10**precision - 1
    if steps.denominator == 1 and most < 2**63:
        return Grid.of(steps).within(cells, -most, most)
    top, bottom = steps.numerator, steps.denominator
    within = np.clip(cells, -RESULT_CELLS, RESULT_CELLS)
    if bottom > 1 and most < 2**60 and top * bottom < 2**62:
        reach = most // top * bottom + bottom  # no cell further out is within the type
        within = np.clip(within, -min(reach, 2**62), min(reach, 2**62))
        whole, rest = within // bottom, within % bottom
        if (abs(reach) // bottom + 1) * top < 2**62:
            parts = rest * top
            down = whole * top + parts // bottom
            left = 2 * (parts % bottom)
            up = (left > bottom) | ((left == bottom) & (down % 2 == 1))
            return np.asarray(np.clip(down + up, -most, most))
    listed = [max(-most, min(most, round(Fraction(cell * top, bottom)))) for cell in within.tolist()]
    return np.array(listed, dtype=np.int64) if most < 2**63 else objects(listed)


def _plain(array: Any) -> NDArray[Any]:
    """Integers with 0 for null."""
    return np.asarray(array.fill_null(0) if array.null_count else array)


def _unscaled(array: Any) -> NDArray[Any]:
    """The integers that decimals are, with 0 for null: of 64 bits where all of them fit, otherwise objects."""
    size = array.type.bit_width // 8
    start, stop = array.offset * size, (array.offset + len(array)) * size
    data = memoryview(array.buffers()[1])[start:stop] if len(array) else b""
    if size < 8:
        numbers = np.frombuffer(data, dtype=f"<i{size}").astype(np.int64)
    else:
        words = np.frombuffer(data, dtype="<i8").reshape(len(array), size // 8)
        if array.null_count:
            words = np.where(np.asarray(array.is_null())[:, np.newaxis], 0, words)
        numbers = np.ascontiguousarray(words[:, 0])
        if (words[:, 1:] != (numbers >> 63)[:, np.newaxis]).any():
            raw = words.tobytes()
            return objects(
                [int.from_bytes(raw[at : at + size], "little", signed=True) for at in range(0, len(raw), size)]
            )
    if array.null_count:
        numbers = np.where(np.asarray(array.is_null()), 0, numbers)
    return numbers
