"""Losses by rank: against a count record by record, and what one record can do to them."""

from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError
from metricdp.queries.select.rank_scores import RankScores, RankTarget
from tests.attacks.ranks import tally_of

TARGETS = [RankTarget(Fraction(p), Fraction(3, 2)) for p in (0, 10, 50, 90, 100)]


def loss(values, target, ramp, place):
    """By the definition: averages over the window of the counts below, and below or at, each of its places."""
    half = (ramp - 1) // 2
    window = range(place - half, place + half + 1)
    below = Fraction(sum(sum(value < t for value in values) for t in window), ramp)
    upto = Fraction(sum(sum(value <= t for value in values) for t in window), ramp)
    rank = target.rank(len(values))
    return max(below - rank, rank - upto, Fraction(0))


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
        found = losses(values, RankScores(target, 12, ramp))
        assert found == {place: loss(values, target, ramp, place) for place in range(12)}
    spaced = RankScores(target, 12, 3, 5).pieces(tally_of([2, 2, 9]))
    assert spaced.starts.tolist() == [0, 5, 10]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("ramp", [1, 3, 5])
def test_one_record_moves_losses_by_no_more_than_is_said(target, ramp):
    """And somewhere by as much, so that nothing smaller could be said."""
    draw, scores = np.random.default_rng(7), RankScores(target, 15, ramp)
    moved, left = {}, Fraction(0)
    for _ in range(60):
        others = draw.integers(0, 15, int(draw.integers(1, 8))).tolist()
        one, two = draw.integers(0, 15, 2).tolist()
        here, there, without = (losses([*others, *more], scores) for more in ([one], [two], []))
        apart = min(Fraction(abs(one - two), ramp), Fraction(1))
        change = max(abs(here[t] - there[t]) for t in here)
        assert change <= apart
        moved[apart] = max(moved.get(apart, Fraction(0)), change)
        gone = max(abs(here[t] - without[t]) for t in here)
        assert gone <= target.reach
        left = max(left, gone)
    assert moved[Fraction(1)] == 1
    assert left * Fraction(11, 10) > target.reach


def test_what_cannot_be():
    with pytest.raises(ArgumentError):
        RankScores(TARGETS[0], 10, 2)
    with pytest.raises(ArgumentError):
        RankScores(TARGETS[0], 10, 1, 3)
    with pytest.raises(ArgumentError, match="64 bits"):
        RankScores(TARGETS[1], 1 << 60, 3, 1 << 50).pieces(tally_of([0, 1, 2, 3]))
