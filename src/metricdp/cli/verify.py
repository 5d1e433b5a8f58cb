"""``metricdp verify``: whether a channel keeps a promise, proved either way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.options.channel import ChannelArgument

if TYPE_CHECKING:
    from metricdp.channels import Channel
    from metricdp.metrics import Guarantee, Space

__all__ = ["verify"]


def verify(
    file: ChannelArgument,
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
        str | None, typer.Option("--delta", metavar="D", help="By how much a set of outputs may exceed the factor.")
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

    Exit status: 0 if the promise holds; 1 if it does not; 2 if the command, the metric or the file is at fault.
    """
    from metricdp.cli.console import REFUSED, mistakes, print_result, print_text
    from metricdp.cli.options.channel import read_file
    from metricdp.cli.options.metric import read_guarantee
    from metricdp.errors import ArgumentError

    channel, claim, names = read_file(file)
    if metric is None:
        with mistakes(file):
            if epsilon is not None or delta is not None:
                raise ArgumentError("--epsilon and --delta go with --metric, not with the promise of the file")
            promise = _stored(claim)
    else:
        with mistakes("--metric"):
            promise = read_guarantee(metric, epsilon, delta)
    with mistakes(file):
        from metricdp.channels import verify as decide

        space = _space(channel, promise)
        verdict = decide(channel, space, promise.delta)
    from metricdp.cli.words.verdict import case_of, in_words, named

    case = case_of(channel, verdict)
    if json:
        about: dict[str, Any] = {"file": file.name, "inputs": len(channel.inputs), "outputs": len(channel.outputs)}
        found = about | verdict.to_json() | ({} if case is None else case.to_json())
        if names and verdict.witness is not None:
            found["witness_names"] = list(named(verdict, names).witness or ())
        print_result(found, promise.to_json() if verdict else None)
    else:
        print_text(in_words(file.name, channel, named(verdict, names), case))
    if not verdict:
        raise typer.Exit(REFUSED)


def _stored(claim: Any) -> Guarantee:
    from metricdp.channels.serialize import claimed
    from metricdp.errors import ArgumentError

    promise = claimed(claim)
    if promise is not None:
        return promise
    if claim is None:
        raise ArgumentError("the file carries no promise; say which with --metric, as in --metric 'ln 2 euclidean'")
    raise ArgumentError("the file names its promise, but its metric has no form in a file; say which with --metric")


def _space(channel: Channel, promise: Guarantee) -> Space:
    """The inputs with the metric; an error names the input, which is public, where it would name a row."""
    from metricdp.errors import ArgumentError, DataError
    from metricdp.metrics import Space

    try:
        return Space(channel.inputs, promise.metric)
    except (ArgumentError, DataError) as error:
        if not isinstance(error, DataError) or error.row is None:
            raise ArgumentError(f"the inputs are no points of {promise.metric}: {error}") from None
        label = channel.inputs[error.row]
        raise ArgumentError(f"the input {label!r} is no point of {promise.metric}: {error.rule}") from None
