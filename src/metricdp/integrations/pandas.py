"""Accessors of pandas: ``frame.metricdp`` and ``series.metricdp``."""

from __future__ import annotations

from typing import Any

from metricdp.integrations.accessors import ColumnAccessor, FrameAccessor
from metricdp.integrations.in_place import required
from metricdp.integrations.released_columns import ReleasedColumn

__all__ = ["SeriesAccessor", "give_accessors"]


class SeriesAccessor(ColumnAccessor):
    """``series.metricdp``: release the values of a Series; the result has the same index and name."""

    def _released(self, by: Any, chosen: ReleasedColumn | None) -> Any:
        series = self._column
        if chosen is None:
            return by.release(series)
        released = chosen.frame(series.to_frame(chosen.name).reset_index(drop=True))[chosen.name]
        released.index = series.index
        return released.rename(series.name)


def give_accessors() -> None:
    """Register them, unless they are there already."""
    pandas = required("pandas", "pandas", "tables")
    required("pyarrow", "pyarrow", "tables")
    if "metricdp" not in vars(pandas.Series):
        pandas.api.extensions.register_series_accessor("metricdp")(SeriesAccessor)
        pandas.api.extensions.register_dataframe_accessor("metricdp")(FrameAccessor)
