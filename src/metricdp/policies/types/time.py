"""Columns of moments."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from metricdp.errors import PolicyError
from metricdp.metrics import Metric, dates
from metricdp.metrics.dates import day_number
from metricdp.metrics.finite import Discrete, Unprotected
from metricdp.policies.entry import ColumnEntry, Mistake
from metricdp.policies.open_questions import BOUNDS, MISSING, within
from metricdp.policies.types._line import OnALine

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.policies.cells.listed import Cells
    from metricdp.sources.dialect import Dialect

__all__ = ["Time"]

_EPOCH = dt.date(1970, 1, 1)
_PER_DAY = {"D": 1, "s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}


@dataclass(frozen=True, kw_only=True)
class Time(OnALine):
    """A moment, by the Laplace mechanism on the line, counted in days."""

    type_name = "time"
    keys = tuple(key for key in OnALine.keys if key != "delta")
    questions = (within("days"), BOUNDS, MISSING)
    unit = "days"
    is_moment = True
    cuts = ("by", "edges", "zone", "other")

    @property
    def wants(self) -> str:  # type: ignore[override]
        """Dates or timestamps that can hold multiples of the resolution."""
        width = self.released_resolution
        if width.denominator == 1:
            return "a date or timestamp column"
        return f"timestamps that hold multiples of {float(width * 86400):g} s (or declare a coarser resolution)"

    @classmethod
    def _distance(cls) -> Metric:
        return dates()

    @classmethod
    def _bound(cls, written: Any) -> Fraction:
        if not isinstance(written, dt.date):
            raise Mistake("bounds", "a date or a moment is wanted, such as 2024-01-31, without quotes")
        return day_number(written)

    @classmethod
    def _delta(cls, entry: ColumnEntry) -> Fraction:
        return Fraction(0)

    def _step_of(self, arrow: pa.DataType) -> Fraction:
        return Fraction(1, _PER_DAY[_unit(arrow)])

    def accepts(self, arrow: pa.DataType) -> bool:
        """Dates and timestamps, with or without a time zone, whose steps the resolution is a multiple of."""
        import pyarrow as pa

        if not (pa.types.is_date(arrow) or pa.types.is_timestamp(arrow)):
            return False
        return (self.released_resolution * _PER_DAY[_unit(arrow)]).denominator == 1

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Dates where the release is rounded to whole days, otherwise timestamps to the microsecond."""
        import pyarrow as pa

        zoned = dialect.is_zoned(column)
        if self.release == "noise" and self.released_resolution.denominator == 1 and not zoned:
            return pa.date32()
        return pa.timestamp("us", "UTC" if zoned else None)

    def read_text(self, text: pa.Array, column: str, dialect: Dialect) -> pa.Array:
        """Dates or moments, as the dialect writes them."""
        import pyarrow as pa

        from metricdp.sources.texts import days, moments

        kind = self.declared_type(column, dialect)
        return days(text, dialect, column) if pa.types.is_date(kind) else moments(text, dialect, column)

    @property
    def _moments(self) -> bool:
        return True

    def _make_cells(self) -> Cells:
        from metricdp.policies.cells.ordered import DateCells

        if self.written is not None and not isinstance(self.written.metric.unit, Discrete | Unprotected):
            raise PolicyError(
                [
                    "moments are counted by day, and two moments of neighbouring days can be as near as you like: "
                    'declare type = "date" to ask about it'
                ]
            )
        low, high = (_EPOCH + dt.timedelta(days=math.floor(bound)) for bound in self._declared_bounds())
        return DateCells(self.columns[0], (low, high), moments=True, **self.count_by.cuts, **self._cell_options())

    def _say_bound(self, bound: Fraction) -> str:
        moment = dt.datetime(1970, 1, 1) + dt.timedelta(days=float(bound))
        return moment.date().isoformat() if bound.denominator == 1 else moment.isoformat(sep=" ")


def _unit(arrow: pa.DataType) -> str:
    """What a date or timestamp type counts in."""
    import pyarrow as pa

    unit: str = arrow.unit if pa.types.is_timestamp(arrow) else "D"
    return unit
