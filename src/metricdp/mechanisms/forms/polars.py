"""Numbers and moments in the Series of Polars."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import KindError
from metricdp.exact.grid import Grid
from metricdp.exact.refine import Integers
from metricdp.mechanisms.forms.arrow import unscaled_cells
from metricdp.mechanisms.forms.column import (
    CALENDAR,
    TICKS,
    ZONED,
    Column,
    Floating,
    Missing,
    objects,
    ticks,
)
from metricdp.mechanisms.forms.plain import from_values

__all__ = ["from_polars", "is_polars", "is_polars_frame"]

_EXACT = Context(prec=400)
_FLOATS = {"Float16": np.float16, "Float32": np.float32}


def is_polars(secrets: Any) -> bool:
    """Whether it is a Series of Polars."""
    polars = sys.modules.get("polars")
    return polars is not None and type(secrets) is polars.Series


def is_polars_frame(secrets: Any) -> bool:
    """Whether it is a frame of Polars."""
    polars = sys.modules.get("polars")
    return polars is not None and type(secrets) is polars.DataFrame


def from_polars(series: Any, dates: bool, null: bool) -> Column:
    """A column of a Series, by its dtype."""
    polars, dtype = sys.modules["polars"], series.dtype
    missing = np.asarray(series.is_null().to_numpy())
    given = _Typed(dtype)
    if dtype == polars.Object:
        column = from_values(series.to_list(), dates, null)
        return replace(column, pack=lambda made: polars.Series(series.name, made, dtype=polars.Object))
    if dates:
        if dtype not in (polars.Date, polars.Datetime):
            raise KindError(f"dates or datetimes are wanted, not a Series of {dtype}")
        numbers = _plain(series.to_physical()).astype(np.int64)
        CALENDAR.check(numbers, given.step, missing)
        return Column(numbers, given, given.step, missing, lambda made: made.alias(series.name))
    if dtype.is_decimal() or dtype in (polars.Int128, getattr(polars, "UInt128", polars.Int128)):
        numbers = objects([0 if value is None else value for value in series.to_list()])
    elif dtype.is_integer() or dtype.is_float():
        numbers = _plain(series)
    else:
        raise KindError(f"numbers are wanted, not a Series of {dtype}")
    return Column(numbers, given, Fraction(1), missing, lambda made: made.alias(series.name))


def _plain(series: Any) -> NDArray[Any]:
    """Numbers with 0 for null."""
    return np.asarray(series.fill_null(0).to_numpy())


@dataclass(frozen=True)
class _Typed:
    """The dtype of the secrets; integers become those of 64 bits where the resolution is whole, otherwise floats."""

    dtype: Any

    @property
    def step(self) -> Fraction:
        """Of moments, in days."""
        return TICKS["D" if self.dtype == sys.modules["polars"].Date else self.dtype.time_unit]

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> Any:
        """See `ResultType.give`."""
        polars = sys.modules["polars"]
        if self.dtype.is_decimal():
            return polars.Series(self._decimals(cells, width, missing), dtype=self.dtype)
        made = self._give(polars, cells, width)
        if missing is not None and missing.any():
            made = made.scatter(np.flatnonzero(missing), None)
        return made

    def _give(self, polars: Any, cells: Integers, width: Fraction) -> Any:
        dtype = self.dtype
        if dtype in (polars.Date, polars.Datetime):
            zoned = dtype == polars.Datetime and dtype.time_zone is not None
            grid = Grid.of(ticks(width, self.step, f"of {dtype}"))
            values = grid.within(cells, *(ZONED if zoned else CALENDAR).ends(self.step))
            return polars.Series(values.astype(np.int32) if dtype == polars.Date else values).cast(dtype)
        if dtype.is_integer() and width.denominator == 1:
            return polars.Series(Grid.of(width).whole_values(cells))
        floats = np.dtype(_FLOATS.get(str(dtype), np.float64))
        return polars.Series(Floating(floats).give(cells, width, None))

    def _decimals(self, cells: Integers, width: Fraction, missing: Missing | None) -> list[Decimal | None]:
        scale = self.dtype.scale
        unscaled = unscaled_cells(cells, width, self.dtype.precision or 38, scale).tolist()
        decimals: list[Decimal | None] = [Decimal(value).scaleb(-scale, _EXACT) for value in unscaled]
        for row in [] if missing is None else np.flatnonzero(missing).tolist():
            decimals[row] = None
        return decimals
