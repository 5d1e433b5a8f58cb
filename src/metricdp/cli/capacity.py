"""``metricdp capacity``: the most that any private mechanism on the points of a file tells anybody."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.points_argument import AtOption, MetricOption, NameOption, PointsArgument

if TYPE_CHECKING:
    from metricdp.cli.points_argument import Points
    from metricdp.design import TypeCapacity
    from metricdp.exact.outward import Bound

__all__ = ["capacity"]

_WIDTH = 80


def capacity(
    file: PointsArgument,
    metric: MetricOption,
    multiplicative: Annotated[
        Path | None,
        typer.Option(
            "--multiplicative", metavar="FILE", help="Write the channel that reaches the multiplicative capacity."
        ),
    ] = None,
    additive: Annotated[
        Path | None,
        typer.Option("--additive", metavar="FILE", help="Write the channel that reaches the additive capacity."),
    ] = None,
    name: NameOption = None,
    at: AtOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace these files if they exist.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say the most that any mechanism tells anybody, if it keeps a promise on the points of a file.

    A promise bounds what somebody learns, whatever they knew before and whatever they want to gain: their best
    expected gain grows at most by the multiplicative capacity as a factor, and by the additive one as a difference.
    Both are reached by some private mechanism, and proved.

    POINTS is read as by `metricdp optimal`; see `metricdp optimal --help`. Weights do not matter here.

    To begin with:

    - on a map, within a factor 2 at 200 m: `metricdp capacity places.csv --metric 'ln 2/200 great_circle'`

    - local differential privacy: `metricdp capacity teas.csv --metric '0.5 discrete'`

    - and the mechanism that tells most: `metricdp capacity teas.csv --metric '0.5 discrete' --multiplicative most.json`

    Leaves with 2 where something is wrong with the file or the metric.
    """
    from metricdp.cli.channel_argument import mistakes, printable
    from metricdp.cli.output_files import CHANNELS, check_output
    from metricdp.cli.points_argument import read_space
    from metricdp.cli.reports import print_json, print_text

    check_output("--multiplicative", multiplicative, CHANNELS, overwrite, file)
    check_output("--additive", additive, CHANNELS, overwrite, file, multiplicative)
    points, space = read_space(file, metric, name, at)
    with mistakes(file), _waiting():
        from metricdp.design import capacity as find

        found = find(space)
        channels = [
            (path, found.multiplicative_channel if path is multiplicative else found.additive_channel)
            for path in (multiplicative, additive)
            if path is not None
        ]
    for path, channel in channels:
        with mistakes(path):
            from metricdp.tables.channel_files import write_channel

            write_channel(channel, path, overwrite)
    if json:
        print_json(_tree(points, found))
    else:
        written = [f"Written to {path}." for path, _ in channels]
        print_text(printable("\n\n".join([_text(points, found), *(["\n".join(written)] if written else [])])))


def _tree(points: Points, found: TypeCapacity) -> dict[str, Any]:
    def number(bound: Bound, how: str) -> dict[str, Any]:
        exact = None if bound.exact is None else str(bound.exact)
        return {"value": float(bound), "exact": exact, "proof": how}

    return {
        "file": points.file,
        "points": len(points),
        "metric": str(found.space.metric),
        "multiplicative": number(found.multiplicative, found.how[0]),
        "bits": math.log2(found.multiplicative),
        "additive": number(found.additive, found.how[1]),
    }


def _text(points: Points, found: TypeCapacity) -> str:
    import textwrap

    from metricdp.cli.rounding import rounded

    bounds = found.multiplicative, found.additive
    times, more = map(_number, bounds)
    factor, rise = (rounded(bound.enclosure.upper, up=True, digits=4) for bound in bounds)
    bits = rounded(math.log2(found.multiplicative), up=True, digits=4)
    head = f"{points.file}: {len(points):,} points by {points.kinds}; {found.space.metric}-private mechanisms"
    table = [f"  multiplicative  {times}; {bits} bits", f"  additive        {more}"]
    proofs = f"Proofs: of the first, {found.how[0]}; of the second, {found.how[1]}."
    words = (
        "Whatever somebody believed before and whatever they gain by, one release makes the gain that they can expect "
        f"at most {factor} times as large; and if gains lie between 0 and 1, larger by at most {rise}. The first is "
        "reached by guessing the secret where all points are as likely: a guess is right with a probability of "
        f"{1 / len(points):.1%} before a release, and of up to {found.multiplicative / len(points):.1%} after it."
    )
    return "\n\n".join([head, "\n".join(table), *(textwrap.fill(text, _WIDTH) for text in (words, proofs))])


def _number(bound: Bound) -> str:
    """The number with few digits, and the fraction that it is, if it is a short one."""
    from metricdp.cli.rounding import rounded

    plain = rounded(bound.enclosure.upper, up=True)
    exact = "" if bound.exact is None else str(bound.exact)
    return f"{exact} or {plain}" if "/" in exact and len(exact) <= 16 else plain


@contextmanager
def _waiting() -> Iterator[None]:
    """On a terminal, a sign of life."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status("solving"):
        yield
