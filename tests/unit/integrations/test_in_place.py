"""Columns released where they stand."""

import pandas
import pyarrow as pa
import pytest

from metricdp.errors import ArgumentError, BudgetError, ColumnError, PolicyError
from metricdp.exact.bits import seeded
from metricdp.integrations.in_place import InPlace
from metricdp.policies import Policy

PERSON = """
format = 2
[person]
column = "who"
rows = 3
[columns.age]
type = "integer"
within = "5 years"
"""


def test_rows_stay_where_they_are_and_the_kept_column_tells(policy):
    frame = pandas.DataFrame(
        {
            "name": ["n"] * 200,
            "team": [str(k) for k in range(200)],
            "income": [1e6 * k for k in range(200)],
            "age": [30] * 200,
        }
    )
    released = InPlace.of(policy).frame(frame, "a frame")
    assert released["team"].tolist() == frame["team"].tolist()
    assert (released["income"] - frame["income"]).abs().max() < 1e5  # a shuffle would move some by a million or more
    assert list(released.columns) == ["team", "income", "age"]


def test_what_is_refused_costs_nothing_and_the_price_is_that_of_the_column(policy, columns, ledger, charges):
    private = InPlace.of(policy, ledger, "staff")
    bad = pandas.DataFrame(columns).assign(income=[1.0, float("nan"), 2.0, 3.0])
    with pytest.raises(ColumnError, match="column 'income', row 1"):
        private.frame(bad, "a frame")
    assert charges() == 0
    private.only("age").frame(pandas.DataFrame({"age": columns["age"]}), "ages")
    assert str(ledger.balance("staff").spent) == "ℓ₁(ln 2/5·|x − y| (age))"
    private.frame(pandas.DataFrame(columns), "a frame")
    with pytest.raises(BudgetError, match="staff"):
        private.frame(pandas.DataFrame(columns), "a frame")
    assert charges() == 2


def test_nothing_is_charged_for_no_rows(policy, columns, ledger, charges):
    InPlace.of(policy, ledger, "staff").frame(pandas.DataFrame(columns).iloc[:0], "nothing")
    assert charges() == 0


def test_a_seed_is_not_charged(policy, columns, ledger):
    with seeded(1), pytest.raises(ArgumentError, match="not private"):
        InPlace.of(policy, ledger, "staff").frame(pandas.DataFrame(columns), "a frame")


def test_policies_that_it_cannot_follow_are_refused(strict, policy, ledger):
    with pytest.raises(PolicyError, match="requires a ledger"):
        InPlace.of(strict)
    with pytest.raises(PolicyError, match="person"):
        InPlace.of(Policy.parse(PERSON))
    rekeyed = {"format": 2, "columns": {"id": "rekey", "age": {"type": "integer", "within": "5 years"}}}
    with pytest.raises(PolicyError, match="new keys"):
        InPlace.of(rekeyed)
    with pytest.raises(ArgumentError, match="give the ledger too"):
        InPlace.of(policy, account="staff")
    with pytest.raises(ArgumentError, match="no column 'name' with noise; it does: income, age"):
        InPlace.of(policy).only("name")


def test_rows_are_counted_over_batches(policy):
    table = pa.table({"age": pa.chunked_array([[1, 2], [3, None]])})
    with pytest.raises(ColumnError, match="row 3"):
        InPlace.of(policy).only("age").table(table, InPlace.of(policy).price, "ages")
