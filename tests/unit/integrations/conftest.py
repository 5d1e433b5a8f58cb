"""A small staff, its policy, and a ledger."""

import pytest

from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap
from metricdp.policies import Policy

POLICY = """
format = 2
[columns]
name = "drop"
team = "keep"
[columns.income]
type = "number"
within = "1000 dollars"
missing = "refuse"
[columns.age]
type = "integer"
within = "5 years"
bounds = [0, 120]
missing = "refuse"
"""


@pytest.fixture
def text():
    return POLICY


@pytest.fixture
def policy():
    return Policy.parse(POLICY)


@pytest.fixture
def strict():
    return Policy.parse(POLICY.replace("format = 2", 'format = 2\nledger = "required"'))


@pytest.fixture
def columns():
    return {
        "name": ["Ann", "Bob", "Cem", "Dua"],
        "team": ["x", "y", "x", "y"],
        "income": [52000.0, 48000.0, 61000.0, 57500.0],
        "age": [31, 47, 28, 55],
    }


@pytest.fixture
def ledger(tmp_path, policy):
    with Ledger.create(tmp_path / "spent.db") as ledger:
        ledger.open_account("staff", policy_cap(policy, 2))
        yield ledger


@pytest.fixture
def charges(ledger):
    """The number of charges so far."""
    return lambda: sum(entry.kind == "charged" for entry in ledger.history())
