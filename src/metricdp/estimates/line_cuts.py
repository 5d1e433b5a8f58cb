"""Where the numbers of a column end, and which cuts between its outputs leave enough rows on either side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.estimates.outline import Outline
from metricdp.exact.arrays import Floats

if TYPE_CHECKING:
    from metricdp.estimates.laws import LineLaw

__all__ = ["line_ends", "seen_enough"]


def line_ends(noise: Any, outline: Outline, law: LineLaw) -> tuple[float, float]:
    """Between which numbers secrets lie: the bounds, or a little beyond what was seen."""
    bounds = getattr(noise, "bounds", None)
    if bounds is not None:
        return float(bounds[0]) + law.origin, float(bounds[1]) + law.origin
    if noise.end_cells is not None:
        first, last = noise.end_cells
        return first * law.width + law.origin, last * law.width + law.origin
    room = 3 * law.scale + law.width
    return outline.least - room, outline.greatest + room


def seen_enough(cuts: Floats, cells: Floats, rows: float, kept: set[float]) -> Floats:
    """The cuts without those that leave a group with fewer than about ten rows; those at thresholds stay."""
    below = np.searchsorted(np.sort(cells), cuts) * (rows / max(1, len(cells)))
    chosen: list[float] = []
    last = 0.0
    for cut, seen in zip(cuts.tolist(), below.tolist(), strict=True):
        at_threshold = cut in kept or cut - 1 in kept
        if at_threshold or (seen - last >= 10 and rows - seen >= 10):
            chosen.append(cut)
            last = seen
    return np.array(chosen) if chosen else cuts[:1]
