"""Verification with a delta: every pair of inputs, by the sum over all outputs."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np

from metricdp.channels.channel import Channel
from metricdp.channels.pairs import VIEW_ERROR, Pair, Pairs
from metricdp.channels.verify import RatioCase, decide
from metricdp.exact.arrays import Floats
from metricdp.metrics import Verdict

__all__ = ["verify_with_delta"]

_SPARE = 2.0**-40
"""Relative, on sums of probabilities as floats: far above what rounding does to them."""

_LEAST = 1e-280


def verify_with_delta(channel: Channel, pairs: Pairs, delta: Fraction) -> Verdict:
    """The smallest scale s with ``K(x)(Z) <= exp(s d(x, x')) K(x')(Z) + delta`` for all sets Z of outputs.

    For one pair that is ``exp(s d) >= (K(x)(Z) - delta) / K(x')(Z)`` for all Z, and the worst Z holds the outputs of
    largest ratio ``K(x)(z) / K(x')(z)``: it is found among as many sets as there are outputs. Delta does not chain, so
    every pair is looked at, and none follows from others.
    """
    case = _beyond_any_scale(channel, pairs, delta)
    if case is not None:
        return decide(channel, pairs, [case], delta)
    contenders = _contenders(channel, pairs, float(delta))
    cases = [_worst_set(channel, delta, pair) for pair in contenders]
    if cases and all(case.numerator == case.denominator for case in cases):  # delta alone excuses everything
        cases.sort(key=lambda case: -_difference(channel, case))
    return decide(channel, pairs, cases, delta)


def _beyond_any_scale(channel: Channel, pairs: Pairs, delta: Fraction) -> RatioCase | None:
    """A pair that no multiple of its distance excuses: what only x can give has more than delta, or twins differ."""
    weights = channel.weights
    for pair in [pair for twins in pairs.twins for pair in (twins, twins[::-1])]:
        case = _worst_set(channel, delta, pair)
        if case.numerator > case.denominator:
            return case._replace(denominator=0)
    if (weights > 0).all():
        return None
    for x, other in np.argwhere(pairs.constrained).tolist():
        case = _worst_set(channel, delta, (x, other))
        if case.denominator == 0:
            return case
    return None


def _contenders(channel: Channel, pairs: Pairs, delta: float) -> list[Pair]:
    """Pairs whose scale may be the largest of all, found in floats with a margin."""
    low, high = _ratios(channel.matrix, delta)
    constrained, known = pairs.constrained, pairs.enclosures
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        least = np.log(np.maximum(low, 1)) / known.upper
        most = np.log(np.maximum(high, 1)) / known.lower * (1 + VIEW_ERROR) + VIEW_ERROR
    top = float(least[constrained & ~pairs.extreme].max(initial=0.0)) * (1 - VIEW_ERROR)
    most[pairs.extreme] = math.inf
    return [(i, j) for i, j in np.argwhere(constrained & ~(most < top)).tolist()]


def _ratios(matrix: Floats, delta: float) -> tuple[Floats, Floats]:
    """For every two rows, bounds on the least t with ``sum over z of max(0, a_z - t b_z) <= delta``."""
    rows = len(matrix)
    low, high = np.empty((rows, rows)), np.empty((rows, rows))
    for row, probabilities in enumerate(matrix):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = np.where(matrix > 0, probabilities / matrix, np.where(probabilities > 0, math.inf, 0.0))
            order = np.argsort(-ratios, axis=1, kind="stable")
            above = np.cumsum(probabilities[order], axis=1) - delta
            below = np.cumsum(np.take_along_axis(matrix, order, axis=1), axis=1)
            held = below > _LEAST  # below it, floats are too coarse to say anything
            low[row] = np.where(held, (above - _SPARE) / (below * (1 + _SPARE)), 0).max(axis=1)
            most = np.where(held, (above + _SPARE) / (below * (1 - _SPARE)), np.inf)
            high[row] = np.where(above + _SPARE > 0, most, 0).max(axis=1)
    return low, high


def _difference(channel: Channel, case: RatioCase) -> int:
    """The total variation between the rows of a case, in units of the channel: what a delta has to cover at scale 0."""
    mine, theirs = channel.weights[case.x].tolist(), channel.weights[case.other].tolist()
    return sum(max(0, one - other) for one, other in zip(mine, theirs, strict=True))


def _worst_set(channel: Channel, delta: Fraction, pair: Pair) -> RatioCase:
    """The largest ``(K(x)(Z) - delta) / K(x')(Z)`` of a pair, exactly; a ratio of 1 where it is nowhere above that.

    The denominator is 0 where no ratio is large enough. The output named is the one with the largest ratio.
    """
    x, other = pair
    mine, theirs = channel.weights[x].tolist(), channel.weights[other].tolist()
    order = sorted(
        (z for z in range(len(mine)) if mine[z]),
        key=functools.cmp_to_key(lambda one, two: mine[two] * theirs[one] - mine[one] * theirs[two]),
    )
    allowed = delta.numerator * channel.total
    best = RatioCase(x, other, order[0], 1, 1)
    above = below = 0
    for z in order:
        above, below = above + mine[z], below + theirs[z]
        excess, base = above * delta.denominator - allowed, below * delta.denominator
        if excess > 0 and (base == 0 or excess * best.denominator > best.numerator * base):
            best = RatioCase(x, other, order[0], excess, base)
        if best.denominator == 0:
            break
    return best
