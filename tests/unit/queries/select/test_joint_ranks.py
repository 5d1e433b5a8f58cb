"""Percentiles drawn together: what they spend, and the exact law of what they tell of neighbouring tables."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import NotPrivateWarning
from metricdp.exact import seeded
from metricdp.queries.select.joint_ranks import JointRanks
from metricdp.queries.select.rank_scores import RankScores, ValueTally
from tests.attacks.ranks import law, tally_of

QUARTILES = tuple(map(Fraction, (25, 50, 75)))


def chances(joint, points):
    """The chance of each triple of places, given the points of the records: each draw after the one that parts it."""
    found, last = {}, joint.places * joint.finer - 1
    middle, lower, upper = joint.nodes

    def draws(node, first, end):
        if first > end:
            return {end: 1.0}
        inside = [point - first for point in points if first <= point <= end]
        pieces = RankScores(node.target, end - first + 1).pieces(tally_of(inside))
        chance = np.exp(law(pieces, joint.rates[node.level], end - first + 1))
        return {first + place: float(own) for place, own in enumerate(chance)}

    for half, own in draws(middle, 0, last).items():
        below, above = draws(lower, 0, half), draws(upper, half + 1, last)
        for (one, p), (two, q) in itertools.product(below.items(), above.items()):
            key = tuple(point // joint.finer for point in (one, half, two))
            found[key] = found.get(key, 0.0) + own * p * q
    return found


def whole_law(joint, values):
    """The same over all points that the records may be put at."""
    total = {}
    ways = list(itertools.product(range(joint.finer), repeat=len(values)))
    for way in ways:
        points = sorted(value * joint.finer + at for value, at in zip(values, way, strict=True))
        for key, own in chances(joint, points).items():
            total[key] = total.get(key, 0.0) + own / len(ways)
    assert sum(total.values()) == pytest.approx(1)
    return total


def told(here, there):
    return max(abs(math.log(here[key] / there[key])) for key in here)


@pytest.mark.parametrize("epsilon", [Fraction(4)])
def test_what_small_tables_tell(epsilon):
    """All tables of up to three records on a line of three: replacing one tells own, one more or less 1 / leaving."""
    joint = JointRanks(QUARTILES, 3, epsilon, 1 / epsilon, 2)
    laws = {
        values: whole_law(joint, values)
        for many in (0, 1, 2, 3)
        for values in itertools.combinations_with_replacement(range(3), many)
    }
    most = 0.0
    for values, here in laws.items():
        for place in range(len(values)):
            without = values[:place] + values[place + 1 :]
            most = max(most, told(here, laws[without]))
            for other in range(3):
                most = max(most, told(here, laws[tuple(sorted((*without, other)))]))
    assert float(epsilon) / 4 < most <= float(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("own", "leaving", "there"),
    [(Fraction(2), Fraction(0), (2, 28, 28, 29)), (None, Fraction(1, 2), (2, 28, 28))],
    ids=["a record is replaced", "a record leaves"],
)
def test_a_promise_a_tenth_stronger_would_be_refused(own, leaving, there):
    """On a line of 31 places two tables tell more than 2 / 1.1 of each other, and never more than the 2 promised."""
    joint = JointRanks(QUARTILES, 31, own, leaving, 1)
    most = told(chances(joint, (1, 2, 28, 28)), chances(joint, there))
    assert 2 / 1.1 < most <= 2 * (1 + 1e-9)


def test_all_levels_together_spend_what_there_is():
    for percents in (QUARTILES, tuple(map(Fraction, range(10, 100, 10))), (Fraction(10), Fraction(90))):
        joint = JointRanks(percents, 101, Fraction(3, 2), Fraction(0))
        reach = [max(one.target.reach for one in joint.nodes if one.level == k) for k in range(joint.levels)]
        assert sum(4 * own * rate for own, rate in zip(reach, joint.rates, strict=True)) == Fraction(3, 2)
        leaving = JointRanks(percents, 101, None, Fraction(2, 3))
        assert sum(2 * own * rate for own, rate in zip(reach, leaving.rates, strict=True)) == Fraction(3, 2)


@pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")
def test_ties_and_order():
    """Where most records share a value, percentiles inside it are that value; they never cross."""
    joint = JointRanks(QUARTILES, 50, Fraction(200), Fraction(0))
    tally = ValueTally(np.array([0, 30]), np.array([700, 300]))
    with seeded(3):
        assert {joint.draw(tally) for _ in range(20)} == {(0, 0, 30)}
    unsure = JointRanks(QUARTILES, 50, Fraction(1, 100), Fraction(0))
    with seeded(4):
        drawn = [unsure.draw(tally) for _ in range(50)]
    assert all(one <= two <= three for one, two, three in drawn)
    assert len(set(drawn)) > 20


def test_draws_follow_their_law():
    joint = JointRanks(QUARTILES, 3, Fraction(4), Fraction(0), 2)
    wanted = whole_law(joint, (0, 1, 1))
    with pytest.warns(NotPrivateWarning), seeded(8):
        drawn = [joint.draw(tally_of([0, 1, 1])) for _ in range(400)]
    for key, chance in wanted.items():
        assert abs(drawn.count(key) / 400 - chance) < 7 * math.sqrt(chance * (1 - chance) / 400) + 0.005
