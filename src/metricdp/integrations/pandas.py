"""Accessors of pandas: ``frame.metricdp`` and ``series.metricdp``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metricdp.integrations.accessors import FrameAccessor
from metricdp.integrations.in_place import PolicyLike, required
from metricdp.integrations.released_columns import how
from metricdp.ledger import Ledger
from metricdp.mechanisms.mechanism import Mechanism

__all__ = ["SeriesAccessor", "give_accessors"]


class SeriesAccessor:
    """``series.metricdp``: release the values of a Series, each in its place.

    Args:
        series: of pandas.
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
        """Each value released, in a Series with the same index and name.

        Args:
            by: a mechanism; or a policy, of which ``column`` says the entry.
            column: of the policy.
            ledger: a `Ledger` or its address, charged with the policy's price first.
            account: which account of the ledger; the only one, where there is one.

        Raises:
            PolicyError: the policy requires a ledger, and none was given.
        """
        chosen = how(by, column, ledger, account)
        if chosen is None:
            return by.release(self._series)  # type: ignore[union-attr]
        frame = self._series.to_frame(chosen.name).reset_index(drop=True)
        released = chosen.frame(frame)[chosen.name]
        released.index = self._series.index
        return released.rename(self._series.name)


def give_accessors() -> None:
    """Register them, unless they are there already."""
    pandas = required("pandas", "pandas", "tables")
    required("pyarrow", "pyarrow", "tables")
    if "metricdp" not in vars(pandas.Series):
        pandas.api.extensions.register_series_accessor("metricdp")(SeriesAccessor)
        pandas.api.extensions.register_dataframe_accessor("metricdp")(FrameAccessor)
