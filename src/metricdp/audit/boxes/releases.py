"""Releases out of whatever table, column or list somebody has them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError

__all__ = ["releases_in"]


def releases_in(table: Any) -> NDArray[Any] | list[Any]:
    """The releases in a table, a column, an array or a list, one for each row: an array of numbers, or a list.

    Raises:
        ArgumentError: if it is nothing of that kind.

    >>> releases_in(np.array([[1, 2], [3, 4]]))[1].tolist(), releases_in(range(2)), releases_in(np.array(["a", None]))
    ([3, 4], [0, 1], ['a', None])
    """
    kind = type(table)
    if hasattr(kind, "to_pylist"):  # a column or a table of Arrow
        table = table.to_pylist()
    elif hasattr(kind, "columns") and hasattr(kind, "to_numpy"):  # a table of pandas or Polars
        table = table.to_numpy()
    if isinstance(table, np.ndarray) and table.ndim:
        things = table.dtype.names is not None or table.dtype.kind in "OSU"
        return table.tolist() if things else table  # records as tuples, and things as they are
    if isinstance(table, (str, bytes, bytearray, Mapping, Set, np.ndarray, np.generic)) or not isinstance(
        table, Iterable
    ):
        raise ArgumentError(f"releases come in a list, an array or a table, one in each row; {kind.__name__} is none")
    return table if isinstance(table, list) else list(table)
