"""What durations and times of day have in common: seconds, in the steps of a clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from metricdp.exact.grid import Grid
from metricdp.metrics import Metric, absolute
from metricdp.policies.open_questions import BOUNDS, MISSING, within
from metricdp.policies.types._line import OnALine

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.exact.arrays import Floats
    from metricdp.mechanisms.forms.column import Missing as Absent

__all__ = ["PER_SECOND", "OnAClock"]

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_STEPS = [Fraction(step) for step in (86400, 3600, 60, 1)] + [Fraction(1, count) for count in (10**3, 10**6, 10**9)]


@dataclass(frozen=True, kw_only=True)
class OnAClock(OnALine):
    """Seconds, by the Laplace mechanism on the line, rounded to steps of a clock."""

    keys = tuple(key for key in OnALine.keys if key != "count_by")
    questions = (within("seconds"), BOUNDS, MISSING)
    unit = "seconds"
    wanted: ClassVar[str]

    @property
    def wants(self) -> str:  # type: ignore[override]
        """Columns of the type's own kind, in steps that the resolution is a multiple of."""
        width = self.released_resolution
        if width.denominator == 1:
            return self.wanted
        return f"{self.wanted} that hold multiples of {float(width):g} s (or declare a coarser resolution)"

    @classmethod
    def _distance(cls) -> Metric:
        return absolute()

    @property
    def _width(self) -> Fraction:
        if self.resolution is not None:
            return self.resolution
        assert self.written is not None
        metric = self._noise_metric(self.written.metric)
        scale = 1 / Fraction(metric.level.enclose().upper)
        return next((step for step in _STEPS if step * 1000 <= scale), _STEPS[-1])

    def _step_of(self, arrow: pa.DataType) -> Fraction:
        return Fraction(1, PER_SECOND[arrow.unit])

    def _fits(self, arrow: pa.DataType) -> bool:
        """Whether a type holds multiples of the resolution."""
        return (self.released_resolution * PER_SECOND[arrow.unit]).denominator == 1

    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        import pyarrow as pa

        from metricdp.mechanisms.forms.arrow import from_arrow

        (array,), (arrow,) = arrays, types
        plain = pa.int32() if arrow.bit_width == 32 else pa.int64()
        secrets = from_arrow(array.view(plain), False)
        ticks = PER_SECOND[arrow.unit]
        counted = replace(secrets, numbers=secrets.numbers.astype(np.int64), unit=Fraction(1, ticks))
        cells, absent = self._cells_of(counted)
        least, greatest = self._ends(ticks)
        values = Grid.of(self.released_resolution * ticks).within(cells, least, greatest)
        return [pa.array(values.astype(plain.to_pandas_dtype()), mask=absent).view(arrow)]

    def released_ends(self, arrow: pa.DataType) -> tuple[Fraction, Fraction]:
        """As far as the clock goes."""
        ticks = PER_SECOND[arrow.unit]
        least, greatest = self._ends(ticks)
        return Fraction(least, ticks), Fraction(greatest, ticks)

    def measured(self, array: pa.Array) -> tuple[Floats, Absent]:
        """Seconds."""
        import pyarrow as pa

        absent = np.array(array.is_null())
        plain = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64()).fill_null(0)
        return plain.to_numpy(zero_copy_only=False) / PER_SECOND[array.type.unit], absent

    def _ends(self, ticks: int) -> tuple[int, int]:
        """The least and the greatest number of ticks that are released."""
        return -(2**63 - 1), 2**63 - 1
