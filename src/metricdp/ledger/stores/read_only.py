"""Ledgers that may be read and not written to: an auditor's copy, a folder of somebody else, a disk that takes nothing.

SQLite keeps what was written last in a file beside the database (``-wal``), and reads it by an index that it makes
there too (``-shm``). Where nothing may be written, a database that was closed is read as it lies, by itself; one that
somebody has open is read by the files that are there.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from metricdp.errors import FileError

__all__ = ["as_it_lies", "may_write"]


def may_write(path: Path) -> bool:
    """Whether this process may write to a file, and make others beside it."""
    effective = {"effective_ids": True} if os.access in os.supports_effective_ids else {}
    return os.access(path, os.W_OK, **effective) and os.access(path.absolute().parent, os.W_OK, **effective)


@contextmanager
def as_it_lies(path: Path) -> Iterator[Any]:
    """A connection that only reads, and leaves no file behind.

    Raises:
        FileError: what was written last cannot be read, or somebody wrote meanwhile.
    """
    before = _seen(path)
    closed = before[1] is None or before[1][2] == 0
    address = f"file:{quote(str(path.absolute()))}?mode=ro{'&immutable=1' if closed else ''}"
    with closing(sqlite3.connect(address, uri=True, timeout=10, isolation_level=None)) as connection:
        if not closed:
            _check_log(connection, path)
        yield connection
    if closed and _seen(path) != before:
        raise FileError(f"the ledger {path} was written to while it was read: read it again")


def _check_log(connection: sqlite3.Connection, path: Path) -> None:
    try:
        connection.execute("select 1 from sqlite_master").fetchall()
    except sqlite3.OperationalError:
        raise FileError(
            f"the ledger {path} was not closed, and what was written to it last lies in {path.name}-wal, which cannot "
            "be read where nothing may be written: copy all files beside it, too, to a folder of your own"
        ) from None


def _seen(path: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """By what a change of the file, or of the one beside it, shows."""
    return _stamp(path), _stamp(Path(f"{path}-wal"))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
