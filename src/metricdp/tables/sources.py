"""Where a table comes from: files, folders, frames and databases, all read as Arrow batches, again and again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet

from metricdp.errors import ColumnError, InputError, KindError, OutOfDomainError
from metricdp.tables.policy import Policy

__all__ = ["BATCH_ROWS", "Source", "open_source"]

BATCH_ROWS = 1 << 17


@dataclass(frozen=True)
class Source:
    """A table that can be read more than once.

    Attributes:
        schema: its columns.
        rows: how many there are, where that is known without reading them.
        read: reads it from the beginning, some columns or all.
        path: the file or folder it is, if it is one.
        like: turns an Arrow table into what the source was, for results that stay in memory.
        stable: whether its rows come in the same order each time it is read.
    """

    schema: pa.Schema
    rows: int | None
    read: Callable[[list[str] | None], Iterator[pa.RecordBatch]]
    path: Path | None = None
    like: Callable[[pa.Table], Any] = lambda table: table
    stable: bool = True

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in order, in batches; an error of the reader names the place and never a value."""
        reader = None
        while True:
            try:
                reader = self.read(columns) if reader is None else reader
                batch = next(reader, None)
            except Exception as error:  # of any library: its message may hold a value
                raise _unreadable(error, self.schema) from None
            if batch is None:
                return
            yield batch


def open_source(source: Any, policy: Policy) -> Source:
    """Open a path, an Arrow table, a DuckDB relation, or a pandas or Polars frame."""
    if isinstance(source, (str, Path)):
        return _open_path(Path(source), policy)
    if isinstance(source, pa.Table):
        return _of_table(source, lambda table: table)
    if hasattr(source, "to_arrow_reader") or hasattr(source, "fetch_arrow_reader"):  # a DuckDB relation
        return _of_relation(source)
    if hasattr(source, "to_arrow"):  # polars
        kind = type(source)
        return _of_table(source.to_arrow(), lambda table: _polars_like(kind, table))
    if hasattr(source, "iloc"):  # pandas
        return _of_pandas(source, policy)
    raise KindError(f"a path, an Arrow table, a DuckDB relation or a frame is wanted, not {type(source).__name__}")


def _open_path(path: Path, policy: Policy) -> Source:
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    if path.is_dir():
        return _of_folder(path)
    suffix = path.suffix.lower()
    try:
        if suffix in (".parquet", ".pq"):
            return _of_parquet(path)
        if suffix in (".csv", ".tsv"):
            return _of_csv(path, policy)
        if suffix in (".arrow", ".ipc", ".feather"):
            return _of_ipc(path)
    except PermissionError:
        raise InputError(f"{path.name} may not be read: no permission") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise InputError(f"{path.name} cannot be read as {suffix[1:]}: it is damaged, or something else") from None
    raise KindError(f"{path.name}: a .parquet, .csv or .arrow file, or a folder of Parquet parts, is wanted")


def _of_parquet(path: Path) -> Source:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        # Ranges read ahead are kept until the reader is closed, so with pre_buffer memory would grow with the file.
        with pa_parquet.ParquetFile(path, pre_buffer=False) as file:
            yield from file.iter_batches(BATCH_ROWS, columns=columns)

    with pa_parquet.ParquetFile(path) as file:
        return Source(file.schema_arrow, file.metadata.num_rows, read, path)


def _of_folder(path: Path) -> Source:
    """Parquet parts; what the names of partition folders say is a column like any other."""
    try:
        dataset = pa_dataset.dataset(path, format="parquet", partitioning="hive")
        rows = dataset.count_rows()
        if not dataset.files:
            raise OSError
    except (pa.ArrowException, OSError):
        raise InputError(f"{path.name} is not a folder of Parquet parts of one schema") from None

    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        options = pa_dataset.ParquetFragmentScanOptions(pre_buffer=False)  # see _of_parquet
        few = {"batch_readahead": 4, "fragment_readahead": 1, "fragment_scan_options": options}
        return iter(dataset.to_batches(columns=columns, batch_size=BATCH_ROWS, **few))

    return Source(dataset.schema, rows, read, path)


def _of_ipc(path: Path) -> Source:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(str(path)) as memory, pa.ipc.open_file(memory) as file:
            for number in range(file.num_record_batches):
                batch = file.get_batch(number)
                batch.validate(full=True)  # of a damaged file, lengths and offsets may point anywhere
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    part = batch.slice(start, BATCH_ROWS)
                    yield part if columns is None else part.select(columns)

    with pa.memory_map(str(path)) as memory, pa.ipc.open_file(memory) as file:
        rows = sum(file.get_batch(number).num_rows for number in range(file.num_record_batches))
        return Source(file.schema, rows, read, path)


def _of_csv(path: Path, policy: Policy) -> Source:
    """CSV has no types: the policy's are read, so that what a column is never depends on its values."""
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with pa_csv.open_csv(path, parse_options=pa_csv.ParseOptions(delimiter=delimiter)) as reader:
        names = reader.schema.names
    if len(set(names)) < len(names):
        raise InputError(f"{path.name}: two columns have one name")
    declared = {column: item.csv_type for item in policy.treatments for column in item.columns}
    types = {name: declared.get(name, pa.string()) for name in names}

    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        options = pa_csv.ConvertOptions(
            column_types=types, include_columns=columns or names, strings_can_be_null=True, null_values=[""]
        )
        with pa_csv.open_csv(
            path,
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=1 << 23),
            parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=options,
        ) as reader:
            yield from reader

    return Source(pa.schema(list(types.items())), None, read, path)


def _of_table(table: pa.Table, like: Callable[[pa.Table], Any]) -> Source:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        chosen = table if columns is None else table.select(columns)
        return iter(chosen.to_batches(BATCH_ROWS))

    return Source(table.schema, table.num_rows, read, like=like)


def _of_relation(relation: Any) -> Source:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        chosen = relation if columns is None else relation.select(*map(_quoted, columns))
        opener = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_arrow_reader
        return iter(opener(BATCH_ROWS))

    opener = getattr(relation.limit(0), "to_arrow_reader", None) or relation.limit(0).fetch_arrow_reader
    return Source(opener(1).schema, None, read, stable=False)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _of_pandas(frame: Any, policy: Policy) -> Source:
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError):
        raise KindError("a column of the frame holds values of several types, or two columns have one name") from None
    declared = {column: item.csv_type for item in policy.treatments for column in item.columns}
    untyped = {field.name for field in table.schema if pa.types.is_null(field.type)}  # without a single value
    table = table.cast(
        pa.schema([(f.name, declared.get(f.name, f.type) if f.name in untyped else f.type) for f in table.schema])
    )
    nullable = {name: dtype for name, dtype in frame.dtypes.items() if _is_nullable(dtype)}

    def like(released: pa.Table) -> Any:
        return released.to_pandas().astype({name: nullable[name] for name in released.column_names if name in nullable})

    return _of_table(table, like)


def _is_nullable(dtype: Any) -> bool:
    """Whether it is a type with a mask, such as Int64, which Arrow's column alone does not tell."""
    return hasattr(dtype, "numpy_dtype") or dtype == "string"


def _polars_like(kind: Any, table: pa.Table) -> Any:
    import polars

    frame = polars.from_arrow(table)
    return frame if isinstance(frame, kind) else kind(frame)


def _unreadable(error: Exception, schema: pa.Schema) -> InputError:
    """What a reader's error says of the place, without what it says of the value."""
    text = str(error)
    column, row = re.search(r"column #(\d+)", text), re.search(r"[Rr]ow #(\d+)", text)
    number = int(row[1]) - 2 if row else None  # the header is line 1, and rows count from 0
    if column:
        name = schema.names[int(column[1])]
        rule = f"a value is not of the type that the policy declares, {schema.field(name).type}"
        return ColumnError(name, OutOfDomainError(rule, number))
    if "UTF8" in text or "utf-8" in text:
        return InputError("the file holds bytes that are not text in UTF-8")
    if "CSV" in text:
        return InputError("a row has another number of fields than the header, or a quote is not closed", number)
    return InputError("the file is damaged: it cannot be read to its end")
