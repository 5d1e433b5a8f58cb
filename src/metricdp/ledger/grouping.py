"""One trip to the disk for all threads that wait: whoever is first writes for everybody behind them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from metricdp.errors import FileError, MetricDPError

__all__ = ["Together"]

Shared = TypeVar("Shared")


class Together(Generic[Shared]):
    """Runs pieces of work in shared transactions.

    A thread leaves its work in a list and waits for its turn. Whoever has the turn takes the whole list into one
    transaction, and the others find theirs done. A piece that is refused says so before it has written anything, so
    that it does not touch the others; where the transaction itself fails, all of them failed.

    Args:
        transaction: runs a function inside a transaction, durable when it returns.
    """

    def __init__(self, transaction: Callable[[Callable[[Shared], None]], None]) -> None:
        self._transaction = transaction
        self._begin()

    def _begin(self) -> None:
        self._turn, self._guard = threading.Lock(), threading.Lock()
        self._waiting: list[_Piece] = []
        self._process = os.getpid()

    def run(self, work: Callable[[Shared], Any]) -> Any:
        """The result of this work, durable."""
        if self._process != os.getpid():  # after a fork: the other threads stayed with the parent
            self._begin()
        mine = _Piece(work)
        with self._guard:
            self._waiting.append(mine)
        with self._turn:
            if not mine.done:
                with self._guard:
                    pieces, self._waiting = self._waiting, []
                self._run_all(pieces)
        if mine.error is not None:
            raise mine.error
        return mine.result

    def _run_all(self, pieces: list[_Piece]) -> None:
        def work(shared: Shared) -> None:
            for piece in pieces:
                piece.run(shared)

        try:
            self._transaction(work)
        except BaseException as error:
            for piece in pieces:
                piece.error = piece.error or _for_others(error)
            raise
        finally:
            for piece in pieces:
                piece.done = True


class _Piece:
    """One thread's work, and what came of it."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self, shared: Any) -> None:
        try:
            self.result = self.work(shared)
        except MetricDPError as error:
            self.error = error


def _for_others(error: BaseException) -> FileError:
    """What threads are told whose work was in a transaction that failed in another thread."""
    if isinstance(error, FileError):
        return FileError(str(error))
    return FileError(
        "the thread that wrote for this one was interrupted: ask again with the same request key, which costs nothing "
        "twice"
    )
