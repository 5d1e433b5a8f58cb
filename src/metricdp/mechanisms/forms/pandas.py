"""Numbers and moments in the Series of pandas: classic, nullable, zoned and backed by Arrow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import KindError
from metricdp.exact.bits import source
from metricdp.exact.grid import Grid
from metricdp.exact.refine import Integers
from metricdp.mechanisms.forms.arrow import from_arrow
from metricdp.mechanisms.forms.column import Calendar, Column, Floating, Missing, Undeclared, WholeNumbers
from metricdp.mechanisms.forms.plain import from_array, from_moments

__all__ = ["frame_of", "from_series", "is_frame", "is_series", "marked", "series_like"]


_ZONED = Calendar(1678, 2261)
"""Where pandas shows moments with a zone; beyond, it fails or breaks down, whatever their unit."""


def is_series(secrets: Any) -> bool:
    """Whether it is a Series of pandas, and no subclass of one."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(secrets) is pandas.Series


def is_frame(secrets: Any) -> bool:
    """Whether it is a frame of pandas, and no subclass of one."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(secrets) is pandas.DataFrame


def from_series(series: Any, dates: bool, null: bool) -> Column:
    """A column of a Series, by its dtype."""
    pandas, dtype = sys.modules["pandas"], series.dtype
    put = series_like(series)
    if isinstance(dtype, np.dtype):
        column = from_array(series.to_numpy(), dates, null)
        if isinstance(column.given, Undeclared):
            return replace(column, pack=lambda made: put(made, dtype=object))
        return replace(column, given=_Classic() if isinstance(column.given, WholeNumbers) else column.given, pack=put)
    if isinstance(dtype, pandas.ArrowDtype):
        column = from_arrow(series.array.__arrow_array__(), dates, _ZONED)
        return replace(column, pack=lambda made: put(pandas.arrays.ArrowExtensionArray(column.pack(made))))
    if isinstance(dtype, pandas.DatetimeTZDtype) and dates:
        moments = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()

        def zoned(made: Any) -> Any:
            return put(pandas.DatetimeIndex(made).tz_localize("UTC").tz_convert(dtype.tz).array)

        return replace(from_moments(moments, _ZONED), pack=zoned)
    if not dates and _is_nullable_number(dtype):
        missing = series.isna().to_numpy()
        numbers = series.to_numpy(dtype=dtype.numpy_dtype, na_value=0)
        return Column(numbers, _Masked(dtype.numpy_dtype), Fraction(1), missing, put)
    raise KindError(f"{'dates' if dates else 'numbers'} are wanted, not a Series of {type(dtype).__name__}")


def _is_nullable_number(dtype: Any) -> bool:
    return (
        type(dtype).__module__.startswith("pandas.core.arrays.")
        and getattr(dtype, "kind", "") in "iuf"
        and (hasattr(dtype, "numpy_dtype"))
    )


@dataclass(frozen=True)
class _Classic:
    """Integers of 64 bits where the resolution is whole, with nulls those of pandas that have them; else floats."""

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> Any:
        """See `ResultType.give`."""
        if width.denominator != 1 or missing is None:
            return WholeNumbers().give(cells, width, missing)
        return _Masked(np.dtype(np.int64)).give(cells, width, missing)


@dataclass(frozen=True)
class _Masked:
    """The nullable numbers of pandas: floats of a width, or integers of 64 bits where the resolution is whole."""

    dtype: np.dtype[Any]

    def give(self, cells: Integers, width: Fraction, missing: Missing | None) -> Any:
        """See `ResultType.give`."""
        arrays = sys.modules["pandas"].arrays
        mask = np.zeros(len(cells), dtype=bool) if missing is None else missing
        if self.dtype.kind != "f" and width.denominator == 1:
            return arrays.IntegerArray(Grid.of(width).whole_values(cells), mask)
        floats = self.dtype if self.dtype.kind == "f" else np.dtype(np.float64)
        return arrays.FloatingArray(Floating(floats).give(cells, width, None), mask)


def series_like(series: Any) -> Callable[..., Any]:
    """Makes results a Series with the same index and name, marked where the noise was seeded."""
    kind = type(series)
    return lambda made, dtype=None: marked(kind(made, index=series.index, name=series.name, dtype=dtype))


def frame_of(frame: Any, columns: list[Any]) -> Any:
    """Series as the columns of a frame like another, marked where the noise was seeded."""
    made = type(frame)(dict(enumerate(columns)), index=frame.index)
    made.columns = frame.columns
    return marked(made)


def marked(made: Any) -> Any:
    """A Series or frame, marked where the noise was seeded."""
    if not source().private:
        made.attrs["private"] = False
    return made
