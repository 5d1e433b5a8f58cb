"""Percentiles drawn by rank follow their law; with a rate 10% off they do not."""

import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import NotPrivateWarning
from metricdp.exact import seeded
from metricdp.queries.select.rank_choice import RankChoice
from metricdp.queries.select.rank_scores import RankScores, RankTarget, ValueTally
from tests.statistical.harness import check_table, plausible

DRAWS = 3_000
RECORDS = [30] * 16 + [31] * 5
PLACES = 120
RATE = Fraction(2, 5)


NEED, WINDOW = 21, 2


def losses(percent, margin):
    """How many records each place is off the rank that is looked for, one by one."""
    n = len(RECORDS)
    share = Fraction(percent, 100)
    target = share * n + Fraction(1, 2 * share.denominator)
    found = []
    for place in range(PLACES):
        below, upto = sum(one < place for one in RECORDS), sum(one <= place for one in RECORDS)
        near = sum(place - WINDOW < one <= place for one in RECORDS)
        inward = min(Fraction(upto - below, 2), Fraction(margin))
        off = max(Fraction(0), below + inward - target, target - upto + inward)
        found.append(n - upto + Fraction(max(NEED - near, 0), 8) if percent == 100 else off)
    return found


def zone(place):
    """Below the records, at one of the two values, just beyond or beyond them."""
    return place if 30 <= place <= 32 else "below" if place < 30 else "beyond"


def law_of(found, rate=RATE):
    """By permute and flip: a candidate with the coin p is taken with p ∫ Π (1 - p_j + p_j t) dt over all others."""
    nodes, weights = np.polynomial.legendre.leggauss(PLACES)
    nodes = (nodes + 1) / 2

    def law(factor):
        coins = np.array([math.exp(-factor * float(rate) * float(loss - min(found))) for loss in found])
        each = 1 - coins[:, None] * (1 - nodes)
        chances = coins * (weights / 2 * each.prod(axis=0) / each).sum(axis=1)
        zones = dict.fromkeys(map(zone, range(PLACES)), 0.0)
        for place, chance in enumerate(chances):
            zones[zone(place)] += float(chance)
        return zones

    return law


@pytest.mark.parametrize(("percent", "margin"), [(50, 3), (40, 0), (100, 0)])
def test_the_answer(percent, margin):
    values, counts = np.unique(np.array(RECORDS), return_counts=True)
    tally = ValueTally(values.astype(np.int64), counts.astype(np.int64))
    ends, rate = ((0, NEED, WINDOW), Fraction(3, 2)) if percent == 100 else ((margin,), RATE)
    choice = RankChoice(RankScores(RankTarget(Fraction(percent)), PLACES, 1, 1, *ends), rate)
    with pytest.warns(NotPrivateWarning), seeded(15 + percent):
        drawn = [choice.draw(tally) for _ in range(DRAWS)]
    check_table([zone(place) for place in drawn], law_of(losses(percent, margin), rate))
    beyond = [place for place in drawn if place > 32]  # all alike, so spread evenly
    assert plausible(sum(place < 76 for place in beyond), len(beyond), 43 / 87)
