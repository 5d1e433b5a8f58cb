"""How released rows are laid out: a function of their number, their content and their types, and of nothing else.

How a source was divided, and how many of its rows were cut, would otherwise show in the sizes of row groups and
batches, and in the order of the words of a dictionary.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from metricdp.errors import ColumnError, FileError, OutOfDomainError
from metricdp.sources.plain_arrays import plain_array

__all__ = ["BATCH_ROWS", "EvenWriter", "batch_rows", "in_one_piece", "laid_out", "too_many_words"]

BATCH_ROWS = 1 << 17
"""Rows that are read, released and written at once, where rows are not wide."""

_MOST_VALUES = 1 << 24
"""Of a batch."""


def batch_rows(width: int) -> int:
    """How many rows are read, released and written at once, where each holds so many values.

    >>> batch_rows(10), batch_rows(1000)
    (131072, 16384)
    """
    return min(BATCH_ROWS, 1 << max(0, (_MOST_VALUES // max(width, 1)).bit_length() - 1))


class EvenWriter:
    """Passes rows on in batches of one size, the last one excepted, whatever the sizes in which they come."""

    def __init__(self, writer: Any, schema: pa.Schema, rows: int) -> None:
        self._writer, self._schema, self._rows = writer, schema, rows
        self._waiting: list[pa.RecordBatch] = []
        self._count = 0

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some rows."""
        self._waiting.append(batch)
        self._count += batch.num_rows
        if self._count >= self._rows:
            table = pa.Table.from_batches(self._waiting, self._schema)
            whole = self._count // self._rows * self._rows
            for start in range(0, whole, self._rows):
                self._put(table.slice(start, self._rows))
            self._waiting, self._count = table.slice(whole).to_batches(), self._count - whole

    def finish(self) -> None:
        """Write what is left."""
        if self._count:
            self._put(pa.Table.from_batches(self._waiting, self._schema))
        self._waiting, self._count = [], 0

    def _put(self, table: pa.Table) -> None:
        for batch in laid_out(table).to_batches():
            try:
                self._writer.write_batch(batch)
            except pa.ArrowException:  # whose message holds the value
                raise FileError(
                    "a value of a column that is kept has no place in a file of this kind, such as a moment further "
                    "out than it counts; write an .arrow file"
                ) from None


def laid_out(table: pa.Table) -> pa.Table:
    """The same rows in one piece, with dictionaries that do not tell in which order, or from where, words came."""
    table = in_one_piece(table)
    columns = [
        pa.chunked_array([plain_array(chunk) for chunk in column.chunks], column.type)
        if _has_words(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, schema=table.schema)


def in_one_piece(table: pa.Table) -> pa.Table:
    """The same rows, not divided; but for texts of more than 2 GB, which Arrow divides."""
    pieces = [_whole(name, column) for name, column in zip(table.column_names, table.columns, strict=True)]
    return pa.table(pieces, schema=table.schema)


def _whole(name: str, column: pa.ChunkedArray) -> Any:
    if column.num_chunks == 1:
        return _without_mask(column.chunk(0))
    try:
        return column.combine_chunks()
    except pa.ArrowException:
        raise too_many_words(name, column.type) from None


def _without_mask(array: pa.Array) -> pa.Array:
    """The same without a mask of nulls where there are none, as what is put together of several pieces has none."""
    if array.null_count or pa.types.is_nested(array.type) or pa.types.is_dictionary(array.type):
        return array
    mask, *held = array.buffers()
    return array if mask is None else pa.Array.from_buffers(array.type, len(array), [None, *held], 0, array.offset)


def too_many_words(name: str, arrow: pa.DataType) -> ColumnError:
    """What is said where parts of a column have dictionaries that do not fit into one."""
    rule = f"its parts have more words together than {arrow} can number; make it text, or widen the dictionary"
    return ColumnError(name, OutOfDomainError(rule))


def _has_words(arrow: pa.DataType) -> bool:
    """Whether there is a dictionary in the type, at any depth."""
    if pa.types.is_dictionary(arrow):
        return True
    return any(_has_words(arrow.field(place).type) for place in range(arrow.num_fields))
