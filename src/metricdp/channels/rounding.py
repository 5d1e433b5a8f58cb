"""From probabilities that are real numbers to integers that still keep every promise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from metricdp.channels.pairs import Pairs
from metricdp.exact.balls import exp_bounds
from metricdp.exact.weights import Weights
from metricdp.mechanisms.law import FixedPoint

__all__ = ["round_inside"]

_SPARE_BITS = 64


def round_inside(fixed: FixedPoint, least: float, pairs: Pairs) -> tuple[Weights, int]:
    """Integer rows near to private probabilities p that are private too, and their sum, a power of two.

    Every output that is possible for a row, or for one at a finite distance, gets c units on top:
    ``p (2^B - c m) + c``, rounded to within 2 units. From ``p <= e^d p'`` follows
    ``p T + c + 2 <= e^d (p' T + c - 2)`` as soon as ``c >= 2 (e^d + 1) / (e^d - 1)``, for the least positive
    distance d. A unit is 2^-64 of the least probability there is, so this moves nothing one could see.

    Args:
        fixed: the probabilities.
        least: the logarithm to base 2 of the least positive probability, or something below it.
        pairs: the inputs and their distances.
    """
    units = _units(_least_distance(pairs))
    columns = fixed(8).shape[1]
    bits = math.ceil(-least) + _SPARE_BITS + (units * columns).bit_length()
    total = 1 << bits
    weights = fixed(bits)
    together = ~pairs.enclosures.infinite
    possible = together @ (weights > 0).astype(np.int64) > 0
    for row in range(len(weights)):
        weights[row] = _row(weights[row].tolist(), np.flatnonzero(possible[row]).tolist(), units, bits)
    for kept, copy in pairs.twins:
        weights[copy] = weights[kept]
    return weights, total


def _least_distance(pairs: Pairs) -> Fraction:
    """A number up to 1 that no positive distance is below."""
    held = pairs.constrained & ~pairs.extreme
    least = Fraction(float(pairs.enclosures.lower[held].min(initial=1.0)))
    enclosed = (pairs.space.metric.enclose(*pairs.points(i, j)) for i, j in np.argwhere(pairs.extreme).tolist())
    return min([least, *(Fraction(distance.lower) for distance in enclosed)])


def _units(near: Fraction) -> int:
    low, _ = exp_bounds(near)
    return math.ceil(2 * (low + 1) / (low - 1)) + 1 if low > 1 else math.ceil(8 / near)


def _row(values: list[int], possible: list[int], units: int, bits: int) -> list[int]:
    """One row with its units on top and the rest of the total dealt out evenly: each entry is off by 2 at most."""
    taken = units * len(possible)
    for column in possible:
        values[column] += units - (values[column] * taken >> bits)
    share, rest = divmod((1 << bits) - sum(values), len(possible))
    for place, column in enumerate(possible):
        values[column] += share + (place < rest)
    return values
