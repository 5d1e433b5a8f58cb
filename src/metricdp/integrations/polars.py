"""Namespaces of Polars: ``frame.metricdp``, ``series.metricdp`` and, in expressions, ``pl.col("income").metricdp``."""

from __future__ import annotations

from typing import Any

from metricdp.errors import KindError, MetricDPError
from metricdp.integrations.accessors import ColumnAccessor, FrameAccessor
from metricdp.integrations.in_place import required
from metricdp.integrations.released_columns import ReleasedColumn

__all__ = ["ExpressionNamespace", "SeriesNamespace", "give_accessors"]


class SeriesNamespace(ColumnAccessor):
    """``series.metricdp``: release the values of a Series; the result has the same name."""

    def _released(self, by: Any, chosen: ReleasedColumn | None) -> Any:
        return _series_released(self._column, by, chosen)


class ExpressionNamespace(ColumnAccessor):
    """``pl.col("income").metricdp``: release a column inside an expression, also of a lazy frame.

    It is drawn anew, and charged again, each time that Polars computes the expression. The whole column is released at
    once, also by the streaming engine, so a computation is charged once. The type is that of the column, refused where
    a release has another, as integers under a mechanism with a fractional resolution have. Errors come as Polars'
    ComputeError, by name.
    """

    def _released(self, by: Any, chosen: ReleasedColumn | None) -> Any:
        polars = required("polars", "polars", "polars")

        def release(series: Any) -> Any:
            try:
                return _of_the_same_type(series, _series_released(series, by, chosen))
            except MetricDPError as error:  # Polars makes errors anew, by their message alone
                raise polars.exceptions.ComputeError(f"{type(error).__name__}: {error}") from None

        return self._column.map_batches(release, return_dtype=polars.self_dtype())


def _series_released(series: Any, by: Any, chosen: ReleasedColumn | None) -> Any:
    if chosen is None:
        return by.release(series)
    return chosen.frame(series.to_frame(chosen.name)).get_column(chosen.name).alias(series.name)


def _of_the_same_type(series: Any, released: Any) -> Any:
    if released.dtype != series.dtype:
        raise KindError(f"a release of {series.dtype} is {released.dtype} here: cast the column to that first")
    return released


def give_accessors() -> None:
    """Register them, unless they are there already."""
    polars = required("polars", "polars", "polars")
    required("pyarrow", "pyarrow", "polars")
    if "metricdp" in vars(polars.Series):
        return
    for register, kind in (
        (polars.api.register_dataframe_namespace, FrameAccessor),
        (polars.api.register_lazyframe_namespace, FrameAccessor),
        (polars.api.register_series_namespace, SeriesNamespace),
        (polars.api.register_expr_namespace, ExpressionNamespace),
    ):
        register("metricdp")(kind)
