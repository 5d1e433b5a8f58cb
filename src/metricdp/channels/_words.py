"""A channel as a person reads it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from metricdp.visible import visible

if TYPE_CHECKING:
    from metricdp.channels.channel import Channel

__all__ = ["table"]

_MOST = 12
_LARGEST_FRACTION = 10**4


def table(channel: Channel) -> str:
    """Probabilities as fractions where those are short, else with four digits.

    A long one is printed without its middle, a wide one with the outputs that are likeliest for the rows printed.
    """
    inputs, outputs = channel.shape
    size = str(channel.total) if channel.total < 10**6 else f"{channel.total.bit_length()} bits"
    lines = [f"channel of {inputs} inputs and {outputs} outputs, weights out of {size}"]
    if channel.promise is not None:
        lines.append(str(channel.promise))
    rows = _ends(inputs)
    columns = _likeliest(channel, [row for row in rows if row is not None])
    if outputs > _MOST:
        lines.append(f"the {_MOST} outputs that are likeliest for the inputs printed here:")
    cells = [["", *("…" if column is None else visible(str(channel.outputs[column])) for column in columns)]]
    for row in rows:
        if row is None:
            cells.append(["…"] * (len(columns) + 1))
            continue
        entries = ["…" if column is None else _entry(channel, row, column) for column in columns]
        cells.append([visible(str(channel.inputs[row])), *entries])
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns) + 1)]
    for line in cells:
        first = line[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))
        lines.append("  ".join([first, *rest]))
    return "\n".join(lines)


def _ends(count: int) -> list[int | None]:
    if count <= _MOST:
        return list(range(count))
    half = _MOST // 2
    return [*range(half), None, *range(count - half, count)]


def _likeliest(channel: Channel, rows: list[int]) -> list[int | None]:
    outputs = channel.shape[1]
    if outputs <= _MOST:
        return list(range(outputs))
    weights = [sum(column) for column in zip(*(channel.weights[row].tolist() for row in rows), strict=True)]
    likeliest = sorted(range(outputs), key=weights.__getitem__, reverse=True)[:_MOST]
    return [*sorted(likeliest), None]


def _entry(channel: Channel, row: int, column: int) -> str:
    exact = Fraction(channel.weights[row, column], channel.total)
    if exact.denominator <= _LARGEST_FRACTION:
        return str(exact)
    if float(exact) == 0:
        return f"2^{exact.numerator.bit_length() - exact.denominator.bit_length()}"
    return f"{float(exact):.4g}"
