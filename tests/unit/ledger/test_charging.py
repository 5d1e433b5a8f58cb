"""Whatever a policy can state can be capped, charged and compared: every type of column, with and without nulls."""

from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, BudgetError
from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap, question_charge, table_charge
from metricdp.metrics import Guarantee
from metricdp.policies import Policy
from metricdp.policies.types import TYPES

ENTRIES = {
    "number": {"type": "number", "within": "1000 dollars"},
    "bounded": {"type": "number", "within": "1000 dollars", "bounds": [0, 10**5], "missing": "secret"},
    "integer": {"type": "integer", "within": "5 years", "bounds": [0, 120]},
    "epsilon": {"type": "integer", "epsilon": 0.5, "bounds": [0, 120], "missing": "refuse"},
    "date": {"type": "date", "within": "5 days"},
    "time": {"type": "time", "within": "2 hours", "resolution": "1 s"},
    "duration": {"type": "duration", "within": "5 minutes", "resolution": "1 s"},
    "time_of_day": {"type": "time_of_day", "within": "1 hour"},
    "category": {"type": "category", "values": ["a", "b"], "epsilon": 1},
    "boolean": {"type": "boolean", "epsilon": 1, "missing": "refuse"},
    "set": {"type": "set", "values": ["x", "y"], "epsilon": 1},
    "series": {"type": "series", "length": 3, "within": 2},
    "place": {"type": "place", "columns": ["lat", "lon"], "within": "200 m"},
}


def policy_of(entries, **top):
    return Policy.of({"format": 2, **top, "columns": entries})


def test_every_type_is_there():
    assert {entry["type"] for entry in ENTRIES.values()} == set(TYPES) - {"keep", "drop", "rekey"}


@pytest.mark.parametrize("name", ENTRIES)
def test_every_type_can_be_capped_charged_and_compared(name, ledger):
    policy = policy_of({name: ENTRIES[name]})
    ledger.open_account("a", policy_cap(policy, 2))
    ledger.charge("a", table_charge(policy), "one")
    ledger.charge("a", table_charge(policy), "two")
    with pytest.raises(BudgetError, match="together"):
        ledger.charge("a", Guarantee(table_charge(policy).metric * Fraction(1, 10**40)), "three")
    assert "used up" in ledger.balance("a").words()
    assert ledger.check()


def test_all_columns_at_once_and_by_themselves(ledger):
    whole = policy_of(ENTRIES)
    ledger.open_account("a", policy_cap(whole, 1))
    for name, entry in ENTRIES.items():
        ledger.charge("a", table_charge(policy_of({name: entry})), name)
    assert ledger.balance("a").left is None
    assert ledger.check()


@pytest.mark.parametrize("top", [{"records": 100}, {"capacity": 100, "absent": 0.5}])
def test_questions_about_columns(top, tmp_path):
    names = ("epsilon", "category", "boolean")
    policy = policy_of({name: ENTRIES[name] for name in names}, **top)
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("a", policy_cap(policy, 2))
        ledger.charge("a", question_charge(policy, ["category"]), "x")
        ledger.charge("a", question_charge(policy, names), "x")
        with pytest.raises(BudgetError):
            ledger.charge("a", question_charge(policy, ["category"]), "x")
        assert ledger.check()


def test_a_question_that_tells_nothing_secret_costs_nothing():
    policy = policy_of({"boolean": ENTRIES["boolean"]}, records=100)
    assert question_charge(policy, []) is None
    secret = policy_of({"boolean": ENTRIES["boolean"]}, capacity=100, absent=0.5)
    assert question_charge(secret, []).metric((None,), (True,)) == 0.5


def test_a_delta_is_charged_for_every_record():
    policy = policy_of({"boolean": {"type": "boolean", "epsilon": 1, "missing": "refuse"}})
    from metricdp.ledger.charging import _delta_of_all

    assert _delta_of_all(policy, Fraction(0)) == 0
    with pytest.raises(ArgumentError, match="stated number of records"):
        _delta_of_all(policy, Fraction(1, 1000))
    assert _delta_of_all(policy_of({"boolean": ENTRIES["boolean"]}, records=10), Fraction(1, 1000)) == Fraction(1, 100)


@pytest.mark.parametrize("missing", ["secret", "refuse"])
@pytest.mark.parametrize(
    "column",
    [
        {"type": "number", "bounds": [0, 10], "epsilon": 1},
        {"type": "integer", "bounds": [0, 10], "within": "2"},
        {"type": "category", "values": ["a", "b"], "epsilon": 1, "delta": 1e-9},
    ],
)
def test_a_cap_of_two_releases_takes_two_tables(ledger, column, missing):
    """Numbers that may be missing were charged in another metric than the cap, and a delta had no place in it."""
    rules = column if missing == "secret" else column | {"missing": missing}
    policy = Policy.of({"format": 2, "records": 50, "columns": {"c": rules}})
    ledger.open_account("tables", policy_cap(policy, 2))
    for _ in range(2):
        ledger.charge("tables", table_charge(policy), "a table")
    with pytest.raises(BudgetError):
        ledger.charge("tables", table_charge(policy), "a table")
    ledger.open_account("both", policy_cap(policy, 2))
    ledger.charge("both", table_charge(policy), "a table")
    question = question_charge(policy, ["c"])
    ledger.charge("both", question, "a question")
    with pytest.raises(BudgetError):
        ledger.charge("both", question, "a question")


def test_a_cap_whose_delta_promises_nothing():
    column = {"type": "category", "values": ["a", "b"], "epsilon": 1, "delta": 0.01}
    with pytest.raises(ArgumentError, match="promises nothing"):
        policy_cap(Policy.of({"format": 2, "records": 50, "columns": {"c": column}}), 2)
