"""Rows and whose they are: which ones somebody has too many, in constant memory and with no identifier on a disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metricdp.sources.sealed_rows import SealedRows

__all__ = ["MOST_ROWS", "Owned", "rows_over"]

Words = NDArray[np.uint64]

MOST_ROWS = 1 << 22
"""Whose owners are counted in memory; beyond, they are dealt to files by the bits of their digests."""

_DEALT_BITS = 6


@dataclass(frozen=True)
class Owned:
    """Rows by number, whose they are, and the random keys that decide which of them stay.

    Attributes:
        digests: two words of each owner.
        keys: uniform words.
        rows: numbers that tell the rows apart.
    """

    digests: Words
    keys: Words
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, places: NDArray[Any]) -> Owned:
        """Some of them, by place or by a mask."""
        return Owned(self.digests[places], self.keys[places], self.rows[places])

    def over(self, most: int) -> NDArray[np.intp]:
        """The places of the rows that each owner with more than ``most`` has too many, those with the greatest keys.

        One sort of a word tells whether there is anybody; only rows of those who may have too many are looked at again.
        """
        first = np.sort(self.digests[:, 0])
        crowded = first[most:][first[most:] == first[:-most]] if len(first) > most else first[:0]
        if not crowded.size:
            return np.zeros(0, dtype=np.intp)
        crowded = np.unique(crowded)
        where = np.minimum(np.searchsorted(crowded, self.digests[:, 0]), len(crowded) - 1)
        doubtful = np.flatnonzero(crowded[where] == self.digests[:, 0])
        digests = self.digests[doubtful]
        order = np.lexsort((self.keys[doubtful], digests[:, 1], digests[:, 0]))
        sorted_digests = digests[order]
        begins = np.ones(len(order), dtype=bool)
        begins[1:] = (sorted_digests[1:] != sorted_digests[:-1]).any(axis=1)
        starts = np.flatnonzero(begins)
        place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        return doubtful[order[place >= most]]

    @staticmethod
    def joined(parts: list[Owned]) -> Owned:
        """All of them together."""
        return Owned(
            np.concatenate([part.digests for part in parts]) if parts else np.zeros((0, 2), dtype=np.uint64),
            np.concatenate([part.keys for part in parts]) if parts else np.zeros(0, dtype=np.uint64),
            np.concatenate([part.rows for part in parts]) if parts else np.zeros(0, dtype=np.int64),
        )

    def to_batch(self) -> pa.RecordBatch:
        """As Arrow has it, to be sealed."""
        columns = [np.ascontiguousarray(self.digests[:, 0]), np.ascontiguousarray(self.digests[:, 1])]
        return pa.record_batch([pa.array(column) for column in (*columns, self.keys, self.rows)], schema=_SCHEMA)

    @classmethod
    def of_batch(cls, batch: pa.RecordBatch) -> Owned:
        """As it was."""
        first, second, keys, rows = (np.asarray(column) for column in batch.columns)
        return cls(np.column_stack([first, second]), keys, rows)


_SCHEMA = pa.schema([("first", pa.uint64()), ("second", pa.uint64()), ("key", pa.uint64()), ("row", pa.int64())])


def rows_over(
    parts: Iterator[Owned], most: int, scratch: Path, most_rows: int = MOST_ROWS, depth: int = 0
) -> Iterator[NDArray[np.int64]]:
    """Numbers of the rows that owners with more than ``most`` have too many, each once.

    Of each owner the rows with the least keys stay. Where more rows may stay than memory should hold, all are dealt to
    files by the next bits of their owners' digests, and each file is then counted alone.
    """
    parts, held = _gathered(parts, most_rows), Owned.joined([])
    for part in parts:
        held = Owned.joined([held, part])
        over = held.over(most)
        if over.size:
            yield held.rows[over]
            held = held.at(np.delete(np.arange(len(held)), over))
        if len(held) >= most_rows and depth + _DEALT_BITS <= 64:
            folder = scratch / f"owners{depth}"
            folder.mkdir()
            for hand in _dealt(chain([held], parts), folder, depth):
                yield from rows_over(map(Owned.of_batch, hand.read()), most, folder, most_rows, depth + _DEALT_BITS)
                hand.remove()
            folder.rmdir()
            held = Owned.joined([])


def _gathered(parts: Iterator[Owned], most_rows: int) -> Iterator[Owned]:
    """The same rows, at least ``most_rows`` at a time."""
    waiting: list[Owned] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= most_rows:
            yield Owned.joined(waiting)
            waiting = []
    yield Owned.joined(waiting)


def _dealt(parts: Iterable[Owned], folder: Path, depth: int) -> list[SealedRows]:
    """Deal rows to files, all rows of one owner to the same."""
    hands = [SealedRows(folder / f"{number}.rows", _SCHEMA) for number in range(1 << _DEALT_BITS)]
    with ExitStack() as stack:
        for hand in hands:
            stack.enter_context(hand)
        for part in parts:
            dealt = (part.digests[:, 1] << np.uint64(depth) >> np.uint64(64 - _DEALT_BITS)).astype(np.uint8)
            ends = np.cumsum(np.bincount(dealt, minlength=len(hands))).tolist()
            batch = part.at(np.argsort(dealt, kind="stable")).to_batch()
            for hand, start, end in zip(hands, [0, *ends], ends, strict=False):
                if end > start:
                    hand.write(batch.slice(start, end - start))
    return hands
