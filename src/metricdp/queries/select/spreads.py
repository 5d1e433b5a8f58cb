"""Error bars of what is computed from noisy numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

__all__ = ["spread"]

_CONFIDENCE = 0.95
_HALF = 40
_POINTS = 4096


def spread(
    compute: Callable[[Sequence[Any]], Any],
    values: Sequence[float],
    bars: Mapping[int, float],
    together: Sequence[Mapping[int, float]] = (),
) -> float:
    """Half the width of an interval around ``compute(values)`` that holds the truth with 95%.

    Each number is off by noise with two sides like Laplace's, of which its error bar is the 95% point, and independent
    of the others'. With one noisy number, the computation is done at both ends of its error bar. With two, it is done
    for 80 equally likely errors of each, and the 95% point of the distances from the answer is taken. With more, it is
    done for 4,096 combinations of errors that are spread evenly over all there are, always the same ones.

    Args:
        compute: from numbers, or arrays of them, one for each place.
        values: the noisy numbers.
        bars: the error bars of those that it depends on, by their places.
        together: numbers that share noise, by their places, each with the direction, 1 or -1, in which it is off where
            the others are: they are taken to be off by the same part of their bars.

    >>> round(spread(lambda x: x[0] - x[1], [5.0, 3.0], {0: 3.0, 1: 0.0}), 1)
    3.0
    """
    noisy = [place for place, bar in bars.items() if bar > 0]
    centre = float(compute(list(values)))
    if not noisy or not math.isfinite(centre):
        return 0.0 if not noisy else math.inf
    groups = [[place for place in group if place in noisy] for group in together]
    direction = {place: sign for group in together for place, sign in group.items()}
    groups = [group for group in groups if group] + [[place] for place in noisy if place not in direction]
    moved: list[Any] = list(values)

    def move(group: Sequence[int], errors: Callable[[float], Any]) -> None:
        for place in group:
            moved[place] = values[place] - errors(bars[place]) * direction.get(place, 1.0)

    if len(groups) == 1:
        move(groups[0], lambda bar: np.array([-bar, bar]))
        ends = np.abs(np.asarray(compute(moved), dtype=np.float64) - centre)
        return float(ends.max()) if np.isfinite(ends).all() else math.inf
    if len(groups) == 2:
        move(groups[0], lambda bar: _errors(bar)[:, np.newaxis])
        move(groups[1], _errors)
    else:
        for group, parts in zip(groups, _even(len(groups)), strict=True):
            move(group, lambda bar, parts=parts: _error_at(parts, bar))  # type: ignore[misc]
    away = np.abs(np.asarray(compute(moved), dtype=np.float64) - centre).ravel()
    away = np.where(np.isnan(away), np.inf, away)
    ordered = np.sort(away)
    return float(ordered[min(len(ordered) - 1, math.ceil(_CONFIDENCE * len(ordered)) - 1)])


def _errors(bar: float) -> Any:
    """Equally likely errors of noise with that error bar, of either sign."""
    return _error_at((np.arange(2 * _HALF) + 0.5) / (2 * _HALF), bar)


def _error_at(parts: Any, bar: float) -> Any:
    """The errors below which noise with that error bar stays in these parts of all cases."""
    scale = bar / math.log(1 / (1 - _CONFIDENCE))
    sizes = -scale * np.log1p(-np.abs(2 * parts - 1))
    return np.where(parts < 0.5, -sizes, sizes)


@lru_cache(maxsize=8)
def _even(dimensions: int) -> Any:
    """Points spread evenly over a cube: multiples of the powers of 1 / g, without their whole parts.

    Here ``g^(dimensions + 1) = g + 1``; for one dimension it is the golden ratio. There is no randomness in it: it is a
    rule to integrate by.
    """
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    return (0.5 + np.outer(steps, np.arange(1, _POINTS + 1))) % 1.0
