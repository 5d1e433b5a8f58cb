"""Vulnerability, uncertainty and remaps."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.adversaries import Gain, Loss, Prior, as_loss, remap, uncertainty, vulnerability
from metricdp.channels import Channel
from metricdp.errors import InputError, KindError, NotFiniteError, ShapeError
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
        assert error <= (2 * 40 + 30 + 8) * Fraction(largest) / 2**53


def test_a_loss_with_other_secrets_is_refused():
    with pytest.raises(InputError):
        uncertainty("uniform", C, Loss.from_matrix("w", "abd", [[1, 2, 3]]))


# Many priors at once


def simplex(count, secrets=3, seed=1):
    return np.random.default_rng(seed).dirichlet(np.ones(secrets), count)


CORNERS = np.vstack([simplex(40), np.eye(3), [[0, 0.5, 0.5]]])
SIGNED = np.array([[1, 1 / 3, -2], [0, 4, 1], [-1, 2, 0.5], [0.25, 0.25, 0.25]])


@pytest.mark.parametrize("payoff", ["identity", "nib", "bin", SIGNED, SIGNED.tolist()])
@pytest.mark.parametrize("measure", [vulnerability, uncertainty])
@pytest.mark.parametrize("block", [1, 10**3, 10**6])
def test_many_priors_are_as_near_to_the_truth_as_one(measure, payoff, block, monkeypatch):
    monkeypatch.setattr("metricdp.adversaries.expectations._BLOCK", block)  # one by one, some at a time, all together
    found = measure(CORNERS, C, payoff)
    assert found.shape == (44,)
    bound = (2 * 3 + 3 + 8) * (1 if isinstance(payoff, str) else 4) * Fraction(1, 2**53)
    for prior, value in zip(CORNERS, found, strict=True):
        exact = measure(prior, C, payoff, exact=True)
        assert abs(Fraction(float(value)) - exact) <= bound
        assert abs(Fraction(measure(prior, C, payoff)) - exact) <= bound


def test_many_priors_of_a_channel_that_is_not_square():
    generator = np.random.default_rng(7)
    channel = Channel.from_matrix(range(5), range(2), generator.dirichlet(np.ones(2), 5))
    priors, gain = simplex(30, 5), generator.normal(size=(7, 5))
    for payoff in ("identity", gain):
        one_by_one = [vulnerability(prior, channel, payoff) for prior in priors]
        assert vulnerability(priors, channel, payoff) == pytest.approx(one_by_one, rel=1e-14)
        assert vulnerability(priors[:, ::-1], channel, payoff) == pytest.approx(
            [vulnerability(prior[::-1].copy(), channel, payoff) for prior in priors], rel=1e-14
        )


def test_many_priors_before_anything_is_seen():
    priors = np.array([[0.5, 0.25, 0.25], [0, 0, 1]])
    assert vulnerability(priors).tolist() == [0.5, 1]
    assert uncertainty(priors, None, "bin").tolist() == [0.5, 0]
    assert uncertainty(priors, None, "distance", space=Space.line(3)).tolist() == [0.75, 0]
    assert vulnerability(np.array([0.5, 0.25, 0.25])) == 0.5


def test_many_priors_of_other_kinds_of_numbers():
    assert vulnerability(np.eye(3, dtype=int), C).tolist() == pytest.approx([1, 1, 1])
    assert vulnerability(np.full((2, 3), 1 / 3, dtype=np.float32), C) == pytest.approx([5 / 9, 5 / 9], rel=1e-15)
    assert vulnerability(np.empty((0, 3)), C).shape == (0,)


@pytest.mark.parametrize(
    ("row", "error", "words"),
    [
        ([0.5, 0.6, -0.1], InputError, "row 2: secret 'c': a negative"),
        ([0.5, 0.5, 0.1], InputError, "row 2: the prior sums to 1.1"),
        ([np.nan, 0.5, 0.5], NotFiniteError, "row 2: a probability is a finite number"),
        ([np.inf, -np.inf, 1], NotFiniteError, "row 2: a probability is a finite number"),
    ],
)
def test_of_many_priors_the_bad_one_is_named(row, error, words):
    priors = np.vstack([simplex(2), [row], simplex(3)])
    for measure in (vulnerability, uncertainty):
        with pytest.raises(error, match=words) as caught:
            measure(priors, C)
        assert caught.value.row == 2


def test_many_priors_of_the_wrong_shape_or_kind_are_refused():
    with pytest.raises(ShapeError, match="2 probabilities for 3 secrets"):
        vulnerability(simplex(5, 2), C)
    with pytest.raises(KindError, match="array of floats"):
        vulnerability(np.full((2, 3), Fraction(1, 3)), C)
    with pytest.raises(KindError, match="array of floats"):
        vulnerability(np.eye(3, dtype=bool), C)
    with pytest.raises(ShapeError, match="shape"):
        vulnerability(np.ones((2, 3, 1)), C)
    for measure in (vulnerability, uncertainty):
        with pytest.raises(ShapeError, match="one prior at a time"):
            measure(simplex(2), C, exact=True)


# What the fast paths must not forget


@pytest.mark.parametrize("worth", [np.inf, -np.inf, np.nan])
def test_gains_that_are_not_finite_are_refused_whatever_the_prior(worth):
    gain = np.array([[1.0, 0, 0], [0, worth, 0]])
    for prior in (np.array([0.5, 0.25, 0.25]), np.array([1.0, 0, 0]), "uniform", simplex(2)):
        for measure in (vulnerability, uncertainty):
            with pytest.raises(NotFiniteError):
                measure(prior, C, gain)


def test_gains_whose_squares_overflow_are_gains():
    assert vulnerability("uniform", C, np.array([[1e200, 1e200, 1e200]])) == pytest.approx(1e200)


def test_a_table_without_actions_is_refused():
    with pytest.raises(ShapeError, match="at least one"):
        vulnerability("uniform", C, np.empty((0, 3)))


def test_a_prior_that_was_changed_is_read_again():
    prior = np.array([1.0, 0, 0])
    assert vulnerability(prior, C) == pytest.approx(1)
    prior[:] = 1 / 3
    assert vulnerability(prior, C) == pytest.approx(5 / 9)
    prior[0] = -1
    with pytest.raises(InputError, match="negative"):
        vulnerability(prior, C)


def test_floats_are_divided_by_their_sum():
    prior = np.array([0.25, 0.25, 0.5]) * (1 + 5e-7)
    for measure in (vulnerability, uncertainty):
        exact = measure(prior, C, exact=True)
        assert measure(prior, C) == pytest.approx(float(exact), rel=1e-15)
        assert measure(prior[None], C) == pytest.approx([float(exact)], rel=1e-15)


def test_what_is_certain_leaves_no_uncertainty():
    told = Channel.from_matrix(range(3), range(6), np.kron(np.eye(3), [[0.3, 0.7]]))
    priors = simplex(50)
    assert uncertainty(priors, told).tolist() == [0] * 50
    assert [uncertainty(prior, told) for prior in priors] == [0] * 50


def test_a_channel_keeps_its_columns_to_itself():
    channel = Channel.from_matrix("ab", "yz", [[0.75, 0.25], [0.25, 0.75]])
    assert vulnerability("uniform", channel) == 0.75
    again = pickle.loads(pickle.dumps(channel))
    assert again == channel
    assert vars(again).keys() == vars(Channel(channel.inputs, channel.outputs, channel.weights, 4)).keys()
    assert vulnerability("uniform", again) == 0.75
