"""Where the batches of a released table go: Parquet, CSV and Arrow files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from metricdp.errors import KindError, OutputError
from metricdp.tables.whole_files import appearing

__all__ = ["Writer", "check_output", "open_sink"]


class Writer(Protocol):
    """What batches are written to."""

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some rows."""
        ...


def check_output(out: Path, source: Path | None, overwrite: bool) -> None:
    """Refuse an output that exists already, is the input, or is of an unknown kind; before any work is done."""
    if out.suffix.lower() not in _WRITERS:
        raise KindError(f"{out.name}: the output ends in one of {', '.join(_WRITERS)}")
    if source is not None and out.resolve() == source.resolve():
        raise OutputError(f"{out.name} is the input: the output must be another file")
    if source is not None and source.is_dir() and source.resolve() in out.resolve().parents:
        raise OutputError(f"{out.name} lies in the folder that is the input: the output must be elsewhere")
    if out.exists() and not overwrite:
        raise OutputError(f"{out.name} exists already; choose another name, or --overwrite")
    if not out.parent.is_dir():
        raise OutputError(f"there is no folder {out.parent}")


@contextmanager
def open_sink(
    out: Path, schema: pa.Schema, metadata: dict[str, str], plain: Iterable[str], overwrite: bool
) -> Iterator[Writer]:
    """Write to a temporary file beside ``out``, and let it appear under its name when the block ends well.

    Args:
        out: the file to make.
        schema: of the batches.
        metadata: what is stored with the schema, where the format can.
        plain: columns of noise, which no dictionary makes smaller.
        overwrite: whether a file of that name may be replaced.
    """
    with (
        appearing(out, overwrite) as temporary,
        _WRITERS[out.suffix.lower()](temporary, schema.with_metadata(metadata), list(plain)) as writer,
    ):
        yield writer


@contextmanager
def _parquet(path: Path, schema: pa.Schema, plain: list[str]) -> Iterator[Any]:
    dictionaries: Any = [name for name in schema.names if name not in plain]
    with pa_parquet.ParquetWriter(path, schema, use_dictionary=dictionaries, compression="snappy") as writer:
        yield writer


@contextmanager
def _csv(path: Path, schema: pa.Schema, plain: list[str]) -> Iterator[Any]:
    with pa_csv.CSVWriter(path, schema.remove_metadata()) as writer:
        yield writer


@contextmanager
def _ipc(path: Path, schema: pa.Schema, plain: list[str]) -> Iterator[Any]:
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
            columns[place] = pa.DictionaryArray.from_arrays(
                indices.cast(column.type.index_type), known, ordered=column.type.ordered
            )
        self._writer.write_batch(pa.record_batch(columns, schema=batch.schema))


_WRITERS = {".parquet": _parquet, ".pq": _parquet, ".csv": _csv, ".arrow": _ipc, ".ipc": _ipc, ".feather": _ipc}
