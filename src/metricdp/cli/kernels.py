"""``metricdp kernels``: the mechanisms of which every private one on the points of a file is made."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.options.points import AtOption, MetricOption, NameOption, PointsArgument
from metricdp.visible import visible

if TYPE_CHECKING:
    from metricdp.channels import Channel
    from metricdp.cli.options.points import Points
    from metricdp.design import Kernels
    from metricdp.exact.progress import Progress, Update

__all__ = ["kernels"]

_SHOWN = 3
_MOST_VERTICES = 200_000
_WIDTH = 80


def kernels(
    file: PointsArgument,
    metric: MetricOption,
    count: Annotated[bool, typer.Option("--count", help="Count vertices and kernels, and show none.")] = False,
    most: Annotated[
        int | None,
        typer.Option("--most", metavar="N", min=1, max=10**9, help="Find no more than N kernels; count none."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="OUT", help="Write the kernels, one in each line: .jsonl; - prints."),
    ] = None,
    name: NameOption = None,
    at: AtOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, with the first kernels.")] = False,
) -> None:
    """List the kernels of a guarantee: the finitely many mechanisms from which every other that keeps it can be made.

    Every mechanism that keeps the guarantee on these points is a mixture of kernels, followed by further noise. So for
    every prior and every loss, some kernel is as good as any mechanism. What an adversary believes after an output of a
    kernel, having found all points equally likely before, is a vertex: a posterior as sharp as the guarantee allows.

    Both are found exactly. Their number grows very quickly with the points: all of them can be listed for up to about 7
    points, and with --most, which finds some of them, for about 20.

    POINTS is read as by `metricdp optimal`; see `metricdp optimal --help`. Weights do not matter here.

    To begin with:

    - all kernels, and the first three to look at: `metricdp kernels stops.csv --metric 'ln 2 absolute'`

    - how many: `metricdp kernels stops.csv --metric 'ln 2 absolute' --count`

    - all of them, each as a channel: `metricdp kernels stops.csv --metric 'ln 2 absolute' -o kernels.jsonl`

    - ten, of too many: `metricdp kernels places.csv --metric 'ln 2/200 great_circle' --most 10`

    Exit status: 0 if all that was asked for was found; 1 if Ctrl-C ended the search before; 2 if the command, the
    metric or the file is at fault, or if there are too many kernels to count.
    """
    from metricdp.cli.console import REFUSED, mistakes, print_result, spinner
    from metricdp.cli.options.output import check_output, refuse_two_on_one
    from metricdp.cli.options.points import read_space
    from metricdp.cli.options.streams import is_dash, say
    from metricdp.design import kernels as search

    if count and (most is not None or out is not None):
        raise typer.BadParameter("it lists no kernels: leave out --most and --out", param_hint="--count")
    refuse_two_on_one(json, out=out)
    check_output("--out", out, (".jsonl",), overwrite, file)
    points, space = read_space(file, metric, name, at)
    found = _Found(points, str(space.metric))
    with mistakes(file), spinner("looking at the distances") as show:
        tell = _telling(found.so_far, show)
        stream = search(space, progress=tell)
        try:
            if most is None:
                _count(found, stream, tell)
            if not count:
                _collect(found, stream, most, out, overwrite)
        except KeyboardInterrupt:
            found.ended = True
    if json:
        from metricdp.metrics import Guarantee

        written = None if out is None or found.ended else str(out)
        print_result(found.to_json() | {"out": written}, Guarantee(space.metric).to_json())
    else:
        say(_text(found, None if is_dash(out) else out, count), out)
    if found.ended:
        raise typer.Exit(REFUSED)


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


def _count(found: _Found, stream: Kernels, tell: Progress) -> None:
    """The numbers of vertices and kernels; of vertices first, for they say whether kernels can be counted."""
    from metricdp.design import vertices
    from metricdp.errors import TooLargeError

    number = vertices(stream.space, progress=tell).count()
    found.vertices = number
    advice = "--most 10 finds some of them"
    if number > _MOST_VERTICES:
        raise TooLargeError(f"{number:,} vertices: their kernels are too many to count; {advice}")
    try:
        found.kernels = stream.count()
    except TooLargeError as error:
        raise TooLargeError(f"{str(error).split('; iterate')[0]}; {advice}", error.estimate) from None


def _collect(found: _Found, stream: Kernels, most: int | None, out: Path | None, overwrite: bool) -> None:
    """The first kernels to show, and all that are wanted into a file."""
    import json

    from metricdp.cli.console import print_text
    from metricdp.cli.options.streams import is_dash
    from metricdp.sources.whole_files import appearing

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
    if is_dash(out):
        for channel in kept():
            print_text(json.dumps(channel.to_json(), allow_nan=False))
        return
    with appearing(out, overwrite) as temporary, temporary.open("w", encoding="utf-8") as file:
        for channel in kept():
            file.write(json.dumps(channel.to_json(), allow_nan=False) + "\n")


def _text(found: _Found, out: Path | None, count: bool) -> str:
    import textwrap

    points = found.points
    parts = [f"{points.heading}; {found.metric}-private mechanisms"]
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
        parts.append(f"{found.listed:,} kernels are written to {visible(str(out))}, a channel in each line.")
    return "\n\n".join(parts)


def _table(channel: Channel, names: tuple[str, ...]) -> str:
    """The probabilities with the names of the points, indented."""
    from metricdp.channels import Channel

    named = Channel(tuple(map(visible, names)), channel.outputs, channel.weights, channel.total)
    _, *lines = str(named).splitlines()
    return "\n".join(f"  {line}" for line in lines)


def _telling(so_far: dict[str, int], show: Callable[[str], object]) -> Progress:
    """Keeps how many have been found so far, and shows it."""

    def tell(update: Update) -> None:
        so_far[update.unit] = update.done
        show(f"{update.done:,} {update.unit} so far")

    return tell
