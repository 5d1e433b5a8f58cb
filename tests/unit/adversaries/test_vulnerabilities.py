"""Vulnerability, uncertainty and remaps."""

from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.adversaries import Gain, Loss, Prior, as_loss, remap, uncertainty, vulnerability
from metricdp.channels import Channel
from metricdp.errors import InputError, ShapeError
from metricdp.metrics import Space, absolute, euclidean

C = Channel.from_matrix("abc", "xyz", [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])


def by_hand(prior, channel, gain):
    return sum(
        max(
            sum(
                p * channel.probability(x, z) * gain[w][i]
                for i, (x, p) in enumerate(zip(channel.inputs, prior, strict=True))
            )
            for w in range(len(gain))
        )
        for z in channel.outputs
    )


def test_guessing():
    assert vulnerability("uniform", C, exact=True) == Fraction(5, 9)
    assert vulnerability("uniform", C) == pytest.approx(5 / 9, rel=1e-15)
    assert uncertainty("uniform", C, "bin", exact=True) == Fraction(4, 9)
    assert uncertainty("uniform", C, "bin") == pytest.approx(4 / 9, rel=1e-15)
    assert uncertainty("uniform", C, "nib", exact=True) == Fraction(1, 6)
    assert uncertainty("uniform", C, "nib") == pytest.approx(1 / 6, rel=1e-15)


def test_any_gain_and_prior():
    gain = [[1, Fraction(1, 3), -2], [0, 4, 1]]
    prior = [Fraction(1, 7), Fraction(2, 7), Fraction(4, 7)]
    expected = by_hand(prior, C, gain)
    assert vulnerability(prior, C, gain, exact=True) == expected
    assert vulnerability(prior, C, gain) == pytest.approx(float(expected), rel=1e-14)
    assert vulnerability(prior, C, np.array(gain, dtype=float)) == pytest.approx(float(expected), rel=1e-14)
    losses = [[-value for value in row] for row in gain]
    assert uncertainty(prior, C, losses, exact=True) == -expected
    assert uncertainty(prior, C, losses) == pytest.approx(-float(expected), rel=1e-14)


def test_before_anything_is_seen():
    assert vulnerability(["1/2", "1/3", "1/6"], exact=True) == Fraction(1, 2)
    assert vulnerability({"a": "1/4", "b": "3/4"}, exact=True) == Fraction(3, 4)
    assert vulnerability(Prior("ab", (1, 2), 3)) == pytest.approx(2 / 3)
    assert vulnerability("uniform", None, [[1, 0, 0], [0, 1, 1]], exact=True) == Fraction(2, 3)
    assert vulnerability("uniform", None, Gain.from_matrix("w", "ab", [[1, 3]]), exact=True) == 2
    assert uncertainty("uniform", None, "distance", space=Space.line(3), exact=True) == Fraction(2, 3)
    with pytest.raises(InputError, match="over which secrets"):
        vulnerability("uniform")


def test_irrational_losses_are_floats():
    grid = Space.grid(2, 2, mdp.ln(2) * euclidean())
    channel = Channel.from_matrix(grid.points, "z", [[1]] * 4)
    assert uncertainty("uniform", channel, "distance", space=grid) == pytest.approx((2 + 2**0.5) / 4)
    with pytest.raises(InputError, match="rounded"):
        uncertainty("uniform", channel, "distance", space=grid, exact=True)
    rounded = as_loss("distance", grid.points, grid).rounded()
    assert uncertainty("uniform", channel, rounded, exact=True) == (2 + Fraction(2**0.5)) / 4


def test_priors_of_the_wrong_length_are_refused():
    for exact in (False, True):
        with pytest.raises(ShapeError, match="2 probabilities for 3"):
            vulnerability([0.5, 0.5], C, exact=exact)
        with pytest.raises(ShapeError):
            vulnerability("uniform", C, np.ones((2, 2)), exact=exact)


def test_remap_takes_the_first_of_several_best():
    tied = Channel.from_matrix("ab", "yz", [["1/2", "1/2"], ["1/2", "1/2"]])
    assert remap("uniform", tied, "bin").mapping == {"y": "a", "z": "a"}
    assert remap({"b": 1}, C.from_matrix("ab", "yz", [[1, 0], [1, 0]]), "bin").actions == ("b", "a")


def test_remap_as_a_channel_reaches_the_uncertainty():
    line = Space.line(3, absolute())
    channel = Channel.from_matrix(
        range(3), "xyz", [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
    )
    prior = Prior(range(3), (5, 1, 1), 7)
    best = remap(prior, channel, "distance", space=line)
    assert best["x"] == 0
    guesses = channel @ best.channel
    cost = sum(
        share * guesses.probability(x, w) * abs(x - w)
        for x, share in zip(prior.points, prior.fractions, strict=True)
        for w in guesses.outputs
    )
    assert cost == uncertainty(prior, channel, "distance", space=line, exact=True)


def test_remap_with_irrational_losses():
    grid = Space.grid(2, 2, euclidean())
    channel = Channel.from_matrix(grid.points, grid.points, np.eye(4))
    assert remap("uniform", channel, "distance", space=grid).actions == grid.points


def test_float_accuracy_is_as_documented():
    generator = np.random.default_rng(5)
    matrix = generator.random((40, 30)) ** 8
    matrix /= matrix.sum(axis=1, keepdims=True)
    channel = Channel.from_matrix(range(40), range(30), matrix)
    gain = generator.normal(size=(20, 40))
    prior = generator.random(40)
    prior /= prior.sum()
    for payoff in ("identity", gain):
        exact = vulnerability(prior, channel, payoff, exact=True)
        largest = 1 if isinstance(payoff, str) else np.abs(gain).max()
        error = abs(Fraction(vulnerability(prior, channel, payoff)) - exact)
        assert error <= (40 + 30 + 8) * Fraction(largest) / 2**53


def test_a_loss_with_other_secrets_is_refused():
    with pytest.raises(InputError):
        uncertainty("uniform", C, Loss.from_matrix("w", "abd", [[1, 2, 3]]))
