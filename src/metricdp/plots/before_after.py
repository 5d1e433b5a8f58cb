"""Columns before and after a release, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metricdp.plots.canvas import require_matplotlib
from metricdp.plots.svg import ACCENT, INK, MARK, literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["before_and_after"]

_BINS = 40


def before_and_after(columns: Mapping[str, tuple[NDArray[Any], NDArray[Any], str]], title: str) -> Figure:
    """A histogram for each column: what was secret as bars, what was released as a line over them.

    Whoever draws this has the secrets at hand: the picture shows them, and is for the eyes of those who may.

    Args:
        columns: for each name the secret values, the released ones, and their unit.
        title: over all of them.

    >>> import numpy as np
    >>> figure = before_and_after({"age": (np.arange(50), np.arange(50) + 1, "years")}, "People")
    >>> figure.axes[0].get_xlabel()
    'age, years'
    """
    rows = (len(columns) + 1) // 2
    figure = require_matplotlib()(figsize=(9, 0.6 + 2.7 * rows), layout="constrained")
    figure.suptitle(literal(title), fontsize=13, color=INK)
    for number, (name, (before, after, unit)) in enumerate(columns.items(), start=1):
        axes = figure.add_subplot(rows, min(2, len(columns)), number)
        low, high = np.percentile(np.concatenate([before, after]).astype(np.float64), [0.5, 99.5])
        bins = _bins(before, after, low, high)
        axes.hist(before.tolist(), bins.tolist(), color=ACCENT, alpha=0.35, label="secret")
        axes.hist(after.tolist(), bins.tolist(), color=MARK, histtype="step", linewidth=1.6, label="released")
        axes.set_xlabel(literal(f"{name}, {unit}"), color=INK)
        axes.set_yticks([])
        axes.tick_params(colors=INK)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        if number == 1:
            axes.legend(frameon=False, labelcolor=INK)
    return figure


def _bins(before: NDArray[Any], after: NDArray[Any], low: float, high: float) -> NDArray[np.float64]:
    """Equal bins; for whole numbers each as wide as some whole numbers, or they would beat against each other."""
    if before.dtype.kind in "iu" and after.dtype.kind in "iu":
        width = max(1, round((high - low) / _BINS))
        return np.arange(np.floor(low) - 0.5, high + width + 0.5, width)
    return np.linspace(low, high, _BINS + 1)
