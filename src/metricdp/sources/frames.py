"""Frames as tables, some rows at a time, in types that are declared: by the frame, or by the policy.

A column of Python objects declares nothing. Its values are then taken as the policy's type and no other, so that what a
column is never depends on what stands in it; and what comes back is of that type too.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from weakref import WeakSet

import numpy as np
import pyarrow as pa

from metricdp.errors import ArgumentError, ColumnError, DataError, KindError, NotFiniteError
from metricdp.sources.dialect import Untyped
from metricdp.sources.released_frames import to_pandas, to_polars
from metricdp.sources.table import Declared, OpenTable
from metricdp.sources.texts import FLOAT

__all__ = ["open_frame"]


def open_frame(source: Any, declared: Declared) -> OpenTable | None:
    """Open a pandas or Polars frame, also a lazy one, or an Arrow table, batch or reader; None for anything else."""
    if isinstance(source, pa.Table):
        return _of_table(source, declared)
    if isinstance(source, pa.RecordBatch):
        return _of_table(pa.Table.from_batches([source]), declared)
    if isinstance(source, pa.RecordBatchReader):
        return _of_reader(source, declared)
    if hasattr(source, "collect_batches"):  # a lazy frame of Polars
        return _of_lazy(source, declared)
    if hasattr(source, "to_arrow") and hasattr(source, "get_columns"):  # polars
        return _of_polars(source, declared)
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # pandas
        return _of_pandas(source, declared)
    return None


def _of_table(table: pa.Table, declared: Declared) -> OpenTable:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        chosen = table if columns is None else table.select(columns)
        return iter(chosen.to_batches(declared.batch_rows))

    return OpenTable(table.schema, table.num_rows, read)


_STARTED: WeakSet[pa.RecordBatchReader] = WeakSet()
"""Streams that somebody has begun to read."""


def _of_reader(reader: pa.RecordBatchReader, declared: Declared) -> OpenTable:
    """A stream that comes once; who wants it twice spools it."""

    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        if reader in _STARTED:  # it would seem to be empty
            raise ArgumentError("a stream of batches can be read once, and this one has been; give a table")
        _STARTED.add(reader)
        for batch in reader:
            for start in range(0, batch.num_rows, declared.batch_rows):
                part = batch.slice(start, declared.batch_rows)
                yield part if columns is None else part.select(columns)

    return OpenTable(reader.schema, None, read, once=True)


def _of_pandas(frame: Any, declared: Declared) -> OpenTable:
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise KindError("two columns of the frame have one name")
    columns = _Columns(declared, _of_series)

    def read(chosen: list[str] | None) -> Iterator[pa.RecordBatch]:
        places = [(names.index(name), name) for name in (names if chosen is None else chosen)]
        for start in range(0, len(frame), declared.batch_rows):
            part = frame.iloc[start : start + declared.batch_rows]
            yield columns.batch([(name, part.iloc[:, place]) for place, name in places], start)

    empty = frame.iloc[:0]
    return _opened(
        columns.schema([(name, empty.iloc[:, place]) for place, name in enumerate(names)]),
        len(frame),
        read,
        columns,
        lambda released: to_pandas(released, frame, declared),
    )


def _of_polars(frame: Any, declared: Declared) -> OpenTable:
    columns = _Columns(declared, _of_polars_series)

    def read(chosen: list[str] | None) -> Iterator[pa.RecordBatch]:
        names = frame.columns if chosen is None else chosen
        for start in range(0, frame.height, declared.batch_rows):
            part = frame.slice(start, declared.batch_rows)
            yield columns.batch([(name, part.get_column(name)) for name in names], start)

    schema = columns.schema([(series.name, series) for series in frame.clear().get_columns()])
    kind = type(frame)
    return _opened(schema, frame.height, read, columns, lambda released: to_polars(released, kind))


def _of_lazy(frame: Any, declared: Declared) -> OpenTable:
    """A lazy frame is computed each time it is read, some rows at a time."""
    columns = _Columns(declared, _of_polars_series)
    names = frame.collect_schema().names()

    def read(chosen: list[str] | None) -> Iterator[pa.RecordBatch]:
        wanted, start = (names if chosen is None else chosen), 0
        for part in frame.select(wanted).collect_batches(chunk_size=declared.batch_rows):
            yield columns.batch([(name, part.get_column(name)) for name in wanted], start)
            start += part.height

    schema = columns.schema([(series.name, series) for series in frame.clear().collect().get_columns()])
    lazy = type(frame)
    return replace(_opened(schema, None, read, columns, lambda released: to_polars(released, lazy)), stable=False)


def _opened(
    schema: pa.Schema,
    rows: int | None,
    read: Callable[[list[str] | None], Iterator[pa.RecordBatch]],
    columns: _Columns,
    like: Callable[[pa.Table], Any],
) -> OpenTable:
    if not len(schema):
        raise KindError("the frame has no columns")
    return OpenTable(
        schema, rows, read, like=like, untyped=Untyped(frozenset(columns.text)), unreadable=columns.unreadable
    )


_NOT_OF_ITS_TYPE = KindError("its values are not of the type of the column; cast it")


class _Columns:
    """Columns of a frame as Arrow arrays, under what the policy declares.

    Args:
        declared: the types of columns that are Python objects.
        typed: gives a column in its own type, or None where it has none.
    """

    def __init__(self, declared: Declared, typed: Callable[[Any], pa.Array | None]) -> None:
        self._declared, self._typed = declared, typed
        self.text: set[str] = set()
        self.unreadable: dict[str, ColumnError] = {}

    def schema(self, columns: list[tuple[str, Any]]) -> pa.Schema:
        """The types of columns without a value; those that cannot be read have none, and are refused when they are."""
        fields = []
        for name, column in columns:
            try:
                array = self._typed(column)
                kind = self._of_objects(name) if array is None else array.type
                if array is None and kind == pa.string() and name in self._declared.types:
                    self.text.add(name)
            except Exception as error:  # of any library
                kind = pa.null()
                self.unreadable[name] = ColumnError(name, error if isinstance(error, DataError) else _NOT_OF_ITS_TYPE)
            fields.append((name, kind))
        return pa.schema(fields)

    def batch(self, columns: list[tuple[str, Any]], first: int) -> pa.RecordBatch:
        """Some rows, of which the first is row ``first`` of the frame."""
        arrays = [self._array(name, column, first) for name, column in columns]
        return pa.record_batch(arrays, names=[name for name, _ in columns])

    def _array(self, name: str, column: Any, first: int) -> pa.Array:
        try:
            array = self._typed(column)
            return self._objects(name, column.to_list()) if array is None else array
        except DataError as error:
            raise ColumnError(name, error.shifted(first)) from None
        except Exception:  # of any library: its message may hold a value
            raise ColumnError(name, _NOT_OF_ITS_TYPE) from None

    def _of_objects(self, name: str) -> pa.DataType:
        """What a column of Python objects comes as: lists as lists, all else as text."""
        declared = self._declared.types.get(name, pa.string())
        return declared if pa.types.is_list(declared) else pa.string()

    def _objects(self, name: str, values: Sequence[Any]) -> pa.Array:
        declared = self._declared.types.get(name, pa.string())
        if pa.types.is_list(declared):
            return _lists(values, declared)
        return pa.array(_texts(values, _writer(declared)), pa.string())


def _of_polars_series(series: Any) -> pa.Array | None:
    """A column of Polars in its own type; None for objects."""
    import polars

    if series.dtype == polars.Object:
        return None
    try:
        array = series.to_arrow()
    except Exception:  # Arrow has no integers of 128 bits
        raise KindError(f"columns of {series.dtype.base_type()} cannot be taken; cast it first") from None
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _of_series(series: Any) -> pa.Array | None:
    """A column of pandas in the type that its dtype declares; None for objects."""
    import pandas

    dtype = series.dtype
    if dtype == np.dtype(object):
        return None
    if isinstance(dtype, pandas.CategoricalDtype):
        return _categorical(series)
    if isinstance(dtype, np.dtype):
        if dtype.kind not in "biufMm" or dtype.itemsize > 8:
            raise KindError(f"columns of {dtype.name} cannot be taken; convert it first")
        native = dtype.newbyteorder("=")
        return pa.array(series.to_numpy().astype(native), pa.from_numpy_dtype(native), from_pandas=True)
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return pa.array(series, pa.timestamp(dtype.unit, str(dtype.tz)), from_pandas=True)
    if isinstance(dtype, pandas.ArrowDtype):
        array = pa.array(series, dtype.pyarrow_dtype)
    elif isinstance(dtype, pandas.StringDtype):
        array = pa.array(series, pa.string(), from_pandas=True)
    elif hasattr(dtype, "numpy_dtype") and dtype.numpy_dtype.kind in "biuf":  # with a mask, such as Int64
        array = pa.array(series, pa.from_numpy_dtype(dtype.numpy_dtype))
    else:
        raise KindError(f"columns of {type(dtype).__name__} cannot be taken; convert it first")
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _categorical(series: Any) -> pa.Array:
    """Places in a list of words; how many words there are does not show in the type."""
    words = series.cat.categories
    if words.dtype == np.dtype(object):
        listed = pa.array(_texts(words.tolist(), _words), pa.string())
    else:
        listed = _of_series(words.to_series())
    codes = series.cat.codes.to_numpy().astype(np.int32)
    places = pa.array(codes, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(places, listed, ordered=bool(series.cat.ordered))


def _lists(values: Sequence[Any], declared: pa.DataType) -> pa.Array:
    plain: list[Any] = []
    for row, value in enumerate(values):
        if _is_missing(value):
            plain.append(None)
        elif isinstance(value, list | tuple | set | frozenset) or (isinstance(value, np.ndarray) and value.ndim == 1):
            plain.append(list(value))
        else:
            raise KindError("a list is wanted", row)
    try:
        return pa.array(plain, declared)
    except Exception:  # its message may hold a value
        pass
    for row, value in enumerate(plain):
        try:
            pa.array([value], declared)
        except Exception:
            raise KindError(f"a list of {declared.value_type} is wanted", row) from None
    raise KindError(f"lists of {declared.value_type} are wanted")


def _texts(values: Sequence[Any], write: Callable[[Any], str | None]) -> list[str | None]:
    texts: list[str | None] = []
    for row, value in enumerate(values):
        try:
            texts.append(None if _is_missing(value) else write(value))
        except DataError as error:
            raise type(error)(error.rule, row) from None
    return texts


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    if isinstance(value, float | Decimal | np.floating):
        return bool(value != value) if not isinstance(value, Decimal) else value.is_nan()
    return type(value).__name__ in ("NAType", "NaTType")


def _words(value: Any) -> str:
    if not isinstance(value, str):
        raise KindError("a column of Python objects is kept or read as text, and this is none; convert it first")
    return str(value)


def _numbers(value: Any) -> str:
    """A number as text: floats in base 16, so that none is rounded."""
    if isinstance(value, str) and not value.startswith(FLOAT):
        return str(value)
    if isinstance(value, bool | np.bool_):
        raise KindError("a number is wanted, not true or false")
    if isinstance(value, int | np.integer):
        return _short(int(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        if number != value and not math.isinf(number):
            raise KindError("a number is wanted that 64 bits hold")
        if math.isinf(number):
            raise NotFiniteError("a finite number is wanted, not NaN or infinity")
        return FLOAT + number.hex()
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise NotFiniteError("a finite number is wanted, not NaN or infinity")
        return str(value)
    raise KindError("a number is wanted")


def _whole_numbers(value: Any) -> str:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer | str):
        raise KindError('a whole number is wanted; for others declare type = "number"')
    return str(value) if isinstance(value, str) else _short(int(value))


def _short(number: int) -> str:
    """A number in digits; of one with thousands of digits, enough to be refused."""
    return str(number) if abs(number) < 10**100 else "9" * 100


def _moments(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if not isinstance(value, dt.date):
        raise KindError("a date or a datetime is wanted")
    return value.isoformat()


def _times_of_day(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if not isinstance(value, dt.time) or value.tzinfo is not None:
        raise KindError("a time of day without a time zone is wanted")
    return value.isoformat()


def _booleans(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    raise KindError("true or false is wanted")


def _writer(declared: pa.DataType) -> Callable[[Any], str]:
    """How values of a declared type are written as text."""
    return _numbers if pa.types.is_decimal(declared) else _WRITERS.get(declared, _words)


_WRITERS: dict[pa.DataType, Callable[[Any], str]] = {
    pa.float64(): _numbers,
    pa.int64(): _whole_numbers,
    pa.date32(): _moments,
    pa.timestamp("us"): _moments,
    pa.time64("us"): _times_of_day,
    pa.bool_(): _booleans,
}
