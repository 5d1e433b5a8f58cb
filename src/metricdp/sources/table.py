"""An opened table: its schema, known without reading a value, and its rows in batches, as often as they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from metricdp.errors import ColumnError
from metricdp.sources.dialect import Dialect, Untyped
from metricdp.sources.layout import BATCH_ROWS
from metricdp.sources.scrubbing import scrubbed
from metricdp.sources.sealed_rows import SealedRows

if TYPE_CHECKING:
    from metricdp.sources.engines.sql import SqlTable

__all__ = ["Declared", "OpenTable"]


@dataclass(frozen=True)
class Declared:
    """What a policy declares of a table that does not declare it itself.

    Attributes:
        types: for each column, what its values are taken as where the source gives it no type.
        dialect: how a CSV file writes its values.
        nullable: the columns in which a missing value may be released, whether or not one is there.
        batch_rows: how many rows come at once.
    """

    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    dialect: Dialect = field(default_factory=Dialect)
    nullable: frozenset[str] = frozenset()
    batch_rows: int = BATCH_ROWS


@dataclass(frozen=True)
class OpenTable:
    """A table that can be read more than once, in batches, in constant memory.

    Attributes:
        schema: its columns. No value was read for it.
        rows: how many there are, where that is known without reading them.
        read: reads it from the beginning, some columns or all; perhaps in another thread than the one that opened it.
        path: the file or folder it is, if it is one.
        like: turns an Arrow table into what the source was, for results that stay in memory.
        stable: whether its rows come in the same order each time it is read.
        once: whether it can be read only once: a stream that nobody keeps.
        untyped: the columns that declare no type: they come as text, and the policy declares one.
        unreadable: the columns that no row can be read of, each with what is said when somebody tries.
        counted: opens it as a table of an engine that counts where the rows are; None where DuckDB counts its batches.
        frame: the Spark frame it is, if it is one.
        release: gives back what it was opened with, such as a connection.
    """

    schema: pa.Schema
    rows: int | None
    read: Callable[[list[str] | None], Iterator[pa.RecordBatch]]
    path: Path | None = None
    like: Callable[[pa.Table], Any] = lambda table: table
    stable: bool = True
    once: bool = False
    untyped: Untyped = field(default_factory=Untyped)
    unreadable: Mapping[str, ColumnError] = field(default_factory=dict)
    counted: Callable[[], AbstractContextManager[SqlTable]] | None = None
    frame: Any = None
    release: Callable[[], object] = lambda: None

    def only(self, columns: list[str]) -> OpenTable:
        """The same table with these columns alone: no other is read."""
        if columns == self.schema.names:
            return self
        schema = pa.schema([self.schema.field(name) for name in columns])
        return replace(self, schema=schema, read=lambda chosen: self.read(columns if chosen is None else chosen))

    def check_readable(self, columns: list[str]) -> None:
        """Refuse now what reading these columns would refuse by their types; no value is read."""
        for name in columns:
            if name in self.unreadable:
                raise self.unreadable[name]

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in order, in batches; an error of the reader names the place and never a value."""
        reader = None
        while True:
            try:
                reader = self.read(columns) if reader is None else reader
                batch = next(reader, None)
            except Exception as error:  # of any library: its message may hold a value
                raise scrubbed(error) from None
            if batch is None:
                return
            yield batch

    def spooled(self, folder: Path) -> OpenTable:
        """The same rows written down once, sealed, so that they come again, and in the same order."""
        spool = SealedRows(folder / "read.rows", self.schema)
        with spool:
            for batch in self.batches():
                spool.write(batch)
        return replace(self, read=spool.read, stable=True, once=False, counted=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
