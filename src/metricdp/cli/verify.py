"""``metricdp verify``: whether a channel keeps a promise, proved either way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from metricdp.channels import Channel
    from metricdp.metrics import Guarantee, Space

__all__ = ["verify"]


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", exists=True, dir_okay=False, help="The channel: a .csv, .json, .parquet or .arrow file."
        ),
    ],
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="METRIC",
            help="How far apart two inputs are: a level and a name, as in `'ln 2 euclidean'`; a .toml file with a "
            "metric; a .csv file of distances. Without it, the promise in FILE is checked.",
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", "-e", metavar="E", help="The level before the metric: `0.5`, `1/2`, `'ln 2'`."),
    ] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="D", help="What a set of outputs may exceed the factor by.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Prove that a channel is d-private, or that it is not; either way with the tightest case.

    A channel is a table of probabilities: a row for each input (the secret), a column for each output. Decimals and
    fractions are read as they stand, and decided without rounding: a ratio of exactly 2 at distance ln 2 holds, and
    one entry that is off by 10^-12 does not.

    In a CSV file the first row names the outputs, the first column the inputs, and the first cell is empty. Without
    labels (the first cell is a number) they are 0, 1, 2, ...

    To begin with:

    - on a line, odds within a factor 2 for each step: `metricdp verify noise.csv --metric 'ln 2 absolute'`

    - on a map, within a factor 2 at 200 m: `metricdp verify noise.csv --metric 'ln 2/200 great_circle'`

    - local differential privacy: `metricdp verify noise.csv --metric discrete --epsilon 0.5`

    - distances of your own: `metricdp verify noise.csv --metric distances.csv`

    - the promise that a file carries: `metricdp verify noise.parquet`

    Names of metrics: absolute, euclidean, manhattan, chebyshev, great_circle (metres between latitude and longitude),
    dates (days), discrete, hamming, symmetric_difference.

    Leaves with 0 where the promise holds, with 1 where it does not, and with 2 where something is wrong with the
    file or the metric.
    """
    from metricdp.cli.channel_argument import mistakes, printable, read_file
    from metricdp.cli.reports import print_json, print_text
    from metricdp.errors import LevelError

    channel, claim = read_file(file)
    if metric is None:
        with mistakes(file):
            if epsilon is not None or delta is not None:
                raise LevelError("--epsilon and --delta go with --metric, not with the promise of the file")
            promise = _stored(claim)
    else:
        with mistakes("--metric"):
            promise = _given(metric, epsilon, delta)
    with mistakes(file):
        from metricdp.channels import verify as decide

        space = _space(channel, promise)
        verdict = decide(channel, space, promise.delta)
    from metricdp.cli.verdict_words import case_of, in_words

    case = case_of(channel, verdict)
    if json:
        about: dict[str, Any] = {"file": file.name, "inputs": len(channel.inputs), "outputs": len(channel.outputs)}
        print_json(about | verdict.to_json() | ({} if case is None else case.to_json()))
    else:
        print_text(printable(in_words(file.name, channel, verdict, case)))
    if not verdict:
        raise typer.Exit(1)


def _given(metric: str, epsilon: str | None, delta: str | None) -> Guarantee:
    from metricdp.channels.cells import read_number
    from metricdp.cli.metric_option import read_metric, split_metric
    from metricdp.errors import InputError, LevelError
    from metricdp.metrics import Guarantee
    from metricdp.metrics.reading import read_level

    found = read_metric(metric)
    if epsilon is not None:
        if split_metric(metric)[0] is not None:
            raise LevelError(f"{metric!r} has its level already: leave it out, or --epsilon")
        found = found * read_level(epsilon)
    try:
        share = read_number(delta or "0")
    except InputError as error:
        raise LevelError(f"--delta: {error}") from None
    return Guarantee(found, share)


def _stored(claim: Any) -> Guarantee:
    from metricdp.channels.forms import claimed
    from metricdp.errors import KindError

    promise = claimed(claim)
    if promise is not None:
        return promise
    if claim is None:
        raise KindError("the file carries no promise; say which with --metric, as in --metric 'ln 2 euclidean'")
    raise KindError("the file names its promise, but its metric has no form in a file; say which with --metric")


def _space(channel: Channel, promise: Guarantee) -> Space:
    """The inputs with the metric; an error names the input, which is public, where it would name a row."""
    from metricdp.errors import InputError
    from metricdp.metrics import Space

    try:
        return Space(channel.inputs, promise.metric)
    except InputError as error:
        if error.row is None:
            raise InputError(f"the inputs are no points of {promise.metric}: {error.rule}") from None
        label = channel.inputs[error.row]
        raise InputError(f"the input {label!r} is no point of {promise.metric}: {error.rule}") from None
