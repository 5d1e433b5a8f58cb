"""Tables of databases: which database, and which table there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError

__all__ = ["DatabaseTable", "database_table", "is_address"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
DUCKDB_FILES = (".duckdb", ".ddb", ".db")
"""How the names of DuckDB's own files end."""


@dataclass(frozen=True)
class DatabaseTable:
    """A table of a database. It prints without the address, which may hold a password.

    Attributes:
        database: an address such as ``postgresql://host/name``, or the path of a DuckDB file.
        table: the table's name there; ``schema.table`` where it is in a schema.

    >>> DatabaseTable("postgresql://ann:secret@host/clinic", "patients")
    DatabaseTable(table='patients')
    """

    database: str = field(repr=False)
    table: str

    @property
    def scheme(self) -> str:
        """What the address begins with; empty for the path of a file."""
        return self.database.partition("://")[0].lower() if is_address(self.database) else ""


def is_address(source: Any) -> bool:
    """Whether a text is the address of a database, and no path."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def database_table(source: Any) -> DatabaseTable | None:
    """The table that ``postgresql://host/name#table`` or ``file.duckdb#table`` means; None where it is no such text.

    >>> database_table("postgresql://host/clinic#public.patients")
    DatabaseTable(table='public.patients')
    >>> database_table("people.csv") is None
    True
    """
    if isinstance(source, DatabaseTable):
        return source
    if not isinstance(source, str | Path):
        return None
    text = str(source)
    database, _, table = text.rpartition("#")
    if is_address(source):
        if not table or not database:
            raise ArgumentError("which table of the database? Write its name after a #: postgresql://host/name#table")
        return DatabaseTable(database, table)
    if Path(database or text).suffix.lower() in DUCKDB_FILES:
        if not database or not table:
            raise ArgumentError(f"which table of {Path(text).name}? Write its name after a #: {Path(text).name}#table")
        return DatabaseTable(database, table)
    return None
