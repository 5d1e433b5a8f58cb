"""The least loss at a given leakage, and back: as qif computes them, exactly within the limit, with their bounds."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import metricdp as mdp
from metricdp.adversaries import uncertainty, vulnerability
from metricdp.design import least_loss, least_vulnerability
from metricdp.errors import ArgumentError

QIF = json.loads((Path(__file__).parents[2] / "fixtures/peers/qif_measures.json").read_text())["cases"]
DRINKS = mdp.Space(["tea", "coffee", "water"], mdp.metrics.discrete())


def spent(prior, channel, loss):
    """The expected loss of releasing the outputs as they are, by its definition."""
    return sum(
        Fraction(p) * Fraction(int(w), channel.total) * Fraction(loss[z][x])
        for x, p in enumerate(prior)
        for z, w in enumerate(channel.weights[x])
    )


@pytest.mark.parametrize("case", QIF)
def test_the_numbers_of_qif(case):
    space, half = mdp.Space.line(len(case["p"])), (1 + max(map(Fraction, case["p"]))) / 2
    cheap, close = least_loss(space, half, case["p"]), least_vulnerability(space, "0.3", case["p"])
    assert cheap.finished
    assert close.finished
    assert float(cheap.loss) == pytest.approx(case["least_loss"], abs=1e-7)
    assert float(close.vulnerability) == pytest.approx(case["least_vulnerability"], abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_limits_are_kept_exactly_and_each_is_the_other_way_round(seed):
    rng = np.random.default_rng(seed)
    secrets, actions, outputs = rng.integers(2, 6, 3)
    prior = [Fraction(int(n)) for n in rng.integers(1, 50, secrets)]
    prior = [weight / sum(prior) for weight in prior]
    gain, loss = rng.integers(0, 9, (actions, secrets)).tolist(), rng.integers(0, 9, (outputs, secrets)).tolist()
    space, before = mdp.Space.line(int(secrets)), vulnerability(prior, None, gain, exact=True)
    all_told = least_loss(space, 10, prior, loss, gain)
    for part in (Fraction(0), Fraction(1, 3), Fraction(1)):
        limit = before + part * (all_told.vulnerability - before)
        found = least_loss(space, limit, prior, loss, gain)
        assert found.vulnerability == vulnerability(prior, found.channel, gain, exact=True) <= limit
        assert found.loss == spent(prior, found.channel, loss) >= Fraction(found.bound)
        assert found.finished
        back = least_vulnerability(space, found.loss, prior, loss, gain)
        assert back.loss <= found.loss
        assert back.finished
        assert found.bound - 1e-9 <= float(back.loss)
        assert back.bound <= float(found.vulnerability) * (1 + 1e-9)


def test_no_channel_of_a_fine_lattice_is_better_than_the_bound():
    prior, loss = np.array([3, 2, 1]), np.array([[0, 2, 3], [1, 0, 2], [5, 1, 0]])
    found = least_loss(DRINKS, "2/3", [Fraction(int(p), 6) for p in prior], loss)
    rows = np.array([(a, b, 6 - a - b) for a in range(7) for b in range(7 - a)])
    channels = rows[np.array(list(itertools.product(range(len(rows)), repeat=3)))] * prior[:, None]  # out of 36
    within = channels.max(axis=1).sum(axis=1) <= 24
    losses = (channels[within] * loss.T).sum(axis=(1, 2))
    assert within.sum() > 1000
    assert Fraction(int(losses.min()), 36) >= Fraction(found.bound)
    assert float(losses.min()) / 36 == pytest.approx(float(found.loss), abs=0.05)


def test_the_limits_at_both_ends():
    prior = ["1/2", "1/4", "1/4"]
    nothing = least_loss(DRINKS, "1/2", prior, "bin")
    assert nothing.vulnerability == nothing.before == Fraction(1, 2)
    assert nothing.leakage == 1
    everything = least_vulnerability(DRINKS, 0, prior, "bin")
    assert everything.loss == 0
    assert everything.vulnerability == 1
    assert not everything.verdict.holds  # it says nothing of d-privacy, and here gives the secret away
    assert uncertainty(prior, everything.channel, "bin", exact=True) == 0


def test_what_no_channel_keeps_to_is_refused():
    with pytest.raises(ArgumentError, match="before anything is released, 1/3: no channel"):
        least_loss(DRINKS, "0.3")
    with pytest.raises(ArgumentError, match="no channel has less than 1"):
        least_vulnerability(DRINKS, "0.5", "uniform", [[1, 1, 1], [2, 1, 3]])
    with pytest.raises(ArgumentError, match="takes a Space"):
        least_loss([0, 1], 1)
    with pytest.raises(ArgumentError, match="vulnerability"):
        least_loss(DRINKS, "much")


def test_stopped_at_once_it_has_a_channel_within_the_limit_and_says_so():
    found = least_loss(mdp.Space.line(60), "1/10", time_limit=1e-6)
    assert not found.finished
    assert found.vulnerability <= Fraction(1, 10)
    assert "not finished" in str(found)
    assert found.to_json()["finished"] is False
    assert "LossAndLeakage(60 inputs, 60 outputs" in repr(found)


def test_progress_is_told():
    seen = []
    least_vulnerability(DRINKS, "1/2", loss="bin", progress=seen.append)
    assert seen
