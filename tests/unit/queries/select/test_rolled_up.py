"""Totals of groups: they agree with their parts, come after them, and their error bars hold."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import metricdp as mdp
from metricdp.policies import Policy
from metricdp.queries import ask
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.rolled_up import TOTAL, rolled_up, total_bar
from metricdp.queries.select.table_answers import TableAnswer

POLICY = Policy.parse("""
format = 2
records = 60
[columns]
state = {type = "category", values = ["N", "S"], epsilon = 2, missing = "refuse"}
county = {type = "category", values = ["a", "b", "c"], epsilon = 2, missing = "refuse"}
pay = {type = "integer", bounds = [0, 100], within = 10, factor = 20, missing = "refuse"}
""")
TABLE = pa.table({"state": ["N", "S"] * 30, "county": ["a", "b", "c"] * 20, "pay": list(range(40, 100))})
ROLLUP = "select state, county, count(*) as n, sum(pay) as pay from people group by rollup(state, county)"


def test_totals_agree_with_their_parts_and_come_after_them():
    found = ask(TABLE, POLICY, ROLLUP)
    assert [labels for labels in found.groups if TOTAL in labels] == [("N", TOTAL), ("S", TOTAL), (TOTAL, TOTAL)]
    assert [labels.index(TOTAL) if TOTAL in labels else 2 for labels in found.groups] == [2, 2, 2, 1, 2, 2, 2, 1, 0]
    for name in ("n", "pay"):
        values = dict(zip(found.groups, (one.value for one in found[name]), strict=True))
        for state in "NS":
            parts = [value for labels, value in values.items() if labels[0] == state and TOTAL not in labels]
            assert values[state, TOTAL] == pytest.approx(sum(parts))
        assert values[TOTAL, TOTAL] == pytest.approx(values["N", TOTAL] + values["S", TOTAL])


def test_totals_cost_nothing_more():
    plain = Asking.of(ROLLUP.replace("rollup(state, county)", "state, county"), POLICY.askable)
    rolled = Asking.of(ROLLUP, POLICY.askable)
    assert rolled.guarantee == plain.guarantee
    assert rolled.linear.allocate().scales == plain.linear.allocate().scales


def test_what_is_computed_sorted_and_left_out_is_so_with_the_totals():
    question = ROLLUP.replace("sum(pay) as pay", "sum(pay) / count(*) as pay") + " order by n desc limit 1"
    found = ask(TABLE, POLICY, question)
    assert found.groups == ((TOTAL, TOTAL),)
    assert abs(found["pay"][0].value - 69.5) < 60


def test_the_bar_to_expect_is_that_of_the_total_of_all():
    found, expected = ask(TABLE, POLICY, ROLLUP), Asking.of(ROLLUP, POLICY.askable).error_bars()
    assert max(one.error_bar for one in found["n"]) == pytest.approx(expected["n"])
    assert found["n"][-1].error_bar == pytest.approx(total_bar(one.error_bar for one in found["n"][:3]) * 2**0.5)


def test_a_ledger_gives_the_totals_of_groups_that_were_paid_for(tmp_path):
    ledger = mdp.ledger.Ledger.create(tmp_path / "ledger.db")
    ledger.open_account("people", POLICY.askable.guarantee(("state", "county")))
    pq.write_table(TABLE, tmp_path / "people.parquet")
    session = mdp.Session(tmp_path / "people.parquet", POLICY, ledger, "people")
    first = session.ask("select state, county, count(*) as n from people group by state, county")
    again = session.ask("select state, county, count(*) as n from people group by rollup(state, county)")
    assert again.again
    assert again["n"][-1].value == pytest.approx(sum(one.value for one in first["n"]))


@pytest.mark.parametrize("scales", [(1, 1), (1, 3), (1, 1, 1, 1, 1), (5, 1, 1, 1), (1, 0.01), (1,) * 40])
def test_bars_of_totals_hold_in_at_least_95_percent(scales):
    noise = np.random.default_rng(7).laplace(size=(200_000, len(scales))) * scales
    bar = total_bar(np.log(20) * scale for scale in scales)
    assert 0.949 < (np.abs(noise.sum(axis=1)) <= bar).mean() < 0.97


def test_totals_of_whole_numbers_are_whole():
    rows = tuple((TableAnswer(value, 3.0),) for value in (1, 2))
    labels, totals = rolled_up((("a",), ("b",)), rows, [None])
    assert labels == (("a",), ("b",), (TOTAL,))
    assert totals[-1] == (TableAnswer(3, 18**0.5),)
    assert isinstance(totals[-1][0].value, int)
