"""Channels taken apart into kernels, put together again."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.channels import Channel, certify, verify
from metricdp.design import decompose, kernels
from metricdp.errors import ArgumentError, ImpossibleError, MetricDPError, TooLargeError
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming, manhattan, matrix

LN2 = mdp.ln(2)
FAR = math.inf
PARTS = matrix("abcd", [[0, 1, FAR, FAR], [1, 0, FAR, FAR], [FAR, FAR, 0, 0], [FAR, FAR, 0, 0]])

SPACES = [
    Space.line(4, LN2 * absolute()),
    Space(range(4), LN2 * discrete()),
    Space.bits(3, LN2 * hamming()),
    Space.grid(2, 2, mdp.ln(3) * manhattan()),
    Space("abcd", LN2 * PARTS),
    Space([5], discrete()),
]
IRRATIONAL = [
    Space.line(4, absolute()),
    Space.grid(2, 2, LN2 * euclidean()),
    Space.grid(2, 3, LN2 * euclidean()),
    Space("abcd", 2 * PARTS),
]


def private(space: Space, seed: int, outputs: int) -> Channel:
    """Some private channel: columns that fall from a random point, weighted at random, certified."""
    generator = np.random.default_rng(seed)
    hills = np.exp(-space.distances)[:, generator.integers(len(space), size=outputs)]
    return certify(hills * generator.exponential(size=outputs) + 1e-3, space, range(outputs))


@pytest.mark.parametrize("space", SPACES, ids=repr)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), outputs=st.integers(1, 6))
def test_the_parts_make_the_channel_exactly(space, seed, outputs):
    channel = private(space, seed, outputs)
    found = decompose(channel, space)
    assert found.mixture @ found.post == channel
    assert found.moved == 0
    assert sum(found.weights) == 1
    assert found.check()
    for kernel in found.kernels:
        assert np.linalg.matrix_rank(kernel.matrix) == len(kernel.outputs)


@pytest.mark.long
@pytest.mark.parametrize("space", IRRATIONAL, ids=repr)
def test_irrational_spaces_within_a_stated_distance(space):
    for seed in range(4):
        channel = private(space, seed, 4)
        found = decompose(channel, space)
        apart = np.abs((found.mixture @ found.post).matrix - channel.matrix).sum(axis=1).max() / 2
        assert found.moved < 1e-15
        assert apart < 1e-15
        assert found.check()
        assert not replace(found, moved=-1.0).check()
        assert all(verify(kernel, space) for kernel in found.kernels)


def test_a_kernel_is_its_own_decomposition():
    space = Space(range(4), LN2 * discrete())
    for kernel in kernels(space):
        found = decompose(kernel, space)
        assert found.weights == (1,)
        assert np.array_equal(np.sort(found.kernels[0].matrix, axis=1), np.sort(kernel.matrix, axis=1))


def test_the_uniform_channel():
    space = Space.line(3, LN2 * absolute())
    blind = Channel.from_matrix(range(3), ["?"], [[1], [1], [1]])
    found = decompose(blind, space)
    assert found.mixture @ found.post == blind
    assert found.check()


def test_inputs_in_another_order():
    space = Space.line(3, LN2 * absolute())
    turned = Channel.from_matrix([2, 0, 1], "yz", [["1/4", "3/4"], ["1/2", "1/2"], ["1/3", "2/3"]])
    found = decompose(turned, space)
    assert found.channel.inputs == space.points
    assert (found.mixture @ found.post).probability(2, "y") == Fraction(1, 4)


def test_what_is_changed_fails_the_check():
    space = Space(range(3), LN2 * discrete())
    found = decompose(private(space, 1, 5), space)
    assert len(found.kernels) > 1
    assert found.check()
    assert not replace(found, weights=found.weights[::-1]).check() or found.weights == found.weights[::-1]
    assert not replace(found, weights=(Fraction(1, 2), *found.weights[1:])).check()
    assert not replace(found, channel=private(space, 2, 5)).check()
    size = len(found.kernels[0].outputs)
    blind = [[Fraction(1, size)] * size] * 3
    other = Channel.from_matrix(space.points, found.kernels[0].outputs, blind)
    assert not replace(found, kernels=(other, *found.kernels[1:])).check()


def test_what_cannot_be_taken_apart():
    space = Space.line(3, LN2 * absolute())
    with pytest.raises(ImpossibleError, match="only a private channel"):
        decompose(Channel.from_matrix(range(3), range(3), np.eye(3)), space)
    with pytest.raises(ArgumentError, match="2 inputs, the space 3 points"):
        decompose(Channel.from_matrix(range(2), "a", [[1], [1]]), space)
    with pytest.raises(MetricDPError):
        decompose(Channel.from_matrix("abc", "a", [[1], [1], [1]]), space)
    with pytest.raises(ArgumentError, match="decompose takes a"):
        decompose(np.eye(3), space)


def test_it_says_what_it_is():
    space = Space.line(2, absolute())
    found = decompose(private(space, 3, 2), space)
    assert str(found).startswith("a refinement of a mixture of 1 kernel on 2 vertices, within ")


def test_parts_are_iterated_shown_and_written():
    space = Space.line(3, LN2 * absolute())
    found = decompose(private(space, 1, 5), space)
    assert len(found) == len(found.kernels) == len(list(found))
    assert sum(weight for weight, _ in found) == 1
    assert "Fraction" not in repr(found)
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert [Channel.from_json(kernel) for kernel in document["kernels"]] == list(found.kernels)


def test_progress_and_time_limit():
    space = Space.grid(3, 3, LN2 * manhattan())
    channel = private(space, 3, 6)
    updates = []
    decompose(channel, space, progress=updates.append)
    assert {update.unit for update in updates} == {"columns", "kernels"}
    with pytest.raises(TooLargeError, match="were not enough to take the channel apart"):
        decompose(channel, space, time_limit=1e-6)
