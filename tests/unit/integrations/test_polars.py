"""The namespaces of Polars, on Polars."""

import polars as pl
import pytest

import metricdp as mdp
from metricdp.errors import PolicyError

mdp.integrations.enable("polars")
mdp.integrations.enable("polars")


@pytest.fixture
def frame(columns):
    return pl.DataFrame(columns)


def test_a_frame_is_sanitized_and_charged_lazy_or_not(frame, policy, ledger, charges):
    assert frame.metricdp.sanitize(policy, ledger, "staff").table.columns == ["team", "income", "age"]
    assert isinstance(frame.lazy().metricdp.sanitize(policy, ledger, "staff").table, pl.LazyFrame)
    assert charges() == 2


def test_an_expression_releases_its_column_and_charges_it_when_computed(frame, policy, ledger, charges):
    expression = pl.col("income").metricdp.release(policy, "income", ledger=ledger, account="staff")
    query = frame.lazy().with_columns(expression.alias("released"))
    assert query.collect_schema()["released"] == pl.Float64
    assert charges() == 0
    released = query.collect()
    assert released["team"].to_list() == frame["team"].to_list()
    assert not (released["released"] == frame["income"]).any()
    assert charges() == 1
    frame.select(expression)
    assert charges() == 2
    with pytest.raises(pl.exceptions.ComputeError, match="BudgetError: account 'staff'"):
        frame.select(expression)


def test_streaming_releases_the_column_once(policy, ledger, charges):
    long = pl.LazyFrame({"income": [5e4] * 200_000})
    out = long.select(pl.col("income").metricdp.release(policy, "income", ledger=ledger, account="staff")).collect(
        engine="streaming"
    )
    assert charges() == 1
    assert out["income"].n_unique() > 100_000


def test_a_series_and_a_mechanism(frame, policy):
    assert frame["age"].metricdp.release(policy, "age").name == "age"
    laplace = mdp.laplace(mdp.metrics.absolute().within(1000, factor=2))
    assert frame["income"].metricdp.release(laplace).len() == 4
    assert frame.select(pl.col("income").metricdp.release(laplace)).schema == {"income": pl.Float64}
    with pytest.raises(pl.exceptions.ComputeError, match="cast the column to that first"):
        frame.select(pl.col("age").metricdp.release(mdp.laplace(mdp.metrics.absolute())))


def test_a_ledger_is_required_where_the_policy_says_so(strict):
    with pytest.raises(PolicyError, match="requires a ledger"):
        pl.col("income").metricdp.release(strict, "income")
