"""Channels at random, and channels used again and again."""

import json
from pathlib import Path

import numpy as np
import pytest

import metricdp as mdp
from metricdp.adversaries import Prior, vulnerability
from metricdp.channels import Channel, equivalent, of, random_channel, repeated, sequential, verify
from metricdp.errors import ArgumentError, TooLargeError

m = mdp.metrics
QIF = json.loads((Path(__file__).parents[2] / "fixtures/peers/qif_measures.json").read_text())["cases"]
pytestmark = pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")


@pytest.mark.parametrize("case", QIF)
def test_the_numbers_of_qif(case):
    assert vulnerability(case["p"], repeated(case["C"], 2)) == pytest.approx(case["repeated_bayes"], rel=1e-12)


def test_it_is_as_good_as_one_after_the_other():
    with mdp.seeded(1):
        channel = random_channel("abc", "yz")
    assert equivalent(repeated(channel, 2), sequential(channel, channel))
    assert equivalent(repeated(channel, 3), sequential(sequential(channel, channel), channel))
    assert repeated(channel, 1).matrix.tolist() == channel.matrix.tolist()


def test_what_it_promises():
    once = of(mdp.truncated_geometric(mdp.ln(2) * m.absolute(), steps=3), range(4))
    thrice = repeated(once, 3)
    assert thrice.promise.metric == 3 * (mdp.ln(2) * m.absolute())
    assert verify(thrice, mdp.Space.line(4, thrice.promise.metric)).holds
    assert repeated(Channel.from_matrix("ab", "yz", [[1, 0], [0, 1]]), 2).promise is None


@pytest.mark.parametrize("times", [0, -1, 2.0, True, None])
def test_how_often(times):
    with pytest.raises(ArgumentError, match="positive number of times"):
        repeated([[1, 0], [0, 1]], times)


def test_too_many_outcomes():
    with pytest.raises(TooLargeError, match="outcomes") as error:
        repeated(np.full((2, 100), 0.01), 10)
    assert error.value.estimate


def test_random_ones_are_uniform_over_all_distributions():
    """Each share of n has mean 1/n and variance (n - 1) / (n²(n + 1)); seeded, they are the same each time."""
    count, rows = 4, 3000
    with mdp.seeded(3):
        channel = random_channel(range(rows), range(count))
    with mdp.seeded(3):
        assert random_channel(range(rows), range(count)) == channel
    mean, variance = 1 / count, (count - 1) / (count**2 * (count + 1))
    assert np.abs(channel.matrix.mean(axis=0) - mean).max() < 6 * np.sqrt(variance / rows)
    assert channel.matrix.var(axis=0) == pytest.approx(variance, rel=0.2)
    assert (channel.weights >= 0).all()
    with mdp.seeded(3):
        assert len(Prior.random("abcde").weights) == 5
    assert random_channel("a", "z").matrix.tolist() == [[1.0]]
