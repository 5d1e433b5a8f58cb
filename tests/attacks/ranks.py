"""What a percentile tells of two tables, exactly: the law of a draw by rank is enumerated, answer and error bar."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from metricdp.queries.select.joint_percentiles import joint_percentiles
from metricdp.queries.select.joint_ranks import drawn_together
from metricdp.queries.select.rank_scores import RankScores, ValueTally
from tests.attacks.exact_sums import Sum


def draw_by_rank(asking) -> None:
    """Draw all percentiles by rank that can be drawn so, whether or not noise on the answer would be better."""
    for part in asking.percentiles.values():
        if part.by_rank is not None:
            vars(part).update(ranks=part.by_rank, plan=None)


def draw_together(asking, finer: int = 2) -> None:
    """Draw the percentiles of each column together, whether or not that is better; each place has a few points."""
    draw_by_rank(asking)
    found = joint_percentiles(asking.percentiles, drawn_together)
    vars(asking)["joint"] = tuple(replace(one, ranks=replace(one.ranks, finer=finer)) for one in found)


def tally_of(places) -> ValueTally:
    """The values of a group."""
    values, counts = np.unique(np.array(places, dtype=np.int64), return_counts=True)
    return ValueTally(values.astype(np.int64), counts.astype(np.int64))


def logarithms(pieces, rate: Fraction) -> np.ndarray:
    """The logarithm of the probability of each place of each piece."""
    exponents = -float(rate * pieces.unit) * pieces.losses.astype(float)
    top = exponents.max()
    return exponents - top - math.log(float((pieces.counts * np.exp(exponents - top)).sum()))


def flipped(pieces, rate: Fraction) -> np.ndarray:
    """The logarithm of the probability of each place of each piece, by permute and flip.

    A candidate with the coin p is taken with ``p ∫ Π (1 - p_j + p_j t) dt`` over all others, as each of k coins that
    come up is the first with 1/k: a polynomial, which as many nodes as half its degree integrate exactly.
    """
    exponents = -float(rate * pieces.unit) * pieces.losses.astype(float)
    coins = np.exp(exponents - exponents.max())
    nodes, weights = _nodes(min(int(pieces.counts.sum()), 800) // 2 + 2)
    logs = np.log(1 - coins[:, None] * (1 - nodes))
    whole = (pieces.counts[:, None] * logs).sum(axis=0)
    return np.log(coins) + np.log((weights * np.exp(whole - logs)).sum(axis=1))


@functools.cache
def _nodes(count: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def law(pieces, rate: Fraction, places: int) -> np.ndarray:
    """The logarithm of the probability of each place; of a place that is never drawn, NaN."""
    found = np.full(places, np.nan)
    for start, count, weight in zip(pieces.starts, pieces.counts, flipped(pieces, rate), strict=True):
        found[start : start + count] = weight
    return found


def told_by_draw(ranks, here: ValueTally, there: ValueTally) -> float:
    """The most that the answer and its error bar tell of two groups: the greatest logarithm of a ratio."""
    (one, here_bars), (two, there_bars) = (_laws_of(ranks, tally) for tally in (here, there))
    most = 0.0
    for place, here_w in here_bars.items():
        apart, widths = float(one[place] - two[place]), here_w - there_bars[place]
        most = max(most, apart + float(widths.max()), -apart - float(widths.min()))  # both draws together
    return most


def _laws_of(ranks, tally: ValueTally) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """The law of the answer, and for each place where it may lie that of the error bar; worked out once."""
    known = vars(ranks).setdefault("laws", {})
    key = (*tally.values.repeat(tally.counts).tolist(),)
    if key not in known:
        answer = law(ranks.choice.scores.pieces(tally), ranks.choice.rate, ranks.line.places)
        bars = {
            place: logarithms(ranks.width.pieces(tally, place), ranks.width.rate)
            for place in np.flatnonzero(~np.isnan(answer)).tolist()
        }
        known[key] = answer, bars
    return known[key]


def law_together(ranks, values: list[int]) -> dict[tuple[int, ...], float]:
    """The chance of each combination of places, over all points that the records may be put at."""
    total: dict[tuple[int, ...], float] = {}
    ways = list(itertools.product(range(ranks.finer), repeat=len(values)))
    last, many = ranks.places * ranks.finer - 1, len(ranks.percents)
    for way in ways:
        points = [value * ranks.finer + at for value, at in zip(values, way, strict=True)]
        partly = [({-1: -1, many: last}, 1.0 / len(ways))]
        for node in ranks.nodes:
            laws: dict[tuple[int, int], list[tuple[int, float]]] = {}
            further = []
            for found, chance in partly:
                first, end = found[node.low] + 1, found[node.high]
                if (first, end) not in laws:
                    laws[first, end] = _points_of(node, ranks.rates[node.level], points, first, end)
                further += [(found | {node.place: point}, chance * own) for point, own in laws[first, end]]
            partly = further
        for found, chance in partly:
            key = tuple(found[place] // ranks.finer for place in range(many))
            total[key] = total.get(key, 0.0) + chance
    return total


def _points_of(node, rate: Fraction, points: list[int], first: int, end: int) -> list[tuple[int, float]]:
    """The chance of each point of a part of the line."""
    if first > end:
        return [(end, 1.0)]
    inside = tally_of([point - first for point in points if first <= point <= end])
    chances = np.exp(law(RankScores(node.target, end - first + 1).pieces(inside), rate, end - first + 1))
    return [(first + place, float(chance)) for place, chance in enumerate(chances)]


def told_together(together, here: list[ValueTally], there: list[ValueTally]) -> Sum:
    """What percentiles that are drawn together tell of two tables, with the error bars of all of them."""
    found = math.fsum(_told_of_group(together, one, two) for one, two in zip(here, there, strict=True))
    return Sum(max(Fraction(0), Fraction(found) - Fraction(1, 10**9)))


def _told_of_group(together, here: ValueTally, there: ValueTally) -> float:
    known = vars(together).setdefault("laws", {})
    keys = [(*tally.values.repeat(tally.counts).tolist(),) for tally in (here, there)]
    if keys[0] == keys[1]:
        return 0.0
    if frozenset(keys) not in known:
        known[frozenset(keys)] = _most_told(together, keys, here, there)
    return known[frozenset(keys)]


def _most_told(together, keys, here: ValueTally, there: ValueTally) -> float:
    one, two = (law_together(together.ranks, list(values)) for values in keys)
    assert abs(sum(one.values()) - 1) < 1e-9
    widths = [part.ranks.width for part in together.named.values()]
    bars = [
        {
            place: logarithms(width.pieces(here, place), width.rate)
            - logarithms(width.pieces(there, place), width.rate)
            for place in range(together.ranks.places)
        }
        for width in widths
    ]
    most = 0.0
    for places, chance in one.items():
        for sign in (1, -1):
            told = sign * math.log(chance / two[places])
            told += sum(float((sign * bar[place]).max()) for bar, place in zip(bars, places, strict=True))
            most = max(most, told)
    return most


def _told_once(part, here: ValueTally, there: ValueTally) -> float:
    """What a draw tells of two groups, either way; looked up where it is known: groups of many tables are alike."""
    known = vars(part).setdefault("told_by_draw", {})
    pair = frozenset((tuple(tally.values.tolist()), tuple(tally.counts.tolist())) for tally in (here, there))
    if pair not in known:
        known[pair] = told_by_draw(part.ranks, here, there)
    return known[pair]


def told(part, here: list[ValueTally], there: list[ValueTally]) -> Sum:
    """What a percentile of all groups tells of two tables, given the values of their groups.

    Of a draw the law is computed in floats, and a thousand millionth is taken off.
    """
    if part.ranks is not None:
        changed = [
            (one, two)
            for one, two in zip(here, there, strict=True)
            if (one.values.tolist(), one.counts.tolist()) != (two.values.tolist(), two.counts.tolist())
        ]
        found = math.fsum(_told_once(part, one, two) for one, two in changed)
        return Sum(max(Fraction(0), Fraction(found) - Fraction(1, 10**9)))
    pairs = enumerate(zip(here, there, strict=True))
    moved = sum((abs(part.exact(one, group) - part.exact(two, group)) for group, (one, two) in pairs), Fraction(0))
    if not moved:
        return Sum()
    mechanism = part.plan.mechanism
    return Sum(infinite=True) if mechanism is None else Sum.of_level(mechanism.metric.level) * moved
