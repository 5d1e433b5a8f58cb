"""Metrics on cells: what a metric on values comes to when values are counted by cell."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from metricdp.errors import ArgumentError, PolicyError, UnsupportedMetricError
from metricdp.exact.level import LevelLike
from metricdp.metrics import Metric, attributes, matrix
from metricdp.metrics.coordinates import label
from metricdp.metrics.finite import Discrete, Listed, Unprotected
from metricdp.metrics.records import Attributes, Hamming, Records
from metricdp.policies.cells.listed import CategoryCells, Cells
from metricdp.policies.cells.ordered import Interval, NumberCells, OrderedCells

__all__ = ["check_cells", "metric_on_cells"]

_FEW = 400
"""Values of a column that are compared one by one."""


def metric_on_cells(
    columns: Sequence[Cells], metric: Metric | Mapping[str, Metric | LevelLike], between: str
) -> Metric:
    """The metric on the cells' points.

    With ``between="values"`` it is the greatest metric D on cells such that D(cell of x, cell of y) <= d(x, y) for all
    records x and y: the shortest paths over the least distances between values of two cells. What is D-private on cells
    is then d-private on records.
    """
    given = _named(columns, metric)
    if between == "points" or all(_one_by_one(column, given.unit) for column in columns):
        return given
    if len(columns) == 1:
        return _lifted(columns[0], given)
    unit = given.unit
    if isinstance(unit, Hamming):  # cells differ where values do
        return given
    if isinstance(unit, Attributes):
        parts = dict(zip(unit.names, unit.parts, strict=True))
    elif isinstance(unit, Records) and unit.p == 1:
        parts = {column.name: unit.base for column in columns}
    else:
        raise UnsupportedMetricError(
            f"{given} is not a sum over columns, so the nearest values of two cells are not known: give a metric for "
            "each column, or between='points' for a promise about cells"
        )
    return attributes({column.name: _lifted(column, parts[column.name]) for column in columns}) * given.level


def _named(columns: Sequence[Cells], metric: Metric | Mapping[str, Metric | LevelLike]) -> Metric:
    """The metric with its attributes in the order of the columns; of one column, without the name."""
    names = [column.name for column in columns]
    if not isinstance(metric, Metric):
        if not isinstance(metric, Mapping):
            raise ArgumentError(f"a metric, or one for each column, is needed here, not {type(metric).__name__}")
        metric = attributes(metric)
    unit = metric.unit
    if not isinstance(unit, Attributes):
        return metric
    parts = dict(zip(unit.names, unit.parts, strict=True))
    if set(parts) != set(names) or len(unit.names) != len(names):
        raise ArgumentError(
            f"the metric's attributes are {', '.join(parts)}; the universe's columns {', '.join(names)}"
        )
    ordered = parts[names[0]] if len(names) == 1 else attributes({name: parts[name] for name in names})
    return ordered * metric.level


def _one_by_one(column: Cells, unit: Metric) -> bool:
    """Whether each value is a cell of its own, and clamped ones come no farther apart than they were."""
    base = unit.base if isinstance(unit, Records) else unit
    clamped = isinstance(column, OrderedCells) and column.outside == "clamp"
    return column.single and column.other is None and not column.mixes_missing and (not clamped or base.grows)


def check_cells(column: Cells, metric: Metric) -> None:
    """Refuse a metric that does not say how far apart the values are that the column counts in one cell.

    A cell stands for more than its own value where ``other`` or ``missing`` lead to it, or where values are clamped.

    Raises:
        UnsupportedMetricError: with what to declare instead.
    """
    if not isinstance(metric.unit, Discrete | Unprotected):
        _stands_for(column, metric.unit)


def _lifted(column: Cells, metric: Metric) -> Metric:
    """The metric of one column, between its cells."""
    unit = metric.unit
    if isinstance(unit, Discrete | Unprotected):
        return metric  # values that differ are equally far apart, whichever cells they are in
    cells = _stands_for(column, unit)
    if all(cell == [Interval(point, point)] for cell, point in zip(cells, column.points, strict=True)):
        return metric
    gap = _end_gap if unit.grows and not _of_names(unit) else _least_gap
    if isinstance(column, OrderedCells) and not _of_names(unit):
        if any(not cell.closed for cell in column.intervals) or isinstance(column, NumberCells):
            raise UnsupportedMetricError(
                f"column {column.name!r}: its cells touch, so that values as near as you like lie in different cells; "
                "give between='points' for a promise about cells, or use integers"
            )
        if gap is _least_gap and sum(_size(cell[0]) for cell in cells) > _FEW:
            raise UnsupportedMetricError(
                f"column {column.name!r}: the nearest values of two cells under {unit} are not known; "
                "give between='points' for a promise about cells"
            )
    rows = [[Fraction(0) if one is two else _nearest(gap, unit, one, two) for two in cells] for one in cells]
    if any(distance is None for row in rows for distance in row):
        raise UnsupportedMetricError(
            f"column {column.name!r}: {metric} has distances that are not rational; write a logarithm before the whole "
            "metric, or give between='points' for a promise about cells"
        )
    return matrix(column.points, rows, check=False).closure(column.points) * metric.level


# What a cell stands for


def _stands_for(column: Cells, unit: Metric) -> list[list[Interval]]:
    """The values of each cell, as intervals: all that are counted there and that the metric measures."""
    if isinstance(column, OrderedCells) and not _of_names(unit):
        return _intervals(column, unit)
    cells = [[Interval(point, point)] for point in column.declared]
    cells += [[] for _ in range(len(column) - len(cells))]
    if column.other_code is not None:
        cells[column.other_code] += _others(column, unit)
    if _of_names(unit) and (isinstance(column, OrderedCells) or column.other_code is not None):
        for value in _strangers(column, unit):
            place = _place(column, value)
            if place is not None and isinstance(column, OrderedCells) and column.outside == "clamp":
                _refuse_beyond(column, value, unit)
            if place is not None:
                cells[place].append(Interval(value, value))
    if column.missing_code is not None:
        cells[column.missing_code].append(Interval(None, None))
    return cells


def _refuse_beyond(column: OrderedCells, value: Any, unit: Metric) -> None:
    """Refuse to clamp a value for which a list has other distances than for the bound."""
    low, high = column.bounds
    if not low <= column.value(value) <= high:
        raise UnsupportedMetricError(
            f"column {column.name!r}: values outside the bounds are clamped, and {unit} has distances of their own for "
            "some: leave outside = 'clamp' out, or those values"
        )


def _intervals(column: OrderedCells, unit: Metric) -> list[list[Interval]]:
    """The values of each cell. Of those outside the bounds, the nearest on either side are all that matters.

    Clamped values are not farther apart than they were, where the metric grows with their distance.
    """
    if not unit.grows and (column.other is not None or column.outside == "clamp"):
        raise UnsupportedMetricError(
            f"column {column.name!r}: how far values outside the bounds are from others is not known under {unit}: "
            "leave other = .. and outside = 'clamp' out, or use absolute or an ε"
        )
    low, high = column.bounds
    step = dt.timedelta(days=1) if isinstance(low, dt.date) else 1
    cells = [[cell] for cell in column.intervals]
    for code in range(len(cells), len(column)):
        pieces = [Interval(None, None)] if code == column.missing_code else []
        if code == column.other_code:
            pieces += [Interval(low - step, low - step), Interval(high + step, high + step)]
        cells.append(pieces)
    return cells


def _others(column: Cells, unit: Metric) -> list[Interval]:
    """What the cell for values outside stands for: its name, where the metric lists names; else numbers not listed."""
    if _of_names(unit):
        if column.other in column.declared_labels:
            return []  # what a list does not know is taken for the value that other names
        lists = [part for part in unit.leaves if isinstance(part, Listed)]
        if any(label(column.other) not in map(label, part.listed) for part in lists):
            raise UnsupportedMetricError(
                f"column {column.name!r}: {unit} does not say how far the cell {column.other!r} is from others: list "
                "it there, or leave other = .. out"
            )
        return [Interval(column.other, column.other)]
    listed = isinstance(column, CategoryCells) and column.at is None and isinstance(column.values[0], int)
    if not listed or not unit.grows:
        raise UnsupportedMetricError(
            f"column {column.name!r}: the cell {column.other!r} stands for values that are not listed, and {unit} does "
            "not say how far those are from others: leave other = .. out, list them, or use an ε"
        )
    assert isinstance(column, CategoryCells)
    values = sorted(column.values)
    between = [Interval(one + 1, two - 1) for one, two in pairwise(values) if two - one > 1]
    below, above = values[0] - 1, values[-1] + 1
    return [Interval(below, below), *between, Interval(above, above)]


def _strangers(column: Cells, unit: Metric) -> Iterator[Any]:
    """The values that a metric lists beside the points of a column's cells."""
    known = {label(point) for point in column.points}
    for part in unit.leaves:
        if isinstance(part, Listed):
            yield from (value for value in part.listed if label(value) not in known)


def _place(column: Cells, value: Any) -> int | None:
    """The place of the cell where a value is counted; None where it is refused, or none of the column's type."""
    if value is None:
        return column.missing_code
    if not isinstance(column, OrderedCells):
        same_type = isinstance(column, CategoryCells) and type(value) is type(column.values[0])
        return column.other_code if same_type else None
    try:
        exact = column.value(value)
    except PolicyError:
        return None
    low, high = column.bounds
    if low <= exact <= high:
        return bisect_right(column.starts, exact) - 1
    if column.outside == "clamp":
        return 0 if exact < low else len(column.starts) - 1
    return column.other_code


def _of_names(unit: Metric) -> bool:
    """Whether a metric knows the names of a list, or whether two of them are equal, and nothing more."""
    return all(isinstance(leaf, Listed | Discrete | Unprotected) for leaf in unit.leaves)


# The nearest values of two cells


def _nearest(gap: Callable[..., Any], unit: Metric, one: list[Interval], two: list[Interval]) -> Any:
    gaps = [gap(unit, here, there) for here in one for there in two]
    return None if None in gaps else min(gaps)


def _end_gap(unit: Metric, one: Interval, two: Interval) -> Any:
    """The distance between the nearest ends."""
    if one.first is None or two.first is None:
        return unit.exactly(one.first, two.first)
    return unit.exactly(one.last, two.first) if one.last < two.first else unit.exactly(one.first, two.last)


def _least_gap(unit: Metric, one: Interval, two: Interval) -> Any:
    gaps: list[Any] = [unit.exactly(x, y) for x in _values(one) for y in _values(two)]
    return None if None in gaps else min(gaps)


def _size(cell: Interval) -> int:
    if isinstance(cell.first, dt.date):
        return int((cell.last - cell.first).days) + 1
    return 1 if cell.first is None else int(cell.last - cell.first) + 1


def _values(cell: Interval) -> list[Any]:
    if cell.first == cell.last:
        return [cell.first]
    if isinstance(cell.first, dt.date):
        return [cell.first + dt.timedelta(days=n) for n in range(_size(cell))]
    return list(range(cell.first, cell.last + 1))
