"""Files that a command is going to write: refused before the work rather than after it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from metricdp.cli.channel_argument import mistakes
from metricdp.errors import KindError, OutputError

__all__ = ["CHANNELS", "check_output"]

CHANNELS = (".json", ".csv", ".parquet", ".arrow")
"""Endings of the files of channels."""


def check_output(option: str, path: Path | None, endings: Sequence[str], overwrite: bool, *others: Path | None) -> None:
    """Say in one line why a file could not be written, and leave with 2.

    Args:
        option: how the file was given.
        path: of the file; nothing is checked where there is none.
        endings: one of which its name has.
        overwrite: whether it may be there already.
        others: files that it must not be.
    """
    if path is None:
        return
    with mistakes(option):
        if path.suffix.lower() not in endings:
            raise KindError(f"{path.name} ends in none of {', '.join(endings)}")
        if not path.absolute().parent.is_dir():
            raise OutputError(f"there is no folder {path.parent}")
        if any(other is not None and other.resolve() == path.resolve() for other in others):
            raise OutputError(f"{path.name} is another file of this command already: choose another name")
        if path.is_dir() or (path.exists() and not overwrite):
            raise OutputError(f"{path.name} exists already; choose another name, or --overwrite")
