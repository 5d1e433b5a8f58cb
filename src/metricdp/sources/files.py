"""Files and folders as tables: Parquet, Arrow, and CSV, also compressed and from standard input."""

from __future__ import annotations

import gzip
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from metricdp.errors import ArgumentError, FileError
from metricdp.sources.csv_files import CsvFile
from metricdp.sources.dialect import Untyped
from metricdp.sources.engines.duckdb import counted_parquet
from metricdp.sources.file_kinds import STANDARD, kind_of_file
from metricdp.sources.scrubbing import unreadable
from metricdp.sources.sealed_rows import SealedBytes
from metricdp.sources.table import Declared, OpenTable
from metricdp.sources.whole_files import scratch_folder

__all__ = ["open_path"]

_Read = Callable[[list[str] | None], Iterator[pa.RecordBatch]]


def open_path(source: str | Path, declared: Declared) -> OpenTable:
    """Open a file by what its name says; ``"-"`` is a CSV file on standard input."""
    if str(source) == STANDARD:
        return _of_standard_input(declared)
    path = Path(source)
    if not path.exists():
        raise FileError(f"there is no {path}")
    if path.is_dir():
        return _of_folder(path, declared)
    kind = kind_of_file(path)
    opened = _OPENERS.get(kind)
    if opened is None:
        raise ArgumentError(
            f"{path.name}: a .parquet, .csv, .csv.gz or .arrow file, or a folder of Parquet parts, is wanted"
        )
    try:
        return opened(path, declared)
    except PermissionError:
        raise FileError(f"{path.name} may not be read: no permission") from None
    except FileError:
        raise
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error):
        raise unreadable(path.name, kind[1:]) from None


def _of_parquet(path: Path, declared: Declared) -> OpenTable:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        # Ranges read ahead are kept until the reader is closed, so with pre_buffer memory would grow with the file.
        with pa_parquet.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(declared.batch_rows, columns=columns):
                # By name: of a nested column, pyarrow takes what begins with it too.
                yield batch if columns is None else batch.select(columns)

    with pa_parquet.ParquetFile(path) as file:
        counted = _counted(path, file.schema_arrow, declared, read)
        return OpenTable(file.schema_arrow, file.metadata.num_rows, read, path, counted=counted)


def _counted(path: Path, schema: pa.Schema, declared: Declared, read: _Read) -> Any:
    """How DuckDB counts the file; None where it would give columns other names, since capitals do not count for it."""
    if len({name.lower() for name in schema.names}) < len(schema.names):
        return None
    return partial(counted_parquet, path, declared.types, read)


def _of_folder(path: Path, declared: Declared) -> OpenTable:
    """Parquet parts; what the names of partition folders say is text, whose type the policy declares."""
    import pyarrow.dataset as pa_dataset  # it loads pandas, which no other source needs

    try:
        keys = _partition_keys(path)
        schema = pa.schema([(key, pa.string()) for key in keys])
        dataset = pa_dataset.dataset(
            path, format="parquet", partitioning=pa_dataset.partitioning(schema, flavor="hive")
        )
        rows = dataset.count_rows()
        other = _part_of_another_schema(dataset, keys) if dataset.files else None
    except (pa.ArrowException, OSError):
        raise FileError(f"{_named(path)} is not a folder of Parquet parts of one schema") from None
    if not dataset.files:
        raise FileError(f"{_named(path)} holds no Parquet parts")
    if other is not None:
        raise FileError(
            f"{_named(path)}: its parts have columns of other names or types, {other[0]} others than {other[1]}; write "
            "all of them with one schema"
        )

    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        options = pa_dataset.ParquetFragmentScanOptions(pre_buffer=False)  # see _of_parquet
        few = {"batch_readahead": 4, "fragment_readahead": 1, "fragment_scan_options": options}
        return iter(dataset.to_batches(columns=columns, batch_size=declared.batch_rows, **few))

    counted = _counted(path, dataset.schema, declared, read)
    return OpenTable(dataset.schema, rows, read, path, untyped=Untyped(frozenset(keys)), counted=counted)


def _part_of_another_schema(dataset: Any, keys: list[str]) -> tuple[str, str] | None:
    """A part whose columns are not those of the first, and the first; pyarrow would round or fill in what differs.

    A part may have no type for a column in which it has no value.
    """
    first: dict[str, pa.DataType] | None = None
    for part in dataset.get_fragments():
        types = {field.name: field.type for field in part.physical_schema if field.name not in keys}
        first = types if first is None else first
        if types.keys() != first.keys() or any(not (pa.types.is_null(types[x]) or types[x] == first[x]) for x in first):
            return Path(part.path).name, Path(dataset.files[0]).name
    return None


def _named(path: Path) -> str:
    return path.name or str(path)


def _partition_keys(path: Path) -> list[str]:
    """The columns in the names of folders, such as ward in ``ward=1/part.parquet``."""
    from urllib.parse import unquote

    names: dict[str, None] = {}
    for part in path.rglob("*.parquet"):
        folders = part.relative_to(path).parts[:-1]
        names |= dict.fromkeys(unquote(folder.partition("=")[0]) for folder in folders if "=" in folder)
    return list(names)


def _of_ipc(path: Path, declared: Declared) -> OpenTable:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(str(path)) as memory, pa.ipc.open_file(memory) as file:
            for number in range(file.num_record_batches):
                batch = file.get_batch(number)
                batch.validate(full=True)  # of a damaged file, lengths and offsets may point anywhere
                for start in range(0, batch.num_rows, declared.batch_rows):
                    part = batch.slice(start, declared.batch_rows)
                    yield part if columns is None else part.select(columns)

    with pa.memory_map(str(path)) as memory, pa.ipc.open_file(memory) as file:
        rows = sum(file.get_batch(number).num_rows for number in range(file.num_record_batches))
        return OpenTable(file.schema, rows, read, path)


def _of_csv(path: Path, declared: Declared) -> OpenTable:
    """CSV has no types: all is text, and the policy says what it means."""
    compressed = kind_of_file(path).endswith(".gz")
    return _of_text(CsvFile(path, declared.dialect, partial(_unpacked, path) if compressed else None), path, declared)


def _unpacked(path: Path) -> BinaryIO:
    return gzip.open(path, "rb")  # type: ignore[return-value]


@dataclass
class _TextRows:
    """Reads the rows of a text file: the first reader goes on where the header ended, whoever reads again begins anew.

    What has begun stays in this process: a copy for another one, as Spark makes, begins anew.
    """

    file: CsvFile
    names: list[str]
    batch_rows: int
    begun: list[Any]

    def __call__(self, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        chosen = self.names if columns is None else columns
        try:
            rows = self.begun.pop()
        except IndexError:
            return self.file.read(self.names, chosen, self.batch_rows)
        return self.file.read(self.names, chosen, self.batch_rows, rows)

    def close(self) -> None:
        """Close what nobody read."""
        for rows in self.begun:
            rows.close()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"begun": []}


def _of_text(file: CsvFile, path: Path | None, declared: Declared) -> OpenTable:
    names, begun = file.begin()
    rows = _TextRows(file, names, declared.batch_rows, [begun])
    schema = pa.schema([(name, pa.string()) for name in names])
    untyped = Untyped(frozenset(names), declared.dialect)
    return OpenTable(schema, None, rows, path, untyped=untyped, release=rows.close)


def _of_standard_input(declared: Declared) -> OpenTable:
    """A CSV file on standard input, written down once, sealed, so that it can be read again."""
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder(Path(tempfile.gettempdir())))
        content = SealedBytes(folder / "input.csv")
        with content.written() as spool:
            while block := sys.stdin.buffer.read(1 << 20):
                spool.write(block)
        file = CsvFile(Path("standard input"), declared.dialect, content.opened)
        opened = _of_text(file, None, declared)
        stack.callback(opened.release)
        return replace(opened, release=stack.pop_all().close)


_OPENERS: dict[str, Callable[[Path, Declared], OpenTable]] = {
    ".parquet": _of_parquet,
    ".pq": _of_parquet,
    ".csv": _of_csv,
    ".tsv": _of_csv,
    ".csv.gz": _of_csv,
    ".tsv.gz": _of_csv,
    ".arrow": _of_ipc,
    ".ipc": _of_ipc,
    ".feather": _of_ipc,
}
