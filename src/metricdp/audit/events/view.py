"""A view of releases: one column of numbers or of labels, which says in words and in code what it looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch

__all__ = ["View", "each"]


@dataclass(frozen=True)
class View:
    """One column of a batch of releases.

    Attributes:
        words: what is looked at, such as "coordinate 2".
        code: the same as an expression in z.
        column: gives the column: numbers as floats, labels as an array of any kind.
        number: whether it is a column of numbers.
        near: whether it is one of the numbers that were released, so that several make a point.
        machine: whether it is about how a machine wrote the number.
        hints: where noise that follows the metric has its edges: for the first secret and for the second.
    """

    words: str
    code: str
    column: Callable[[Batch], NDArray[Any]]
    number: bool = True
    near: bool = False
    machine: bool = False
    hints: tuple[float, float] | None = None

    def of(self, batch: Batch) -> NDArray[Any]:
        """The column of a batch, computed once; not to be changed."""
        known: dict[tuple[str, bool], NDArray[Any]] = batch.__dict__.setdefault("_columns", {})
        key = (self.code, self.number)
        if key not in known:
            known[key] = self.column(batch)
        return known[key]


def each(function: Callable[[Any], Any], kind: Any = np.float64) -> Callable[[Batch], NDArray[Any]]:
    """A column from what a function gives for one release."""

    def column(batch: Batch) -> NDArray[Any]:
        found = np.empty(len(batch.releases), dtype=kind)
        for row, release in enumerate(batch.releases):
            found[row] = function(release)
        return found

    return column
