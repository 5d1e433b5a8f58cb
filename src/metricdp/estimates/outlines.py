"""How far the released numbers of a table reach, and what a column that is released as it is has for numbers."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.errors import ArgumentError, ColumnError, OutOfDomainError
from metricdp.estimates.edited_values import EDITED
from metricdp.estimates.outline import Outline
from metricdp.estimates.released_table import ReleasedTable
from metricdp.exact.arrays import Booleans, Floats
from metricdp.policies.column_type import ColumnType
from metricdp.policies.types._finite import OneOf
from metricdp.policies.types._line import OnALine

__all__ = ["as_plain_number", "kept_numbers", "outlines_of"]

_SAMPLE = 100_000
_LARGEST = 1e150
"""Numbers beyond it have no squares in floats."""


def as_plain_number(value: Any) -> float:
    """A value of a kept column as a number: days for dates, seconds for durations."""
    if value is None:
        return 0.0
    if isinstance(value, dt.datetime):
        return (value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)).total_seconds() / 86400
    if isinstance(value, dt.date):
        return float((value - dt.date(1970, 1, 1)).days)
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, dt.time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return float(value)


def kept_numbers(name: str, array: pa.Array) -> tuple[Floats, Booleans]:
    """The numbers of a column that is released as it is, and which are missing; 0 stands for those."""
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        numbers = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        absent = np.isnan(numbers)
        return np.where(absent, 0.0, numbers), absent
    if not _is_measured(array.type):
        raise ArgumentError(f"column {name!r} holds {array.type}, not numbers: it has no sum and no order")
    listed = array.to_pylist()
    absent = np.array([value is None for value in listed], dtype=bool)
    return np.array([as_plain_number(value) for value in listed], dtype=np.float64), absent


def _is_kept_number(column: ColumnType, arrow: pa.DataType) -> bool:
    return column.release == "keep" and not isinstance(column, OneOf) and _is_measured(arrow)


def _is_measured(arrow: pa.DataType) -> bool:
    """Whether values of a type can be taken for numbers."""
    of = pa.types
    return any(test(arrow) for test in (of.is_integer, of.is_floating, of.is_decimal, of.is_boolean, of.is_temporal))


def outlines_of(
    table: ReleasedTable, columns: dict[str, ColumnType]
) -> tuple[dict[str, Outline], int, dict[str, pa.DataType]]:
    """How far the released numbers reach, how many rows there are, and the types of the columns."""
    rows, stride = 0, 1
    samples: dict[str, list[Floats]] = {name: [] for name in columns}
    ends: dict[str, tuple[float, float]] = dict.fromkeys(columns, (math.inf, -math.inf))
    types: dict[str, pa.DataType] = {}
    for arrays in table.batches(list(columns.values())):
        for name, (column, given) in zip(columns, zip(columns.values(), arrays, strict=True), strict=True):
            types[name] = given[0].type
            if (isinstance(column, OnALine) and column.release == "noise") or _is_kept_number(column, types[name]):
                values, absent = (
                    column.measured(given[0]) if isinstance(column, OnALine) else kept_numbers(name, given[0])
                )
                endless = ~(np.abs(values) < (_LARGEST if column.release == "noise" else math.inf))
                if column.release == "noise" and endless.any():
                    raise ColumnError(name, OutOfDomainError(EDITED, rows + int(np.argmax(endless))))
                known = values[~absent & ~endless]
                if len(known):
                    low, high = ends[name]
                    ends[name] = min(low, float(known.min())), max(high, float(known.max()))
                    samples[name].append(known[::stride])
        rows += len(arrays[0][0]) if arrays else 0
        if rows > _SAMPLE * stride:
            stride *= 4
            samples = {name: [np.concatenate(parts)[::4]] if parts else [] for name, parts in samples.items()}
    outlines = {}
    for name in columns:
        made = Outline.of(np.concatenate(samples[name]) if samples[name] else np.zeros(0))
        low, high = ends[name]
        outlines[name] = Outline(low, high, made.sample) if low <= high else made
    return outlines, rows, types
