"""The same column several times over one another: how often each value was, is, and is estimated to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.plots.arguments import as_mapping, as_numbers
from metricdp.plots.canvas import COLOURS, DASHES, canvas, dress, legend, noted, shortened
from metricdp.plots.svg import ACCENT, MARK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["distributions"]

_LOOKS = (ACCENT, MARK, COLOURS[2])


def distributions(
    shares: Mapping[str, Sequence[float]],
    edges: Sequence[float] | None = None,
    *,
    labels: Sequence[str] | None = None,
    x: str = "",
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Histograms as outlines over one another, the first one filled.

    Args:
        shares: by name, the share of each bin.
        edges: of the bins, for numbers.
        labels: of the bins, for categories.
        x: what the bins are of, with its unit.
        title: over the panel.
        ax: where to draw; a figure of its own where not given.

    Raises:
        ArgumentError: neither edges nor labels say what the bins are, or there are more or fewer of them than shares.
        MissingExtraError: matplotlib is not installed.

    >>> from metricdp.plots import data_of
    >>> figure = distributions({"secret": [0.7, 0.3], "released": [0.6, 0.4]}, labels=["yes", "no"], x="smokes")
    >>> data_of(figure)[0]["shares"]["released"]
    [0.6, 0.4]
    """
    given = as_mapping(shares, "distributions", '{"secret": [0.5, 0.5]}')
    shares = {name: as_numbers(part, "distributions").tolist() for name, part in given.items()}
    size = len(next(iter(shares.values()), []))
    bounds: Any = np.arange(size + 1) - 0.5 if edges is None else np.asarray(edges, dtype=np.float64)
    named = labels is not None and len(labels) == size
    if not size or len(bounds) != size + 1 or (edges is None and not named):
        raise ArgumentError("distributions wants edges, one more than bins, or a label for each bin")
    if not np.isfinite(bounds).all() or not (np.diff(bounds) > 0).all():
        raise ArgumentError("the edges of distributions are finite numbers, each above the one before")
    if any(len(part) != size for part in shares.values()):
        raise ArgumentError("distributions wants as many shares in each list as in the others")
    figure, axes = canvas(ax, 2.6, width=4.6)
    for place, (name, part) in enumerate(shares.items()):
        heights = np.asarray(part, dtype=np.float64) / (np.diff(bounds) if edges is not None else 1.0)
        colour = _LOOKS[place % len(_LOOKS)]
        if place == 0:
            axes.stairs(heights, bounds, fill=True, color=colour, alpha=0.3, label=shortened(name, 40))
        else:
            axes.stairs(
                heights,
                bounds,
                color=colour,
                linewidth=1.4,
                linestyle=DASHES[(place - 1) % len(DASHES)],
                label=shortened(name, 40),
            )
    if labels is not None:
        step = max(1, size // 12)
        turned: dict[str, Any] = (
            {"rotation": 30, "ha": "right"} if max(len(label) for label in labels) * size > 60 else {}
        )
        axes.set_xticks(list(range(0, size, step)), [shortened(label, 16) for label in labels[::step]], **turned)
    dress(axes, x, "share" if edges is None else "density", title)
    axes.set_ylim(bottom=0)
    legend(axes)
    words = f"{title or x or 'Shares'}: {', '.join(shares)}, in {size} bins."
    data = {name: [float(value) for value in part] for name, part in shares.items()}
    return noted(figure, axes, words, {"shares": data, "edges": None if edges is None else [*map(float, edges)]})
