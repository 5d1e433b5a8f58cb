"""Histograms: how many records lie in each cell of a universe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, KindError, OutOfDomainError, ShapeError
from metricdp.queries.universes.universe import Universe

__all__ = ["Histogram"]


@dataclass(frozen=True, repr=False, eq=False)
class Histogram:
    """How many records lie in each cell: the x of paper 4. It is private, and its repr shows no count.

    Attributes:
        universe: the cells.
        counts: whole numbers in the order of ``universe.cells``, which cannot be written to.

    References:
        Paper 4, section 2.2.

    >>> from metricdp.policies.cells.listed import BooleanCells
    >>> Histogram(Universe([BooleanCells("native")]), [3, 4])
    Histogram(Universe(native: 2 cells; 2 in all))
    """

    universe: Universe
    counts: NDArray[np.int64]

    def __init__(self, universe: Universe, counts: Any) -> None:
        if not isinstance(universe, Universe):
            raise ArgumentError(f"a histogram is over a Universe, not {type(universe).__name__}")
        given = np.asarray(counts)
        if given.dtype.kind not in "iu":
            raise KindError("counts are integers")
        if given.shape != (len(universe),):
            raise ShapeError(f"a histogram of this universe has {len(universe)} counts")
        if given.size and (int(given.min()) < 0 or int(given.max()) >= 1 << 63):
            raise OutOfDomainError("a count is not negative, and has 63 bits")
        whole = given.astype(np.int64)
        whole.setflags(write=False)
        object.__setattr__(self, "universe", universe)
        object.__setattr__(self, "counts", whole)

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"Histogram({self.universe!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        return self.universe == other.universe and bool((self.counts == other.counts).all())

    __hash__ = None  # type: ignore[assignment]

    @property
    def records(self) -> int:
        """How many records there are, without those absent; public, unless the universe has a capacity."""
        present = self.counts if self.universe.capacity is None else self.counts[:-1]
        return sum(present.tolist())
