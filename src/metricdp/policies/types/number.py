"""Columns of numbers: floats and decimals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.level import rational
from metricdp.metrics import Metric, absolute
from metricdp.policies.entry import Mistake
from metricdp.policies.types._line import OnALine

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.policies.cells.listed import Cells
    from metricdp.sources.dialect import Dialect

__all__ = ["Number"]


@dataclass(frozen=True, kw_only=True)
class Number(OnALine):
    """A number, by the Laplace mechanism; questions count it in intervals that touch."""

    type_name = "number"
    cuts = ("width", "edges", "other")

    @property
    def wants(self) -> str:  # type: ignore[override]
        """Floats, or decimals; which of these hold a coarse resolution is said where one is declared."""
        width = self.resolution
        holds = "" if width is None or width <= 1 else f" that holds multiples of {float(width):g}"
        return f"a floating-point or decimal column{holds}"

    @classmethod
    def _distance(cls) -> Metric:
        return absolute()

    @classmethod
    def _bound(cls, written: Any) -> Fraction:
        try:
            return rational(written, "bound")
        except LevelError as error:
            raise Mistake("bounds", str(error)) from None

    def _step_of(self, arrow: pa.DataType) -> Fraction:
        import pyarrow as pa

        return Fraction(10) ** -arrow.scale if pa.types.is_decimal(arrow) else Fraction(0)

    @property
    def is_fine(self) -> bool:
        """Where nobody declares a coarser resolution."""
        return self.release == "noise" and self.resolution is None

    def accepts(self, arrow: pa.DataType) -> bool:
        """Floats, and decimals that hold multiples of the resolution."""
        import pyarrow as pa

        from metricdp.policies.arrow.exact_numbers import given_as

        if not pa.types.is_decimal(arrow):
            return bool(pa.types.is_floating(arrow))
        try:
            given_as(np.zeros(0, dtype=np.int64), self.released_resolution, None, arrow)
        except ArgumentError:
            return False
        return True

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Floats."""
        import pyarrow as pa

        return pa.float64()

    def read_text(self, text: pa.Array, column: str, dialect: Dialect) -> pa.Array:
        """Decimals, exactly as they are written."""
        from metricdp.sources.texts import numbers

        return numbers(text, dialect)

    def _make_cells(self) -> Cells:
        from metricdp.policies.cells.ordered import NumberCells

        return NumberCells(self.columns[0], self._declared_bounds(), **self.count_by.cuts, **self._cell_options())
