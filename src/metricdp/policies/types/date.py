"""Columns of days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.metrics import Metric, dates
from metricdp.metrics.dates import day_number
from metricdp.policies.entry import ColumnEntry, Mistake
from metricdp.policies.open_questions import BOUNDS, MISSING, within
from metricdp.policies.types._line import OnALine

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.policies.cells.listed import Cells
    from metricdp.sources.dialect import Dialect

__all__ = ["Date"]

_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True, kw_only=True)
class Date(OnALine):
    """A day, by the Laplace mechanism, rounded to whole days. Of a moment without a time zone, the day counts alone."""

    type_name = "date"
    keys = tuple(key for key in OnALine.keys if key != "delta")
    wants = "dates, or timestamps without a time zone"
    questions = (within("days"), BOUNDS, MISSING)
    unit = "days"
    is_moment = True
    cuts = ("by", "edges", "zone", "other")

    @classmethod
    def _distance(cls) -> Metric:
        return dates()

    @classmethod
    def _bound(cls, written: Any) -> Fraction:
        if not isinstance(written, dt.date) or isinstance(written, dt.datetime):
            raise Mistake("bounds", "a day is written 2024-01-31, without quotes")
        return day_number(written)

    @classmethod
    def _delta(cls, entry: ColumnEntry) -> Fraction:
        return Fraction(0)

    @classmethod
    def _own(cls, entry: ColumnEntry) -> dict[str, Any]:
        resolution = entry.quantity("resolution", cls.unit) or Fraction(1)
        if resolution.denominator != 1:
            raise Mistake("resolution", 'days are released as whole days; for finer ones declare type = "time"')
        return {"resolution": resolution}

    def accepts(self, arrow: pa.DataType) -> bool:
        """Dates, and timestamps whose day nobody's time zone decides."""
        import pyarrow as pa

        return bool(pa.types.is_date(arrow) or (pa.types.is_timestamp(arrow) and arrow.tz is None))

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Dates."""
        import pyarrow as pa

        return pa.date32()

    def read_text(self, text: pa.Array, column: str, dialect: Dialect) -> pa.Array:
        """Dates as the dialect writes them."""
        from metricdp.sources.texts import days

        return days(text, dialect, column)

    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        from metricdp.policies.arrow.exact_numbers import given_as, numbers_in

        moments = numbers_in(arrays[0], dates=True)
        days = replace(moments, numbers=np.floor_divide(moments.numbers, int(1 / moments.unit)), unit=Fraction(1))
        cells, absent = self._cells_of(days)
        return [given_as(cells, self.released_resolution, absent, types[0])]

    @property
    def secret_step(self) -> Fraction:
        """A day."""
        return Fraction(1)

    @property
    def _moments(self) -> bool:
        return True

    def _make_cells(self) -> Cells:
        from metricdp.policies.cells.ordered import DateCells

        bounds = tuple(_EPOCH + dt.timedelta(days=int(bound)) for bound in self._declared_bounds())
        return DateCells(self.columns[0], bounds, **self.count_by.cuts, **self._cell_options())  # type: ignore[arg-type]

    def _say_bound(self, bound: Fraction) -> str:
        return (_EPOCH + dt.timedelta(days=int(bound))).isoformat()
