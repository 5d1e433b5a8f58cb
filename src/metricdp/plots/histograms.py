"""Histograms of numbers such as improvement factors, several beside each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.plots.arguments import as_numbers
from metricdp.plots.canvas import canvas, dress, legend, named, noted, shortened, style
from metricdp.plots.svg import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["histogram"]

_BINS = 24
_FEW = 0.995
"""What share of all values the bins cover; the others are counted in the last bin."""


def histogram(
    values: Mapping[str, Any] | Sequence[Any] | Floats,
    *,
    bins: Sequence[float] | int = _BINS,
    x: str = "value",
    mark_means: bool = True,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """How often numbers are how large: filled bars for one list, outlines for several.

    Args:
        values: numbers, or lists of them by name.
        bins: how many, or the edges; what lies beyond them is counted in the first or last bin, which says so.
        x: what the numbers are, with their unit.
        mark_means: whether to mark the mean of each.
        title: over the panel.
        ax: where to draw; a figure of its own where not given.

    References:
        Paper 4, Figs. 2b, 3b and 5.

    >>> from metricdp.plots import data_of
    >>> figure = histogram([1, 1, 2], bins=[1, 1.5, 2.5], x="improvement factor")
    >>> data_of(figure)[0]["series"][0]["counts"]
    [2, 1]
    """
    lists = {name: as_numbers(part, "histogram") for name, part in _lists(values).items()}
    everything = np.concatenate(list(lists.values())) if lists else np.empty(0)
    if not len(everything) or not np.isfinite(everything).all():
        raise ArgumentError("histogram wants at least one number, and finite ones")
    edges = _edges(everything, bins)
    figure, axes = canvas(ax)
    series = []
    for place, (name, numbers) in enumerate(lists.items()):
        counts, _ = np.histogram(np.clip(numbers, edges[0], edges[-1]), edges)
        mean = float(numbers.mean()) if len(numbers) else None
        look = style(place)
        label = shortened(name, 40) if len(lists) > 1 else None
        if len(lists) == 1:
            axes.stairs(counts, edges, fill=True, color=look["color"], alpha=0.45)
            axes.stairs(counts, edges, color=look["color"], linewidth=0.8)
        else:
            axes.stairs(counts, edges, linewidth=1.4, label=label, **look)
        if mark_means and mean is not None:
            axes.axvline(min(mean, edges[-1]), linewidth=1, alpha=0.8, **(look | {"linestyle": (0, (2, 2))}))
            if len(lists) == 1:
                axes.annotate(
                    f"mean {mean:.3g}", (min(mean, edges[-1]), 1), (3, -9), xycoords=("data", "axes fraction"),
                    textcoords="offset points", fontsize=7, color=INK,
                )  # fmt: skip
        largest = float(numbers.max()) if len(numbers) else None
        series.append({"name": name, "counts": counts.tolist(), "mean": mean, "largest": largest})
    beyond = [f"the first bar: {edges[1]:.3g} and less"] if everything.min() < edges[0] else []
    beyond += [f"the last bar: {edges[-2]:.3g} and more"] if everything.max() > edges[-1] else []
    dress(axes, f"{x} ({'; '.join(beyond)})" if beyond else x, "how many", title)
    axes.set_ylim(bottom=0)
    legend(axes)
    data = {"plot": "histogram", "x": x, "edges": edges.tolist(), "series": series}
    means = ["empty" if part["mean"] is None else f"mean {part['mean']:.3g}" for part in series]
    told = "; ".join(f"{name}, {mean}" for name, mean in zip(lists, means, strict=True))
    head = f"{title}. " if title else ""
    return noted(figure, axes, f"{head}Histogram of {x} from {edges[0]:.3g} to {edges[-1]:.3g}: {told}.", data)


def _lists(values: Any) -> dict[str, Any]:
    return named(values if isinstance(values, Mapping) else [values], "values")


def _edges(everything: Floats, bins: Sequence[float] | int) -> Floats:
    if not isinstance(bins, int):
        edges = as_numbers(bins, "histogram")
        if len(edges) < 2 or not (np.diff(edges) > 0).all():
            raise ArgumentError("the edges of bins are at least two numbers, each above the one before")
        return edges
    if bins < 1:
        raise ArgumentError(f"a histogram has at least one bin, not {bins}")
    low, most = float(everything.min()), float(everything.max())
    if not math.isfinite(most - low):
        raise ArgumentError(f"histogram wants numbers whose distance floats can hold, not {low:g} and {most:g}")
    high = float(np.quantile(everything, _FEW))
    high = most if most - low < 1.5 * (high - low) else high
    return np.linspace(low, high if high > low else low + 1.0, bins + 1)
