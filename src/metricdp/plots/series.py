"""Series before and after a release: what was read, and what was reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.plots.arguments import as_mapping, as_numbers, plain_numbers
from metricdp.plots.canvas import FAINT, canvas, dress, legend, noted, shortened, style
from metricdp.plots.svg import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["traces"]

Values = Sequence[Any] | Floats


def traces(
    before: Values | None,
    after: Mapping[str, Values] | None = None,
    times: Values | None = None,
    *,
    whole: tuple[Values, Values] | None = None,
    x: str = "time",
    y: str = "",
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """A secret series as a line with dots, and releases of it as dots of other colours.

    Whoever draws this has the secrets at hand: the picture shows them, and is for the eyes of those who may.

    Args:
        before: the secret values, one for each time; None where they are not to be seen.
        after: releases of the same values, by name.
        times: when; counted from 0 where not given.
        whole: times and values of what the secret values were sampled from, as a thin line.
        x: what times are, with their unit.
        y: what values are, with their unit.
        title: over the panel.
        ax: where to draw; a figure of its own where not given.

    Raises:
        ArgumentError: nothing to draw, or series of different lengths.

    References:
        Paper 1, Fig. 4.

    >>> traces([1, 2], {"ε = 1": [1.5, 1.5]}, x="time, s", y="power, W").axes[0].get_ylabel()
    'power, W'
    """
    released = {} if after is None else as_mapping(after, "traces", '{"ε = 1": [1.5, 2]}')
    given = {} if before is None else {"secret": before}
    listed = [(name, as_numbers(part, "traces")) for name, part in (*given.items(), *released.items())]
    if not listed:
        raise ArgumentError("traces wants the secret values, releases of them, or both")
    length = len(listed[0][1])
    at = np.arange(length, dtype=np.float64) if times is None else as_numbers(times, "traces")
    for name, values in listed:
        if len(values) != len(at):
            raise ArgumentError(f"{name!r} has {len(values)} values for {len(at)} times")
    entire = None if whole is None else [as_numbers(part, "traces") for part in whole]
    if entire is not None and len({len(part) for part in entire}) > 1:
        raise ArgumentError(f"whole has {len(entire[1])} values for {len(entire[0])} times")
    figure, axes = canvas(ax)
    if entire is not None:
        axes.plot(*entire, color=FAINT, linewidth=0.8, alpha=0.8)
    data: list[dict[str, Any]] = []
    for place, (name, values) in enumerate(listed):
        data.append({"name": name, "values": plain_numbers(values)})
        if before is not None and place == 0:
            axes.plot(at, values, color=INK, linewidth=1, marker="o", markersize=2.6, label=name, zorder=3)
        else:
            look = style(place - (before is not None), marker=True)
            axes.plot(at, values, linestyle="none", markersize=3, alpha=0.9, label=shortened(name, 40), **look)
    dress(axes, x, y, title)
    legend(axes)
    kept: dict[str, Any] = {"plot": "traces", "x": x, "y": y, "times": plain_numbers(at), "series": data}
    if entire is not None:
        kept["whole"] = dict(zip(("times", "values"), map(plain_numbers, entire), strict=True))
    head = f"{title}. " if title else ""
    words = f"{head}{y or 'Values'} over {x}: {', '.join(name for name, _ in listed)}, {len(at)} values each."
    return noted(figure, axes, words, kept)
