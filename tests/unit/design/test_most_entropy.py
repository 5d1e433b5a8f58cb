"""The channel that leaves most entropy at the same loss: as qif computes it, and with its bound."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import metricdp as mdp
from metricdp.adversaries import Prior, shannon_leakage
from metricdp.channels import Channel, random_channel
from metricdp.design import most_entropy
from metricdp.errors import ArgumentError, LevelError

m = mdp.metrics
QIF = json.loads((Path(__file__).parents[2] / "fixtures/peers/qif_measures.json").read_text())["cases"]
pytestmark = pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")


@pytest.mark.parametrize("case", QIF)
def test_the_numbers_of_qif(case):
    found = most_entropy(mdp.Space.line(len(case["p"])), case["p"], weight=1.5, gap=1e-9)
    assert found.finished
    assert np.abs(found.channel.matrix - case["most_entropy"]).max() < 1e-4


def left(prior, channel):
    shares = [float(share) for share in prior.fractions]
    return -sum(p * math.log2(p) for p in shares) - shannon_leakage(prior, channel)


def test_no_channel_of_that_loss_leaves_more():
    """Mixtures of random channels with the identity, as cheap as the found one, leave at most the bound."""
    space = mdp.Space.line(4)
    with mdp.seeded(6):
        prior = Prior.random(space.points)
        tried = [random_channel(space.points, space.points) for _ in range(40)]
    found = most_entropy(space, prior, weight=1)
    costs = np.abs(np.subtract.outer(range(4), range(4)))
    shares = np.array([float(share) for share in prior.fractions])
    assert float(found.loss) == pytest.approx((shares[:, None] * found.channel.matrix * costs).sum(), abs=1e-12)
    assert left(prior, found.channel) == pytest.approx(float(found.entropy), abs=1e-9)
    for channel in tried:
        spent = (shares[:, None] * channel.matrix * costs).sum()
        kept = min(1.0, float(found.loss) / spent)
        mixed = kept * channel.matrix + (1 - kept) * np.eye(4)
        assert left(prior, Channel.from_matrix(space.points, space.points, mixed)) <= found.bound + 1e-9


def test_twice_the_weight_is_kept():
    found = most_entropy(mdp.Space.line(4, mdp.ln(2) * m.absolute()), weight=mdp.ln(2), gap=1e-4)
    assert found.verdict.scale <= 2


def test_more_weight_costs_less_and_tells_more():
    answers = [most_entropy(mdp.Space.grid(2, 2), weight=weight) for weight in ("0.5", 1, 4)]
    assert sorted((a.loss for a in answers), reverse=True) == [a.loss for a in answers]
    assert sorted((float(a.entropy) for a in answers), reverse=True) == [float(a.entropy) for a in answers]


def test_a_loss_of_ones_own_and_secrets_that_never_come():
    found = most_entropy(mdp.Space("abc", m.discrete()), {"a": 0.5, "b": 0.5, "c": 0}, [[0, 1, 1], [1, 0, 0]])
    assert found.channel.outputs == (0, 1)
    assert found.finished
    assert found.to_json()["finished"] is True
    assert "bits" in str(found)


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="gap"):
        most_entropy(mdp.Space.line(2), gap=0)
    with pytest.raises(LevelError):
        most_entropy(mdp.Space.line(2), weight=-1)
    with pytest.raises(ArgumentError):
        most_entropy("no space")
    assert not most_entropy(mdp.Space.line(40), time_limit=1e-9).finished


def test_weights_at_the_ends_of_floats():
    dear = most_entropy(mdp.Space.line(3), weight=1e308, loss=[[1, 2, 3], [2, 1, 2], [3, 2, 1]])
    assert dear.loss == 1
    assert most_entropy(mdp.Space.line(3), weight=1e-300).finished
