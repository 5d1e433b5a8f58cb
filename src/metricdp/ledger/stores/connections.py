"""The connections of one process to one file of SQLite: none goes through a fork, and none outlives its files.

SQLite knows, for the whole process, which locks the system gave it. A fork copies that knowledge and not the locks: a
child that opens the file beside what it inherited believes that it has them. Once its parent closes the last
connection, the file with the child's commits is removed, and what the child was promised is gone. So whoever forks
waits until no transaction is under way, and all connections are closed before it; both sides open new ones.

The same happens where the files beside the ledger (``-wal``, ``-shm``) are removed or replaced under an open
connection, or where the process itself reads the ledger's file by other means, such as to copy it, which ends its locks
on it. Connections whose files are not the ones that lie there are therefore refused, and a commit through them is not
reported as one.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metricdp.errors import FileError

__all__ = ["Connections"]

_LONGEST_WAIT = 10.0
"""Seconds that a fork waits for the transactions of other threads."""

Files = tuple[int | None, int | None]
_NO_FILES: Files = (None, None)


class _Place:
    """A file, as this process knows it.

    Attributes:
        open: how many connections there are to it.
        files: the numbers of the files beside it that these write to; None for one that was not there yet.
        forked: whether a connection was in use when this process was forked.
    """

    def __init__(self, path: str) -> None:
        self._beside = Path(f"{path}-wal"), Path(f"{path}-shm")
        self.open = 0
        self.files = _NO_FILES
        self.forked = False
        self._guard = threading.Lock()

    def count(self, change: int) -> None:
        """One connection more, or less."""
        with self._guard:
            self.open += change
            if not self.open:
                self.files = _NO_FILES

    def refuse(self) -> None:
        """Refuse to use a connection where others would not read what it writes.

        Raises:
            FileError: the files were removed or replaced, or the process was forked in the middle.
        """
        if self.forked:
            raise FileError(
                "this process was forked while its parent was in the middle of reading or writing the ledger: start it "
                "anew instead, as multiprocessing does with 'spawn'"
            )
        if not self.open:  # whoever closes the last connection elsewhere removes them, as is right
            return
        found = self.found()
        if self.replaced(found):
            raise FileError(
                "the files beside the ledger (-wal, -shm) were removed or replaced while it was open, or its own file "
                "was copied or read by other means in this process. Nothing more is charged by it: end this process, "
                "and check the ledger with its receipts"
            )
        self.files = found

    def in_child(self, forked: bool) -> None:
        """Remember whether a connection was left in use."""
        self.forked |= forked
        self._guard = threading.Lock()

    def replaced(self, found: Files) -> bool:
        """Whether these are others than those that the open connections write to."""
        return any(known not in (None, new) for known, new in zip(self.files, found, strict=True))

    def found(self) -> Files:
        """The numbers of the files that lie there."""
        wal, shm = map(_number, self._beside)
        return wal, shm


class Connections:
    """Connections that are free for the next transaction, and which threads use the others.

    Args:
        path: of the file.
        connect: opens one more.
    """

    def __init__(self, path: Path, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._free: list[Any] = []
        self._begin()
        with _FORK:
            self._place = _PLACES.setdefault(os.path.realpath(path), _Place(os.path.realpath(path)))
            _EVERY.add(self)

    def _begin(self) -> None:
        self._change = threading.Condition()
        self._users: dict[int, int] = {}
        self._forking = False

    @contextmanager
    def one(self) -> Iterator[Any]:
        """A connection that nobody else uses, for one transaction.

        Raises:
            FileError: nobody else would read what it writes.
        """
        turn = object()
        with self._change:
            self._change.wait_for(lambda: not self._forking)
            self._place.refuse()
            connection = self._free.pop() if self._free else None
            self._users[id(turn)] = threading.get_ident()
        try:
            if connection is None:
                connection = self._connect()
                self._place.count(1)
                self._place.refuse()
            yield connection
        finally:
            with self._change:
                if self._users.pop(id(turn), None) is None:  # it is the parent's: neither used nor closed here
                    _keep_for_ever(connection)
                elif connection is not None:
                    self._free.append(connection)
                self._change.notify_all()

    def refuse_lost_commit(self) -> None:
        """Refuse to report a commit that went to files that nobody else will read.

        Raises:
            FileError: they were removed or replaced.
        """
        self._place.refuse()

    def close(self) -> None:
        """Close those that are free."""
        with self._change:
            self._close_free()

    def _close_free(self) -> None:
        while self._free:
            found, connection = self._place.found(), self._free.pop()
            if found[0] is not None and self._place.replaced(found):  # to close it would undo what others wrote since
                _keep_for_ever(connection)
                continue
            connection.close()
            self._place.count(-1)

    # Around a fork

    def before_fork(self) -> None:
        """Wait for the transactions of other threads, and close what is free; nobody opens anything meanwhile."""
        self._change.acquire()
        self._forking = True
        me = threading.get_ident()
        self._change.wait_for(lambda: all(user == me for user in self._users.values()), _LONGEST_WAIT)
        self._close_free()

    def in_parent(self) -> None:
        """Go on as before."""
        self._forking = False
        self._change.notify_all()
        self._change.release()

    def in_child(self) -> None:
        """Begin anew."""
        self._place.in_child(bool(self._users))
        self._begin()


def _number(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _keep_for_ever(connection: Any) -> None:
    """See to it that a connection is never closed, not even at the end of the process."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


_PLACES: dict[str, _Place] = {}
_EVERY: weakref.WeakSet[Connections] = weakref.WeakSet()
_FORK = threading.Lock()
_forked: list[Connections] = []


def _before_fork() -> None:
    _FORK.acquire()
    for connections in list(_EVERY):
        _forked.append(connections)
        connections.before_fork()


def _in_parent() -> None:
    while _forked:
        _forked.pop().in_parent()
    _FORK.release()


def _in_child() -> None:
    global _FORK
    while _forked:
        _forked.pop().in_child()
    _FORK = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
