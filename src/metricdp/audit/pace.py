"""What keeps an audit quick on the machine that it runs on."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

__all__ = ["keep_memory", "one_thread"]

_KEPT = 30 << 20  # bytes; glibc takes no more than 32 MB for its threshold


def keep_memory() -> None:
    """Let the process keep what it frees: an audit asks for arrays of the same sizes again and again.

    The allocator of glibc gives blocks of more than 128 kB back to the system as soon as they are freed, and every page
    of a new block has to be fetched and cleared: several times as long as the arithmetic on it. Its threshold rises to
    the size of the largest block that was freed, so one large block, never written to, is asked for and freed here.
    Elsewhere this does nothing.

    >>> keep_memory()
    """
    np.empty(_KEPT, dtype=np.uint8)


def one_thread() -> AbstractContextManager[Any]:
    """Linear algebra in one thread: the matrices are small, and threads would wait for each other.

    >>> with one_thread():
    ...     float(np.linalg.solve(np.eye(2), np.ones(2)).sum())
    2.0
    """
    limit: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limit


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that are loaded; to look for them takes as long as a fit."""
    return ThreadpoolController()
