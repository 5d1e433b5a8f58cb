"""Comparisons of numbers: exactly as engines compare them, whatever they are stored as."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest

from metricdp.errors import ArgumentError
from metricdp.policies import Policy
from metricdp.policies.cells.ordered import JustAfter, NumberCells
from metricdp.queries import ask

KINDS = {"double": pa.float64(), "single": pa.float32(), "money": pa.decimal128(20, 2), "whole": pa.int64()}
VALUES = [-2.0, -0.1, 0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 7.25, 8.0]
ENTRY = '{type = "number", bounds = [-2, 8], metric = "1000000 discrete", missing = "refuse"}'
POLICY = "format = 2\nrecords = 10\n[columns]\n" + "".join(f"{name} = {ENTRY}\n" for name in KINDS)
CONDITIONS = ["> 0", ">= 0", "< 0", "<= 0", "= 0", "<> 0", "> 0.1", "<= 0.1", "= 0.2", "between 0.1 and 0.3"]
CONDITIONS += ["not between -0.1 and 0.2", "in (0.1, 0.3, 7.25)", "> -2", "<= -2", "<= 8", "> 7.25", "> 0.30000001"]


@pytest.fixture(scope="module")
def numbers():
    held = {name: [float(value) for value in VALUES] for name in ("double", "single")}
    held["money"] = [Decimal(str(value)) for value in VALUES]
    held["whole"] = [int(value) for value in VALUES]
    return pa.table({name: pa.array(held[name], kind) for name, kind in KINDS.items()})


@pytest.mark.parametrize("name", KINDS)
def test_comparisons_are_those_of_the_engine(name, numbers):
    """Under a promise so weak that there is no noise."""
    asked = ", ".join(f"count(*) filter (where {name} {condition})" for condition in CONDITIONS)
    known = duckdb.connect()
    known.register("t", numbers)
    wanted = known.execute(f"select {asked} from t").fetchone()
    (found,) = ask(numbers, Policy.parse(POLICY), f"select {asked} from t").found
    assert [round(one.value) for one in found] == list(wanted)


def test_greater_means_greater_however_long_the_numbers_are():
    """No float is beside them."""
    policy = POLICY.replace("[-2, 8]", "[0, 1000000000000000000]").replace("records = 10", "records = 3")
    values = [Decimal("12345678901234567.88"), Decimal("12345678901234567.89"), Decimal("12345678901234567.90")]
    table = pa.table({"money": pa.array(values, pa.decimal128(20, 2))})
    (found,) = ask(table, Policy.parse(policy), f"select count(*) from t where money > {values[1]}").found
    assert round(found[0].value) == 1


def test_just_after_a_number_is_a_number():
    after = JustAfter("0.1")
    assert Fraction(1, 10) < after < Fraction(100001, 1000000)
    for again in (copy.deepcopy(after), pickle.loads(pickle.dumps(after))):
        assert type(again) is JustAfter
        assert again.of == after.of
    assert NumberCells("x", (0, 1), edges=[after]).starts[1].of == Fraction(1, 10)


def test_a_number_that_is_protected_by_distance_is_not_cut_at_its_bound():
    policy = Policy.parse(POLICY.replace("1000000 discrete", "1 absolute"))
    with pytest.raises(ArgumentError, match="double > -2 cuts the cell"):
        ask(None, policy, "select count(*) from t where double > -2")
