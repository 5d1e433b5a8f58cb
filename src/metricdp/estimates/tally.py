"""Counts of released rows by cell, streamed: only combinations that occur are kept, never all that there could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metricdp.errors import TooLargeError
from metricdp.exact.arrays import Floats, Places

__all__ = ["RowTally", "TallyBuilder"]

MOST_CELLS = 4_000_000
"""Combinations of outputs beyond which a question is refused, to keep within memory."""


@dataclass(frozen=True, eq=False)
class RowTally:
    """How often each combination of outputs was released, and sums of numbers over those rows.

    Attributes:
        codes: for each combination (rows), the output of each column.
        counts: how often it was released.
        sums: for each combination, the sums of each number and of its square, side by side.
    """

    codes: Places
    counts: Floats
    sums: Floats

    @property
    def rows(self) -> float:
        """How many rows were counted."""
        return float(self.counts.sum())

    def margin(self, place: int, size: int) -> Floats:
        """How often each output of one column was released."""
        return np.bincount(self.codes[:, place], weights=self.counts, minlength=size).astype(np.float64)


class TallyBuilder:
    """Adds batches up.

    >>> builder = TallyBuilder(2, 1)
    >>> builder.add([np.array([0, 0, 1]), np.array([5, 5, 5])], [np.array([1.0, 2.0, 4.0])])
    >>> made = builder.made()
    >>> made.codes.tolist(), made.counts.tolist(), made.sums.tolist()
    ([[0, 5], [1, 5]], [2.0, 1.0], [[3.0, 5.0], [4.0, 16.0]])
    """

    def __init__(self, columns: int, numbers: int) -> None:
        self._columns, self._numbers = columns, numbers
        self._parts: list[tuple[Places, Floats]] = []
        self._waiting = 0

    def add(self, codes: Sequence[Places], numbers: Sequence[Floats] = ()) -> None:
        """Add a batch: an output for each column and a number for each that is summed, row by row."""
        rows = len(codes[0]) if codes else len(numbers[0]) if numbers else 0
        if not rows:
            return
        squares = [part for number in numbers for part in (number, number**2)]
        weights = np.stack([np.ones(rows), *squares], axis=1)
        key = np.stack(codes, axis=1) if codes else np.zeros((rows, 0), dtype=np.int64)
        self._parts.append(_grouped(key, weights))
        self._waiting += len(self._parts[-1][0])
        if self._waiting > MOST_CELLS:
            self._merge()
            if self._waiting > MOST_CELLS:
                raise TooLargeError(
                    f"more than {MOST_CELLS:,} combinations of outputs occur: ask about fewer columns at once",
                    f"more than {MOST_CELLS:,} cells",
                )

    def _merge(self) -> None:
        key = np.concatenate([part[0] for part in self._parts])
        weights = np.concatenate([part[1] for part in self._parts])
        self._parts = [_grouped(key, weights)]
        self._waiting = len(self._parts[0][0])

    def made(self) -> RowTally:
        """All that was added."""
        if not self._parts:
            empty = np.zeros((0, self._columns), dtype=np.int64)
            return RowTally(empty, np.zeros(0), np.zeros((0, 2 * self._numbers)))
        self._merge()
        key, weights = self._parts[0]
        return RowTally(key, weights[:, 0], weights[:, 1:])


def _grouped(key: Places, weights: Floats) -> tuple[Places, Floats]:
    if not key.shape[1]:
        return np.zeros((1, 0), dtype=np.int64), weights.sum(axis=0, keepdims=True)
    sizes = key.max(axis=0) + 1
    if np.prod(sizes.astype(np.float64)) < 2.0**62:
        flat = np.ravel_multi_index(tuple(key.T), tuple(sizes))
        if float(np.prod(sizes.astype(np.float64))) <= 4 * len(key):
            sums = _binned(flat, weights, int(np.prod(sizes)))
            occurs = np.flatnonzero(sums[:, 0] > 0)
            return np.stack(np.unravel_index(occurs, tuple(sizes)), axis=1).astype(np.int64), sums[occurs]
        different, inverse = np.unique(flat, return_inverse=True)
        places = np.stack(np.unravel_index(different, tuple(sizes)), axis=1).astype(np.int64)
        return places, _binned(inverse, weights, len(different))
    different, inverse = np.unique(key, axis=0, return_inverse=True)
    return different, _binned(inverse.ravel(), weights, len(different))


def _binned(places: Places, weights: Floats, size: int) -> Floats:
    columns = [np.bincount(places, weights=column, minlength=size) for column in weights.T]
    return np.stack(columns, axis=1).astype(np.float64)
