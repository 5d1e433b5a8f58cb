"""What the commands about channels share: files read, mistakes said in one line, text that steers no terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from metricdp.errors import MetricDPError, MissingExtraError

if TYPE_CHECKING:
    from metricdp.channels import Channel

__all__ = ["mistakes", "printable", "read_file"]


@contextmanager
def mistakes(about: str | Path) -> Iterator[None]:
    """Say what is wrong with an argument in one line, and leave with 2: 1 is for a promise that does not hold."""
    try:
        yield
    except (MetricDPError, OSError) as error:
        message = " ".join(str(error).split())
        named = message.startswith(str(about)) or isinstance(error, MissingExtraError)
        where = "" if named else f"{about}: "
        typer.echo(f"metricdp: {printable(where + message)}", err=True)
        raise typer.Exit(2) from None


def read_file(path: Path) -> tuple[Channel, Any]:
    """The channel in a file without its promise, and the promise that the file claims, not verified."""
    with mistakes(path):
        try:
            from metricdp.tables.channel_files import read_claim
        except ModuleNotFoundError as error:
            raise MissingExtraError(error.name or "pyarrow", "tables") from None
        return read_claim(path)


def printable(text: str) -> str:
    """The text without signs that could steer a terminal: somebody else wrote it."""
    return "".join(sign if sign == "\n" or unicodedata.category(sign)[0] != "C" else "?" for sign in text)
