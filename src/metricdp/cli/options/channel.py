"""Channels as the commands read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.console import mistakes
from metricdp.cli.options.streams import existing_file, taken

if TYPE_CHECKING:
    from metricdp.channels import Channel

__all__ = ["ChannelArgument", "read_file"]

ChannelArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        callback=existing_file,
        help="The channel: a .csv, .json, .parquet or .arrow file; - for the standard input.",
    ),
]


def read_file(path: Path) -> tuple[Channel, Any, dict[Any, str]]:
    """The channel in a file without its promise, the promise that the file claims, and what its points are called."""
    with mistakes(path):
        from metricdp.sources.channel_files import read_named

        with taken(path) as place:
            return read_named(place)
