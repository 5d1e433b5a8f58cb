"""Many distances combined into one by the norms 1, 2 and infinity: in floats, exactly, and in balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from metricdp.metrics.amounts import Exact
from metricdp.metrics.coordinates import Floats

__all__ = ["COMBINE", "ball_norm", "exact_norm", "exact_sum", "ratio_norm"]

COMBINE: dict[float, Callable[[Floats, Floats], Floats]] = {1: np.add, 2: np.hypot, math.inf: np.maximum}
"""For each norm, how to add one more distance."""


def exact_norm(distances: Sequence[Exact | None], p: float) -> Exact | None:
    """The norm of distances, where it is rational or infinite.

    >>> exact_norm([Fraction(3), Fraction(4)], 2)
    Fraction(5, 1)
    """
    if math.inf in distances:
        return math.inf
    rationals = [distance for distance in distances if isinstance(distance, Fraction)]
    if len(rationals) < len(distances):
        return None
    if p == 1:
        return sum(rationals, Fraction(0))
    if p == math.inf or len(rationals) == 1:
        return max(rationals)
    return _rational_root(sum((distance**2 for distance in rationals), Fraction(0)))


def exact_sum(distances: Sequence[Exact | None]) -> Exact | None:
    """Their sum, where it is rational or infinite."""
    return exact_norm(distances, 1)


def ratio_norm(ratios: Sequence[Fraction | None], p: float) -> Fraction | None:
    """The exponential of a norm of distances, from that of each, where it is rational.

    >>> ratio_norm([Fraction(2), Fraction(3)], 1)
    Fraction(6, 1)
    """
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < len(ratios):
        return None
    if p == math.inf:
        return max(known)
    changed = [ratio for ratio in known if ratio != 1]
    return math.prod(changed, start=Fraction(1)) if p == 1 or len(changed) <= 1 else None


def ball_norm(distances: Sequence[arb], p: float) -> arb:
    """The norm of distances that are balls."""
    if p == math.inf:
        largest = distances[0]
        for distance in distances[1:]:
            largest = largest.max(distance)
        return largest
    if p == 1:
        return sum(distances, arb(0))
    return sum((distance * distance for distance in distances), arb(0)).sqrt()


def _rational_root(square: Fraction) -> Fraction | None:
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    return Fraction(top, bottom) if top**2 == square.numerator and bottom**2 == square.denominator else None
