"""From probabilities that are real numbers to integers that still keep every promise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from metricdp.channels.pairs import Pairs
from metricdp.exact.arrays import Floats, each_block, row_blocks
from metricdp.exact.balls import exp_bounds
from metricdp.exact.weights import Stored, Weights
from metricdp.mechanisms.law import FixedPoint

__all__ = ["floats_inside", "round_inside"]

_SPARE_BITS = 64
_BLOCK = 1 << 16
_SHORT = 60
"""Bits of integers that machines add up quickly and that take little memory."""


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


def floats_inside(matrix: Floats, pairs: Pairs, share: float, near: float = 0.0) -> tuple[Stored, int] | None:
    """The same for many probabilities as floats, whose columns are a little inside the cone, in 60 bits.

    What is below 2^-60 is lifted by the units on top, of which there are twice as many: rounding moves an entry by up
    to 4. None where these would be more than a share of each row. Nothing is proved here: `verify` does it.

    Args:
        matrix: one row for each input; what is below zero counts as zero.
        pairs: the inputs and their distances.
        share: of each row that may be spent.
        near: inputs that are no farther apart have equal rows, and get equal integers.
    """
    units, total = 2 * _units(_least_distance(pairs, near)), 1 << _SHORT
    if units * matrix.shape[1] > min(share, 0.5) * total:
        return None
    weights: Stored = np.empty(matrix.shape, dtype=np.int64)

    def fill(rows: slice) -> None:
        possible = matrix[rows] > 0
        count, everywhere = possible.sum(axis=1), bool(possible.all())
        whole = (np.maximum(matrix[rows], 0.0) * total).astype(np.int64)
        sums = whole.sum(axis=1)
        change = whole * ((total - units * count - sums) / sums)[:, None]
        whole += np.rint(change, out=change).astype(np.int64)
        whole += units if everywhere else units * possible
        left = total - whole.sum(axis=1)  # at most one for each entry
        rank = np.arange(1, whole.shape[1] + 1) if everywhere else np.cumsum(possible, axis=1)
        whole += np.sign(left)[:, None] * (possible & (rank <= np.abs(left)[:, None]))
        weights[rows] = whole

    each_block(fill, list(row_blocks(matrix.shape, _BLOCK)))
    weights.setflags(write=False)  # so that a channel need not copy them
    return weights, total


def _least_distance(pairs: Pairs, near: float = 0.0) -> Fraction:
    """A number up to 1 that no positive distance is below, of those above ``near``."""
    asked = pairs.constrained & (pairs.enclosures.upper > near) if near else pairs.constrained
    held = asked & ~pairs.extreme
    least = Fraction(float(pairs.enclosures.lower.min(initial=1.0, where=held)))
    enclosed = (pairs.space.metric.enclose(*pairs.points(i, j)) for i, j in np.argwhere(asked & pairs.extreme).tolist())
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
