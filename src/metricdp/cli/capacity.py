"""``metricdp capacity``: the most that any private mechanism on the points of a file tells anybody."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.options.points import AtOption, MetricOption, NameOption, PointsArgument
from metricdp.visible import visible

if TYPE_CHECKING:
    from metricdp.cli.options.points import Points
    from metricdp.design import SpaceCapacity
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
    """Compute the most that any private mechanism on the points of a file can tell an adversary.

    A guarantee bounds what an adversary learns, whatever they knew before and whatever they want to gain: their best
    expected gain grows at most by the multiplicative capacity as a factor, and by the additive one as a difference.
    Both bounds are reached by some private mechanism, and proved.

    POINTS is read as by `metricdp optimal`; see `metricdp optimal --help`. Weights do not matter here.

    To begin with:

    - on a map, within a factor 2 at 200 m: `metricdp capacity places.csv --metric 'ln 2/200 great_circle'`

    - local differential privacy: `metricdp capacity teas.csv --metric '0.5 discrete'`

    - and the mechanism that tells most: `metricdp capacity teas.csv --metric '0.5 discrete' --multiplicative most.json`

    Exit status: 0 if the capacities were found; 2 if the command, the metric or a file is at fault.
    """
    from metricdp.cli.console import mistakes, print_result, spinner
    from metricdp.cli.options.output import CHANNELS, check_output, refuse_two_on_one
    from metricdp.cli.options.points import read_space
    from metricdp.cli.options.streams import delivered, is_dash, say

    refuse_two_on_one(json, multiplicative=multiplicative, additive=additive)
    check_output("--multiplicative", multiplicative, CHANNELS, overwrite, file)
    check_output("--additive", additive, CHANNELS, overwrite, file, multiplicative)
    points, space = read_space(file, metric, name, at)
    with mistakes(file), spinner("solving"):
        from metricdp.design import capacity as find
        from metricdp.metrics import Guarantee

        found = find(space)
        channels = [
            (path, found.multiplicative_channel if path is multiplicative else found.additive_channel)
            for path in (multiplicative, additive)
            if path is not None
        ]
    for path, channel in channels:
        with mistakes(path):
            from metricdp.sources.channel_files import write_channel

            with delivered(path, ".json") as place:
                write_channel(channel, place, overwrite)
    if json:
        print_result(_tree(points, found), Guarantee(space.metric).to_json())
    else:
        written = [f"Written to {visible(str(path))}." for path, _ in channels if not is_dash(path)]
        parts = [_text(points, found), *(["\n".join(written)] if written else [])]
        say("\n\n".join(parts), multiplicative, additive)


def _tree(points: Points, found: SpaceCapacity) -> dict[str, Any]:
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


def _text(points: Points, found: SpaceCapacity) -> str:
    import textwrap

    from metricdp.cli.words.numbers import rounded

    bounds = found.multiplicative, found.additive
    times, more = map(_number, bounds)
    factor, rise = (rounded(bound.enclosure.upper, up=True, digits=4) for bound in bounds)
    bits = rounded(math.log2(found.multiplicative), up=True, digits=4)
    head = f"{points.heading}; {found.space.metric}-private mechanisms"
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
    from metricdp.cli.words.numbers import rounded

    plain = rounded(bound.enclosure.upper, up=True)
    exact = "" if bound.exact is None else str(bound.exact)
    return f"{exact} or {plain}" if "/" in exact and len(exact) <= 16 else plain
