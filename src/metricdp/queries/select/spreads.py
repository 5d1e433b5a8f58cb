"""Error bars of what is computed from noisy numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["spread"]

_CONFIDENCE = 0.95
_HALF = 40


def spread(compute: Callable[[Sequence[Any]], Any], values: Sequence[float], bars: Mapping[int, float]) -> float:
    """Half the width of an interval around ``compute(values)`` that holds the truth with 95%.

    Each number is off by noise with two sides like Laplace's, of which its error bar is the 95% point, and independent
    of the others'. With one noisy number, the computation is done at both ends of its error bar. With two, it is done
    for 80 equally likely errors of each, and the 95% point of the distances from the answer is taken. With more, the
    parts add up by their squares.

    Args:
        compute: from numbers, or arrays of them, one for each place.
        values: the noisy numbers.
        bars: the error bars of those that it depends on, by their places.

    >>> round(spread(lambda x: x[0] - x[1], [5.0, 3.0], {0: 3.0, 1: 0.0}), 1)
    3.0
    """
    noisy = [place for place, bar in bars.items() if bar > 0]
    centre = float(compute(list(values)))
    if not noisy or not math.isfinite(centre):
        return 0.0 if not noisy else math.inf
    if len(noisy) > 2:
        parts = [spread(compute, values, {place: bars[place]}) for place in noisy]
        return math.sqrt(math.fsum(part**2 for part in parts))
    moved: list[Any] = list(values)
    if len(noisy) == 1:
        (place,) = noisy
        moved[place] = values[place] + np.array([-1.0, 1.0]) * bars[place]
        ends = np.abs(np.asarray(compute(moved), dtype=np.float64) - centre)
        return float(ends.max()) if np.isfinite(ends).all() else math.inf
    for axis, place in enumerate(noisy):
        errors = _errors(bars[place])
        moved[place] = values[place] - errors.reshape([-1 if axis == k else 1 for k in range(len(noisy))])
    away = np.abs(np.asarray(compute(moved), dtype=np.float64) - centre).ravel()
    away = np.where(np.isnan(away), np.inf, away)
    ordered = np.sort(away)
    return float(ordered[min(len(ordered) - 1, math.ceil(_CONFIDENCE * len(ordered)) - 1)])


def _errors(bar: float) -> Any:
    """Equally likely errors of noise with that error bar, of either sign."""
    scale = bar / math.log(1 / (1 - _CONFIDENCE))
    sizes = -scale * np.log1p(-(np.arange(_HALF) + 0.5) / _HALF)
    return np.concatenate([-sizes[::-1], sizes])
