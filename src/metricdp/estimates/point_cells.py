"""Columns of a released table as the reader of SQL wants them: points that every comparison decides."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError
from metricdp.estimates.released_table import ReleasedTable
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import BooleanCells, CategoryCells, Cells
from metricdp.policies.cells.ordered import DateCells, Interval, OrderedCells
from metricdp.policies.column_type import ColumnType
from metricdp.policies.types._finite import OneOf
from metricdp.policies.types._line import OnALine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["DayPoints", "LinePoints", "ReleasedCells", "listed_cells"]

_MISSING = "(missing value)"
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True)
class LinePoints(OrderedCells):
    """Points of a line, each decided by itself; without any, a column that nothing is known of yet.

    >>> from metricdp.policies.sql.predicates import col, true_cells
    >>> true_cells([LinePoints("delay", [14.5, 15.0, 15.5])], col("delay") > 15).tolist()
    [False, False, True]
    """

    def __init__(self, name: str, points: Sequence[Any] = (), missing: bool = False, **_: Any) -> None:
        self._set(name=name, missing=_MISSING if missing else None, other=None, bounds=(0, 0), edges=None)
        self._set(outside="refuse", points_=tuple(points))

    @property
    def csv_type(self) -> str:
        """Numbers."""
        return "double"

    @property
    def starts(self) -> tuple[Any, ...]:
        """The points."""
        return self.points_  # type: ignore[attr-defined,no-any-return]

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """Each point by itself."""
        return tuple(Interval(point, point) for point in self.starts)

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """Their numbers."""
        return tuple(map(str, range(len(self.starts))))

    def value(self, written: Any) -> Any:
        """As it is."""
        return written


@dataclass(frozen=True)
class DayPoints(DateCells):
    """The same for days; moments belong to their day."""

    def __init__(
        self, name: str, bounds: Any = None, points: Sequence[Any] = (), missing: Any = False, **_: Any
    ) -> None:
        del bounds  # of the reader, which makes a column anew with fewer cells
        days = tuple(_EPOCH + dt.timedelta(days=_floor(point)) for point in points)
        self._set(name=name, missing=_MISSING if missing else None, other=None, bounds=(_EPOCH, _EPOCH), edges=None)
        self._set(outside="refuse", by="day", zone=None, days_=days)

    @property
    def starts(self) -> tuple[dt.date, ...]:
        """The days."""
        return self.days_  # type: ignore[attr-defined,no-any-return]

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """Each day by itself."""
        return tuple(Interval(day, day) for day in self.starts)

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """Their numbers."""
        return tuple(map(str, range(len(self.starts))))


def _floor(point: Any) -> int:
    return min(max(int(point // 1), -700_000), 2_900_000)


def listed_cells(name: str, values: Sequence[Any], missing: bool) -> Cells:
    """Cells for values of a list."""
    label = _MISSING if missing else None
    if values and isinstance(values[0], bool):
        return BooleanCells(name, missing=label)
    return CategoryCells(name, values, missing=label)


@dataclass(frozen=True)
class ReleasedCells(Askable):
    """A released table, for the reader of questions in SQL.

    Attributes:
        table: the released table.
        kept_values: the values of a column that is released as it is, in order; of no other.
    """

    table: ReleasedTable
    kept_values: Callable[[ColumnType], Sequence[Any]]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are there."""
        return tuple(column.columns[0] for column in self.table.policy.columns if column.release != "drop")

    @property
    def by_rows(self) -> bool:
        """They are: truth values are 0 and 1."""
        return True

    def column_type(self, name: str) -> ColumnType:
        """See `ReleasedTable.column`."""
        return self.table.column(name)

    def column(self, name: str) -> Cells:
        """The cells of a column, before anything is known of its values."""
        column = self.column_type(name)
        called, missing = column.columns[0], column.missing != "refuse"
        if isinstance(column, OneOf):
            return listed_cells(called, column.listed, missing)
        if isinstance(column, OnALine):
            return DayPoints(called) if column.is_moment else LinePoints(called)
        if column.release == "keep" and not column.rekeyed:
            values = [value for value in self.kept_values(column) if value is not None]
            if values and isinstance(values[0], str | bool):
                return listed_cells(called, values, True)
            return DayPoints(called) if values and isinstance(values[0], dt.date) else LinePoints(called)
        other = {
            "set": "; ask with metricdp.estimates.TopElements",
            "place": "; ask with metricdp.estimates.HeatMap or Flows",
            "series": "; ask with metricdp.estimates.MeanCurve",
        }
        raise ArgumentError(
            f"column {called!r} is of type {column.type_name!r}, of which SQL knows no values"
            f"{other.get(column.type_name, '')}"
        )
