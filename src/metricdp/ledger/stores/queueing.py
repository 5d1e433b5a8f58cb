"""A queue for the writers of one file: first come, first served, and nobody waits for the dead.

SQLite lets its writers poll, and whoever is unlucky starves: of 64 processes, 40 waited more than 5 s. So writers take
a number. Beside the ledger lies a file that holds the next number. A writer takes it under a short lock, holds a lock
on the byte of that number for as long as it waits and writes, and waits for the bytes of all smaller numbers. The
system ends the locks of a process that dies, wherever it stood in the line.

Locks on bytes belong to processes: the threads of one wait in a line of their own first. Where there are no such locks
(no ``fcntl``, or a disk that has none) there is no line between processes, and SQLite's own lock decides.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

__all__ = ["FairLock", "fair_lock"]

_COUNTER, _FIRST = 0, 1
"""The byte that is locked while a number is taken; the byte of number 0."""

_RETRY = 0.002
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


class FairLock:
    """One holder at a time, in the order of arrival, among all threads and processes that use one file.

    Attributes:
        path: of the file that lies beside what is locked.
        fair: whether there are locks on bytes here, and with them a line between processes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fair = fcntl is not None
        self._threads = _Line()
        self._handle: int | None = None
        self._process = os.getpid()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for one's turn, and let the next one in at the end."""
        if self._process != os.getpid():  # after a fork: the locks and the other threads stayed with the parent
            self._process, self._threads = os.getpid(), _Line()
        with self._threads.held():
            number = self._take_number() if self.fair else None
            try:
                if number is not None:
                    self._wait_for_all_before(number)
                yield
            finally:
                if number is not None and self._handle is not None:
                    fcntl.lockf(self._handle, fcntl.LOCK_UN, 0, 0)

    def _take_number(self) -> int | None:
        try:
            if self._handle is None:
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
                self._handle = os.open(self.path, flags, 0o600)
            self._lock(_COUNTER, 1)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                self.fair = False
                return None
            raise
        try:
            number = int.from_bytes(os.pread(self._handle, 8, 0), "little") & ((1 << 62) - 1)
            os.pwrite(self._handle, (number + 1).to_bytes(8, "little"), 0)
            self._lock(_FIRST + number, 1)
        finally:
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, _COUNTER)
        return number

    def _wait_for_all_before(self, number: int) -> None:
        """Whoever holds a smaller number stands before us; when all their bytes are free, it is our turn."""
        if number:
            self._lock(_FIRST, number, shared=True)

    def _lock(self, start: int, length: int, shared: bool = False) -> None:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        while True:
            try:
                fcntl.lockf(self._handle, kind, length, start)
            except OSError as error:
                if error.errno != errno.EDEADLK:  # which two ledgers and threads can seem to be to the system
                    raise
                time.sleep(_RETRY)
            else:
                return


class _Line:
    """Threads, one after the other."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Event] = deque()

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._guard:
            turn = threading.Event() if self._held else None  # nobody waits, most of the time
            if turn is not None:
                self._waiting.append(turn)
            self._held = True
        try:
            if turn is not None:
                turn.wait()
            yield
        finally:
            with self._guard:
                if turn is not None and not turn.is_set():  # interrupted while it waited
                    self._waiting.remove(turn)
                elif self._waiting:
                    self._waiting.popleft().set()
                else:
                    self._held = False


_KNOWN: dict[str, FairLock] = {}
_KNOWN_GUARD = threading.Lock()


def fair_lock(path: Path) -> FairLock:
    """The lock of a file: one for the whole process, since closing a file ends all locks that the process has on it."""
    with _KNOWN_GUARD:
        return _KNOWN.setdefault(os.path.realpath(path), FairLock(path))
