"""A ledger in a file of SQLite: written ahead, synced at every commit, one writer after the other."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from metricdp.errors import ArgumentError, FileError
from metricdp.ledger.stores.connections import Connections
from metricdp.ledger.stores.queueing import fair_lock
from metricdp.ledger.stores.read_only import as_it_lies, may_write
from metricdp.ledger.stores.store import Rows, Run, Values

__all__ = ["SQLiteStore"]

_LONGEST_WAIT = 60.0
"""Seconds that a writer waits for somebody who is not in line: another program, or a machine without locks on bytes."""

_POLL = 0.001

Connect = Callable[[Path], Any]


class SQLiteStore:
    """See `metricdp.ledger.stores.store.Store`.

    Every commit is synced to the disk (``synchronous=FULL``) before it is reported.
    """

    def __init__(self, path: str | Path, connect: Connect | None = None) -> None:
        try:
            self.path = Path(path).expanduser()
        except RuntimeError:
            raise ArgumentError(f"{str(path)!r}: there is no such home folder") from None
        if "\0" in str(path):
            raise ArgumentError(f"{str(path)!r} is no path of a file")
        self._connect = connect
        self._made = False
        self._lock = fair_lock(Path(f"{self.path}-queue"))
        self._connections = Connections(self.path, self._connected)

    @property
    def shown(self) -> str:
        """The path."""
        return str(self.path)

    @contextmanager
    def writing(self, *, new: bool = False) -> Iterator[Run]:
        """A transaction that nobody else writes in."""
        with self._errors(), self._lock.held():
            if new:
                self._make_file()
            with self._connections.one() as connection:
                _begin(connection)
                try:
                    yield _runner(connection)
                    connection.execute("commit")
                except BaseException:
                    with suppress(Exception):  # a failed commit may have ended the transaction already
                        connection.execute("rollback")
                    raise
                self._connections.refuse_lost_commit()

    @contextmanager
    def reading(self) -> Iterator[Run]:
        """A transaction that sees one state of the ledger."""
        with self._errors(), self._reader() as connection:
            connection.execute("begin")
            try:
                yield _runner(connection)
            finally:
                with suppress(Exception):
                    connection.execute("rollback")

    def _reader(self) -> AbstractContextManager[Any]:
        """A connection to read by; it writes nothing beside a file that may not be written to."""
        if self._connect is None and self.path.is_file() and not may_write(self.path):
            return as_it_lies(self.path)
        return self._connections.one()

    def close(self) -> None:
        """End all connections of this process that nobody uses at this moment."""
        self._connections.close()

    def _make_file(self) -> None:
        try:
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            raise FileError(
                f"{self.path} exists already: a second ledger would forget what the first one knows"
            ) from None
        self._made = True
        _flush_folder(self.path.absolute().parent)

    def _connected(self) -> Any:
        if not self.path.is_file():
            raise FileError(f"there is no ledger {self.path}; make one with: metricdp ledger create {self.path}")
        if not may_write(self.path):
            raise FileError(f"the ledger {self.path} may be read here, and not written to; nothing was charged")
        return _connected(self.path, self._made) if self._connect is None else self._connect(self.path)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of the database in our words; its own say nothing of secrets, for none are in it."""
        try:
            yield
        except sqlite3.Error as error:
            raise FileError(f"the ledger {self.path}: {_in_words(error)}") from error
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(
                f"the ledger {self.path}: {error.strerror or 'the disk failed'}; nothing was written"
            ) from None


def _connected(path: Path, new: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode=rw",
        uri=True,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if new or _patiently(connection, "select 1 from sqlite_master where name = 'ledger'"):
            prepare(connection)  # what is no ledger is left as it is, and refused by its first question
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(connection: Any) -> None:
    """Write ahead, and sync at every commit."""
    ((mode,),) = _patiently(connection, "pragma journal_mode=wal")
    connection.execute(f"pragma synchronous={'full' if mode == 'wal' else 'extra'}")


def _patiently(connection: Any, statement: str) -> Rows:
    """The rows of a statement, tried again for as long as others are in the way."""
    deadline = time.monotonic() + _LONGEST_WAIT
    while True:
        try:
            return list(connection.execute(statement))
        except Exception as error:
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(_POLL)


def _begin(connection: Any) -> None:
    deadline = time.monotonic() + _LONGEST_WAIT
    while True:
        try:
            connection.execute("begin immediate")
        except Exception as error:
            if not _is_busy(error):
                raise
            if time.monotonic() > deadline:
                raise FileError(
                    "another program has kept the ledger locked for a minute; nothing was written"
                ) from None
            time.sleep(_POLL)
        else:
            return


def _runner(connection: Any) -> Run:
    def run(statement: str, values: Values) -> Rows:
        try:
            if isinstance(values, list):
                connection.executemany(statement, values)
                return []
            return connection.execute(statement, values).fetchall()  # type: ignore[no-any-return]
        except OverflowError:
            raise ArgumentError("a ledger has no entry of so large a number") from None

    return run


def _is_busy(error: Exception) -> bool:
    return "locked" in str(error) or "busy" in type(error).__name__.lower()


def _in_words(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorname", "") or ""
    if code.startswith("SQLITE_FULL"):
        return "the disk is full; nothing was written"
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return "the file is damaged, or no ledger; restore it from a backup and check it with its receipts"
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return "the file cannot be opened for writing"
    if "no such table" in str(error) or "no such column" in str(error):
        return "the file is no ledger, or a part of it is missing; nothing was written"
    return f"{error}; nothing was written"


def _flush_folder(folder: Path) -> None:
    """Wait until the name of a new file is on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
