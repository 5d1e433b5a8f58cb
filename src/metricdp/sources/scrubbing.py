"""Errors of libraries, told without the values in them: where it happened, and what to look at."""

from __future__ import annotations

import re

from metricdp.errors import DataError, FileError, MetricDPError

__all__ = ["scrubbed", "unreadable"]


DAMAGED = "the source is damaged, or changed while it was read: it cannot be read to its end"


def scrubbed(error: Exception, otherwise: str = DAMAGED) -> MetricDPError:
    """What is known of a place that cannot be read, without what a library's message says of the value.

    Args:
        error: of any library.
        otherwise: what is said where nothing is known.

    >>> scrubbed(ValueError("could not convert 'HIV positive' to a number"))
    DataError('the source is damaged, or changed while it was read: it cannot be read to its end')
    """
    if isinstance(error, MetricDPError):
        return error
    if isinstance(error, PermissionError):
        return FileError("the table may not be read: no permission")
    text = str(error)
    if "No space left on device" in text:
        return FileError("the disk is full: No space left on device")
    if re.search(r"out of memory", text, re.IGNORECASE) or isinstance(error, MemoryError):
        return FileError("the table could not be read: there is not enough memory")
    return DataError(otherwise)


def unreadable(name: str, kind: str) -> FileError:
    """What is said of a file that is not what its name says."""
    return FileError(f"{name} cannot be read as {kind}: it is damaged, or something else")
