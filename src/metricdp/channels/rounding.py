"""From probabilities that are real numbers to integers that still keep every promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from metricdp.channels.pairs import VIEW_ERROR, Pairs
from metricdp.exact.balls import exp_bounds
from metricdp.exact.weights import Weights

__all__ = ["FixedPoint", "round_inside"]

FixedPoint = Callable[[int], Weights]
"""For a number of bits, probabilities times 2^bits as integers, each off by less than 1; 0 only for exact zeros."""

_SPARE_BITS = 64


def round_inside(fixed: FixedPoint, least: float, pairs: Pairs) -> tuple[Weights, int]:
    """Integer rows near to private probabilities p that are private too, and their sum, a power of two.

    Every possible output of a row gets c units on top: ``p (2^B - c m) + c``, rounded to within 2 units. From
    ``p <= e^d p'`` follows ``p T + c + 2 <= e^d (p' T + c - 2)`` as soon as ``c >= 2 (e^d + 1) / (e^d - 1)``, for the
    least positive distance d. A unit is 2^-64 of the least probability there is, so this moves nothing one could see.

    Args:
        fixed: the probabilities; rows at a finite distance have the same possible outputs.
        least: the logarithm to base 2 of the least positive probability, or something below it.
        pairs: the inputs and their distances.
    """
    near = float(pairs.distances[pairs.constrained].min(initial=math.inf)) * (1 - 2 * VIEW_ERROR)
    units = 4 if math.isinf(near) else _units(near)
    columns = fixed(8).shape[1]
    bits = math.ceil(-least) + _SPARE_BITS + (units * columns).bit_length()
    total = 1 << bits
    weights = fixed(bits)
    for row in range(len(weights)):
        weights[row] = _row(weights[row], units, bits)
    for kept, copy in pairs.twins:
        weights[copy] = weights[kept]
    return weights, total


def _units(near: float) -> int:
    low, _ = exp_bounds(Fraction(near))
    return math.ceil(2 * (low + 1) / (low - 1)) + 1 if low > 1 else math.ceil(8 / near)


def _row(values: NDArray[np.object_], units: int, bits: int) -> list[int]:
    """One row with its units on top and the rest of the total dealt out evenly: each entry is off by 2 at most."""
    possible = [column for column, value in enumerate(values.tolist()) if value]
    scaled: list[int] = values.tolist()
    taken = units * len(possible)
    for column in possible:
        scaled[column] += units - (scaled[column] * taken >> bits)
    missing = (1 << bits) - sum(scaled)
    share, rest = divmod(missing, len(possible))
    for place, column in enumerate(possible):
        scaled[column] += share + (place < rest)
    return scaled
