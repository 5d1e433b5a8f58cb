"""Metrics on cells: what a metric on values comes to when values are counted by cell."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from metricdp.errors import KindError, UnsupportedMetricError
from metricdp.exact.level import LevelLike
from metricdp.metrics import Metric, attributes, matrix
from metricdp.metrics.finite import Discrete, Listed, Unprotected
from metricdp.metrics.records import Attributes, Hamming, Records
from metricdp.queries.universes.columns import Column
from metricdp.queries.universes.intervals import Interval, Number, Ordered

__all__ = ["metric_on_cells"]

_ON_THE_LINE = {"absolute", "dates", "euclidean", "manhattan", "chebyshev"}
_OF_A_DISTANCE = {"nullable", "scaled", "blowfish", "smooth", "capped"}
"""What grows with the distance on the line, so that the nearest values of two intervals are their nearest ends."""

_FEW = 400
"""Values of a column that are compared one by one."""


def metric_on_cells(
    columns: Sequence[Column], metric: Metric | Mapping[str, Metric | LevelLike], between: str
) -> Metric:
    """The metric on the cells' points.

    With ``between="values"`` it is the greatest metric D on cells such that D(cell of x, cell of y) <= d(x, y) for all
    records x and y: the shortest paths over the least distances between values of two cells. What is D-private on cells
    is then d-private on records.
    """
    given = _named(columns, metric)
    if between == "points" or all(_as_it_is(column) for column in columns):
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


def _named(columns: Sequence[Column], metric: Metric | Mapping[str, Metric | LevelLike]) -> Metric:
    """The metric with its attributes in the order of the columns; of one column, without the name."""
    names = [column.name for column in columns]
    if not isinstance(metric, Metric):
        if not isinstance(metric, Mapping):
            raise KindError(f"a metric, or one for each column, is needed here, not {type(metric).__name__}")
        metric = attributes(metric)
    unit = metric.unit
    if not isinstance(unit, Attributes):
        return metric
    parts = dict(zip(unit.names, unit.parts, strict=True))
    if set(parts) != set(names) or len(unit.names) != len(names):
        raise KindError(f"the metric's attributes are {', '.join(parts)}; the universe's columns {', '.join(names)}")
    ordered = parts[names[0]] if len(names) == 1 else attributes({name: parts[name] for name in names})
    return ordered * metric.level


def _as_it_is(column: Column) -> bool:
    """Whether a cell is a value, so that nothing is to be done."""
    return column.single and not (isinstance(column, Ordered) and column.other is not None)


def _lifted(column: Column, metric: Metric) -> Metric:
    """The metric of one column, between its cells."""
    unit = metric.unit
    if _as_it_is(column) or isinstance(unit, Discrete | Unprotected | Listed):
        return metric  # a listed metric names the cells themselves
    assert isinstance(column, Ordered)
    if any(not cell.closed for cell in column.intervals) or isinstance(column, Number):
        raise UnsupportedMetricError(
            f"column {column.name!r}: its cells touch, so that values as near as you like lie in different cells; "
            "give between='points' for a promise about cells, or use integers"
        )
    cells = _pieces(column)
    gap = _end_gap if _grows(unit) else _least_gap
    if gap is _least_gap and (column.other is not None or sum(_size(cell[0]) for cell in cells) > _FEW):
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


def _pieces(column: Ordered) -> list[list[Interval]]:
    """The values of each cell. Of those outside the bounds, the nearest on either side are all that matters."""
    low, high = column.bounds
    step = dt.timedelta(days=1) if isinstance(low, dt.date) else 1
    cells = [[cell] for cell in column.intervals]
    for code in range(len(cells), len(column)):
        pieces = [Interval(None, None)] if code == column.missing_code else []
        if code == column.other_code:
            pieces += [Interval(low - step, low - step), Interval(high + step, high + step)]
        cells.append(pieces)
    return cells


def _nearest(gap: Callable[..., Any], unit: Metric, one: list[Interval], two: list[Interval]) -> Any:
    gaps = [gap(unit, here, there) for here in one for there in two]
    return None if None in gaps else min(gaps)


def _grows(unit: Metric) -> bool:
    kinds = unit.kind in _ON_THE_LINE or unit.kind in _OF_A_DISTANCE
    return kinds and all(_grows(part) for part in unit.parts)


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
    if isinstance(cell.first, dt.date):
        return [cell.first + dt.timedelta(days=n) for n in range(_size(cell))]
    return [None] if cell.first is None else list(range(cell.first, cell.last + 1))
