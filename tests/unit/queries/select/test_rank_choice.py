"""Draws by rank: the guarantee is tight, and error bars miss as rarely as they say, whatever the table."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from metricdp.exact import seeded
from metricdp.queries.select.rank_choice import RankChoice, WidthChoice
from metricdp.queries.select.rank_scores import RankScores, RankTarget, ValueTally
from tests.attacks.ranks import law, logarithms, tally_of

MEDIAN = RankTarget(Fraction(50))


def told(choice, here, there):
    """The greatest logarithm of a ratio, over pieces that two tallies have in common."""
    one, two = choice.scores.pieces(here), choice.scores.pieces(there)
    starts = sorted({*one.starts.tolist(), *two.starts.tolist()})

    def at(pieces):
        return logarithms(pieces, choice.rate)[np.searchsorted(pieces.starts, starts, side="right") - 1]

    return float(np.abs(at(one) - at(two)).max())


def test_the_promise_is_tight():
    """On a long line, a record that crosses the median tells all that is allowed: a promise 10% stronger is broken."""
    far = 10**15
    choice = RankChoice(RankScores(MEDIAN, far), Fraction(1, 4))
    spread = [*range(5), far // 2]

    def table(value):
        values, counts = np.unique(np.array([*spread, value], dtype=np.int64), return_counts=True)
        return ValueTally(values, counts)

    most = max(told(choice, table(0), table(far - 1)), told(choice, table(far // 2 - 1), table(far // 2 + 1)))
    allowed = 2 * Fraction(1, 4)
    assert most <= allowed
    assert most * 1.1 > allowed, "with a guarantee 10% stronger nothing would be found"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")
def test_draws_follow_their_law():
    choice = RankChoice(RankScores(MEDIAN, 9, 3), Fraction(1, 2))
    tally = tally_of([1, 1, 4, 5, 8])
    wanted = np.exp(law(choice.scores.pieces(tally), choice.rate, 9))
    assert wanted.sum() == pytest.approx(1)
    with seeded(2):
        found = np.bincount([choice.draw(tally) for _ in range(20_000)], minlength=9) / 20_000
    assert np.abs(found - wanted).max() < 6 * math.sqrt(0.25 / 20_000)


@pytest.mark.parametrize("ramp", [1, 3])
@pytest.mark.parametrize("percent", [10, 50, 90])
def test_error_bars_miss_no_more_often_than_they_say(ramp, percent):
    """The chance to miss, from the law, for tables of all kinds and for every answer: never above 5%."""
    draw = np.random.default_rng(percent)
    target = RankTarget(Fraction(percent))
    worst = 0.0
    for rate, rows in ((Fraction(1, 50), 3), (Fraction(1, 5), 40), (Fraction(1), 200), (Fraction(3), 2)):
        width = WidthChoice(RankScores(target, 40, ramp), rate, Fraction(95, 100))
        for places in ([0, 39], [20], range(40), draw.integers(0, 40, 3)):
            values = np.sort(draw.choice(np.array(list(places)), rows))
            tally = tally_of(values)
            truth = int(values[min(rows * percent // 100, rows - 1)])
            for answer in range(0, 40, 3):
                pieces = width.pieces(tally, answer)
                chances = np.exp(logarithms(pieces, rate)) * pieces.counts
                assert chances.sum() == pytest.approx(1)
                missed = pieces.starts + (ramp - 1) // 2 < abs(truth - answer)
                worst = max(worst, float(chances[missed].sum()))
    assert 0.005 < worst <= 0.05 + 1e-12, "or they would be too wide"


def test_with_more_records_error_bars_are_narrower():
    width = WidthChoice(RankScores(MEDIAN, 1001), Fraction(1, 2), Fraction(95, 100))
    few, many = (tally_of(np.arange(1001).repeat(times)) for times in (1, 50))
    spread = [
        float((np.exp(logarithms(pieces, width.rate)) * pieces.counts * pieces.starts).sum())
        for pieces in (width.pieces(few, 500), width.pieces(many, 500))
    ]
    assert spread[1] * 3 < spread[0]
    assert replace(width, rate=Fraction(1)).slack < width.slack


@pytest.mark.parametrize("percent", [0, 25, 50, 100])
def test_where_many_share_each_value_error_bars_are_not_the_whole_line(percent):
    """One step wider, and thousands of records more are within it: the first width that is enough is still the best."""
    width = WidthChoice(RankScores(RankTarget(Fraction(percent)), 51), Fraction(1, 30), Fraction(95, 100))
    tally = tally_of(np.arange(30).repeat(10_000))
    answer = {0: 0, 25: 7, 50: 15, 100: 29}[percent]
    pieces = width.pieces(tally, answer)
    chances = np.exp(logarithms(pieces, width.rate)) * pieces.counts
    assert chances[pieces.starts <= 1].sum() > 0.98
