"""Numbers with their intervals, and beside each what was there before it was corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.plots.canvas import COLOURS, FAINT, TEXT, canvas, dress, legend, noted, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["intervals"]

_MOST_LINES = 30
"""More than this many are drawn as a band."""


def intervals(
    labels: Sequence[str],
    values: Sequence[float],
    ends: Sequence[tuple[float, float]],
    others: Sequence[float | None] | None = None,
    *,
    x: str = "",
    names: tuple[str, str] = ("corrected", "as released"),
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """A line for each number: a point, its interval, and what it is compared with; a band where there are many.

    Args:
        labels: what each number is of.
        values: the numbers; one that is not finite is left out.
        ends: the interval of each; an end that is infinite is drawn as far as the panel goes.
        others: what each is compared with; None where there is nothing.
        x: what the numbers are, with their unit.
        names: of the numbers, and of what they are compared with.
        title: over the panel.
        ax: where to draw; a figure of its own where not given.

    Raises:
        ArgumentError: there is no number, or the lists are of different lengths.
        MissingExtraError: matplotlib is not installed.

    >>> from metricdp.plots import data_of
    >>> figure = intervals(["good", "poor"], [60, 10], [(55, 65), (7, 13)], [50, 20], x="people")
    >>> data_of(figure)[0]["lines"][1]
    {'label': 'poor', 'value': 10.0, 'low': 7.0, 'high': 13.0, 'other': 20.0}
    """
    beside: Sequence[float | None] = [None] * len(values) if others is None else others
    if not len(values) or not len(labels) == len(values) == len(ends) == len(beside):
        raise ArgumentError("intervals wants at least one number, and a label and two ends for each")
    lines = [
        {"label": label, "value": _known(value), "low": _known(low), "high": _known(high), "other": _known(other)}
        for label, value, (low, high), other in zip(labels, values, ends, beside, strict=True)
    ]
    numbers = {
        key: np.array([math.nan if line[key] is None else line[key] for line in lines], dtype=np.float64)
        for key in ("value", "low", "high", "other")
    }
    edges = _filled(numbers, ends)
    many = len(lines) > _MOST_LINES
    figure, axes = canvas(ax, 3.0 if many else 0.9 + 0.24 * len(lines), width=5.0)
    places = np.arange(len(lines))
    if many:
        axes.fill_between(places, numbers["low"], numbers["high"], color=COLOURS[0], alpha=0.25, linewidth=0)
        axes.plot(places, numbers["value"], color=COLOURS[0], linewidth=1.1, label=names[0])
        axes.plot(places, numbers["other"], color=COLOURS[1], linewidth=0.9, linestyle=(0, (3, 1.5)), label=names[1])
        step = max(1, len(lines) // 8)
        axes.set_xticks(
            places[::step].tolist(), [shortened(label, 18) for label in labels[::step]], rotation=30, ha="right"
        )
        axes.set_ylim(edges)
        dress(axes, "", x, title)
    else:
        axes.hlines(places, numbers["low"], numbers["high"], color=COLOURS[0], linewidth=4, alpha=0.35)
        axes.plot(numbers["value"], places, "o", color=COLOURS[0], markersize=4, label=names[0])
        axes.plot(numbers["other"], places, "s", color=COLOURS[1], markersize=4, fillstyle="none", label=names[1])
        axes.set_yticks(places.tolist(), [shortened(label, 28) for label in labels], fontsize=TEXT - 1)
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_xlim(edges)
        axes.grid(axis="x", color=FAINT, alpha=0.25, linewidth=0.5)
        dress(axes, x, "", title)
    legend(axes, loc="upper left", bbox_to_anchor=(0, -0.35 if many or len(lines) < 4 else -0.2), ncols=2)
    head = f"{title}. " if title else ""
    words = f"{head}{x or 'Numbers'} with intervals, for {len(lines)}: " + "; ".join(map(_said, lines[:5]))
    return noted(figure, axes, f"{words}{'; and so on.' if len(lines) > 5 else '.'}", {"x": x, "lines": lines})


def _filled(numbers: dict[str, Floats], ends: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Let what has no end reach the edges of the panel, which are returned; None where everything has ends."""
    endless = [np.array([end[side] == sign * math.inf for end in ends]) for side, sign in ((0, -1), (1, 1))]
    if not any(side.any() for side in endless):
        return None
    known = np.concatenate([part[np.isfinite(part)] for part in numbers.values()])
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    room = 0.15 * (high - low) or 1.0
    edges = low - room, high + room
    for key, side, edge in zip(("low", "high"), endless, edges, strict=True):
        numbers[key][side] = edge
    return edges


def _known(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _said(line: Mapping[str, object]) -> str:
    return f"{line['label']} {line['value']} ({line['low']} to {line['high']})"
