"""Many rows at once: a cache's worth at a time, and on all processors where there are very many."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import DataError
from metricdp.exact.bits import source
from metricdp.exact.processors import processors
from metricdp.exact.refine import BLOCK, settle_allocator

__all__ = ["as_one_of_many", "in_blocks"]

Draw = Callable[[slice], NDArray[Any]]
Result = TypeVar("Result")

MANY = 1_000_000
"""Values above which all processors are used."""

SHARED_BLOCK = 4 * BLOCK
"""Rows to draw at a time where threads take turns: in shorter blocks they wait for one another more than they work."""


_one_of_many: ContextVar[bool] = ContextVar("metricdp_one_of_many", default=False)


def as_one_of_many(work: Callable[[], Result]) -> Result:
    """Work in a thread beside others that keep all processors busy: draws in it are not shared out once more.

    >>> as_one_of_many(lambda: 1 + 1)
    2
    """
    token = _one_of_many.set(True)
    try:
        return work()
    finally:
        _one_of_many.reset(token)


def in_blocks(count: int, draw: Draw, width: int = 1) -> NDArray[Any]:
    """What ``draw`` gives for all rows, one block of them at a time; an error names the first row that has one.

    Each thread has a secure stream of its own. A seeded stream keeps one order, so it is read by one thread.

    Args:
        count: how many rows there are, at least one.
        draw: gives as many rows as its slice has, with any further axes.
        width: how many values a row holds; wide rows come in shorter blocks.
    """
    settle_allocator()
    many = count * width > MANY and source().private and not _one_of_many.get()
    workers = processors() if many else 1
    rows = max(1, (BLOCK if workers == 1 else SHARED_BLOCK) // max(1, width // 4))
    pieces = [slice(start, min(start + rows, count)) for start in range(0, count, rows)]
    with np.errstate(all="ignore"):
        first = _drawn(draw, pieces[0])
        if len(pieces) == 1:
            return first
        result = np.empty((count, *first.shape[1:]), dtype=first.dtype)
        result[pieces[0]] = first

        def fill(piece: slice) -> None:
            result[piece] = _drawn(draw, piece)

        if workers == 1:
            for piece in pieces[1:]:
                fill(piece)
            return result
        _shared_out(pieces[1:], fill, workers)
        return result


def _shared_out(pieces: list[slice], fill: Callable[[slice], None], workers: int) -> None:
    """Fill all pieces, this thread among the workers; of several errors the first row's is raised.

    Workers take the next piece by themselves: a thread that hands them out would wake, and stop them, for each.
    """
    waiting, failed = iter(pieces), dict[int, BaseException]()

    def work() -> None:
        for piece in waiting:  # of an iterator over a list, no two threads get the same
            if failed and min(failed) < piece.start:
                return
            try:
                fill(piece)
            except BaseException as error:
                failed[piece.start] = error
                return

    with ThreadPoolExecutor(workers - 1) as pool:
        for _ in range(workers - 1):
            pool.submit(copy_context().run, work)
        work()
    stopped = [error for error in failed.values() if not isinstance(error, Exception)]  # Ctrl-C comes first
    if failed:
        raise (stopped or [failed[min(failed)]])[0]


def _drawn(draw: Draw, piece: slice) -> NDArray[Any]:
    try:
        return draw(piece)
    except DataError as error:
        raise error.shifted(piece.start) from None
