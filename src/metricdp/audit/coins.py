"""Which secret is next: coins of a known weight, so that a box that drifts accuses nobody."""

from __future__ import annotations

import numpy as np

from metricdp.exact.arrays import Booleans
from metricdp.exact.bits import source

__all__ = ["WHOLE", "coins", "weight_for"]

WHOLE = 1 << 16
"""Weights are multiples of one over this."""


def coins(count: int, weight: int) -> Booleans:
    """``count`` coins that are True with probability weight / 2^16 each, from the package's one source of bits."""
    words = source().words(-(-count // 4)).view(np.uint16)
    return words[:count] < weight


def weight_for(chance: float, other: float, factor: float | None = None) -> int:
    """The weight of x that makes a test sharpest.

    For the logarithm of a ratio of two probabilities, w : 1 - w = √p' : √p. For p - factor · p', which a promise with a
    delta is about, w : 1 - w = √p : factor √p'.
    """
    first, second = max(other, 1e-9) ** 0.5, max(chance, 1e-9) ** 0.5
    if factor is not None:
        first, second = second, factor * first
    return int(min(max(round(WHOLE * first / (first + second)), WHOLE // 256), WHOLE - WHOLE // 256))
