"""``metricdp kernels``: the mechanisms of which every private one on the points of a file is made."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.points_argument import AtOption, MetricOption, NameOption, PointsArgument

if TYPE_CHECKING:
    from metricdp.channels import Channel
    from metricdp.cli.points_argument import Points
    from metricdp.design import Kernels

__all__ = ["kernels"]

_SHOWN = 3
_MOST_VERTICES = 200_000
_WIDTH = 80

Tell = Callable[[int], None]


def kernels(
    file: PointsArgument,
    metric: MetricOption,
    count: Annotated[bool, typer.Option("--count", help="Count vertices and kernels, and show none.")] = False,
    most: Annotated[
        int | None,
        typer.Option("--most", "-n", metavar="N", min=1, help="Find no more than N kernels, and count none."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="OUT", help="Write the kernels, one in each line: a .jsonl file."),
    ] = None,
    name: NameOption = None,
    at: AtOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, with the first kernels.")] = False,
) -> None:
    """Find the kernels of a promise: the finitely many mechanisms of which all others that keep it are made.

    Every mechanism that keeps the promise on these points is a mixture of kernels, followed by noise of its own. So for
    every prior and every loss, some kernel is as good as any mechanism. What somebody believes after an output of a
    kernel, having believed all points as likely before, is a vertex: a posterior as sharp as the promise allows.

    Both are found exactly. There are few for few points, and more than anybody can count soon after: this is for up to
    about 7 points, and with --most, which finds some of them, for about 20.

    POINTS is read as by `metricdp optimal`; see `metricdp optimal --help`. Weights do not matter here.

    To begin with:

    - all kernels, and the first three to look at: `metricdp kernels stops.csv --metric 'ln 2 absolute'`

    - how many: `metricdp kernels stops.csv --metric 'ln 2 absolute' --count`

    - all of them, each as a channel: `metricdp kernels stops.csv --metric 'ln 2 absolute' -o kernels.jsonl`

    - ten, of too many: `metricdp kernels places.csv --metric 'ln 2/200 great_circle' --most 10`

    Leaves with 1 where Ctrl-C ended it before all were found, and with 2 where something is wrong with the file or the
    metric, or where there are too many to count.
    """
    from metricdp.cli.channel_argument import mistakes, printable
    from metricdp.cli.output_files import check_output
    from metricdp.cli.points_argument import read_space
    from metricdp.cli.reports import print_json, print_text
    from metricdp.design import kernels as search

    if count and (most is not None or out is not None):
        raise typer.BadParameter("it finds no kernels to keep: leave out --most and -o", param_hint="--count")
    check_output("--out", out, (".jsonl",), overwrite, file)
    points, space = read_space(file, metric, name, at)
    found = _Found(points, str(space.metric))
    with mistakes(file), _telling(found.so_far) as tell:
        stream = search(space, tell("kernels"))
        try:
            if most is None:
                _count(found, stream, tell)
            if not count:
                _collect(found, stream, most, out, overwrite)
        except KeyboardInterrupt:
            found.ended = True
    if json:
        print_json(found.to_json() | {"out": None if out is None or found.ended else str(out)})
    else:
        print_text(printable(_text(found, out, count)))
    if found.ended:
        raise typer.Exit(1)


@dataclass
class _Found:
    """What was found so far."""

    points: Points
    metric: str
    vertices: int | None = None
    kernels: int | None = None
    listed: int = 0
    first: list[Channel] = field(default_factory=list)
    ended: bool = False
    so_far: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.points.file,
            "points": len(self.points),
            "metric": self.metric,
            "vertices": self.vertices,
            "kernels": self.kernels,
            "finished": not self.ended,
            "at_least": self.so_far if self.ended else None,
            "first": [channel.to_json() for channel in self.first],
        }


def _count(found: _Found, stream: Kernels, tell: Callable[[str], Tell]) -> None:
    """The numbers of vertices and kernels; of vertices first, for they say whether kernels can be counted."""
    from metricdp.design import vertices
    from metricdp.errors import LevelError

    number = vertices(stream.space, tell("vertices")).count()
    found.vertices = number
    advice = "--most 10 finds some of them"
    if number > _MOST_VERTICES:
        raise LevelError(f"{number:,} vertices: their kernels are too many to count; {advice}")
    try:
        found.kernels = stream.count()
    except LevelError as error:
        raise LevelError(f"{str(error).split('; iterate')[0]}; {advice}") from None


def _collect(found: _Found, stream: Kernels, most: int | None, out: Path | None, overwrite: bool) -> None:
    """The first kernels to show, and all that are wanted into a file."""
    import json

    from metricdp.tables.whole_files import appearing

    wanted = itertools.islice(stream, most if most is not None or out is not None else _SHOWN)

    def kept() -> Iterator[Channel]:
        for channel in wanted:
            found.listed += 1
            if len(found.first) < _SHOWN:
                found.first.append(channel)
            yield channel

    if out is None:
        for _ in kept():
            pass
        return
    with appearing(out, overwrite) as temporary, temporary.open("w", encoding="utf-8") as file:
        for channel in kept():
            file.write(json.dumps(channel.to_json(), allow_nan=False) + "\n")


def _text(found: _Found, out: Path | None, count: bool) -> str:
    import textwrap

    points = found.points
    parts = [f"{points.file}: {len(points):,} points by {points.kinds}; {found.metric}-private mechanisms"]
    if found.vertices is not None:
        lines = [f"  vertices  {found.vertices:,}"]
        if found.kernels is not None:
            lines.append(f"  kernels   {found.kernels:,}")
        parts.append("\n".join(lines))
    if found.ended:
        known = [f"{number:,} {what}" for what, number in found.so_far.items()]
        parts.append(f"Ended before all were found; there are at least {' and '.join(known) or 'some'}.")
    for number, channel in enumerate(found.first):
        parts.append(f"kernel {number + 1}\n{_table(channel, points.names)}")
    if found.first:
        left = (found.kernels or found.listed) - len(found.first)
        more = f" {left:,} more are not shown." if left > 0 else ""
        words = "Rows are points, columns are outputs, called by the numbers of their vertices." + more
        parts.append(textwrap.fill(words, _WIDTH))
    if out is not None and not found.ended:
        parts.append(f"{found.listed:,} kernels are written to {out}, a channel in each line.")
    return "\n\n".join(parts)


def _table(channel: Channel, names: tuple[str, ...]) -> str:
    """The probabilities with the names of the points, indented."""
    from metricdp.channels import Channel

    named = Channel(names, channel.outputs, channel.weights, channel.total)
    _, *lines = str(named).splitlines()
    return "\n".join(f"  {line}" for line in lines)


@contextmanager
def _telling(so_far: dict[str, int]) -> Iterator[Callable[[str], Tell]]:
    """Keeps how many have been found so far, and shows it on a terminal."""

    def keep(what: str, show: Callable[[str], object]) -> Tell:
        def told(number: int) -> None:
            so_far[what] = number
            show(f"{number:,} {what} so far")

        return told

    if not sys.stderr.isatty():
        yield lambda what: keep(what, lambda text: None)
        return
    from rich.console import Console

    with Console(stderr=True).status("looking at the distances") as status:
        yield lambda what: keep(what, status.update)
