"""The standard input and output as files: ``-`` on the command line."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import typer

from metricdp.cli.console import note, print_text

__all__ = ["delivered", "existing", "existing_file", "is_dash", "say", "taken"]


def is_dash(path: object) -> bool:
    """Whether a path stands for the standard input or output."""
    return str(path) == "-"


def existing(path: Path | None) -> Path | None:
    """Refuse a file or folder that is not there; ``-`` and nothing at all are as they should be."""
    if path is not None and not is_dash(path) and not path.exists():
        raise typer.BadParameter(f"there is no file {path}")
    return path


def existing_file(path: Path | None) -> Path | None:
    """Refuse a file that is not there, or is a folder."""
    if path is not None and not is_dash(path) and path.is_dir():
        raise typer.BadParameter(f"{path} is a folder, not a file")
    return existing(path)


def taken(path: Path, ending: str | None = None) -> AbstractContextManager[Path]:
    """A path to read from: the file itself, or a place where the standard input can be read, as often as need be.

    Args:
        path: of the file, or ``-``.
        ending: see `standard_input`.
    """
    from metricdp.sources.whole_files import standard_input

    return standard_input(ending) if is_dash(path) else nullcontext(path)


def delivered(path: Path, ending: str) -> AbstractContextManager[Path]:
    """A path to write to: the file itself, or a scratch file that goes to the standard output when the block ends well.

    Args:
        path: of the file, or ``-``.
        ending: what is written to the standard output, such as ".csv".
    """
    from metricdp.sources.whole_files import standard_output

    return standard_output(ending) if is_dash(path) else nullcontext(path)


def say(text: str, *outputs: Path | None) -> None:
    """Print for people: on the standard error where the standard output is for one of these outputs."""
    if any(is_dash(output) for output in outputs):
        for line in text.rstrip("\n").split("\n"):
            note(line)
    else:
        print_text(text)
