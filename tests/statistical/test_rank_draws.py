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


def losses(percent, inset=0):
    """How many records each place is off the rank that is looked for, one by one."""
    n = len(RECORDS)
    share = Fraction(percent, 100)
    target = n - inset if percent == 100 else share * n + Fraction(1, 2 * share.denominator)
    found = []
    for place in range(PLACES):
        below, upto = sum(one < place for one in RECORDS), sum(one <= place for one in RECORDS)
        found.append(max(Fraction(0), below - target, target - upto))
    return found


def zone(place):
    """Below the records, at one of the two values, or beyond them."""
    return place if place in (30, 31) else "below" if place < 30 else "beyond"


def law_of(found):
    def law(factor):
        weights = [math.exp(-factor * float(RATE) * float(loss)) for loss in found]
        zones = dict.fromkeys(map(zone, range(PLACES)), 0.0)
        for place, weight in enumerate(weights):
            zones[zone(place)] += weight / sum(weights)
        return zones

    return law


@pytest.mark.parametrize(("percent", "inset"), [(50, 0), (40, 0), (100, 9)])
def test_the_answer(percent, inset):
    values, counts = np.unique(np.array(RECORDS), return_counts=True)
    tally = ValueTally(values.astype(np.int64), counts.astype(np.int64))
    choice = RankChoice(RankScores(RankTarget(Fraction(percent), Fraction(inset)), PLACES), RATE)
    with pytest.warns(NotPrivateWarning), seeded(15 + percent):
        drawn = [choice.draw(tally) for _ in range(DRAWS)]
    check_table([zone(place) for place in drawn], law_of(losses(percent, inset)))
    beyond = [place for place in drawn if place > 31]  # all alike, so spread evenly
    assert plausible(sum(place < 76 for place in beyond), len(beyond), 44 / 88)
