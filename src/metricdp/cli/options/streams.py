"""The standard input and output as files: ``-`` on the command line."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from metricdp.cli.console import note, print_text

__all__ = ["delivered", "existing", "existing_file", "is_dash", "say", "taken"]

_MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz", b"{": ".json"}


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


@contextmanager
def taken(path: Path, ending: str | None = None) -> Iterator[Path]:
    """A path to read from: the file itself, or a place where the standard input can be read, as often as need be.

    What comes in may be secret, so that it stays in memory where the system allows it (Linux), and otherwise in a
    folder that only this user can read, for as long as the command runs.

    Args:
        path: of the file, or ``-``.
        ending: of the name; without it, the first bytes tell Parquet, Arrow, gzip and JSON from CSV.
    """
    if not is_dash(path):
        yield path
        return
    from metricdp.sources.whole_files import scratch_folder

    content = sys.stdin.buffer.read()
    kind = ending or next((kind for magic, kind in _MAGIC.items() if content.lstrip().startswith(magic)), ".csv")
    with scratch_folder(Path(tempfile.gettempdir())) as folder:
        file = folder / f"standard-input{kind}"
        if not hasattr(os, "memfd_create"):
            file.write_bytes(content)
            yield file
            return
        descriptor = os.memfd_create("metricdp")
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as memory:
                memory.write(content)
            file.symlink_to(f"/proc/{os.getpid()}/fd/{descriptor}")
            yield file
        finally:
            os.close(descriptor)


@contextmanager
def delivered(path: Path, ending: str) -> Iterator[Path]:
    """A path to write to: the file itself, or a scratch file that goes to the standard output when the block ends well.

    Args:
        path: of the file, or ``-``.
        ending: what is written to the standard output, such as ".csv".
    """
    if not is_dash(path):
        yield path
        return
    from metricdp.sources.whole_files import scratch_folder

    with scratch_folder(Path(tempfile.gettempdir())) as folder:
        file = folder / f"standard-output{ending}"
        yield file
        with file.open("rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def say(text: str, *outputs: Path | None) -> None:
    """Print for people: on the standard error where the standard output is for one of these outputs."""
    if any(is_dash(output) for output in outputs):
        for line in text.rstrip("\n").split("\n"):
            note(line)
    else:
        print_text(text)
