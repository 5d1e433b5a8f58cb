"""Columns of durations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from metricdp.policies.entry import Mistake
from metricdp.policies.quantities import quantity
from metricdp.policies.types._clock import OnAClock

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.sources.dialect import Dialect

__all__ = ["Duration"]

_LONGEST = 999_999_999 * 86_400
"""The seconds of the longest duration that Python has."""


@dataclass(frozen=True, kw_only=True)
class Duration(OnAClock):
    """How long something took, in seconds; bounds are quantities such as ``["0 min", "8 hours"]``."""

    type_name = "duration"
    wanted = "a column of durations"
    has_text = False

    @classmethod
    def _bound(cls, written: Any) -> Fraction:
        try:
            return quantity(written, "seconds")
        except ValueError:
            raise Mistake("bounds", 'a duration is written "90 min" or "2 hours"') from None

    def accepts(self, arrow: pa.DataType) -> bool:
        """Durations that hold multiples of the resolution."""
        import pyarrow as pa

        return bool(pa.types.is_duration(arrow)) and self._fits(arrow)

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Durations to the microsecond."""
        import pyarrow as pa

        return pa.duration("us")

    def _ends(self, ticks: int) -> tuple[int, int]:
        """As far as Python's durations reach, or the type's where those end before."""
        most = min(_LONGEST * ticks, 2**63 - 1)
        return -most, most

    def _say_bound(self, bound: Fraction) -> str:
        return self.measure.say(bound) if bound else "0"
