"""Arithmetic of corrected numbers, and which groups are shown."""

import math

import numpy as np
import pyarrow as pa
import pytest

from metricdp.errors import ArgumentError
from metricdp.estimates import compare, estimate
from metricdp.estimates.computed import computed
from metricdp.estimates.results import Estimate
from metricdp.policies.sql.expressions import Applied, Asked, Combined, Constant
from metricdp.tables import sanitize

POLICY = {
    "format": 2,
    "columns": {
        "sex": {"type": "category", "values": ["F", "M", "X"], "epsilon": 3, "missing": "refuse"},
        "pay": {"type": "number", "within": "5", "bounds": [0, 100], "missing": "refuse"},
        "day": {"type": "date", "within": "5 days", "missing": "refuse"},
    },
}


def people():
    draw = np.random.default_rng(5)
    return pa.table(
        {
            "sex": draw.choice(["F", "M"], 2000, p=[0.7, 0.3]),
            "pay": draw.uniform(20, 80, 2000).round(2),
            "day": pa.array(draw.integers(18_000, 18_100, 2000).astype("int32"), pa.int32()).cast(pa.date32()),
        }
    )


@pytest.fixture(scope="module")
def table():
    return sanitize(people(), POLICY).table


def test_arithmetic_has_intervals_that_hold_together(table):
    found = estimate(table, "select sum(pay) / count(*) as mean, avg(pay) * 2 + 1 as more, avg(pay) from people")
    mean, more, plain = found.found[0]
    assert found.names == ("mean", "more", "avg(pay)")
    assert mean.value == pytest.approx(plain.value, rel=1e-3)
    assert more.value == pytest.approx(2 * plain.value + 1)
    assert more.interval == pytest.approx(tuple(2 * end + 1 for end in plain.interval))
    assert mean.interval[0] <= plain.interval[0] < plain.interval[1] <= mean.interval[1], "surer, for two numbers"
    ratio = estimate(table, "select avg(pay) / count(*) as x from people where sex = 'F'").only
    assert ratio.conservative
    assert "2 corrected numbers" in ratio.method


def test_groups_are_chosen_and_sorted_by_corrected_values(table):
    found = estimate(table, "select count(*) as n group by sex having count(*) > 300 order by n")
    assert found.groups == (("M",), ("F",))
    assert any("judged by their corrected values" in note for note in found.notes)
    assert estimate(table, "select count(*) as n group by sex order by n desc limit 1").groups == (("F",),)


def test_the_curator_sees_the_truth_of_the_groups_that_are_shown(table):
    found = compare(people(), table, ["select count(*) as n group by sex order by n desc limit 1"], policy=POLICY)
    (answer,) = found.answers
    assert answer.truth == pytest.approx(1400, abs=100)


def test_intervals_of_expressions():
    row = [Estimate(2.0, (-1.0, 3.0), None), Estimate(4.0, (2.0, 5.0), 4.0)]
    assert computed(Combined("*", Asked(0), Asked(1)), row, 0.9).interval == (-5, 15)
    assert computed(Combined("-", Asked(1), Asked(0)), row, 0.9).interval == (-1, 6)
    assert computed(Combined("/", Asked(1), Asked(0)), row, 0.9).interval == (-math.inf, math.inf)
    assert computed(Applied("abs", Asked(0)), row, 0.9).interval == (0, 3)
    assert computed(Applied("-", Applied("sqrt", Asked(0))), row, 0.9).interval == (-math.sqrt(3), 0)
    assert computed(Applied("floor", Combined("/", Asked(1), Constant(2.0))), row, 0.9).interval == (1, 2)
    assert computed(Combined("+", Asked(0), Asked(1)), row, 0.9).naive is None


def test_days_are_not_computed_with(table):
    with pytest.raises(ArgumentError, match="days are not computed"):
        estimate(table, "select avg(day) + 1 from people")


def test_no_group_is_left(table):
    found = estimate(table, "select count(*) group by sex having count(*) > 1000000")
    assert found.groups == ()
    assert str(found).startswith("sex")
    with pytest.raises(ArgumentError, match="nothing to draw"):
        found.figure()


def test_a_quotient_by_what_may_be_0_says_why_it_is_not_known(table):
    found = estimate(table, "select avg(pay) / (count(*) - count(*)), avg(pay) / 0", policy=POLICY)
    for one in found:
        assert one.interval == (-math.inf, math.inf)
        assert "may be 0" in one.notes[-1]
