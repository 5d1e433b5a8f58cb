"""Columns weighed by a sparse program: the loss falls, the answer is private, and limits are kept."""

import sys

import numpy as np
import pytest

from metricdp.channels import verify
from metricdp.design import optimal
from metricdp.design.optimal._lifted import Lifted
from metricdp.design.optimal._sparse_master import SparseMaster
from metricdp.design.optimal._wide_search import WideSearch
from metricdp.design.optimal._wide_start import start_prices
from tests.unit.design.optimal.test_start import city
from tests.unit.design.optimal.test_wide_start import ground


@pytest.fixture
def sparse(monkeypatch):
    for name in ("_LARGE", "_SPARSE"):
        monkeypatch.setattr(sys.modules[WideSearch.__module__], name, 100)
    monkeypatch.setattr(sys.modules[optimal.__module__], "_MOST_NARROW", 50)  # no other search goes on


@pytest.mark.parametrize("seed", [3, 4])
def test_the_gap_is_closed(sparse, seed):
    space, prior = city(120, seed)
    seen = []
    channel = optimal(space, prior, gap=0.05, progress=seen.append)
    assert channel.finished
    assert verify(channel, space)
    assert channel.loss < seen[0].best
    assert max(update.bound for update in seen) <= channel.loss


def test_few_outputs(sparse):
    space, prior = city(130, 8)
    outputs = [space.points[place] for place in np.argsort(-prior)[:8].tolist()]
    channel = optimal(space, prior, outputs=outputs, gap=0.02)
    assert channel.finished
    assert channel.outputs == tuple(outputs)
    assert verify(channel, space)


def test_rows_of_what_is_weighed_sum_to_one():
    some = ground(120, 5)
    guesses = some.best_outputs(some.decay)
    worth = some.worth(some.decay, None, guesses)
    tight, _ = start_prices(some, worth)
    master = SparseMaster(some, tight, guesses, worth)
    wide = np.exp(-np.maximum(some.distances - 0.5, 0.0))
    values = wide @ some.costs
    rising = [Lifted(np.arange(120), column) for column in wide]
    master.add(rising, values.argmin(axis=1), values.min(axis=1), lambda: False)
    found = master.solve(60.0)
    matrix = master.channel(found)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(120), abs=1e-12)
    assert master.loss(found) == pytest.approx(float((matrix * some.costs).sum()), rel=1e-6)
    assert master.loss(found) < float(np.maximum(tight, 0.0) @ worth) * (1 + 1e-3)
    assert found.prices.sum() <= master.loss(found) * (1 + 1e-3)
