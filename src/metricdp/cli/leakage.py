"""``metricdp leakage``: what somebody learns from a channel, given what they believed before."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.options.channel import ChannelArgument
from metricdp.visible import visible_name

if TYPE_CHECKING:
    from metricdp.adversaries import LeakageTable, Prior
    from metricdp.channels import Channel

__all__ = ["leakage"]


def leakage(
    file: ChannelArgument,
    prior: Annotated[
        str,
        typer.Option(
            "--prior",
            metavar="PRIOR",
            help="What is believed before: `uniform`; probabilities in the order of the inputs, as in `0.5,0.3,0.2`; "
            "or a .csv file with an input and its probability in each row.",
        ),
    ] = "uniform",
    json: Annotated[bool, typer.Option("--json", help="Print the table as JSON, with exact numbers.")] = False,
) -> None:
    """Compute what an adversary learns from an output of a channel, given what they believed before.

    How likely they are to guess the secret before and after (its vulnerability), how much larger that is as a ratio
    and as a difference, the same in bits, and the most that the channel tells any adversary, whatever they believe or
    gain. Vulnerabilities are exact.

    FILE is read as by `metricdp verify`; see `metricdp verify --help`.

    To begin with:

    - every input alike: `metricdp leakage noise.csv`

    - another belief: `metricdp leakage noise.csv --prior 0.5,0.3,0.2`

    - a belief in a file, such as a line `tea,1/2` for each input: `metricdp leakage noise.csv --prior belief.csv`

    Exit status: 0 if the table was printed; 2 if the command, the prior or the file is at fault.
    """
    from metricdp.cli.console import mistakes, print_result, print_text
    from metricdp.cli.options.channel import read_file

    channel, _, names = read_file(file)
    with mistakes("--prior"):
        belief = read_prior(prior, channel.inputs, names)
    with mistakes(file):
        from metricdp.adversaries import leakages

        table = leakages(belief, channel)
    if json:
        about = {"file": file.name, "inputs": len(channel.inputs), "outputs": len(channel.outputs), "prior": prior}
        print_result(about | table.to_json())
    else:
        print_text(_text(file, prior, channel, table))


def read_prior(text: str, inputs: tuple[Any, ...], names: Mapping[Any, str] | None = None) -> Prior:
    """The prior that was meant: "uniform", probabilities with commas between them, or a .csv file.

    A file has an input, by its label or its name, and its probability in each row, perhaps below a header; or
    probabilities alone, in one row or one column. Probabilities with a decimal may miss one by rounding (up to 1e-6),
    and are divided by their sum.

    >>> print(read_prior("1/2, 0.3, 0.2", ("tea", "milk", "water")))
    tea 1/2, milk 3/10, water 1/5
    """
    from metricdp.adversaries.prior import ROUNDING, as_prior
    from metricdp.channels.cells import read_number

    if text.strip() == "uniform":
        return as_prior("uniform", inputs)
    labels, cells = _cells(text, {name: label for label, name in (names or {}).items() if label in inputs})
    numbers = [read_number(cell, row) for row, cell in enumerate(cells)]
    total = sum(numbers, Fraction(0))
    if abs(1 - total) <= ROUNDING and any("/" not in cell for cell in cells):
        numbers = [number / total for number in numbers]
    return as_prior(numbers if labels is None else dict(zip(labels, numbers, strict=True)), inputs)


def _cells(text: str, named: Mapping[str, Any]) -> tuple[list[Any] | None, list[str]]:
    """The labels of a prior, if there are any, and the text of its probabilities; ``named`` has labels by names."""
    from metricdp.channels.cells import is_number, read_label
    from metricdp.errors import ArgumentError, FileError
    from metricdp.sources.channel_files import read_csv

    if not text.lower().endswith(".csv"):
        if not any(sign.isdigit() for sign in text):
            raise ArgumentError(
                f"{text!r} is no prior: write uniform, probabilities such as 0.5,0.3,0.2, or a .csv file"
            )
        return None, [cell.strip() for cell in text.split(",")]
    if not Path(text).is_file():
        raise FileError(f"there is no file {text}")
    rows = [[cell.strip() for cell in row] for row in read_csv(Path(text)) if any(cell.strip() for cell in row)]
    if not rows:
        raise FileError(f"{text} is empty")
    if len(rows) == 1 and all(map(is_number, rows[0])):
        return None, rows[0]
    if all(len(row) == 1 for row in rows):
        return None, [row[0] for row in (rows if is_number(rows[0][0]) else rows[1:])]
    if not is_number(rows[0][-1]):
        rows = rows[1:]
    for number, row in enumerate(rows):
        if len(row) != 2:
            raise ArgumentError(f"row {number}: {len(row)} cells, where an input and its probability belong")
    labels = [named[row[0]] if row[0] in named else read_label(row[0]) for row in rows]
    for number, label in enumerate(labels):
        if label in labels[:number]:
            raise ArgumentError(f"row {number}: the input {label!r} stands twice")
    return labels, [row[1] for row in rows]


def _text(file: Path, prior: str, channel: Channel, table: LeakageTable) -> str:
    import textwrap

    inputs, outputs = channel.shape
    row = table.rows[0]
    known = f"{float(row.before):.1%}", f"{float(row.after):.1%}"
    words = (
        f"Whoever believes this and guesses the secret is right with a probability of {known[0]} before an output, and "
        f"of {known[1]} after, on average."
    )
    name, belief = visible_name(file.name), visible_name(prior.strip())
    head = f"{name}: a channel of {inputs:,} inputs and {outputs:,} outputs; prior: {belief}"
    return "\n\n".join([head, str(table), textwrap.fill(words, 80)])
