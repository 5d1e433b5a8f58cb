"""Files that a command is going to write: refused before the work rather than after it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from metricdp.cli.console import mistakes
from metricdp.cli.options.streams import is_dash
from metricdp.errors import ArgumentError, FileError

__all__ = ["CHANNELS", "check_output", "refuse_two_on_one"]

CHANNELS = (".json", ".csv", ".parquet", ".arrow")
"""Endings of the files of channels."""


def check_output(option: str, path: Path | None, endings: Sequence[str], overwrite: bool, *others: Path | None) -> None:
    """Say in one line why a file could not be written, and exit with status 2.

    Args:
        option: how the file was given.
        path: of the file; nothing is checked where there is none, or for ``-``.
        endings: its name has one of these.
        overwrite: whether it may be there already.
        others: files that it must not be.
    """
    if path is None or is_dash(path):
        return
    from metricdp.sources import whole_files

    with mistakes(option):
        if not path.name.lower().endswith(tuple(endings)):
            raise ArgumentError(f"{path.name} must end in one of {', '.join(endings)}")
        if any(other is not None and other.resolve() == path.resolve() for other in others):
            raise FileError(f"{path.name} is another file of this command already: choose another name")
        whole_files.check_output(path, overwrite)


def refuse_two_on_one(json: bool, **outputs: Path | None) -> None:
    """Refuse two things on the standard output: of ``--json`` and the options that are ``-``, there is one at most."""
    dashes = [f"--{name.replace('_', '-')} -" for name, path in outputs.items() if is_dash(path)]
    both = [*dashes, *(["--json"] if json else [])]
    if len(both) > 1:
        raise typer.BadParameter(f"{' and '.join(both)} both print on the standard output: choose one of them")
