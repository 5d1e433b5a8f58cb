"""Intervals of few rows: they hold the truth, and one row is no proof of a population."""

import math

import numpy as np
import pyarrow as pa
import pytest

from metricdp.estimates import Correlation, MeanCurve, Regression, TopElements, estimate
from metricdp.estimates.reach import agresti_coull, noise_reach, normal_reach, student_reach

POLICY = {
    "format": 2,
    "columns": {
        "pay": {"type": "number", "within": 10, "missing": "refuse"},
        "seen": "keep",
        "site": "keep",
        "kind": {"type": "category", "values": ["a", "b", "z"], "epsilon": 9, "missing": "refuse"},
        "late": {"type": "boolean", "epsilon": 6, "missing": "refuse"},
        "tags": {"type": "set", "values": ["p", "q"], "epsilon": 6},
        "load": {"type": "series", "length": 2, "within": 2},
    },
}


def released(rows):
    return pa.table(
        {
            "pay": [12.25 + row for row in range(rows)],
            "seen": [1.5 + row for row in range(rows)],
            "site": ["u"] * rows,
            "kind": ["a"] * rows,
            "late": [True] * rows,
            "tags": pa.array([["p"]] * rows),
            "load": pa.array([[1.0, 2.0]] * rows),
        }
    )


@pytest.mark.parametrize(
    ("freedom", "chance", "reach"),
    [(1, 0.05, 12.706205), (2, 0.05, 4.302653), (4, 0.01, 4.604095), (7, 0.1, 1.894579), (30, 1e-6, 6.119076)],
)
def test_students_law_is_that_of_the_tables(freedom, chance, reach):
    assert student_reach(chance, freedom) == pytest.approx(reach, rel=1e-6)


def test_students_law_goes_over_into_the_normal_one():
    assert student_reach(0.05, 300) == pytest.approx(student_reach(0.05, 301), rel=1e-4)
    assert student_reach(0.05, 1e9) == pytest.approx(normal_reach(0.05), rel=1e-6)


@pytest.mark.parametrize("chance", [0.5, 0.1, 0.05, 0.01, 0.001])
def test_one_draw_of_laplace_noise_lies_within_reach(chance):
    assert math.exp(-math.sqrt(2) * noise_reach(chance, 1)) <= chance * 1.001


def test_counts_of_a_population_are_never_certain():
    for seen in (0, 1, 5, 10):
        middle, half = agresti_coull(seen / 10, seen / 10, 10, 0, 1, 1.96)
        assert half > 0.1
        assert middle - half <= seen / 10 <= middle + half


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize(
    "question",
    [
        "select avg(pay)",
        "select avg(seen)",
        "select sum(seen)",
        "select avg(late)",
        "select count(*) where kind = 'a'",
        "select count(*) where kind = 'z'",
        "select count(*) where site = 'u'",
        "select count(*) where seen > 1",
        "select median(pay)",
        "select median(seen)",
        "select avg(seen) group by site",
        TopElements("tags", 2),
        MeanCurve("load"),
    ],
    ids=str,
)
def test_few_rows_that_agree_are_no_proof_of_a_population(rows, question):
    for one in estimate(released(rows), question, policy=POLICY, truth="population"):
        low, high = one.interval
        assert low <= one.value <= high
        assert high - low > 0.5 / rows
        assert one.noise is None or math.isfinite(one.noise)


def test_the_greatest_value_of_a_population_has_no_upper_end():
    low, high = estimate(released(3), "select max(seen)", policy=POLICY, truth="population").only.interval
    assert (low, high) == (3.5, math.inf)
    low, high = estimate(released(40), "select median(seen)", policy=POLICY, truth="population").only.interval
    assert 1.5 < low < 21 < high < 40.5


def test_one_row_says_why_the_average_of_its_population_is_not_known():
    one = estimate(released(1), "select avg(pay)", policy=POLICY, truth="population").only
    assert one.interval == (-math.inf, math.inf)
    assert any("One row tells nothing" in note for note in one.notes)
    assert not one.naive_is_as_good


def test_two_rows_fit_any_line_and_so_prove_none():
    for one in estimate(released(2), Regression("pay", ["seen"]), policy=POLICY):
        assert one.interval == (-math.inf, math.inf)
    assert estimate(released(2), Correlation("pay", "seen"), policy=POLICY).only.interval == (-1, 1)


@pytest.mark.parametrize("epsilon", [8, 10])
def test_one_row_whose_noise_changed_it_is_within_the_interval_of_a_count(epsilon):
    """Where less than one of all rows is expected to change, the normal law alone took one that did for a secret."""
    entry = {"type": "category", "values": ["a", "z"], "epsilon": epsilon, "missing": "refuse"}
    policy = {"format": 2, "columns": {"kind": entry}}
    flip = 1 / (1 + math.exp(epsilon))
    for rows in (20, 500, 2000):
        chances = [math.comb(rows, k) * flip**k * (1 - flip) ** (rows - k) for k in range(16)]
        missed = 1 - sum(chances)
        for changed, chance in enumerate(chances):
            table = pa.table({"kind": ["z"] * changed + ["a"] * (rows - changed)})
            low, high = estimate(table, "select count(*) where kind = 'z'", policy=policy).only.interval
            missed += 0 if low <= 0 <= high else chance
        assert missed <= 0.055, rows


@pytest.mark.parametrize("epsilon", [4, 6, 8])
def test_one_coin_of_a_set_that_fell_wrong_is_within_the_interval(epsilon):
    policy = {"format": 2, "columns": {"tags": {"type": "set", "values": ["p"], "epsilon": epsilon}}}
    flip = 1 / (1 + math.exp(epsilon))
    for rows in (5, 40, 200):
        chances = [math.comb(rows, k) * flip**k * (1 - flip) ** (rows - k) for k in range(16)]
        missed = 1 - sum(chances)
        for changed, chance in enumerate(chances):
            values = [["p"]] * changed + [[]] * (rows - changed)
            table = pa.table({"tags": pa.array(values, pa.list_(pa.string()))})
            low, high = estimate(table, TopElements("tags", 1), policy=policy).only.interval
            missed += 0 if low <= 0 <= high else chance
        assert missed <= 0.055, rows


def test_readings_that_are_rounded_coarsely_have_room_for_it():
    policy = {"format": 2, "columns": {"load": {"type": "series", "length": 1, "within": 2, "resolution": 20}}}
    table = pa.table({"load": pa.array([[20.0 * (row % 3)] for row in range(9000)])})
    one = estimate(table, MeanCurve("load"), policy=policy).only
    assert one.conservative
    assert one.noise > 3


def test_groups_of_one_row_have_no_known_average_in_a_population():
    table = pa.table({"seen": np.arange(5.0), "site": ["u", "u", "u", "u", "v"]})
    policy = {"format": 2, "columns": {"seen": "keep", "site": "keep"}}
    several, single = estimate(table, "select avg(seen) group by site", policy=policy, truth="population")
    assert several.interval[1] < math.inf
    assert single.interval == (-math.inf, math.inf)


@pytest.mark.parametrize("rows", [1, 3])
def test_the_average_of_a_group_of_all_rows_is_theirs(rows):
    policy = {
        "format": 2,
        "columns": {
            "pay": {"type": "number", "within": 10, "missing": "refuse"},
            "kind": {"type": "category", "values": ["a", "b", "z"], "factor": 4, "missing": "refuse"},
        },
    }
    question = "select avg(pay) where kind = 'a'"
    one = estimate(released(rows).select(["pay", "kind"]), question, policy=policy, truth="population").only
    assert one.value == pytest.approx(12.25 + (rows - 1) / 2)
