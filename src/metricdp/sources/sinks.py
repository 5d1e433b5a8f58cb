"""Where the batches of a released table go: Parquet, CSV and Arrow files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from metricdp.errors import ArgumentError, FileError
from metricdp.sources.dialect import Dialect
from metricdp.sources.file_kinds import STANDARD, kind_of_file
from metricdp.sources.layout import BATCH_ROWS, EvenWriter, too_many_words
from metricdp.sources.whole_files import appearing, check_output, standard_output

__all__ = ["Writer", "can_hold", "check_table_output", "open_sink", "write_file"]


class Writer(Protocol):
    """What batches are written to."""

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some rows."""
        ...


def check_table_output(out: Path, source: Path | None, overwrite: bool) -> None:
    """Refuse an output that exists already, is the input, or is of an unknown kind; before any work is done."""
    if kind_of_file(out) not in _WRITERS:
        raise ArgumentError(f"{out.name}: the output ends in one of {', '.join(_WRITERS)}")
    if str(out) != STANDARD:
        check_output(out, overwrite, source)


@contextmanager
def open_sink(
    out: Path,
    schema: pa.Schema,
    metadata: dict[str, str],
    noise: Mapping[str, bool],
    overwrite: bool,
    dialect: Dialect | None = None,
    rows: int = BATCH_ROWS,
) -> Iterator[Writer]:
    """Write to a temporary file beside ``out``, and let it appear under its name when the block ends well.

    Args:
        out: the file to make.
        schema: of the batches.
        metadata: what is stored with the schema, where the format can.
        noise: columns and fields that no dictionary makes smaller, and whether compression hardly does either.
        overwrite: whether a file of that name may be replaced.
        dialect: how a CSV file writes its values.
        rows: of a row group or batch.
    """
    place = standard_output() if str(out) == STANDARD else appearing(out, overwrite)
    with place as temporary, write_file(temporary, schema, metadata, noise, dialect, rows) as writer:
        yield writer


@contextmanager
def write_file(
    path: Path,
    schema: pa.Schema,
    metadata: dict[str, str],
    noise: Mapping[str, bool],
    dialect: Dialect | None = None,
    rows: int = BATCH_ROWS,
) -> Iterator[Writer]:
    """Write a file whose name ends in its kind, with row groups and batches of one size whatever the rows come in."""
    form = _WRITERS[kind_of_file(path)]
    with form(path, schema.with_metadata(metadata), noise, dialect or Dialect()) as writer:
        even = EvenWriter(writer, schema, rows)
        yield even
        even.finish()


@contextmanager
def _parquet(path: Path, schema: pa.Schema, noise: Mapping[str, bool], dialect: Dialect) -> Iterator[Any]:
    dictionaries, statistics, compression = [], [], {}
    for leaf in (leaf for field in schema for leaf in _leaves(field.name, field.type)):
        fine = next((fine for name, fine in noise.items() if f"{leaf}.".startswith(f"{name}.")), None)
        compression[leaf] = "none" if fine else "snappy"
        if fine is None:
            dictionaries.append(leaf)
        if _IN_A_LIST not in leaf:  # no reader passes over rows by what is least in their lists
            statistics.append(leaf)
    options: dict[str, Any] = {"use_dictionary": dictionaries, "write_statistics": statistics}
    with pa_parquet.ParquetWriter(path, schema, compression=compression or "none", **options) as writer:
        yield writer


_IN_A_LIST = ".list.element"


def _leaves(path: str, arrow: pa.DataType) -> Iterator[str]:
    """The columns that Parquet stores a column in, as it calls them."""
    if pa.types.is_struct(arrow):
        for field in arrow:
            yield from _leaves(f"{path}.{field.name}", field.type)
    elif pa.types.is_map(arrow):
        yield from _leaves(f"{path}.key_value.key", arrow.key_type)
        yield from _leaves(f"{path}.key_value.value", arrow.item_type)
    elif pa.types.is_nested(arrow):
        yield from _leaves(f"{path}{_IN_A_LIST}", arrow.value_type)
    else:
        yield path


@contextmanager
def _csv(path: Path, schema: pa.Schema, noise: Mapping[str, bool], dialect: Dialect) -> Iterator[Any]:
    delimiter = dialect.delimiter or ","
    # Arrow does not ask whether the delimiter stands in a number or a moment.
    quoting: Literal["needed", "all_valid"] = "all_valid" if delimiter in " :-+" else "needed"
    options = pa_csv.WriteOptions(delimiter=delimiter, quoting_style=quoting)
    commas = [place for place, field in enumerate(schema) if dialect.decimal == "," and _has_point(field.type)]
    written = schema.remove_metadata()
    for place in commas:
        written = written.set(place, pa.field(schema.names[place], pa.string()))
    with ExitStack() as stack:
        file: Any = path
        if kind_of_file(path).endswith(".gz"):
            file = stack.enter_context(pa.CompressedOutputStream(str(path), "gzip"))  # without a name or a time in it
        writer = stack.enter_context(pa_csv.CSVWriter(file, written, write_options=options))
        yield _Commas(writer, written, commas) if commas else writer


def _has_point(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_floating(arrow) or pa.types.is_decimal(arrow))


class _Commas:
    """Writes numbers with a comma before their decimals."""

    def __init__(self, writer: Any, schema: pa.Schema, commas: list[int]) -> None:
        self._writer, self._schema, self._commas = writer, schema, commas

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some rows."""
        columns = list(batch.columns)
        for place in self._commas:
            columns[place] = pc.replace_substring(columns[place].cast(pa.string()), ".", ",")
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))


@contextmanager
def _ipc(path: Path, schema: pa.Schema, noise: Mapping[str, bool], dialect: Dialect) -> Iterator[Any]:
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema, options=options) as writer:
        yield _OneDictionary(writer, schema)


class _OneDictionary:
    """Writes dictionary columns over one dictionary that grows: an Arrow file holds no other kind."""

    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self._writer = writer
        self._known = {
            place: pa.array([], field.type.value_type)
            for place, field in enumerate(schema)
            if pa.types.is_dictionary(field.type)
        }

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some rows."""
        columns = list(batch.columns)
        for place, known in self._known.items():
            column = columns[place]
            new = column.dictionary.filter(pc.index_in(column.dictionary, value_set=known).is_null())
            self._known[place] = known = pa.concat_arrays([known, new.drop_null()])
            indices = pc.index_in(column.dictionary, value_set=known).take(column.indices)
            try:
                indices = indices.cast(column.type.index_type)
            except pa.ArrowException:
                raise too_many_words(batch.schema.names[place], column.type) from None
            columns[place] = pa.DictionaryArray.from_arrays(indices, known, ordered=column.type.ordered)
        try:
            self._writer.write_batch(pa.record_batch(columns, schema=batch.schema))
        except pa.ArrowInvalid:  # of dictionaries inside lists and structs, which cannot grow here
            raise FileError(
                "an Arrow file of so many rows cannot hold dictionaries inside lists or structs; write a .parquet file"
            ) from None


_WRITERS = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".csv": _csv,
    ".csv.gz": _csv,
    ".arrow": _ipc,
    ".ipc": _ipc,
    ".feather": _ipc,
}


def can_hold(kind: str, field: pa.Field) -> bool:
    """Whether the writer of such files takes a column of this type: tried with a row that holds nothing."""
    table = pa.table([pa.nulls(1, field.type)], schema=pa.schema([field]))
    write = _TRIED.get(kind.removesuffix(".gz"))
    try:
        if write is not None:
            write(table)
    except (pa.ArrowException, OSError, TypeError, ValueError):
        return False
    return True


def _try_csv(table: pa.Table) -> None:
    """Bytes that are not text would make a file that nobody can read."""
    kind = table.schema.types[0]
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_binary(inner) or pa.types.is_large_binary(inner) or pa.types.is_fixed_size_binary(inner):
        raise TypeError
    pa_csv.write_csv(table, io.BytesIO())


def _try_parquet(table: pa.Table) -> None:
    pa_parquet.write_table(table, io.BytesIO())


_TRIED: dict[str, Callable[[pa.Table], None]] = {".csv": _try_csv, ".parquet": _try_parquet, ".pq": _try_parquet}
