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
