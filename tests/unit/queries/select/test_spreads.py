"""Error bars of what is computed from noisy numbers hold the truth in 95 of 100 cases, no more and no less."""

import math

import numpy as np
import pytest

from metricdp.queries.select.spreads import spread


@pytest.mark.parametrize(
    ("compute", "truth", "scales"),
    [
        (lambda x: x[0] / x[1], [40_000.0, 1000.0], [300.0, 5.0]),
        (lambda x: x[0] / x[1], [4_000.0, 100.0], [1.0, 4.0]),
        (lambda x: 100 * x[0] / x[1], [30.0, 1000.0], [3.0, 3.0]),
        (lambda x: x[0] - x[1], [30.0, 10.0], [3.0, 1.0]),
        (lambda x: x[0] + x[1] - x[2] * 2, [30.0, 10.0, 4.0], [3.0, 2.0, 1.0]),
    ],
)
def test_they_cover_the_truth_as_often_as_they_say(compute, truth, scales):
    draw = np.random.default_rng(5)
    exact, hits, runs = compute(truth), 0, 1500
    for _ in range(runs):
        noisy = [value + scale * draw.laplace() for value, scale in zip(truth, scales, strict=True)]
        bars = {place: scale * math.log(20) for place, scale in enumerate(scales)}
        hits += abs(compute(noisy) - exact) <= spread(compute, noisy, bars)
    assert 0.93 <= hits / runs <= 0.97


def test_without_noise_or_without_a_value():
    assert spread(lambda x: x[0], [3.0], {0: 0.0}) == 0
    assert spread(lambda x: math.nan, [3.0], {0: 1.0}) == math.inf


def test_numbers_that_share_noise_are_off_together():
    """Three averages by one noisy count: taken for independent, the bar of their sum would hold in 82 of 100 cases."""
    bars = dict.fromkeys(range(3), 1.0)
    assert spread(sum, [5.0, 5.0, 5.0], bars, [dict.fromkeys(range(3), 1.0)]) == 3
    assert spread(lambda x: x[0] - x[1], [5.0, 5.0], {0: 1.0, 1: 1.0}, [{0: 1.0, 1: -1.0}]) == 2
    partly = spread(lambda x: x[0] + x[1] + x[2], [5.0, 5.0, 5.0], bars, [{0: 1.0, 1: 1.0}])
    assert spread(lambda x: x[0] + x[1] + x[2], [5.0, 5.0, 5.0], bars) < partly < 3
    assert spread(sum, [5.0, 5.0, 5.0], {0: 1.0, 1: 0.0, 2: 1.0}, [{1: 1.0, 2: 1.0}]) == spread(
        sum, [5.0, 5.0, 5.0], {0: 1.0, 2: 1.0}
    )
