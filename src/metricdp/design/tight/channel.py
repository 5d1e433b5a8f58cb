"""The channel of a diagonal: ``X(i, k) = exp(-d(i, k)) a(k)``, as integers that are private."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from metricdp.adversaries.constraints_matrix import ConstraintsMatrix
from metricdp.channels.certified import Certified
from metricdp.channels.channel import Channel
from metricdp.channels.pairs import Pairs
from metricdp.channels.rounding import round_inside
from metricdp.channels.verify import verify
from metricdp.errors import ImpossibleError, LevelError
from metricdp.exact.balls import Enclosure, precision
from metricdp.exact.weights import Weights
from metricdp.metrics import Guarantee

__all__ = ["DiagonalAt", "tight_channel"]

_GUARD_BITS = 32
_MOVED = 2.0**-48
"""Far above what rounding moves: a unit is 2^-64 of the least probability, and a row has at most 2^10 entries."""

_FARTHEST = 100_000.0

DiagonalAt = Callable[[int], tuple[Enclosure, ...]]
"""For a number of bits, the diagonal with every entry enclosed to about 2^-bits, or exactly."""


def tight_channel(phi: ConstraintsMatrix, diagonal: DiagonalAt, grows: bool = False) -> Certified:
    """The verified channel with this diagonal, whose columns fall as fast as they may.

    Args:
        phi: the matrix Φ.
        diagonal: a to some number of bits.
        grows: take ``exp(d)`` in place of ``exp(-d)``: columns that grow as fast as they may.

    Raises:
        ImpossibleError: if the rounded channel cannot be proved private.
        LevelError: if distances are so large that the least probability takes too many digits.
    """
    if not _farthest(phi) < _FARTHEST:
        raise LevelError(
            f"distances up to {_farthest(phi):.3g} need probabilities of exp(-{_farthest(phi):.3g}), which take too "
            f"many digits; use a smaller level, with which all distances are below {_FARTHEST:.0f}"
        )
    first = diagonal(64)
    channel = _exact(phi, first, grows) or _rounded(phi, first, diagonal, grows)
    verdict = verify(channel, phi.space)
    if not verdict:
        raise ImpossibleError(f"the rounded channel could not be proved private: {verdict}")
    return channel


def _exact(phi: ConstraintsMatrix, diagonal: tuple[Enclosure, ...], grows: bool) -> Certified | None:
    if any(entry.width for entry in diagonal) or (rows := phi.exact) is None:
        return None
    values = [Fraction(entry.lower) for entry in diagonal]
    table = [[a * (1 / f if grows else f) for f, a in zip(row, values, strict=True)] for row in rows]
    plain = Channel.from_matrix(phi.space.points, phi.space.points, table)
    return Certified(plain.inputs, plain.outputs, plain.weights, plain.total, Guarantee(phi.space.metric))


def _rounded(phi: ConstraintsMatrix, first: tuple[Enclosure, ...], diagonal: DiagonalAt, grows: bool) -> Certified:
    points = phi.space.points
    positive = [float(entry) for entry in first if entry.lower > 0]
    farthest = _farthest(phi) * math.log2(math.e)
    least = math.log2(min(positive)) - (0.0 if grows else farthest) - 1
    weights, total = round_inside(
        lambda bits: _fixed_point(phi, diagonal, bits, grows), least, Pairs.of(points, phi.space)
    )
    return Certified(points, points, weights, total, Guarantee(phi.space.metric), _MOVED)


def _fixed_point(phi: ConstraintsMatrix, diagonal: DiagonalAt, bits: int, grows: bool) -> Weights:
    """``exp(∓d(i, k)) a(k) 2^bits`` as integers, each off by less than 1, and 0 only where a(k) or exp(-d) is 0."""
    count = len(phi)
    growth = math.ceil(_farthest(phi) * math.log2(math.e)) if grows else 0  # exp(d) multiplies the error of a
    spare = bits + growth + _GUARD_BITS
    falls = np.zeros((count, count), dtype=object)
    with precision(spare + growth + _GUARD_BITS):
        for i in range(count):
            for h in range(i + 1):
                value = phi.ball(i, h)
                falls[i, h] = falls[h, i] = _scaled(Enclosure.of(1 / value if grows else value).lower, spare)
    scaled = np.array([_scaled(entry.lower, spare) for entry in diagonal(spare)], dtype=object)
    return np.asarray((falls * scaled[None, :]) >> (2 * spare - bits))


def _farthest(phi: ConstraintsMatrix) -> float:
    """The largest finite distance."""
    distances = phi.space.distances
    exact = phi.space.metric.exactly
    points = phi.space.points
    if any(exact(points[i], points[h]) != math.inf for i, h in np.argwhere(np.isinf(distances)).tolist()):
        return math.inf  # finite, and beyond floats
    return float(distances[np.isfinite(distances)].max())


def _scaled(value: Fraction | float, bits: int) -> int:
    exact = Fraction(value)
    return (exact.numerator << bits) // exact.denominator
