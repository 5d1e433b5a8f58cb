"""Columns of times of day."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from metricdp.policies.entry import Mistake
from metricdp.policies.types._clock import OnAClock

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.sources.dialect import Dialect

__all__ = ["TimeOfDay"]

_DAY = Fraction(86400)


@dataclass(frozen=True, kw_only=True)
class TimeOfDay(OnAClock):
    """A time of day, in seconds since midnight. Its bounds are those of the day unless others are declared.

    The distance is that on the line from midnight to midnight: 23:50 and 00:10 are 23 hours and 40 minutes apart.
    """

    type_name = "time_of_day"
    wanted = "a column of times of day"

    @classmethod
    def _natural_bounds(cls) -> tuple[Fraction, Fraction]:
        return Fraction(0), _DAY

    @classmethod
    def _bound(cls, written: Any) -> Fraction:
        if not isinstance(written, dt.time) or written.tzinfo is not None:
            raise Mistake("bounds", "a time of day is written 08:30:00, without quotes")
        whole = written.hour * 3600 + written.minute * 60 + written.second
        return whole + Fraction(written.microsecond, 10**6)

    def accepts(self, arrow: pa.DataType) -> bool:
        """Times of day that hold multiples of the resolution."""
        import pyarrow as pa

        return bool(pa.types.is_time(arrow)) and self._fits(arrow)

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Times to the microsecond."""
        import pyarrow as pa

        return pa.time64("us")

    def read_text(self, text: pa.Array, column: str, dialect: Dialect) -> pa.Array:
        """Times such as 08:30 or 08:30:15.5."""
        from metricdp.sources.texts import times_of_day

        return times_of_day(text)

    def _ends(self, ticks: int) -> tuple[int, int]:
        """Midnight, and the last step before the next one."""
        return 0, 86400 * ticks - 1

    def _say_bound(self, bound: Fraction) -> str:
        if bound == _DAY:
            return "24:00"
        return (dt.datetime(1970, 1, 1) + dt.timedelta(seconds=float(bound))).time().isoformat()
