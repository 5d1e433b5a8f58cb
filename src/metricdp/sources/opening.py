"""Open a table, whatever it is: one way in for everything that reads tables."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from metricdp.errors import ArgumentError
from metricdp.sources.databases import DatabaseTable, database_table, is_address
from metricdp.sources.engines import ENGINES, TableEngine
from metricdp.sources.engines.duckdb import counted_batches
from metricdp.sources.engines.sql import SqlTable, check_names
from metricdp.sources.file_kinds import STANDARD
from metricdp.sources.files import open_path
from metricdp.sources.frames import open_frame
from metricdp.sources.table import Declared, OpenTable
from metricdp.sources.whole_files import scratch_folder
from metricdp.visible import visible_name

__all__ = ["count_rows", "kept", "open_local", "open_sql", "open_table"]

_HERE = (None, "auto", "local")
"""Engines that are none: files and frames are read by this process."""


def open_table(source: Any, declared: Declared | None = None, engine: Any = None) -> OpenTable:
    """Open a table without reading a value of it.

    Args:
        source: a path (Parquet, CSV, ``.csv.gz``, Arrow, a folder of Parquet parts), ``"-"`` for a CSV file on standard
            input, a pandas or Polars frame (also a lazy one), an Arrow table or reader, a DuckDB relation, a Spark
            frame, a table of ibis, or a table of a database: a `DatabaseTable`, or ``postgresql://host/name#table``.
        declared: the types and the dialect that the policy declares, where the source declares none.
        engine: what opens it: "local", "duckdb", "postgres", "spark", or one that another package registered; a
            connection of ibis, where the source is the name of a table there; None for what the source calls for.

    Raises:
        ArgumentError: nothing here reads such a source.
        FileError: it is missing, or cannot be read as what its name says.

    >>> import pyarrow as pa
    >>> with open_table(pa.table({"age": [31, 47]})) as table:
    ...     table.schema.names, table.rows
    (['age'], 2)
    """
    wanted = Declared() if declared is None else declared
    if isinstance(source, OpenTable):  # whoever opened it closes it
        return replace(source, release=lambda: None)
    if engine in _HERE:
        found = _owner(source) if engine != "local" else None
        return open_local(source, wanted) if found is None else found.open(source, wanted)
    if isinstance(engine, str) and (opener := ENGINES.find(engine)) is not None:
        return opener.open(source, wanted)
    if hasattr(engine, "compile") and hasattr(engine, "table"):
        from metricdp.sources.engines.ibis import Ibis, table_of

        return Ibis().open(table_of(engine, source), wanted)
    wrong = f"there is no engine {visible_name(engine)!r}; " if isinstance(engine, str) else ""
    raise ArgumentError(f"{wrong}the engine is one of auto, local, {', '.join(ENGINES)}, or a connection of ibis")


@contextmanager
def kept(source: Any, declared: Declared | None = None, engine: Any = None) -> Iterator[Any]:
    """A source that can be opened any number of times: itself, or what came by a stream, written down once, sealed.

    Args:
        source: see `open_table`.
        declared: the dialect of a CSV file on standard input.
        engine: see `open_table`.

    >>> import pyarrow as pa
    >>> with kept(pa.table({"age": [31, 47]}).to_reader()) as source:
    ...     count_rows(source), count_rows(source)
    (2, 2)
    """
    standard = isinstance(source, str | Path) and str(source) == STANDARD
    if engine not in _HERE or not (standard or isinstance(source, pa.RecordBatchReader)):
        yield source
        return
    with open_table(source, declared, engine) as opened, scratch_folder(Path(tempfile.gettempdir())) as folder:
        yield opened.spooled(folder) if opened.once else opened


@contextmanager
def open_sql(source: Any, declared: Declared, engine: Any = None) -> Iterator[SqlTable]:
    """Open a table to be asked in SQL: where it is, or in DuckDB, to which its batches are streamed.

    Args:
        source: see `open_table`; or a table that was opened to be asked, which stays open.
        declared: the columns that are needed, with the types of those that the source gives none. No other is read.
            Where none is needed, rows can be counted.
        engine: see `open_table`.

    Raises:
        ColumnError: a column that is needed is not there.

    >>> import pyarrow as pa
    >>> with open_sql(pa.table({"age": [31, 47]}), Declared({"age": pa.int64()})) as table:
    ...     table.read(f"select max(age) as oldest from {table.relation}")
    {'oldest': [47]}
    """
    if isinstance(source, SqlTable):
        check_names([name for name, _ in source.columns], declared.types)
        yield source
        return
    with open_table(source, declared, engine) as table:
        if table.counted is not None:
            counted = table.counted()
        else:
            check_names(table.schema.names, declared.types)
            types = declared.types or {name: table.schema.field(name).type for name in table.schema.names[:1]}
            if engine == "spark":
                from metricdp.sources.engines.spark import counted_by_one_task

                counted = counted_by_one_task(table, types)
            else:
                counted = counted_batches(table, types)
        with counted as found:
            check_names([name for name, _ in found.columns], declared.types)
            yield found


def count_rows(source: Any, declared: Declared | None = None, engine: Any = None) -> int:
    """How many rows a table has; not a value of it is looked at.

    Args:
        source: see `open_table`.
        declared: the dialect of a CSV file.
        engine: see `open_table`.

    >>> import pyarrow as pa
    >>> count_rows(pa.table({"sex": ["F", "F", "M"]}))
    3
    """
    if isinstance(source, SqlTable):
        return int(source.read(f"select count(*) as records from {source.relation} as source")["records"][0])
    with open_table(source, declared, engine) as table:
        if table.rows is not None:
            return table.rows
        if table.counted is not None:
            with table.counted() as found:
                return count_rows(found)
        return sum(batch.num_rows for batch in table.batches(table.schema.names[:1]))


def open_local(source: Any, declared: Declared) -> OpenTable:
    """Open a path or a frame, read by this process."""
    if is_address(source):
        source = database_table(source)
    if isinstance(source, str | Path):
        return open_path(source, declared)
    if isinstance(source, DatabaseTable):
        raise ArgumentError(
            f"no engine reads databases at {source.scheme}://; there are postgresql:// and DuckDB files, and engines "
            "that other packages register"
        )
    opened = open_frame(source, declared)
    if opened is None:
        raise ArgumentError(
            "a path, an address of a database, or a pandas, Polars, Arrow, DuckDB, Spark or ibis table is wanted, not "
            f"{type(source).__name__}"
        )
    return opened


def _owner(source: Any) -> TableEngine | None:
    """The engine whose own a source is; those of other packages are asked last."""
    return next((ENGINES[name] for name in ENGINES if ENGINES[name].owns(source)), None)
