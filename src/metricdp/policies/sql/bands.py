"""Groups that a question makes itself: the bands of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metricdp.policies.cells.listed import Cells
from metricdp.policies.sql.predicates import Predicate, true_cells

__all__ = ["Band"]


@dataclass(frozen=True)
class Band:
    """A column to group by that a ``case`` makes: each branch is a group, the first that holds.

    Attributes:
        name: what it is called.
        branches: conditions, with the labels of their groups.
        otherwise: the label of all others.

    >>> from metricdp.policies.cells.ordered import IntegerCells
    >>> from metricdp.policies.sql.predicates import col
    >>> band = Band("grown", ((col("age") < 18, "no"),), "yes")
    >>> band.labels, band.codes([IntegerCells("age", (0, 59), edges=(18, 40))]).tolist()
    (('no', 'yes'), [0, 1, 1])
    """

    name: str
    branches: tuple[tuple[Predicate, str], ...]
    otherwise: str

    @property
    def labels(self) -> tuple[str, ...]:
        """Its groups, in the order in which they are written."""
        return tuple(dict.fromkeys([*(label for _, label in self.branches), self.otherwise]))

    def codes(self, columns: Sequence[Cells]) -> NDArray[np.int64]:
        """The place of the label for each combination of the columns' cells."""
        labels = self.labels
        found = np.full(len(true_cells(columns, None)), labels.index(self.otherwise), dtype=np.int64)
        for predicate, label in reversed(self.branches):
            found[true_cells(columns, predicate)] = labels.index(label)
        return found
