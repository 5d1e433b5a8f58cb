"""Rows drawn from a fitted distribution, as values of the columns that the cells were made of."""

from __future__ import annotations

import datetime as dt
import math
import zoneinfo
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.exact.arrays import Floats
from metricdp.exact.bits import source
from metricdp.exact.choice import uniform_below
from metricdp.exact.refine import Integers
from metricdp.policies.cells.listed import BooleanCells, CategoryCells, Cells
from metricdp.policies.cells.ordered import DateCells, Interval, NumberCells, OrderedCells
from metricdp.queries.synthetic_data.fitting import Fitted

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["draw_cells", "values_of_cells"]

_FINE = 1 << 20
_MOST_AT_ONCE = 1 << 30


def draw_cells(fitted: Fitted, records: int) -> list[Integers]:
    """The cells of so many records, one array for each attribute.

    Attribute by attribute, along the tree: all records that agree in the attributes before that matter are dealt out
    together, in a random order, so that each value comes as often as its share says, up to one record. Draws are exact
    bits; the shares are floats, made from what was released already.
    """
    shape = fitted.tree.shape
    drawn: dict[int, Integers] = {}
    for node, table in zip(fitted.tree.nodes, fitted.shares, strict=True):
        given = list(node.shared)
        for attribute in (one for one in node.attributes if one not in node.shared):
            away = tuple(axis for axis, one in enumerate(node.attributes) if one not in given and one != attribute)
            kept = [one for one in node.attributes if one in given or one == attribute]
            shares = np.moveaxis(table.sum(axis=away), kept.index(attribute), -1).reshape(-1, shape[attribute])
            before = np.zeros(records, dtype=np.int64)
            for one in sorted(given):
                before = before * shape[one] + drawn[one]
            drawn[attribute] = _dealt(shares, before)
            given.append(attribute)
    return [drawn.get(attribute, np.zeros(records, dtype=np.int64)) for attribute in range(len(shape))]


def _dealt(shares: Floats, before: Integers) -> Integers:
    """A value for each record, by the shares of those that came before it."""
    records = len(before)
    words = source().words(records)
    order = np.lexsort((words, before))
    sizes = np.bincount(before, minlength=len(shares))
    ranks = np.arange(records) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    offsets = source().words(len(shares)) / 2.0**64
    groups = before[order]
    summed = np.cumsum(shares, axis=1)
    total = summed[:, -1:]
    parts = np.where(
        total > 0, summed / np.where(total > 0, total, 1.0), np.arange(1, shares.shape[1] + 1) / shares.shape[1]
    )
    parts[:, -1] = 1.0
    # The k-th of m records takes the value where the sum of shares passes (k + u) / m.
    where = (ranks + offsets[groups]) / np.maximum(sizes[groups], 1)
    steps = (np.arange(len(shares))[:, np.newaxis] + parts).ravel()
    places = np.searchsorted(steps, groups + where, side="right") - groups * shares.shape[1]
    values = np.empty(records, dtype=np.int64)
    values[order] = np.clip(places, 0, shares.shape[1] - 1)
    return values


def values_of_cells(
    column: Cells, cells: Integers, wanted: pa.DataType | None = None, step: Fraction | None = None
) -> pa.Array:
    """A value for each cell: its own, or where a cell holds several, one of them drawn evenly; of a day, its beginning.

    Missing values come as null, and so do values outside where they have no name of the column's type.

    Args:
        column: what the cells were made of.
        cells: their places.
        wanted: the type that the column had; the one that the policy declares where it cannot hold the values.
        step: of numbers, such as 0.01 for money; None where the policy says nothing of it.
    """
    import pyarrow as pa

    plain = pa.date32() if isinstance(column, DateCells) else pa.type_for_alias(column.csv_type)
    found = _values(column, cells, step)
    if isinstance(column, DateCells) and wanted is not None and pa.types.is_timestamp(wanted) and wanted.tz is not None:
        zone = zoneinfo.ZoneInfo(column.zone or "UTC")  # a day begins where its own zone says
        return pa.array([None if day is None else dt.datetime.combine(day, dt.time(), zone) for day in found], wanted)
    values = pa.array(found, type=plain)
    if wanted is None or wanted == plain:
        return values
    try:
        if pa.types.is_dictionary(wanted):
            return values.cast(wanted.value_type).dictionary_encode().cast(wanted)
        return values.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return values


def _values(column: Cells, cells: Integers, step: Fraction | None) -> list[Any]:
    if isinstance(column, OrderedCells):
        return _in_intervals(column, cells, step)
    if isinstance(column, CategoryCells):
        text = isinstance(column.values[0], str)
        names: list[Any] = list(column.values)
        names += [
            column.other if text and code == column.other_code else None for code in range(len(names), len(column))
        ]
    else:
        assert isinstance(column, BooleanCells)
        names = [False, True, *[None] * (len(column) - 2)]
    if column.missing_code is not None and column.missing_code >= len(column.declared):
        names[column.missing_code] = None
    return [names[cell] for cell in cells.tolist()]


def _in_intervals(column: OrderedCells, cells: Integers, step: Fraction | None) -> list[Any]:
    """A value of each cell: whole numbers and days one by one, other numbers by their step or a millionth of it."""
    found = np.empty(len(cells), dtype=object)
    for code, interval in enumerate(column.intervals):
        there = np.flatnonzero(cells == code)
        if not len(there):
            continue
        low, high = interval.first, interval.last
        if isinstance(column, NumberCells) and step is not None and (steps := _steps(interval, step)):
            found[there] = [float(number * step) for number in _whole(steps[0], steps[-1], len(there))]
        elif isinstance(column, NumberCells):
            drawn = uniform_below(_FINE, len(there)).tolist()
            width = Fraction(high) - Fraction(low)
            found[there] = [float(Fraction(low) + width * number / _FINE) for number in drawn]
        elif isinstance(column, DateCells):
            days = uniform_below((high - low).days + 1, len(there)).tolist()
            found[there] = [_later(low, number) for number in days]
        else:
            found[there] = _whole(int(low), int(high), len(there))
    return found.tolist()


def _steps(interval: Interval, step: Fraction) -> range:
    """The multiples of a step that lie in a cell, by their numbers."""
    last = math.floor(Fraction(interval.last) / step)
    beyond = last * step == interval.last and not interval.closed
    return range(math.ceil(Fraction(interval.first) / step), last + (0 if beyond else 1))


def _whole(low: int, high: int, count: int) -> Sequence[int]:
    if low == high:
        return [low] * count
    if high - low < _MOST_AT_ONCE:
        return [low + number for number in uniform_below(high - low + 1, count).tolist()]
    steps = (high - low) // _MOST_AT_ONCE + 1  # so wide a cell is drawn from in steps
    return [min(low + steps * number, high) for number in uniform_below((high - low) // steps + 1, count).tolist()]


def _later(day: Any, days: int) -> Any:
    return day + dt.timedelta(days=days)
