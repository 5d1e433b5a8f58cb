"""Verification: the smallest multiple of a metric for which a channel is private, exactly."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import fmpz

from metricdp.channels._logarithms import greatest_beyond, greatest_differences, logarithms
from metricdp.channels.arguments import ChannelLike, SpaceLike, as_channel, as_space
from metricdp.channels.channel import Channel
from metricdp.channels.near_sets import near_sets
from metricdp.channels.pairs import Pair, Pairs
from metricdp.channels.proved import known_verdict, remember
from metricdp.errors import LevelError
from metricdp.exact.arrays import Floats, Places, row_blocks
from metricdp.exact.balls import Enclosure, ball, decide_sign, float_above, float_below, precision
from metricdp.exact.level import ln, rational
from metricdp.metrics import Space, Verdict
from metricdp.metrics.norms import Root

__all__ = ["RatioCase", "decide", "verify"]

_BITS = (96, 256)
_MOST_BITS = 1 << 14
_MANY = 5000
_LONG = 600  # bits
_TOGETHER = 64
"""So many inputs, near each other, are compared with so many others at a time, where there are many."""

_LARGE = 500
"""Of more inputs than these, a tenth of so many pairs are looked at in balls."""

_TOLD = 1e6
_ROUNDED = 2.0**-50

Witness = tuple[Any, Any, Any]


class RatioCase(NamedTuple):
    """Two inputs, an output, and the ratio of its probabilities as a fraction of integers."""

    x: int
    other: int
    z: int
    numerator: int
    denominator: int


def verify(
    channel: ChannelLike,
    space: SpaceLike,
    delta: int | float | str | Fraction = 0,
    *,
    within: int | float | str | Fraction | None = None,
) -> Verdict:
    """Whether a channel is d-private: ``K(x)(Z) <= exp(d(x, x')) K(x')(Z) + delta``; decided exactly.

    With delta = 0, the smallest scale s for which the channel is s·d-private is the maximum of
    ``ln(K(x)(z) / K(x')(z)) / d(x, x')`` over all inputs x, x' and outputs z. Candidates are found in floats with a
    rigorous error, and decided in integers and balls: a ratio of exactly 2 at distance ln 2 has the scale 1, and one
    entry off by 10^-12 is seen. Pairs at an infinite distance are free, pairs at distance zero must have equal rows.
    With a delta, every pair of inputs is checked with the sum over all outputs of ``K(x)(z) - exp(s d) K(x')(z)``,
    where that is positive.

    Args:
        channel: its inputs are points of ``space``, which may have more. An array, rows, a dict or a frame of
            probabilities are taken, too; rows without labels are those of the points of the space.
        space: the points and d; or d alone, on the inputs of the channel.
        delta: in [0, 1).
        within: look only at inputs at most this far apart, before the level: ``within=1`` for neighbouring databases.
            With delta = 0 that decides for all inputs that chains of such steps join; a delta does not chain, and then
            nothing is said of inputs farther apart.

    References:
        Paper 1, Definition 1; paper 2, section 2 and Definition 1, for delta and neighbours; paper 5, Lemma 2.

    >>> import metricdp as mdp
    >>> C = Channel.from_matrix([0, 1, 2], "abc", [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]])
    >>> verdict = verify(C, mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()))
    >>> verdict.holds, verdict.scale, verdict.witness
    (True, 1.0, (0, 1, 'a'))
    """
    channel = as_channel(channel, "verify", space.points if isinstance(space, Space) else None)
    space = as_space(space, "verify", channel.inputs)
    share = rational(delta, "delta")
    if not 0 <= share < 1:
        raise LevelError("a delta lies in [0, 1)")
    if within is not None:
        near = rational(within, "within")
        if near <= 0:
            raise LevelError("secrets within a positive distance are looked at")
        return replace(_verdict(channel, Pairs.of(channel.inputs, space, near), share), within=near)
    pairs = Pairs.of(channel.inputs, space)
    known = known_verdict(channel, space.metric, share)
    return remember(channel, _verdict(channel, pairs, share)) if known is None else known


def _verdict(channel: Channel, pairs: Pairs, delta: Fraction) -> Verdict:
    if delta:
        from metricdp.channels._verify_delta import verify_with_delta

        return verify_with_delta(channel, pairs, delta)
    told_apart = _told_apart(channel, pairs)
    if told_apart is not None:
        return decide(channel, pairs, [told_apart])
    cases, others = _cases(channel, pairs)
    return decide(channel, pairs, cases, others=others)


def _told_apart(channel: Channel, pairs: Pairs) -> RatioCase | None:
    """Two inputs that no multiple of their distance excuses: one alone can give an output, or twins that differ."""
    possible = np.asarray(channel.stored > 0, dtype=bool)
    if not np.array_equal(possible.any(axis=0), possible.all(axis=0)):
        _, kind = np.unique(possible, axis=0, return_inverse=True)
        differ = np.argwhere(np.not_equal.outer(kind, kind) & pairs.constrained)
        for x, other in differ.tolist():
            only = np.flatnonzero(possible[x] & ~possible[other])
            if len(only):
                return RatioCase(x, other, int(only[0]), 1, 0)
    for x, other in pairs.twins:
        unequal = np.flatnonzero(np.array(channel.stored[x] != channel.stored[other], dtype=bool))
        if len(unequal):
            z = int(unequal[0])
            more = channel.stored[x, z] > channel.stored[other, z]
            return RatioCase(x, other, z, 1, 0) if more else RatioCase(other, x, z, 1, 0)
    return None


def _cases(channel: Channel, pairs: Pairs) -> tuple[list[RatioCase], float]:
    """The cases among which the tightest is: for each pair that floats cannot rule out, its largest ratio, exactly.

    Where very many pairs are tied to twelve digits, and below their distance for certain, some of them stand for all;
    the number returned is then a scale that none of the others exceeds.
    """
    if not pairs.constrained.any():
        return [], 0.0
    if bool((channel.stored == channel.stored[0]).all()):  # then every ratio is one
        x, other = divmod(int(pairs.constrained.argmax()), len(pairs))
        return [RatioCase(x, other, int(np.argmax(channel.stored[0] > 0)), 1, 1)], 0.0
    logs, error = logarithms(channel.stored)
    greatest = greatest_differences(logs) if len(pairs) <= _LARGE else _greatest_of_many(logs, 2 * error, pairs)
    contenders, others = _contenders(greatest, 2 * error, pairs)
    rows = _Rows(channel)
    return [_largest_ratio(rows, logs, pair, greatest[pair] - 4 * error) for pair in contenders], others


def _greatest_of_many(logs: Floats, error: float, pairs: Pairs) -> Floats:
    """The largest differences of all pairs that may be the tightest: no less tight than some near ones, for certain."""
    known, constrained, extreme = pairs.enclosures, pairs.constrained, pairs.extreme
    scale, beyond = 0.0, _TOLD * error  # nearer ones do not tell
    for _ in range(2):
        found = [beyond]
        for rows in row_blocks(constrained.shape):
            usable = constrained[rows] & ~extreme[rows] & (known.upper[rows] > beyond)
            apart = np.where(usable, known.upper[rows], np.inf)
            nearest = apart.argmin(axis=1)
            differences = np.abs(logs[rows] - logs[nearest]).max(axis=1) - error
            least = apart[np.arange(len(apart)), nearest]
            scale = max(scale, float((differences / least).max()) * (1 - _ROUNDED))
            found += least.tolist()
        beyond = 2 * float(np.median(found))  # where most have a twin, the others say more

    def enough(rows: Places) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            least = known.lower[rows] * scale - 2 * error
        least[extreme[rows]] = -np.inf
        least[~constrained[rows]] = np.inf
        return least

    return greatest_beyond(logs, list(near_sets(known.upper, _TOGETHER)), enough)


def _contenders(greatest: Floats, error: float, pairs: Pairs) -> tuple[list[Pair], float]:
    """Pairs whose ratio of logarithm to distance may be the largest of all, and a bound on those left out."""
    known, constrained = pairs.enclosures, pairs.constrained
    most, top = np.empty(greatest.shape), -np.inf
    for rows in row_blocks(greatest.shape):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            least = np.maximum(greatest[rows] - error, 0) / known.upper[rows] * (1 - _ROUNDED)
            most[rows] = np.maximum(greatest[rows] + error, 0) / known.lower[rows] * (1 + _ROUNDED)
        usable = constrained[rows] & ~pairs.extreme[rows]
        top = max(top, float(np.max(least, initial=-np.inf, where=usable)))
    most[pairs.extreme] = np.inf
    first = pairs.neighbours([(i, j) for i, j in np.argwhere(constrained & (most >= top)).tolist()])
    rest, many = 0.0, _MANY if len(pairs) <= _LARGE else _MANY // 10
    if len(first) > many and float(np.max(most, initial=-np.inf, where=constrained)) <= 1:
        values = np.array([most[pair] for pair in first])
        order = np.argsort(-values, kind="stable")
        rest, first = float(values[order[many]]), [first[place] for place in order[:many].tolist()]
    lower, upper = pairs.enclosed(first)
    values = np.array([greatest[pair] for pair in first])
    # A largest difference is negative only by rounding, or where a row is nowhere above another: never the tightest.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, high = np.maximum(values - error, 0) / upper, np.maximum(values + error, 0)
        high = np.where(lower > 0, high / lower * (1 + 2.0**-50), np.inf)
    keep = np.flatnonzero(high >= float(low.max()) * (1 - 2.0**-50))
    if len(keep) > many and float(high[keep].max()) <= 1:
        keep = keep[np.argsort(-high[keep], kind="stable")]
        rest, keep = max(rest, float(high[keep[many]])), keep[:many]
    kept = [first[place] for place in keep.tolist()]
    return (kept, rest) if rest else (pairs.unimplied(kept), 0.0)


class _Rows:
    """The rows of a channel as lists of integers: flint's where they are long, whose products are quicker then."""

    def __init__(self, channel: Channel) -> None:
        self._weights = channel.stored
        self._long = channel.total.bit_length() > _LONG
        self._rows: dict[int, list[Any]] = {}

    def row(self, row: int) -> list[Any]:
        """The weights of a row, made once."""
        if row not in self._rows:
            values = self._weights[row].tolist()
            self._rows[row] = [fmpz(value) for value in values] if self._long else values
        return self._rows[row]


def _largest_ratio(rows: _Rows, logs: Floats, pair: Pair, threshold: float) -> RatioCase:
    x, other = pair
    mine, theirs = rows.row(x), rows.row(other)
    columns = [z for z in np.flatnonzero(logs[x] - logs[other] >= threshold).tolist() if mine[z]]
    best = columns[0]
    top, bottom = mine[best], theirs[best]
    for z in columns[1:]:
        if mine[z] * bottom > top * theirs[z]:
            best, top, bottom = z, mine[z], theirs[z]
    return RatioCase(x, other, best, int(top), int(bottom))


def decide(
    channel: Channel, pairs: Pairs, cases: list[RatioCase], delta: Fraction = Fraction(0), others: float = 0.0
) -> Verdict:
    """The verdict, given the cases among which the tightest is; a denominator of 0 is beyond any scale.

    ``others`` is a scale up to 1 that all further cases keep.
    """
    metric = pairs.space.metric
    if not cases:
        twins = pairs.twins[:1]
        return Verdict(
            True, 0.0, 0.0, next((_names(channel, RatioCase(*pair, 0, 1, 1)) for pair in twins), None), metric, delta
        )
    if any(case.denominator == 0 for case in cases):
        return Verdict(False, math.inf, math.inf, _names(channel, cases[0]), metric, delta)
    finalists = _tightest(cases, pairs, 2 * channel.total.bit_length() + 128)
    judged = [_judge(case, pairs) for case in finalists]
    holds = all(sign < 0 or exact == 1 for exact, sign in judged)
    worst = next((place for place, (exact, sign) in enumerate(judged) if sign >= 0 and exact != 1), 0)
    bounds = [_scale(case, exact, pairs) for case, (exact, _) in zip(finalists, judged, strict=True)]
    below, above = max(low for low, _ in bounds), max(others, *(high for _, high in bounds))
    if holds:
        below, above = min(below, 1.0), min(above, 1.0)
    elif judged[worst][1] > 0:
        below, above = max(below, 1.0), max(above, math.nextafter(1.0, 2.0))
    return Verdict(holds, above, below, _names(channel, finalists[worst]), metric, delta)


def _names(channel: Channel, case: RatioCase) -> Witness:
    return channel.inputs[case.x], channel.inputs[case.other], channel.outputs[case.z]


def _judge(case: RatioCase, pairs: Pairs) -> tuple[Fraction | None, int]:
    """The scale of a case where it is rational, and the sign of the scale minus 1.

    A sign that cannot be told from zero is 0 with no rational scale: nothing is proved, so the promise does not hold.
    """
    exact = _exact_scale(case, pairs)
    if exact is not None:
        return exact, (exact > 1) - (exact < 1)
    allowed = pairs.space.metric.exponential(*pairs.points(case.x, case.other))
    if allowed is not None:
        ratio = Root(Fraction(case.numerator, case.denominator))
        return (Fraction(1), 0) if ratio == allowed else (None, -1 if ratio < allowed else 1)
    bits = max(_MOST_BITS, 4 * case.numerator.bit_length())
    return None, decide_sign(lambda: _log_ratio(case) - pairs.ball(case.x, case.other), bits)


def _scale(case: RatioCase, exact: Fraction | None, pairs: Pairs) -> tuple[float, float]:
    if exact is not None:
        return float_below(exact), float_above(exact)
    bits = _BITS[0]
    while True:
        with precision(bits):
            scale = _log_ratio(case) / pairs.ball(case.x, case.other)
            if scale.rel_accuracy_bits() >= 60 or bits > 8 * _MOST_BITS:
                below, above = Enclosure.of(scale).outward
                return max(below, 0.0), above
        bits *= 2


def _tightest(cases: list[RatioCase], pairs: Pairs, most_bits: int) -> list[RatioCase]:
    """The cases with the largest ratio of logarithm to distance; several where balls cannot tell them apart."""
    for bits in (*_BITS, most_bits):
        if len(cases) == 1:
            break
        with precision(bits):
            scales = [_log_ratio(case) / pairs.ball(case.x, case.other) for case in cases]
            best = scales[0]
            for scale in scales[1:]:
                if scale > best:
                    best = scale
            cases = [case for case, scale in zip(cases, scales, strict=True) if not scale < best]
    return cases


def _log_ratio(case: RatioCase) -> Any:
    return (ball(case.numerator) / ball(case.denominator)).log()


def _exact_scale(case: RatioCase, pairs: Pairs) -> Fraction | None:
    """``ln(ratio) / d`` where both are rational multiples of one logarithm, so that it is rational."""
    if case.numerator <= case.denominator:
        return Fraction(0)
    level, unit = pairs.space.metric.level, pairs.unit_distance(case.x, case.other)
    if level.log_of is None or not isinstance(unit, Fraction):
        return None
    logarithm = ln(Fraction(case.numerator, case.denominator))
    if logarithm.log_of != level.log_of:
        return None
    return logarithm.coefficient / (level.coefficient * unit)
