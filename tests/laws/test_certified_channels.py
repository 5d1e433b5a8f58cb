"""A certified channel is never refused: over 500 random spaces, priors and losses, with distances from 0 to 200."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.channels import Channel, certify, verify
from metricdp.design import optimal
from metricdp.metrics import Guarantee

m = mdp.metrics
LENGTHS = [0, Fraction(1, 10**12), Fraction(1, 10**9), Fraction(1, 10**4), "1/2", 1, 1, 1, 3, 40, 200, math.inf]
LEVELS = [1, 1, Fraction(1, 3), mdp.ln(2), mdp.ln("11/10")]


@st.composite
def spaces(draw):
    """2 to 6 points: shortest paths over lengths that are zero, tiny, tied, huge or infinite, or places in a plane."""
    count = draw(st.integers(2, 6))
    level = draw(st.sampled_from(LEVELS))
    if draw(st.integers(0, 3)) == 0:
        number = st.sampled_from([0.0, 1.0, 2.0, 1e-9, 0.1, 0.30000000000000004, 200 / 3])
        places = draw(st.lists(st.tuples(number, number), min_size=count, max_size=count, unique=True))
        return mdp.Space(places, level * draw(st.sampled_from([m.euclidean(), m.manhattan()])))
    apart = [[math.inf if i != j else Fraction(0) for j in range(count)] for i in range(count)]
    for i, j in itertools.combinations(range(count), 2):
        length = draw(st.sampled_from(LENGTHS))
        apart[i][j] = apart[j][i] = length if length == math.inf else Fraction(length)
    for k, i, j in itertools.product(range(count), repeat=3):
        apart[i][j] = min(apart[i][j], apart[i][k] + apart[k][j])
    return mdp.Space(range(count), level * m.matrix(range(count), apart))


def priors(count):
    """Weights of any size, zeros among them, that sum to one as floats do."""
    weight = st.sampled_from([0.0, 1e-12, 0.1, 0.5, 1.0, 1.0, 7.0])
    return st.lists(weight, min_size=count, max_size=count).filter(any).map(lambda held: np.array(held) / sum(held))


def losses(actions, count):
    """Ties are common, and so are zeros; some are negative, some large."""
    entry = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 0.1, 1e-3, 1e6, -3.0])
    row = st.lists(entry, min_size=count, max_size=count)
    return st.lists(row, min_size=actions, max_size=actions).map(np.array)


def kept(channel, space):
    """Accepted by `verify`, with the guarantee that was asked for, and a channel at all."""
    assert verify(channel, space).holds
    assert channel.guarantee == Guarantee(space.metric)
    assert channel.inputs == space.points
    assert all(sum(row) == channel.total for row in channel.weights.tolist())
    assert min(map(min, channel.weights.tolist())) >= 0


@pytest.mark.long
@given(st.data())
@settings(max_examples=500)
def test_optimal_channels_are_never_refused(data):
    space = data.draw(spaces())
    actions = data.draw(st.integers(1, 6))
    prior = data.draw(priors(len(space)))
    loss = data.draw(losses(actions, len(space)))
    names = [f"action {w}" for w in range(actions)]
    channel = optimal(space, prior, loss, names)
    kept(channel, space)
    assert channel.bound <= channel.loss
    exact = sum(
        Fraction(float(p)) * channel.probability(x, z) * Fraction(float(loss[w, place]))
        for place, (x, p) in enumerate(zip(space.points, prior, strict=True))
        for w, z in enumerate(names)
        if z in channel.outputs
    )
    assert exact <= Fraction(channel.loss) * sum(map(Fraction, prior.tolist()))


@given(st.data())
@settings(max_examples=200)
def test_what_a_solver_might_return_is_mended_and_never_refused(data):
    """Rows that a solver would call private: the best column for the prior and loss, moved by its tolerance."""
    space = data.draw(spaces())
    actions = data.draw(st.integers(1, 6))
    prior = data.draw(priors(len(space)))
    loss = data.draw(losses(actions, len(space)))
    noise = data.draw(st.lists(st.sampled_from([0.0, 1e-9, -1e-9, 1e-6, -1e-16, 5e-324]), min_size=6, max_size=6))
    scores = np.exp(-np.minimum(np.asarray(space.distances), 700.0)) @ (prior[:, None] * (loss.max() - loss.T + 1e-3))
    rows = scores / scores.sum(axis=1, keepdims=True) + np.resize(noise, scores.shape)
    certified = certify(rows, space)
    kept(certified, space)
    again = certify(certified, space)
    assert again == certified
    assert again.moved == 0


def test_a_channel_that_is_off_by_a_millionth_is_refused():
    """So the laws above can fail: a little more weight in a tight entry, and `verify` says no."""
    space = mdp.Space("ab", mdp.ln(2) * m.discrete())
    channel = optimal(space, "uniform", "bin")
    kept(channel, space)
    weights = channel.weights.astype(object).copy()
    row, column = divmod(int(np.argmax(weights)), weights.shape[1])
    step = channel.total // 10**6
    weights[row, column] += step
    weights[row, 1 - column] -= step
    assert not verify(Channel(channel.inputs, channel.outputs, weights, channel.total), space).holds
