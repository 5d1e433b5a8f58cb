"""Columns of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import OutOfDomainError
from metricdp.mechanisms.continuous.nulls import nullable_laplace
from metricdp.mechanisms.geometric import geometric, truncated_geometric
from metricdp.metrics import Metric, absolute
from metricdp.policies.entry import ColumnEntry, Mistake
from metricdp.policies.types._line import BEYOND, LEVEL_KEYS, OnALine

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.mechanisms.forms.column import Column
    from metricdp.mechanisms.mechanism import Mechanism
    from metricdp.policies.cells.listed import Cells
    from metricdp.sources.dialect import Dialect

__all__ = ["Integer"]


@dataclass(frozen=True, kw_only=True)
class Integer(OnALine):
    """A whole number, by the geometric mechanism, truncated where there are bounds; with secret nulls by Laplace.

    Attributes:
        step: what releases are multiples of, counted from the lower bound where there is one.
    """

    step: int = 1

    type_name = "integer"
    keys = (*LEVEL_KEYS, "missing", "missing_distance", "bounds", "outside", "step", "count_by")
    wants = "an integer column"
    cuts = ("width", "edges", "other")

    @classmethod
    def _distance(cls) -> Metric:
        return absolute()

    @classmethod
    def _bound(cls, written: Any) -> Fraction:
        if isinstance(written, bool) or not isinstance(written, int):
            raise Mistake("bounds", "the bounds are whole numbers")
        return Fraction(written)

    @classmethod
    def _own(cls, entry: ColumnEntry) -> dict[str, Any]:
        step = entry.take("step", 1)
        if isinstance(step, bool) or not isinstance(step, int) or step < 1:
            raise Mistake("step", "step is a whole number, 1 or more")
        return {"step": step}

    @classmethod
    def _delta(cls, entry: ColumnEntry) -> Fraction:
        return Fraction(0)

    def _make_mechanism(self) -> Mechanism:
        assert self.written is not None
        metric = self._noise_metric(self.written.metric)
        if self.bounds is None:
            return geometric(metric, self.step)
        width = self.bounds[1] - self.bounds[0]
        if self.missing == "secret":
            return nullable_laplace(self._with_null(metric), (0, width), self.step)
        steps = width / self.step
        if steps.denominator != 1:
            raise Mistake("step", "the bounds lie a whole number of steps apart")
        return truncated_geometric(metric, int(steps), self.step)

    @property
    def is_noise(self) -> bool:
        """Few whole numbers repeat often."""
        return False

    def accepts(self, arrow: pa.DataType) -> bool:
        """Integers."""
        import pyarrow as pa

        return bool(pa.types.is_integer(arrow))

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Integers of 64 bits."""
        import pyarrow as pa

        return pa.int64()

    def read_text(self, text: pa.Array, column: str, dialect: Dialect) -> pa.Array:
        """Whole numbers."""
        from metricdp.sources.texts import integers

        return integers(text)

    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        import pyarrow as pa

        from metricdp.exact.grid import Grid
        from metricdp.policies.arrow.exact_numbers import numbers_in, whole_numbers

        if self.bounds is None:
            return super()._released(arrays, types)
        first, dtype = int(self.bounds[0]), np.dtype(types[0].to_pandas_dtype())
        secrets = numbers_in(arrays[0])
        cells, absent = self._drawn(self._steps(secrets, first), secrets)
        step, ends = int(self.released_resolution), np.iinfo(dtype)  # which may be nearer than the bounds
        least, greatest = -((first - int(ends.min)) // step), (int(ends.max) - first) // step
        if self._is_wide:
            numbers = [max(least, min(greatest, cell)) * step + first for cell in cells.tolist()]
            return [pa.array(np.array(numbers, dtype=dtype), mask=absent)]
        steps = Grid.of(self.released_resolution).within(cells, least * step, min(greatest * step, 2**63 - 1))
        return [pa.array(whole_numbers(steps, first, dtype), mask=absent)]

    @property
    def _is_wide(self) -> bool:
        """Whether 64 bits do not hold the bounds, or what lies between them."""
        assert self.bounds is not None
        first, last = map(int, self.bounds)
        return not (first >= -(2**63) and last < 2**63 and last - first < 2**63)

    def _steps(self, secrets: Column, first: int) -> NDArray[Any]:
        """The secrets counted from the lower bound; refused or clamped where they lie beyond the bounds."""
        from metricdp.policies.arrow.exact_numbers import clamped

        assert self.bounds is not None
        last = int(self.bounds[1])
        values = (clamped(secrets, self.bounds) if self.outside == "clamp" else secrets).numbers
        outside = (values < first) | (values > last)
        if secrets.missing is not None:  # beneath a null, anything may stand
            outside &= ~secrets.missing
        if outside.any():
            raise OutOfDomainError(BEYOND, int(np.argmax(outside)))
        return (values.astype(object) if self._is_wide else values.astype(np.int64)) - first

    @property
    def secret_step(self) -> Fraction:
        """``step`` where noise is drawn in steps, and any whole number where a missing value is secret."""
        return Fraction(1 if self.missing == "secret" else self.step)

    @property
    def origin(self) -> Fraction:
        """The lower bound, where there is one."""
        return Fraction(0) if self.bounds is None else self.bounds[0]

    def _make_cells(self) -> Cells:
        from metricdp.policies.cells.ordered import IntegerCells

        low, high = map(int, self._declared_bounds())
        return IntegerCells(self.columns[0], (low, high), **self.count_by.cuts, **self._cell_options())
