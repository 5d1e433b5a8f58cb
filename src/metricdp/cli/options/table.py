"""A table as it is written on a command line: a file, a folder, ``-``, or a table of a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metricdp.cli.options.streams import is_dash
from metricdp.errors import ArgumentError

if TYPE_CHECKING:
    from metricdp.sources.databases import DatabaseTable

__all__ = ["EngineOption", "TableArgument", "TableOption", "called", "read_source"]

TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A Parquet, CSV (also .csv.gz) or Arrow file, or a folder of Parquet parts; - for a CSV file on the "
        "standard input; or a .duckdb file or the address of a database, such as `postgresql://host/name`, with "
        "--table.",
    ),
]
TableOption = Annotated[
    str | None, typer.Option("--table", "-t", metavar="NAME", help="The table's name in a database.")
]
EngineOption = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="What reads the table: auto, local (this process), duckdb, postgres or spark, or one that another "
        "package registers.",
    ),
]


_ELSEWHERE = ("http://", "https://", "ftp://", "s3://", "gs://", "az://", "abfs://", "abfss://", "hdfs://", "file://")
"""Addresses of files, which no database has."""


def read_source(source: str, table: str | None) -> str | Path | DatabaseTable:
    """What `metricdp.sources.open_table` takes for the table that was meant."""
    from metricdp.sources.databases import DUCKDB_FILES, DatabaseTable, database_table, is_address

    if is_dash(source) and table is None:
        return source
    if not source:
        raise typer.BadParameter("a name is wanted, and this one is empty", param_hint="TABLE")
    if source.lower().startswith(_ELSEWHERE):
        raise typer.BadParameter(
            "a path on this machine is wanted, or a database: fetch the file first", param_hint="TABLE"
        )
    source = source.removeprefix("duckdb://")
    in_file = Path(source).suffix.lower() in DUCKDB_FILES
    if table is not None:
        if not is_address(source) and not in_file:
            raise typer.BadParameter("this option is for databases; a file is one table", param_hint="--table")
        found: DatabaseTable | None = DatabaseTable(source, table)
    else:
        try:
            found = database_table(source)
        except ArgumentError:
            words = "name the table of the database that is meant"
            raise typer.BadParameter(words, param_hint="--table") from None
    path = Path(source if found is None else found.database)
    if (found is None or not is_address(found.database)) and not path.exists():
        raise typer.BadParameter(f"there is no file {path}", param_hint="TABLE")
    return path if found is None else found


def called(source: str | Path | DatabaseTable) -> str:
    """What a table is called in a report, without the address of a database, which may hold a password."""
    if isinstance(source, Path):
        return source.name or str(source)
    return "standard input" if isinstance(source, str) else source.table
