"""What the name of a file says that it is."""

from __future__ import annotations

import os
from pathlib import Path

from metricdp.errors import ArgumentError

__all__ = ["STANDARD", "as_path", "kind_of_file"]

STANDARD = "-"
"""In place of a path: standard input or output, which are CSV."""


def kind_of_file(path: str | Path) -> str:
    """What a file's name says that it is, in small letters: ``.parquet``, ``.csv.gz``; empty where it says nothing.

    >>> kind_of_file("people.CSV.gz"), kind_of_file("-"), kind_of_file("people")
    ('.csv.gz', '.csv', '')
    """
    if str(path) == STANDARD:
        return ".csv"
    endings = [ending.lower() for ending in Path(path).suffixes[-2:]]
    return "".join(endings) if endings[-1:] == [".gz"] else (endings[-1] if endings else "")


def as_path(path: str | Path) -> Path:
    """The path that was meant.

    Raises:
        ArgumentError: it is neither text nor a path.

    >>> as_path(3)
    Traceback (most recent call last):
    metricdp.errors.ArgumentError: the path of a file is wanted here, not int
    """
    if isinstance(path, str | os.PathLike):
        return Path(path)
    raise ArgumentError(f"the path of a file is wanted here, not {type(path).__name__}")
