"""Losses by rank: against a count record by record, and what one record can do to them."""

from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError
from metricdp.queries.select.rank_scores import RankScores, RankTarget
from tests.attacks.ranks import tally_of

TARGETS = [RankTarget(Fraction(p)) for p in (0, 10, 50, 90, 100)]


def scored(target, places, ramp, spacing=1):
    """With a margin or a need, as they are planned."""
    if target.extreme:
        return RankScores(target, places, ramp, spacing, 0, 3, 6)
    return RankScores(target, places, ramp, spacing, 2 if ramp == 1 else 0)


def soft(values, ramp, place, inclusive):
    """Averages over the window of the counts below, or below or at, each of its places."""
    half = (ramp - 1) // 2
    window = range(place - half, place + half + 1)
    return Fraction(sum(sum(value < t + inclusive for value in values) for t in window), ramp)


def loss(values, scores, place):
    """By the definition."""
    target, ramp, w = scores.target, scores.ramp, scores.window
    below, upto = (soft(values, ramp, place, inclusive) for inclusive in (False, True))
    if target.percent == 0:
        return below + max(scores.need - (soft(values, ramp, place + w, False) - below), Fraction(0)) / 8
    if target.percent == 100:
        near = upto - soft(values, ramp, place - w, True)
        return len(values) - upto + max(scores.need - near, Fraction(0)) / 8
    rank = target.rank(len(values))
    inward = min((upto - below) / 2, Fraction(scores.margin))
    return max(below + inward - rank, rank - upto + inward, Fraction(0))


def losses(values, scores):
    pieces = scores.pieces(tally_of(values))
    found = {}
    for start, count, own in zip(pieces.starts, pieces.counts, pieces.losses, strict=True):
        found |= {place: int(own) * pieces.unit for place in range(start, start + count)}
    return found


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("ramp", [1, 3, 7])
def test_losses_are_those_of_the_definition(target, ramp):
    draw = np.random.default_rng(ramp)
    for rows in (0, 1, 2, 9):
        values = draw.integers(0, 12, rows).tolist()
        scores = scored(target, 12, ramp)
        assert losses(values, scores) == {place: loss(values, scores, place) for place in range(12)}
    spaced = scored(target, 12, 3, 5).pieces(tally_of([2, 2, 9]))
    assert spaced.starts.tolist() == [0, 5, 10]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("ramp", [1, 3, 5])
def test_one_record_moves_losses_by_no_more_than_is_said(target, ramp):
    """And somewhere by as much, so that nothing smaller could be said."""
    draw, scores = np.random.default_rng(7), scored(target, 24, ramp)
    moved, left = {}, Fraction(0)
    for trial in range(60):
        some = draw.integers(0, 24, int(draw.integers(0, 4)))
        others = (some if trial % 2 else np.arange(1, 23).repeat(2)).tolist()
        one, two = draw.integers(0, 24, 2).tolist() if trial % 3 else (0, 23)
        here, there, without = (losses([*others, *more], scores) for more in ([one], [two], []))
        apart = min(Fraction(abs(one - two), ramp), Fraction(1))
        changes = [here[t] - there[t] for t in here]
        change = (max(changes) - min(changes)) / 2
        assert change <= target.moved * apart
        moved[apart] = max(moved.get(apart, Fraction(0)), change)
        for with_one in (here, there):
            changes = [with_one[t] - without[t] for t in here]
            gone = (max(changes) - min(changes)) / 2
            assert gone <= target.reach
            left = max(left, gone)
    assert moved[Fraction(1)] * Fraction(5, 4) > target.moved
    assert left * Fraction(5, 4) > target.reach


def test_what_cannot_be():
    with pytest.raises(ArgumentError):
        RankScores(TARGETS[0], 10, 2)
    with pytest.raises(ArgumentError):
        RankScores(TARGETS[0], 10, 1, 3)
    with pytest.raises(ArgumentError, match="margin"):
        RankScores(TARGETS[1], 10, 3, margin=1)
    with pytest.raises(ArgumentError, match="64 bits"):
        RankScores(TARGETS[1], 1 << 60, 3, 1 << 50).pieces(tally_of([0, 1, 2, 3]))
