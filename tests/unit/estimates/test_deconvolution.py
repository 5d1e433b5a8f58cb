"""Iterative Bayesian update: the maximum of the likelihood where it is asked for, and a rule that stops earlier."""

import numpy as np
import pytest

from metricdp import truncated_geometric
from metricdp.errors import ArgumentError, ShapeError
from metricdp.estimates import iterative_bayesian_update
from metricdp.metrics import absolute


def line(cells, within):
    return truncated_geometric(absolute().within(within), cells - 1).law(range(cells)).matrix


def plain_updates(counts, law, rounds):
    shares = np.full(len(law), 1 / len(law))
    for _ in range(rounds):
        shares = shares * (law @ (counts / counts.sum() / (shares @ law)))
    return shares


def log_likelihood(counts, shares, law):
    return float(counts @ np.log(shares @ law))


def drawn(seed, truth, law, rows):
    random = np.random.default_rng(seed)
    return random.multinomial(rows, truth @ law).astype(float)


def bumps(cells):
    at = np.arange(cells) / cells
    truth = np.exp(-((at - 0.3) ** 2) / 0.01) + 0.5 * np.exp(-((at - 0.7) ** 2) / 0.004) + 0.02
    return truth / truth.sum()


def test_unregularised_it_reaches_the_likelihood_of_plain_updates_in_fewer_rounds():
    law = line(40, 3)
    counts = drawn(1, bumps(40), law, 20_000)
    ours = iterative_bayesian_update(counts, law, stop="likelihood", gap=1e-7)
    plain = plain_updates(counts, law, 3_000)
    assert ours.log_likelihood >= log_likelihood(counts, plain, law) - 1e-3
    assert ours.converged
    assert log_likelihood(counts, plain_updates(counts, law, ours.rounds), law) <= ours.log_likelihood + 1e-6


@pytest.mark.parametrize("cells", [60, 200])
def test_the_rule_stops_nearer_to_the_truth_than_the_likelihood_does(cells):
    law, truth = line(cells, cells / 20), bumps(cells)
    counts = drawn(2, truth, law, 50_000)
    stopped = iterative_bayesian_update(counts, law)
    climbed = iterative_bayesian_update(counts, law, stop="likelihood", rounds=2_000)
    apart = [np.abs(one.shares - truth).sum() / 2 for one in (stopped, climbed)]
    assert apart[0] < 0.6 * apart[1]
    assert stopped.deviance <= stopped.expected_deviance


def test_shares_are_shares_and_what_is_expected_adds_up():
    law = line(20, 4)
    found = iterative_bayesian_update(drawn(3, bumps(20), law, 500), law)
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)
    assert np.allclose(found.released, found.shares @ law)
    assert found.to_json()["rounds"] == found.rounds
    assert "20 shares" in repr(found)


@pytest.mark.parametrize("counts", [[1.0], [-1.0, 2.0], [0.0, 0.0], [np.nan, 1.0]])
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(ShapeError):
        iterative_bayesian_update(counts, np.eye(2))


def test_a_stop_that_is_none_is_refused():
    with pytest.raises(ArgumentError, match="noise"):
        iterative_bayesian_update([1, 2], np.eye(2), stop="never")


def test_the_greatest_likelihood_takes_few_steps_and_proves_its_gap():
    """It took 1,500 updates at 100 cells, and 11,000 at 300."""
    law, truth = line(100, 2), bumps(100)
    counts = drawn(4, truth, law, 100_000)
    found = iterative_bayesian_update(counts, law, stop="likelihood")
    assert found.converged
    assert found.rounds <= 40
    ratios = law @ (counts / counts.sum() / (found.shares @ law))
    assert ratios.max() - 1 <= 1e-9, "no shares are higher by more than this a row"
    begun = np.full(100, 0.01)
    climbed = iterative_bayesian_update(counts, law, stop="likelihood", start=begun, rounds=3_000)
    assert climbed.rounds > 100
    assert found.log_likelihood >= climbed.log_likelihood - 1e-6


@pytest.mark.parametrize(
    ("counts", "law"),
    [
        ([5, 0], [[0.5, 0.5], [0.5, 0.5]]),  # the law tells nothing
        ([5, 3, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),  # a secret that nobody has
        ([7, 0, 0, 1], [[0.7, 0.1, 0.1, 0.1], [0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7]]),  # two that are alike
        ([9], [[1.0]]),
        ([1e9, 1], [[1 - 1e-12, 1e-12], [1e-12, 1 - 1e-12]]),
        ([3, 4], [[1.0, 0.0], [1.0, 0.0]]),  # an output that no secret gives
    ],
)
def test_laws_and_counts_at_the_edge(counts, law):
    found = iterative_bayesian_update(counts, law, stop="likelihood", rounds=500)
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)
    plain = plain_updates(np.array(counts, float), np.maximum(law, 1e-300), 500)
    least = log_likelihood(np.array(counts, float), plain, np.maximum(law, 1e-300))
    assert found.log_likelihood >= least - 1e-6 - 1e-9 * sum(counts), "the gap is for each row"
