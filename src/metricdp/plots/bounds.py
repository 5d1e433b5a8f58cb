"""A lower bound as it grew, and what two secrets gave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from metricdp.plots.canvas import require_matplotlib
from metricdp.plots.svg import ACCENT, INK, MARK, literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["bound_figure"]


def bound_figure(
    trace: Sequence[tuple[int, float]], chances: tuple[float, float], distance: float, title: str
) -> Figure:
    """The bound after so many releases with the claim at 1, and an event's probabilities from two secrets.

    Args:
        trace: numbers of releases and the bounds after them.
        chances: the event's probabilities, from the secret that favours it and from the other.
        distance: between the two: the first may be exp(distance) times the second.
        title: over both.

    >>> bound_figure([(10, 0.2), (100, 0.9)], (0.5, 0.2), 1.0, "A bound").axes[0].get_ylabel()
    'scale at least'
    """
    figure = require_matplotlib()(figsize=(9, 3), layout="constrained")
    figure.suptitle(literal(title), fontsize=12, color=INK)
    left, right = figure.subplots(1, 2)
    left.plot([calls for calls, _ in trace], [bound for _, bound in trace], color=ACCENT, linewidth=1.8)
    left.axhline(1.0, color=MARK, linewidth=1.2, linestyle="--")
    left.set_xlabel("releases", color=INK)
    left.set_ylabel("scale at least", color=INK)
    if len(trace) > 1:
        left.set_xscale("log")
    allowed = min(1.0, chances[1] * math.exp(min(distance, 700.0)))
    right.bar(["x", "x'", "allowed for x"], [chances[0], chances[1], allowed], color=[ACCENT, ACCENT, MARK], alpha=0.7)
    right.set_ylabel("probability of the event", color=INK)
    if min(chances) > 0 and chances[0] > 50 * chances[1]:
        right.set_yscale("log")
    for axes in (left, right):
        axes.tick_params(colors=INK)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure
