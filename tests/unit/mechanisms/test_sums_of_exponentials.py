"""The error that floats claim for a sum of exponentials is one that balls confirm."""

import numpy as np
import pytest

from metricdp.exact.balls import precision
from metricdp.exact.refine import Uniforms
from metricdp.mechanisms.continuous._noise import exponentials

EDGES = np.array([2**44, 2**44 + 1, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)  # the least that floats are used for


@pytest.mark.parametrize("count", [1, 2, 6, 7, 8, 32, 33, 65, 1000, 5000])
@pytest.mark.parametrize("unread", [0, 2**64 - 1], ids=["low", "high"])
def test_no_sum_is_further_off_than_it_says(count, unread):
    words = np.random.default_rng(count).integers(0, 2**64, (count, 12), dtype=np.uint64)
    words[words < EDGES[0]] = EDGES[0]
    words[0, : len(EDGES)] = EDGES
    words[:, -1] = EDGES[-1]
    sums, errors = exponentials(words)
    for column, (value, error) in enumerate(zip(sums, np.broadcast_to(errors, sums.shape), strict=True)):
        bits = [(word << 64) + unread for word in words[:, column].tolist()]
        with precision(400):
            off = Uniforms(bits, 128).product(0, count).log() + float(value)
            assert abs(off) < float(error)


def test_a_sum_with_a_uniform_in_the_tail_is_left_to_balls():
    words = np.full((40, 3), 2**63, dtype=np.uint64)
    words[7, 1] = 2**44 - 1
    words[0, 2] = 0
    with np.errstate(divide="ignore"):
        sums, _ = exponentials(words)
    assert np.isnan(sums).tolist() == [False, True, True]


def test_a_product_of_uniforms_is_what_they_multiply_to():
    uniforms = Uniforms([2**64 - 1, 1, 5, *range(2**63, 2**63 + 20)], 64)
    with precision(4000):
        one_by_one = uniforms[0]
        for place in range(1, 23):
            one_by_one *= uniforms[place]
        together = uniforms.product(0, 23)
        assert together.overlaps(one_by_one)
        assert together.rad() < 2 * one_by_one.rad()
