"""Values as places on a line: what is read, what is refused, and the same in every container."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metricdp.errors import ArgumentError, ColumnError, UnsupportedMetricError
from metricdp.policies import Policy
from metricdp.queries.select.value_line import LineTally, ValueLine

POLICY = """
format = 2
records = 100
[columns]
pay = {{type = "number", bounds = [0, 10], missing = "refuse", {pay}}}
age = {{type = "integer", bounds = [0, 5000000], count_by = 1000000, {age}}}
day = {{type = "date", bounds = [2024-01-01, 2024-12-31], missing = "refuse", within = "7 days"}}
"""


def policy(pay='resolution = 0.01, within = "1"', age='within = 5, missing = "refuse"'):
    return Policy.parse(POLICY.format(pay=pay, age=age)).askable


def places(column, values, rules, name):
    line = ValueLine.of(rules, name)
    found = LineTally.read(pa.table({name: pa.array(values, column)}), line, [], rules, None)
    return sorted(np.repeat(found.places, found.counts).tolist())


def test_money_as_floats_and_decimals():
    rules = policy()
    line = ValueLine.of(rules, "pay")
    assert (line.places, line.step, line.shown(105)) == (1001, Fraction(1, 100), 1.05)
    floats = [0.0, -0.0, 0.1 + 0.2, 10.0, 1.05]
    assert places(pa.float64(), floats, rules, "pay") == [0, 0, 30, 105, 1000]
    assert places(pa.float32(), [0.5, 10.0], rules, "pay") == [50, 1000]
    assert places(pa.decimal128(12, 2), [Decimal("0.30"), Decimal("1.05")], rules, "pay") == [30, 105]
    assert places(pa.int64(), [3, 10], rules, "pay") == [300, 1000]


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.005, "no multiple of 0.01"), (10.01, "outside"), (float("nan"), "NaN"), (float("inf"), "outside")],
)
def test_what_is_refused(value, words):
    with pytest.raises(ColumnError, match=words) as caught:
        places(pa.float64(), [1.0, value], policy(), "pay")
    assert str(value) not in str(caught.value).replace("0.01,", "")


def test_where_values_are_alike_they_are_rounded():
    rules = policy('metric = "1 discrete", resolution = 0.5')
    assert places(pa.float64(), [0.2, 0.3, 9.99], rules, "pay") == [0, 1, 20]
    line = ValueLine.of(policy('metric = "1 discrete"'), "pay")
    assert line.places == 100_001


def test_long_lines_of_integers_and_clamped_values():
    rules = policy(age='within = 5, missing = "secret", outside = "clamp", missing_distance = 5000000')
    assert places(pa.int64(), [7, -3, 9_000_000, None], rules, "age") == [0, 7, 5_000_000]
    nulls = pa.array(pd.Series([3.0, None, 4.0]))  # as pandas writes integers with missing values
    assert places(pa.float64(), nulls.to_pylist(), rules, "age") == [3, 4]
    with pytest.raises(ColumnError, match="not a whole number"):
        places(pa.float64(), [3.5], rules, "age")
    with pytest.raises(ColumnError, match="NaN"):
        places(pa.float64(), [float("nan")], rules, "age")


def test_days():
    rules = policy()
    line = ValueLine.of(rules, "day")
    assert line.shown(31) == dt.date(2024, 2, 1)
    assert places(pa.date32(), [dt.date(2024, 2, 1), dt.date(2024, 1, 1)], rules, "day") == [0, 31]


def test_distances_and_what_has_none():
    rules = policy()
    line = ValueLine.of(rules, "pay")
    metric = rules.metric("pay").on_numbers()
    assert float(line.least_distance(metric, 100)) == pytest.approx(np.log(2), rel=1e-5)
    assert line.least_distance(metric, 100) < metric.enclose(0, 1).lower, "a millionth for floats that are nearly there"
    with pytest.raises(ArgumentError, match="resolution"):
        ValueLine.of(policy("within = 1"), "pay")
    with pytest.raises(ArgumentError, match="coarser"):
        ValueLine.of(policy('within = 1, resolution = "0.000000001"'), "pay")
    smooth = policy(
        age='metric = {metric = "smooth", base = {metric = "absolute"}, threshold = 3, epsilon = 1}, missing = "refuse"'
    )
    with pytest.raises(UnsupportedMetricError):
        ValueLine.of(rules, "age").least_distance(smooth.policy.columns[1].metric, 3)
