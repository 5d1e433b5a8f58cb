"""Exact draws by exponential weights: floats and balls agree bit by bit, and follow the law."""

import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError
from metricdp.exact import decide_all_by_balls, seeded
from metricdp.exact.exponential_choice import exponential_choice, whole_below
from tests.statistical.harness import check_table

CASES = [
    ([0, 1, 5], [1, 1, 1], Fraction(1, 3)),
    ([3, 4, 700, 10**6], [5, 1, 10**15, 10**18], Fraction(1, 7)),
    (list(range(500)), [1] * 500, Fraction(1, 100)),
    ([-2, 0], [1, 10**30], Fraction(40)),
    ([7], [1], Fraction(1)),
    ([0, 650], [1, 10**300], Fraction(1)),  # so many that even exp(-650) of them weigh more
    ([0, 600, 601], [2**63, 2**63, 2**63], Fraction(1)),
]


@pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")
@pytest.mark.parametrize("case", CASES)
def test_floats_decide_as_balls_do(case):
    for seed in range(12):
        with seeded(seed):
            quick = exponential_choice(*case)
        with seeded(seed), decide_all_by_balls():
            assert exponential_choice(*case) == quick


@pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")
def test_they_follow_their_law():
    losses, counts = [0, 2, 3], [1, 4, 2]

    def law(factor):
        weights = [n * math.exp(-0.5 * factor * loss) for loss, n in zip(losses, counts, strict=True)]
        return {place: weight / sum(weights) for place, weight in enumerate(weights)}

    with seeded(15):
        check_table([exponential_choice(losses, counts, Fraction(1, 2)) for _ in range(20_000)], law)


@pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")
def test_whole_numbers_below_any_bound():
    with seeded(4):
        drawn = np.array([whole_below(3 * 2**70) >> 70 for _ in range(3000)])
    assert np.bincount(drawn, minlength=3).min() > 800
    assert whole_below(1) == 0
    with pytest.raises(ArgumentError):
        whole_below(0)
    with pytest.raises(ArgumentError):
        exponential_choice([0, 1], [1, 0], Fraction(1))
