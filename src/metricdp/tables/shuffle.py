"""Rows in an order that tells nothing: sorted by secure random keys, on disk where there are many."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa

from metricdp.exact.bits import source as bits
from metricdp.sources.layout import BATCH_ROWS, in_one_piece
from metricdp.sources.sealed_rows import SealedRows

__all__ = ["shuffled", "shuffled_table"]

_DEALT_BITS = 6
_MOST_BYTES = 1 << 26
"""Of a file that is sorted in memory."""


def shuffled_table(table: pa.Table) -> pa.Table:
    """A table in memory, in a uniformly random order."""
    return in_one_piece(table).take(pa.array(np.argsort(bits().words(table.num_rows), kind="stable")))


def shuffled(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, scratch: Path, most_bytes: int = _MOST_BYTES
) -> Iterator[pa.RecordBatch]:
    """The rows of all batches in a uniformly random order, however many there are.

    Few rows are put in order in memory. Of many it is a sort by random keys, the first bits first: every row is dealt
    to one of 64 files by secure random bits, and each file is then put into a uniformly random order in memory, or
    dealt again where it is too large for that. The files are sealed, because in each the rows still have the order that
    is secret. Within they are Arrow's own, so that every type comes out as it went in.
    """
    first, size = [], 0
    for batch in batches:
        first.append(batch)
        size += batch.get_total_buffer_size()
        if size > most_bytes:
            break
    else:
        yield from shuffled_table(pa.Table.from_batches(first, schema)).to_batches(BATCH_ROWS)
        return
    batches = itertools.chain(first, batches)
    for hand in _dealt(batches, schema, scratch):
        if hand.size <= most_bytes:
            table = shuffled_table(pa.Table.from_batches(hand.read(), schema))
            hand.remove()
            yield from table.combine_chunks().to_batches(BATCH_ROWS)
        else:
            inner = hand.path.with_suffix("")
            inner.mkdir()
            yield from shuffled(hand.read(), schema, inner, most_bytes)
            inner.rmdir()
            hand.remove()


def _dealt(batches: Iterator[pa.RecordBatch], schema: pa.Schema, scratch: Path) -> list[SealedRows]:
    """Deal rows to files at random."""
    hands = [SealedRows(scratch / f"hand{number}.rows", schema) for number in range(1 << _DEALT_BITS)]
    with ExitStack() as stack:
        for hand in hands:
            stack.enter_context(hand)
        for batch in batches:
            drawn = (bits().words(batch.num_rows) >> np.uint64(64 - _DEALT_BITS)).astype(np.uint8)
            dealt = batch.take(pa.array(np.argsort(drawn, kind="stable")))
            ends = np.cumsum(np.bincount(drawn, minlength=len(hands))).tolist()
            for hand, start, end in zip(hands, [0, *ends], ends, strict=False):
                if end > start:
                    hand.write(dealt.slice(start, end - start))
    return hands
