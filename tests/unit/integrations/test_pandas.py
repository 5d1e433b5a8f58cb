"""The accessors of pandas, on pandas."""

import warnings

import pandas
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, PolicyError

mdp.integrations.enable("pandas")


@pytest.fixture
def frame(columns):
    return pandas.DataFrame(columns, index=[10, 20, 30, 40])


def test_enabling_twice_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mdp.integrations.enable("pandas")


def test_a_frame_is_sanitized_and_charged(frame, policy, ledger, charges):
    release = frame.metricdp.sanitize(policy, ledger, "staff", by="ann")
    assert list(release.table.columns) == ["team", "income", "age"]
    assert sorted(release.table["team"]) == ["x", "x", "y", "y"]
    assert charges() == 1
    assert release.private


def test_a_column_is_released_in_its_place(frame, policy, ledger, charges):
    released = frame["income"].metricdp.release(policy, "income", ledger=ledger, account="staff")
    assert released.index.tolist() == [10, 20, 30, 40]
    assert released.name == "income"
    assert released.dtype == float
    assert not (released == frame["income"]).any()
    assert charges() == 1
    renamed = frame["income"].rename("pay").metricdp.release(policy, "income")
    assert renamed.name == "pay"
    other = frame["age"].metricdp.release(policy, "age")
    assert other.between(0, 120).all()


def test_a_column_is_released_by_a_mechanism(frame):
    released = frame["income"].metricdp.release(mdp.laplace(mdp.metrics.absolute().within(1000, factor=2)))
    assert released.index.tolist() == [10, 20, 30, 40]


def test_equal_values_get_noise_of_their_own(policy):
    assert pandas.Series([5e4] * 100).metricdp.release(policy, "income").nunique() > 90


def test_a_question_and_a_draft(frame):
    rules = {
        "format": 2,
        "records": 4,
        "columns": {"team": {"type": "category", "values": ["x", "y"], "epsilon": 1000}},
    }
    answer = frame[["team"]].metricdp.ask("select count(*) from t where team = 'x'", rules)
    assert round(answer["count(*)"][0].value) == 2
    draft = frame.metricdp.draft()
    assert "[columns.age]" in draft
    assert "Ann" not in draft


def test_what_is_not_said_is_refused(frame, policy, strict, ledger):
    series = frame["income"]
    with pytest.raises(PolicyError, match="requires a ledger"):
        series.metricdp.release(strict, "income")
    with pytest.raises(PolicyError, match="requires a ledger"):
        frame.metricdp.sanitize(strict)
    with pytest.raises(ArgumentError, match="which column"):
        series.metricdp.release(policy)
    with pytest.raises(ArgumentError, match="a mechanism has no columns"):
        series.metricdp.release(mdp.laplace(mdp.metrics.absolute()), "income")
    with pytest.raises(ArgumentError, match="a mechanism has no columns"):
        series.metricdp.release(mdp.laplace(mdp.metrics.absolute()), ledger=ledger)
