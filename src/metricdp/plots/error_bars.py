"""Answers with their error bars: a dot and a line for each group."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError
from metricdp.plots.arguments import as_picture
from metricdp.plots.canvas import FAINT, canvas, dress, noted, shortened
from metricdp.plots.svg import ACCENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["AnswerPicture", "error_bars"]

_MOST = 60
_ROW = 0.21


@dataclass(frozen=True)
class AnswerPicture:
    """One thing that was asked of each group, as data.

    Attributes:
        name: of what was asked.
        groups: their names; one that is empty where there are no groups.
        values: numbers or days, noisy.
        bars: half the widths of the intervals, in the values' unit, or in days.
        tells: whether each says something.
        confidence: of each interval by itself.
        private: False where the noise came from a seed.
    """

    name: str
    groups: tuple[str, ...]
    values: tuple[float | dt.date, ...]
    bars: tuple[float, ...]
    tells: tuple[bool, ...]
    confidence: float
    private: bool = True


def error_bars(
    answers: Any, name: str | None = None, *, x: str | None = None, title: str = "", ax: Axes | None = None
) -> Figure:
    """The answers of all groups below each other, each with its error bar; hollow where it tells next to nothing.

    Args:
        answers: of a question, or a picture of them (`AnswerPicture`).
        name: which of several things that were asked; the first where not given.
        x: what the numbers are, with their unit; the name of the answer where not given.
        title: over the panel.
        ax: where to draw; a figure of its own where not given.

    Raises:
        ArgumentError: nothing to draw, or more groups than can be read.

    >>> picture = AnswerPicture("count(*)", ("F", "M"), (12.5, 3.0), (4.0, 4.0), (True, False), 0.95)
    >>> from metricdp.plots import data_of
    >>> data_of(error_bars(picture))[0]["answers"][0]
    {'group': 'F', 'value': 12.5, 'error_bar': 4.0, 'tells': True}
    """
    picture = as_picture(
        answers, AnswerPicture, "error_bars", "the answers to a question, as ask gives them, or an AnswerPicture", name
    )
    rows = range(len(picture.groups))
    if not picture.groups or len(picture.groups) > _MOST:
        raise ArgumentError(
            f"{len(picture.groups)} groups: a picture has 1 to {_MOST}; write where, having or limit, or group by less"
        )
    days = isinstance(picture.values[0], dt.date)
    numbers = [_number(value) for value in picture.values]
    figure, axes = canvas(ax, 0.75 + _ROW * len(picture.groups))
    if days:
        axes.xaxis_date()
    for row, number, bar, tells in zip(rows, numbers, picture.bars, picture.tells, strict=True):
        if not math.isfinite(number):
            continue
        width = bar if math.isfinite(bar) else 0.0
        axes.errorbar(
            number, row, xerr=width, fmt="o", markersize=4, capsize=2.5, linewidth=1.2, color=ACCENT,
            markerfacecolor=ACCENT if tells else "white", alpha=1.0 if tells else 0.7,
        )  # fmt: skip
    axes.set_yticks(list(rows), [shortened(group, 40) for group in picture.groups])
    axes.set_ylim(len(picture.groups) - 0.5, -0.5)
    axes.grid(axis="x", color=FAINT, linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)
    what = f"{x or picture.name}, with {picture.confidence:.0%} error bars"
    what += "" if picture.private else " (seeded noise: NOT private)"
    dress(axes, what, "", title)
    told = [
        {"group": group, "value": _plain(value), "error_bar": _plain(bar), "tells": tells}
        for group, value, bar, tells in zip(picture.groups, picture.values, picture.bars, picture.tells, strict=True)
    ]
    kept = {"plot": "error_bars", "name": picture.name, "confidence": picture.confidence, "answers": told}
    head = f"{title}. " if title else ""
    words = "; ".join(f"{one['group'] or 'all'} {one['value']} ± {one['error_bar']}" for one in told[:_MOST])
    return noted(figure, axes, f"{head}{what}: {words}.", kept)


def _number(value: Any) -> float:
    if isinstance(value, dt.date):
        return float((value - dt.date(1970, 1, 1)).days)  # as matplotlib counts days
    return float(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dt.date):
        return value.isoformat()
    return value if not isinstance(value, float) or math.isfinite(value) else None
