"""Sums in steps of the declared resolution: the same from doubles, decimals, integers and text, and what is refused."""

import itertools
from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ArgumentError, ColumnError
from metricdp.policies import Policy
from metricdp.policies.cells.ordered import NumberCells
from metricdp.queries.select.asking import Asking, ask
from metricdp.queries.universes.engines.steps import ValueSteps

POLICY = """
format = 2
records = {records}
[columns]
pay = {{type = "number", bounds = [-10, 100], resolution = 0.01, missing = "refuse", {level}}}
sex = {{type = "category", values = ["F", "M"], epsilon = 1, missing = "refuse"}}
"""
DISTANCE, ALIKE = 'metric = "1 absolute"', 'metric = "1 discrete"'


def truth(source, level=DISTANCE, asked="select sum(pay) from t", records=4):
    return Asking.of(asked, Policy.parse(POLICY.format(level=level, records=records)).askable).linear.truth(
        source, None
    )


PAY = [0.1 + 0.2, 1.1 * 3, -9.99, 100.0]


@pytest.mark.parametrize("level", [DISTANCE, ALIKE])
def test_the_same_sum_whatever_holds_the_table(tmp_path, level):
    sex = ["F", "M", "F", "M"]
    floats = pa.table({"pay": PAY, "sex": sex})
    decimals = pa.table({"pay": pa.array([Decimal(str(round(x, 2))) for x in PAY], pa.decimal128(9, 2)), "sex": sex})
    pq.write_table(floats, tmp_path / "pay.parquet")
    floats.to_pandas().to_csv(tmp_path / "pay.csv", index=False)
    assert "0.30000000000000004" in (tmp_path / "pay.csv").read_text()
    sources = [floats, decimals, tmp_path / "pay.parquet", tmp_path / "pay.csv", pd.DataFrame({"pay": PAY, "sex": sex})]
    for source in sources:
        assert truth(source, level) == [Fraction(9361, 100)]
        assert truth(source, level, "select sum(pay) from t group by sex") == [Fraction(-969, 100), Fraction(1033, 10)]


def test_the_order_of_rows_changes_nothing():
    values = [0.1, 0.2, 0.3, 99.99]
    sums = {truth(pa.table({"pay": [*order]}))[0] for order in itertools.permutations(values)}
    assert sums == {Fraction(10059, 100)}


def test_a_number_between_two_steps_is_rounded_where_values_are_alike_and_else_refused():
    table = pa.table({"pay": [0.004, 0.006, 1.0, 2.0]})
    assert truth(table, ALIKE) == [Fraction(301, 100)]
    with pytest.raises(ColumnError, match=r"row 0: a value is no multiple of 0\.01") as caught:
        truth(table)
    assert "0.004" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"), [(float("nan"), "NaN"), (float("inf"), "outside"), (100.01, "outside"), (None, "missing")]
)
@pytest.mark.parametrize("level", [DISTANCE, ALIKE])
def test_what_is_refused(value, words, level):
    with pytest.raises(ColumnError, match=words):
        truth(pa.table({"pay": [1.0, 2.0, 3.0, value]}), level)


def test_values_beyond_the_bounds_are_clamped_and_missing_ones_left_out():
    level = f'{DISTANCE}, outside = "clamp"'
    assert truth(pa.table({"pay": [1e300, -float("inf"), float("inf"), 0.05]}), level) == [Fraction(19005, 100)]
    text = POLICY.format(level=f"{DISTANCE}, missing_distance = 500", records=2).replace('"refuse"', '"secret"', 1)
    asking = Asking.of("select sum(pay) from t", Policy.parse(text).askable)
    assert asking.linear.truth(pa.table({"pay": [0.07, None]}), None) == [Fraction(7, 100)]


def test_an_average_of_money_is_near_its_truth():
    policy = Policy.parse(POLICY.format(level='metric = "1000000 absolute"', records=4))
    (answer,) = ask(pa.table({"pay": PAY}), policy, "select avg(pay) from t").found[0]
    assert abs(answer.value - 23.4025) < 1e-3


def test_steps_that_floats_do_not_tell_apart_are_refused():
    fine = Fraction(1, 10**9)
    with pytest.raises(ArgumentError, match=r"more than 10\^9 times"):
        ValueSteps.between(NumberCells("pay", (0, 10)), fine, rounds=False)
    assert ValueSteps.between(NumberCells("pay", (0, 10)), fine, rounds=True).last == 10**10
    with pytest.raises(ArgumentError, match=r"more than 2\^53 times"):
        ValueSteps.between(NumberCells("pay", (0, 10)), fine / 10**9, rounds=True)
    with pytest.raises(ArgumentError, match="no multiple of its resolution"):
        ValueSteps.between(NumberCells("pay", (1, 2)), Fraction(5), rounds=True)
