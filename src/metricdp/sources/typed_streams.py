"""The batches of a table as a stream that engines read, in types that they know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metricdp.errors import ColumnError, DataError, KindError, MetricDPError
from metricdp.sources.table import OpenTable
from metricdp.sources.texts import typed

__all__ = ["TypedStream"]

_KEPT = 1 << 26
"""Bytes of rows that are kept in memory after the first reading, so that a table of that size is parsed once."""


class TypedStream:
    """Rows of some columns in types that engines know, with their numbers, from the beginning whenever they are wanted.

    Args:
        table: where they come from.
        types: the columns, with the types of those that the source gives none.

    Attributes:
        error: why the rows ended before their end, where they did: an engine would tell it with its values.
    """

    ROW = "__metricdp_row"
    """The column with the numbers of rows."""

    def __init__(self, table: OpenTable, types: Mapping[str, pa.DataType]) -> None:
        self._table = table.only(list(types))
        self._readers = {name: self._reader(self._table.schema.field(name), types[name]) for name in types}
        empty = {name: pa.nulls(0, self._table.schema.field(name).type) for name in types}
        fields = [(name, reader(empty[name]).type) for name, reader in self._readers.items()]
        self.schema = pa.schema([*fields, (self.ROW, pa.int64())])
        self.error: MetricDPError | None = None
        self._kept: list[pa.RecordBatch] | None = None

    def capsule(self, *, empty: bool = False) -> object:
        """The rows from the beginning, as a stream that can be read once (Arrow's C stream interface).

        Of a reader of pyarrow's own, DuckDB would import ``pyarrow.dataset`` and pandas, which take longer to load
        than a small table to count.

        Args:
            empty: whether to leave out all rows, where only the types are wanted.
        """
        rows = iter(()) if empty else self.batches()
        return pa.RecordBatchReader.from_batches(self.schema, rows).__arrow_c_stream__()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows from the beginning: from the table, or from memory where all of them were kept."""
        if self._kept is not None:
            yield from self._kept
            return
        first, size = 0, 0
        kept: list[pa.RecordBatch] = []
        try:
            for batch in self._table.batches():
                columns = [self._converted(name, batch.column(name), first) for name in self._readers]
                columns.append(_integers(np.arange(first, first + batch.num_rows)))
                made = pa.record_batch(columns, schema=self.schema)
                first, size = first + batch.num_rows, size + made.nbytes
                if size <= _KEPT:
                    kept.append(made)
                else:
                    kept.clear()
                yield made
        except MetricDPError as error:
            self.error = error
            raise
        if size <= _KEPT:
            self._kept = kept

    def _converted(self, name: str, array: pa.Array, first: int) -> pa.Array:
        try:
            return self._readers[name](array)
        except DataError as error:
            raise ColumnError(name, error.shifted(first)) from None
        except Exception:  # of any library: its message may hold a value
            raise ColumnError(name, KindError("a value is not of the type of the column")) from None

    def _reader(self, field: pa.Field, declared: pa.DataType) -> Callable[[pa.Array], pa.Array]:
        untyped = self._table.untyped
        if field.name in untyped.columns or pa.types.is_null(field.type):
            return lambda array: typed(array.cast(pa.string()), declared, untyped.dialect, field.name)
        if pa.types.is_float16(field.type):
            raise ColumnError(field.name, KindError("floats of 16 bits are not read; cast them to more"))
        return _plain


def _integers(values: NDArray[np.int64]) -> pa.Array:
    """The same as ``pa.array``, which would import pandas to see whether it was given a series of its."""
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def _plain(array: pa.Array) -> pa.Array:
    """Without types that engines do not have, or take for others."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(array.storage)
    if pa.types.is_dictionary(kind):
        return _plain(array.dictionary).take(array.indices)
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_decimal256(kind):
        try:
            return array.cast(pa.decimal128(38, kind.scale))
        except pa.ArrowException:
            raise DataError("the column holds numbers of more than 38 digits") from None
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pc.floor_temporal(array, 1, "microsecond").cast(pa.timestamp("us", kind.tz))
    return array
