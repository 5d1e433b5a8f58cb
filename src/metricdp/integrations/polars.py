"""Namespaces of Polars: ``frame.metricdp``, ``series.metricdp`` and, in expressions, ``pl.col("income").metricdp``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metricdp.errors import KindError, MetricDPError
from metricdp.integrations.accessors import FrameAccessor
from metricdp.integrations.in_place import PolicyLike, required
from metricdp.integrations.released_columns import ReleasedColumn, how
from metricdp.ledger import Ledger
from metricdp.mechanisms.mechanism import Mechanism

__all__ = ["ExpressionNamespace", "SeriesNamespace", "give_accessors"]


class SeriesNamespace:
    """``series.metricdp``: release the values of a Series, each in its place.

    Args:
        series: of Polars.
    """

    def __init__(self, series: Any) -> None:
        self._series = series

    def release(
        self,
        by: Mechanism | PolicyLike,
        column: str | None = None,
        *,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
    ) -> Any:
        """Each value released, in a Series of the same name.

        Args:
            by: a mechanism; or a policy, of which ``column`` says the entry.
            column: of the policy.
            ledger: a `Ledger` or its address, charged with the policy's price first.
            account: which account of the ledger; the only one, where there is one.

        Raises:
            PolicyError: the policy requires a ledger, and none was given.
        """
        return _released(self._series, by, how(by, column, ledger, account))


class ExpressionNamespace:
    """``pl.col("income").metricdp``: release a column inside an expression, also of a lazy frame.

    Args:
        expression: of Polars.
    """

    def __init__(self, expression: Any) -> None:
        self._expression = expression

    def release(
        self,
        by: Mechanism | PolicyLike,
        column: str | None = None,
        *,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
    ) -> Any:
        """The column released: drawn anew, and charged again, each time that Polars computes the expression.

        See `SeriesNamespace.release` for the arguments. The whole column is released at once, also by the streaming
        engine, so a computation is charged once. The type is that of the column, refused where a release has another,
        as integers under a mechanism with a fractional resolution have. Errors come as Polars' ComputeError, by name.
        """
        chosen = how(by, column, ledger, account)
        polars = required("polars", "polars", "polars")

        def release(series: Any) -> Any:
            try:
                return _of_the_same_type(series, _released(series, by, chosen))
            except MetricDPError as error:  # Polars makes errors anew, by their message alone
                raise polars.exceptions.ComputeError(f"{type(error).__name__}: {error}") from None

        return self._expression.map_batches(release, return_dtype=polars.self_dtype())


def _released(series: Any, by: Any, chosen: ReleasedColumn | None) -> Any:
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
