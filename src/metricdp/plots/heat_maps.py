"""The matrix of a channel as shades: of releases for each secret, or of secrets for each release."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.adversaries import posterior_floats
from metricdp.channels.arguments import as_channel
from metricdp.channels.channel import Channel
from metricdp.exact.arrays import Floats
from metricdp.plots.canvas import canvas, noted, put_title, shortened
from metricdp.plots.grounds import readable
from metricdp.plots.svg import ACCENT, INK
from metricdp.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["channel_shades", "heat_map"]

_GREY = "#9aa1a9"
_LONGEST, _LETTER = 22, 0.07  # letters of a name, and inches of one
_TITLE_LETTER, _LINE = 0.085, 0.2  # inches of a letter of the title, and of a line of it
_MOST_NAMES = 30
_MOST_ENTRIES = 14
_SEEN = 0.005  # probabilities below it get no number
_TEXT = 9.0


def channel_shades(channel: Channel, names: Mapping[Any, str] | None = None, ax: Axes | None = None) -> Figure:
    """The matrix of a channel: a row for each secret, a column for each release, the darker the likelier.

    Shades are by square roots, so that what is unlikely is still seen. Numbers are put in their order.

    Raises:
        MissingExtraError: matplotlib is not installed.

    >>> from metricdp.channels import Channel
    >>> channel_shades(Channel.from_matrix([1, 0], "ab", [["2/3", "1/3"], ["1/3", "2/3"]])).axes[0].get_ylabel()
    'secret'
    """
    return heat_map(channel, names=names, ax=ax)


def heat_map(
    channel: Channel,
    prior: Any = None,
    *,
    names: Mapping[Any, str] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """The matrix of a channel as shades; with a prior, the posteriors instead, a column for each release.

    Args:
        channel: from secrets (rows) to releases (columns), however many.
        prior: where given, what is believed before; the shades are then what is believed after each release.
        names: what to call secrets and releases.
        title: over the panel.
        ax: where to draw; a figure of its own, as large as the matrix wants, where not given.

    >>> from metricdp.channels import Channel
    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> heat_map(C, "uniform").axes[1].get_ylabel()
    'probability of the secret, given the release'
    """
    channel = as_channel(channel, "heat_map")
    rows, columns = _order(channel.inputs), _order(channel.outputs)
    given = channel.matrix if prior is None else np.nan_to_num(posterior_floats(prior, channel))
    matrix = given[np.ix_(rows, columns)]
    shows = f"probability of the {'release' if prior is None else 'secret'}, given the "
    shows += "secret" if prior is None else "release"
    most = max(matrix.shape)
    side = float(np.clip(0.34 * most, 2.4, 8.5))
    called = [
        [(names or {}).get(labels[place], str(labels[place])) for place in order]
        for labels, order in ((channel.inputs, rows), (channel.outputs, columns))
    ]
    room = [_LETTER * max(0, min(_LONGEST, max(map(len, part), default=0)) - 5) for part in called]
    width, height = side * matrix.shape[1] / most + 2.2 + room[0], side * matrix.shape[0] / most + 1.4 + room[1]
    lines = textwrap.wrap(title, int((side * matrix.shape[1] / most + 1.2) / _TITLE_LETTER))  # as wide as the panel
    figure, axes = canvas(ax, height + _LINE * len(lines), width=width)
    _shades(figure, axes, matrix, shows)
    _names(axes, called)
    put_title(axes, "\n".join(lines), _TEXT + 1, wrap=False)
    shown = [[visible(name) for name in part] for part in called]
    data = {"plot": "heat_map", "rows": shown[0], "columns": shown[1], "matrix": matrix.tolist(), "shows": shows}
    head = f"{title}. " if title else ""
    words = f"{head}A table of {len(rows)} secrets by {len(columns)} releases, shaded by the {shows}."
    return noted(figure, axes, words, data)


def _shades(figure: Figure, axes: Axes, matrix: Floats, shows: str) -> None:
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm
    from matplotlib.ticker import PercentFormatter

    shades = LinearSegmentedColormap.from_list("accent", ["#ffffff", "#cfe2f3", ACCENT, "#0b2f52"])
    top = float(matrix.max())
    image = axes.imshow(matrix, cmap=shades, norm=PowerNorm(0.5, 0.0, top), aspect="equal", interpolation="nearest")
    if max(matrix.shape) <= _MOST_ENTRIES:
        for (row, column), chance in np.ndenumerate(matrix):
            if chance >= _SEEN:
                colour = "white" if chance > 0.35 * top else INK
                axes.text(
                    column, row, f"{100 * chance:.0f}", ha="center", va="center", fontsize=_TEXT - 1, color=colour
                )
    bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02, format=PercentFormatter(1.0, decimals=0))
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=INK, labelsize=_TEXT - 1, length=0)
    bar.set_label(shows, fontsize=_TEXT - 1, color=INK)
    readable(bar.ax)


def _names(axes: Axes, called: Sequence[Sequence[str]]) -> None:
    for axis, names in ((axes.yaxis, called[0]), (axes.xaxis, called[1])):
        shown = range(0, len(names), -(-len(names) // _MOST_NAMES))
        axis.set_ticks(list(shown), [shortened(names[place], _LONGEST) for place in shown])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    if max(len(text.get_text()) for text in axes.get_xticklabels()) > 3:
        axes.tick_params(axis="x", rotation=60)
        for text in axes.get_xticklabels():
            text.set(ha="left", rotation_mode="anchor")
    axes.set_ylabel("secret", color=INK, fontsize=_TEXT + 1)
    axes.set_xlabel("released", color=INK, fontsize=_TEXT + 1)
    axes.tick_params(colors=INK, labelsize=_TEXT, length=0)
    for spine in axes.spines.values():
        spine.set(color=_GREY, linewidth=0.6)


def _order(labels: Sequence[Any]) -> list[int]:
    """Numbers from the least on; other labels as they stand."""
    if all(isinstance(label, (int, float)) or hasattr(label, "numerator") for label in labels):
        return sorted(range(len(labels)), key=lambda place: labels[place])
    return list(range(len(labels)))
