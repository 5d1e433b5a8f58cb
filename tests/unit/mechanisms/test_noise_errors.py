"""The errors that floats claim are errors that balls confirm."""

from fractions import Fraction

import numpy as np
import pytest

from metricdp.exact.balls import Real, ball, precision
from metricdp.exact.grid import Grid
from metricdp.exact.refine import Uniforms
from metricdp.mechanisms.continuous._noise import CubeNoise, EuclideanNoise, exponentials

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


@pytest.mark.parametrize("kind", [CubeNoise, EuclideanNoise])
@pytest.mark.parametrize("dimension", [3, 4, 7, 40, 301])
@pytest.mark.parametrize("unread", [0, 2**64 - 1], ids=["low", "high"])
def test_no_coordinate_is_further_off_than_it_says(kind, dimension, unread):
    random = np.random.default_rng(dimension)
    draws = 8
    secrets = random.normal(size=(dimension, draws)) * 1000
    noise = kind(Real(lambda: ball(1000000) / 3), [Grid.of(Fraction(1, 10)).place(column) for column in secrets])
    words = random.integers(0, 2**64, (noise.uniforms, draws), dtype=np.uint64)
    words[:, : len(EDGES)] = np.where(random.random((noise.uniforms, 5)) < 0.1, EDGES, words[:, : len(EDGES)])
    with np.errstate(all="ignore"):
        values, radius, *_ = noise.approximate(words, slice(None))
    errors = np.broadcast_to(radius, values.shape)
    compared = 0
    for draw in range(draws):
        bits = [(word << 64) + unread for word in words[:, draw].tolist()]
        with precision(600):
            ideal = noise.ball(Uniforms(bits, 128), draw, range(dimension))
            for place, exact in enumerate(ideal):
                if np.isfinite(errors[place, draw]) and np.isfinite(values[place, draw]):
                    assert abs(exact - float(values[place, draw])) < float(errors[place, draw])
                    compared += 1
    assert compared > dimension * draws / 3


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
