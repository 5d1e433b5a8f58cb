"""Rows in an order that tells nothing: sorted by secure random keys, on disk where there are many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa

from metricdp.exact.bits import source as bits
from metricdp.tables.sources import BATCH_ROWS

__all__ = ["shuffled", "shuffled_table"]

_DEALT_BITS = 6
_MOST_BYTES = 1 << 26
"""Of a file that is sorted in memory."""


def shuffled_table(table: pa.Table) -> pa.Table:
    """A table in memory, in a uniformly random order."""
    return table.take(pa.array(np.argsort(bits().words(table.num_rows), kind="stable")))


def shuffled(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, scratch: Path, most_bytes: int = _MOST_BYTES
) -> Iterator[pa.RecordBatch]:
    """The rows of all batches in a uniformly random order, however many there are.

    A sort by random keys, the first bits first: every row is dealt to one of 64 files by secure random bits, and each
    file is then put into a uniformly random order in memory, or dealt again where it is too large for that. The files
    are Arrow's own, so that every type comes out as it went in.
    """
    waiting = schema.empty_table()
    for part in _sorted_parts(batches, schema, scratch, most_bytes):
        waiting = pa.concat_tables([waiting, part])
        if waiting.num_rows >= BATCH_ROWS:
            yield from waiting.combine_chunks().to_batches(BATCH_ROWS)
            waiting = schema.empty_table()
    yield from waiting.combine_chunks().to_batches(BATCH_ROWS)


def _sorted_parts(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, scratch: Path, most_bytes: int
) -> Iterator[pa.Table]:
    for hand in _deal(batches, schema, scratch):
        if hand.stat().st_size <= most_bytes:
            with pa.memory_map(str(hand)) as memory, pa.ipc.open_stream(memory) as reader:
                yield shuffled_table(reader.read_all())
        else:
            inner = hand.with_suffix("")
            inner.mkdir()
            yield from _sorted_parts(_read(hand), schema, inner, most_bytes)
            inner.rmdir()
        hand.unlink()


def _deal(batches: Iterator[pa.RecordBatch], schema: pa.Schema, scratch: Path) -> list[Path]:
    """Deal rows to files at random."""
    paths = [scratch / f"hand{number}.rows" for number in range(1 << _DEALT_BITS)]
    with ExitStack() as stack:
        files = [stack.enter_context(pa.OSFile(str(path), "wb")) for path in paths]
        writers = [stack.enter_context(pa.ipc.new_stream(file, schema)) for file in files]
        for batch in batches:
            hands = (bits().words(batch.num_rows) >> np.uint64(64 - _DEALT_BITS)).astype(np.uint8)
            dealt = batch.take(pa.array(np.argsort(hands, kind="stable")))
            ends = np.cumsum(np.bincount(hands, minlength=len(paths))).tolist()
            for writer, start, end in zip(writers, [0, *ends], ends, strict=False):
                if end > start:
                    writer.write_batch(dealt.slice(start, end - start))
    return paths


def _read(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(str(path)) as memory, pa.ipc.open_stream(memory) as reader:
        yield from reader
