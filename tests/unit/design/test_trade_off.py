"""What privacy costs at several levels: losses and bounds that never rise, and channels that keep what they say."""

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.channels.proved import Proved
from metricdp.design import optimal, trade_off
from metricdp.design.optimal._result import INTERRUPTED
from metricdp.errors import ArgumentError, LevelError

SPACE = mdp.Space.line(5, mdp.ln(2) * mdp.metrics.absolute())
PRIOR = [0.1, 0.2, 0.4, 0.2, 0.1]


@pytest.fixture(scope="module")
def table():
    return trade_off(SPACE, PRIOR, multiples=[2, "1/2", 1], gap=1e-3)


def test_each_row_is_what_optimal_says(table):
    assert table.multiples == (Fraction(1, 2), 1, 2)
    for multiple, channel, loss, bound in zip(table.multiples, table.channels, table.losses, table.bounds, strict=True):
        space = mdp.Space(SPACE.points, multiple * SPACE.metric)
        alone = optimal(space, PRIOR, gap=1e-3)
        assert verify(channel, space)
        assert loss == channel.loss
        assert bound <= alone.loss
        assert alone.bound <= loss
        assert loss <= alone.loss * (1 + 1e-3)
    assert list(table.losses) == sorted(table.losses, reverse=True)
    assert list(table.bounds) == sorted(table.bounds, reverse=True)
    assert max(table.gaps) <= 1e-3


def test_a_multiple_between_gets_the_stricter_channel(table):
    assert table.at("1.5") is table.channels[1]
    assert table.at(100) is table.channels[2]
    with pytest.raises(LevelError, match="the least multiple here is 1/2"):
        table.at(0.25)
    assert not verify(table.channels[2], SPACE)


def test_the_least_multiple_for_a_loss(table):
    assert table.least_multiple(table.losses[1]) == 1
    assert table.least_multiple(table.losses[1] * 0.999) == 2
    assert table.least_multiple(0.0) is None


def test_words_and_json(table):
    assert str(table).splitlines()[0] == "least loss at multiples of ln 2·|x − y|"
    assert len(str(table).splitlines()) == 5
    assert [row["multiple"] for row in table.to_json()["rows"]] == [0.5, 1, 2]
    assert "3 multiples" in repr(table)
    assert "<pre>" in table._repr_html_()


def test_outputs_progress_and_time():
    told = []
    table = trade_off(SPACE, PRIOR, outputs=iter([1, 3]), multiples=[1, 3], progress=told.append, time_limit=30)
    assert [update.done for update in told] == [1, 2]
    assert all(channel.outputs == (1, 3) for channel in table.channels)


def test_a_point_alone_loses_nothing():
    table = trade_off(mdp.Space([0], mdp.metrics.absolute()), multiples=[1])
    assert table.losses == (0.0,)
    assert table.gaps == (0.0,)


@pytest.mark.parametrize(
    ("multiples", "error"), [([], ArgumentError), ([0, 1], LevelError), ([-1], LevelError), (3, ArgumentError)]
)
def test_bad_multiples(multiples, error):
    with pytest.raises(error):
        trade_off(SPACE, multiples=multiples)


def test_what_is_no_space():
    with pytest.raises(ArgumentError):
        trade_off(np.eye(3))


def test_ctrl_c_ends_the_search_for_all_multiples(monkeypatch):
    module, limits = sys.modules["metricdp.design.trade_off"], []
    inner = module.optimal

    def noted(*arguments, time_limit, **options):
        limits.append(time_limit)
        found = inner(*arguments, time_limit=time_limit, **options)
        return replace(found, promise=Proved.of(found.promise), reason=INTERRUPTED) if len(limits) == 2 else found

    monkeypatch.setattr(module, "optimal", noted)
    table = trade_off(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()), multiples=[1, 2, 3])
    assert limits == [None, None, 1e-3]
    assert len(table.channels) == 3
    assert all(bound <= loss for bound, loss in zip(table.bounds, table.losses, strict=True))
