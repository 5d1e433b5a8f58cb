"""The distributions that fit: the truth is among them, and the ends of a question are those of the linear programs."""

import numpy as np
import pytest

from metricdp import truncated_geometric
from metricdp.estimates.fitting_region import FittingRegion, share_bounds
from metricdp.metrics import absolute


def law(cells=12, within=2):
    return truncated_geometric(absolute().within(within), cells - 1).law(range(cells)).matrix


def test_bounds_hold_the_share_as_often_as_they_say():
    random, wrong = np.random.default_rng(4), 0
    for share in (0.01, 0.3, 0.9):
        counts = random.binomial(200, share, size=3000).astype(float)
        low, high = share_bounds(counts, 200, 0.01)
        wrong += int(((low > share) | (high < share)).sum())
    assert wrong <= 0.02 * 9000


def test_bounds_of_nothing_and_of_all_stay_within_0_and_1():
    low, high = share_bounds(np.array([0.0, 50.0]), 50, 0.001)
    assert low[0] == 0
    assert high[1] == 1
    assert 0 < high[0] < 1
    assert 0 < low[1] < 1


def test_the_truth_is_between_least_and_most():
    channel, truth = law(), np.arange(1, 13) / 78
    counts = np.random.default_rng(5).multinomial(5000, truth @ channel).astype(float)
    region = FittingRegion(channel, counts, 0.001)
    for question in (np.arange(12.0), (np.arange(12) >= 6).astype(float), np.eye(12)[3]):
        assert region.least(question) <= question @ truth <= region.most(question)
        assert region.most(question) - region.least(question) < question.max() - question.min()


def test_counts_that_no_distribution_leads_to_make_it_empty():
    counts = np.zeros(12)
    counts[[0, 11]] = 500.0  # such a law always leaves something between
    assert FittingRegion(law(), counts, 0.001).is_empty
    assert not FittingRegion(law(), 1000 * (np.full(12, 1 / 12) @ law()), 0.001).is_empty


def test_an_empty_region_bounds_a_question_by_what_it_can_be():
    counts = np.zeros(12)
    counts[[0, 11]] = 500.0
    assert FittingRegion(law(), counts, 0.001).most(np.arange(12.0)) == 11.0


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_the_size_of_a_question_changes_nothing_else(size):
    channel = law()
    counts = np.round(1000 * (np.full(12, 1 / 12) @ channel))
    question = np.arange(12.0)
    region = FittingRegion(channel, counts, 0.01)
    assert region.most(size * question) == pytest.approx(size * region.most(question), rel=1e-6)
