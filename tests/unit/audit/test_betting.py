"""Bets: exact where they are compared with scipy, and valid whenever somebody stops."""

import math

import numpy as np
import pytest
from scipy import stats

from metricdp.audit.betting import PLANNED, Bet, DeltaBet, binomial_tail, least_odds
from metricdp.audit.coins import WHOLE, coins, weight_for


@pytest.mark.parametrize(
    ("successes", "trials", "chance"),
    [(3, 4, 0.5), (0, 5, 0.3), (5, 5, 0.3), (500, 1000, 0.51), (5_000_000, 10_000_000, 0.4995), (250, 10**7, 2e-5)],
)
def test_the_binomial_tail_is_scipys_or_a_little_more(successes, trials, chance):
    exact = stats.binom.sf(successes - 1, trials, chance)
    assert exact <= binomial_tail(successes, trials, chance) <= exact * (1 + 1e-5) + 1e-12


def test_the_edges_of_the_binomial_tail():
    assert binomial_tail(3, 2, 0.5) == 0
    assert binomial_tail(1, 2, 0.0) == 0
    assert binomial_tail(2, 2, 1.0) == 1


@pytest.mark.parametrize(("successes", "trials"), [(1, 1), (90, 100), (100, 100), (2_600_000, 5_000_000)])
@pytest.mark.parametrize("alpha", [0.1, 1e-3, 1e-9])
def test_the_bound_on_odds_is_that_of_clopper_and_pearson(successes, trials, alpha):
    share = stats.beta.ppf(alpha, successes, trials - successes + 1)
    assert least_odds(successes, trials, alpha) == pytest.approx(math.log(share / (1 - share)), abs=1e-5)


def test_nothing_follows_from_no_success():
    assert least_odds(0, 10, 0.1) == -math.inf
    bet = Bet(0.1, 10)
    bet.add(np.zeros(30, dtype=bool))
    assert bet.least_log_odds() == -math.inf


def worst_moment(bet, labels, truth):
    """Whether the bound is above the truth at any moment."""
    for start in range(0, labels.size, 25):
        bet.add(labels[start : start + 25])
        if bet.least_log_odds() > truth:
            return True
    return False


@pytest.mark.long
@pytest.mark.parametrize("looks", [1, 4])
@pytest.mark.parametrize("odds", [-1.0, 0.3, 2.0])
def test_a_bound_is_rarely_ever_above_the_truth(odds, looks):
    """Two hundred streams, watched all the time: no more than alpha of them, and three standard errors."""
    generator = np.random.default_rng(7)
    runs, alpha = 200, 0.1
    wrong = sum(
        worst_moment(Bet(alpha, 250, odds, 0.2, looks), generator.random(600) < 1 / (1 + math.exp(-odds)), odds)
        for _ in range(runs)
    )
    assert wrong / runs <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / runs)
    assert wrong > 0, "no stream at all: the bound is too weak to be of use"


def test_the_same_watch_notices_a_bound_without_its_confidence():
    generator = np.random.default_rng(7)
    wrong = sum(worst_moment(Bet(0.9, 250, 0.0, 0.2), generator.random(600) < 0.5, 0.0) for _ in range(100))
    assert wrong / 100 > 0.3


def test_a_planned_bet_is_nearly_as_sharp_as_a_test_of_fixed_size():
    labels = np.random.default_rng(1).random(1_000_000) < 0.6
    bet = Bet(0.001, 1_000_000, 0.4, 0.005)
    bet.add(labels)
    truth = math.log(0.6 / 0.4)
    assert truth - 5 * math.sqrt(1 / 240_000) < bet.least_log_odds() < truth


def test_order_within_the_planned_number_does_not_matter_and_beyond_it_does():
    labels = np.r_[np.ones(100, dtype=bool), np.zeros(50, dtype=bool)]
    one, two = Bet(0.1, 150), Bet(0.1, 150)
    one.add(labels)
    for part in np.array_split(labels[::-1], 7):
        two.add(part)
    assert (one.favoured, one.others) == (two.favoured, two.others) == (100, 50)
    assert one.least_log_odds() == pytest.approx(two.least_log_odds())


def test_several_looks_share_the_confidence_of_one_and_say_something_early():
    labels = np.r_[np.ones(900, dtype=bool), np.zeros(100, dtype=bool)]
    labels = np.random.default_rng(1).permutation(labels)
    early = Bet(0.1, 4000, looks=3)
    early.add(labels)
    assert early.least_log_odds() == pytest.approx(least_odds(900, 1000, PLANNED / 3 * 0.1), abs=1e-9)
    late = Bet(0.1, 4000)
    late.add(labels)
    assert late.least_log_odds() < early.least_log_odds(), "one look has not come yet, and bets at any moment have less"


def test_a_bound_never_falls():
    bet = Bet(0.1, 100)
    bet.add(np.ones(200, dtype=bool))
    high = bet.least_log_odds()
    bet.add(np.zeros(1000, dtype=bool))
    assert bet.least_log_odds() == high


def delta_stream(generator, chance, other, weight, size):
    first = generator.random(size) < weight
    hit = generator.random(size) < np.where(first, chance, other)
    return first, hit


def test_a_bound_with_a_delta_is_rarely_ever_above_the_truth():
    """P = e^s P' + delta with s = 0.5, exactly: a tight promise."""
    generator = np.random.default_rng(3)
    other, delta, truth = 0.2, 0.05, 0.5
    chance, runs, alpha, wrong = math.exp(truth) * other + delta, 150, 0.1, 0
    for _ in range(runs):
        bet = DeltaBet(alpha, 0.5, delta)
        first, hit = delta_stream(generator, chance, other, 0.5, 3000)
        for start in range(0, 3000, 300):
            part = slice(start, start + 300)
            bet.add(first[part][hit[part]], int((~hit[part]).sum()))
            if bet.least_logarithm() > truth:
                wrong += 1
                break
    assert wrong / runs <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / runs)


def test_a_bound_with_a_delta_comes_near_the_truth():
    generator = np.random.default_rng(3)
    bet = DeltaBet(0.01, 0.5, 0.05)
    first, hit = delta_stream(generator, math.exp(0.5) * 0.2 + 0.05, 0.2, 0.5, 400_000)
    bet.add(first[hit], int((~hit).sum()))
    assert 0.45 < bet.least_logarithm() <= 0.5


def test_coins_have_their_weight():
    tossed = coins(1_000_000, WHOLE // 4)
    assert abs(tossed.mean() - 0.25) < 0.005
    assert coins(7, WHOLE // 2).size == 7
    assert not coins(1000, 0).any()


def test_the_less_likely_side_is_drawn_more():
    assert weight_for(0.5, 0.5) == WHOLE // 2
    assert weight_for(0.5, 0.005) / WHOLE == pytest.approx(0.1 / 1.1, abs=1e-3)
    assert weight_for(0.02, 1e-9, factor=3.0) > WHOLE // 2, "with a delta it is the difference that counts"
    assert 0 < weight_for(1.0, 0.0) < weight_for(0.0, 1.0) < WHOLE
