"""How many processors there are to work with."""

from __future__ import annotations

import os

__all__ = ["processors"]


def processors() -> int:
    """How many processors this process may use; all of them where the system does not say.

    >>> processors() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):  # not on Windows, nor on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
