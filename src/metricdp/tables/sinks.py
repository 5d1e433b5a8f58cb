"""Where a released table goes: a file that appears whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from metricdp.errors import KindError, OutputError
from metricdp.exact.bits import secure

__all__ = ["Writer", "check_output", "folder_sink", "open_sink", "scratch_folder"]


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
    remove_leftovers(out.parent)
    temporary = out.parent / _temporary_name(out)
    _mine.add(temporary)
    try:
        with _WRITERS[out.suffix.lower()](temporary, schema.with_metadata(metadata), list(plain)) as writer:
            yield writer
        _flush(temporary)
        if overwrite:
            temporary.replace(out)
        else:
            os.link(temporary, out)  # unlike a rename, fails where the name was taken meanwhile
            temporary.unlink()
        _flush(out.parent)
    except FileExistsError:
        raise OutputError(f"{out.name} exists already; choose another name, or --overwrite") from None
    except OSError as error:
        raise OutputError(f"{out.name} could not be written: {error.strerror or 'the disk failed'}") from None
    finally:
        temporary.unlink(missing_ok=True)
        _mine.discard(temporary)


@contextmanager
def folder_sink(out: Path, overwrite: bool) -> Iterator[Path]:
    """A folder to fill, which appears under its name when the block ends well."""
    if not out.parent.is_dir():
        raise OutputError(f"there is no folder {out.parent}")
    with scratch_folder(out.parent) as temporary:
        filled = temporary / "filled"
        filled.mkdir()
        yield filled
        if out.exists():
            if not overwrite:
                raise OutputError(f"{out.name} exists already; choose another name, or --overwrite")
            out.rename(temporary / "replaced")
        filled.rename(out)


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """A folder for rows that wait to be sorted, gone when the block ends, and after a crash on the next run."""
    remove_leftovers(beside)
    folder = beside / _temporary_name(Path("rows"))
    _mine.add(folder)
    try:
        folder.mkdir(mode=0o700)
        yield folder
    except PermissionError:
        raise OutputError(f"nothing may be written in {beside}: no permission") from None
    finally:
        _remove(folder)
        _mine.discard(folder)


_mine: set[Path] = set()
"""What this process is writing now. A container gives every process the same number: that alone tells nothing."""


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that are no more left behind."""
    for path in folder.glob(".*.metricdp-*"):
        found = re.search(r"\.metricdp-(\d+)-[0-9a-f]+$", path.name)
        if found and path not in _mine and not _alive(int(found[1])):
            _remove(path)


def _temporary_name(out: Path) -> str:
    return f".{out.name}.metricdp-{os.getpid()}-{secure().integer(64):016x}"


def _alive(process: int) -> bool:
    """Whether another process of that number runs. Of its own number, this one knows what is its."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in path.iterdir():
            _remove(inner)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Wait until what was written is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
