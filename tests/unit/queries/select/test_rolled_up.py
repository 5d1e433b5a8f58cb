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
    question = ROLLUP.replace(" group", " where pay > 20 group")  # how many these are is secret
    found, expected = ask(TABLE, POLICY, question), Asking.of(question, POLICY.askable).error_bars()
    assert max(one.error_bar for one in found["n"]) == pytest.approx(expected["n"])
    assert found["n"][-1].error_bar == pytest.approx(total_bar(one.error_bar for one in found["n"][:3]) * 2**0.5)


def test_all_add_up_to_a_number_of_records_that_is_public():
    """They came to 5,647 ± 31 where there are 5,630, as the policy says."""
    found, expected = ask(TABLE, POLICY, ROLLUP), Asking.of(ROLLUP, POLICY.askable).error_bars()
    total = found["n"][-1]
    assert (total.value, total.error_bar, total.tells) == (60, 0.0, True)
    assert isinstance(total.value, int)
    parts = [one for labels, one in zip(found.groups, found["n"], strict=True) if TOTAL not in labels]
    assert sum(one.value for one in parts) == pytest.approx(60)
    assert max(one.error_bar for one in found["n"]) == pytest.approx(expected["n"])
    plain = ask(TABLE, POLICY, ROLLUP.replace("rollup(state, county)", "state, county"))
    assert parts[0].error_bar == pytest.approx(plain["n"][0].error_bar * (5 / 6) ** 0.5)
    half = found["n"][found.groups.index(("N", TOTAL))].error_bar
    assert half == pytest.approx(plain["n"][0].error_bar * (3 * (1 - 3 / 6)) ** 0.5)
    assert found["n"][found.groups.index(("N", TOTAL))].value == pytest.approx(sum(one.value for one in parts[:3]))
    assert found["pay"][-1].error_bar > 0  # a sum is secret


@pytest.mark.parametrize("size", ["capacity = 80\nabsent = 1", "records = 60"])
def test_a_number_of_records_that_is_secret_or_of_some_is_not_used(size):
    policy = Policy.parse(POLICY.text.replace("records = 60", size))
    question = "select state, count(*) as n from people group by rollup(state)"
    if "records" in size:
        question = question.replace(" group", " where county = 'a' group")
    found = ask(TABLE, policy, question)
    assert found["n"][-1].error_bar == pytest.approx(total_bar(one.error_bar for one in found["n"][:2]))


@pytest.mark.parametrize("scales", [(1, 1), (1, 3), (1, 1, 1), (1, 1, 1, 1, 1), (5, 1, 1, 1), (1, 0.01), (1,) * 40])
def test_bars_of_what_was_made_to_agree_hold_in_at_least_95_percent(scales):
    noise = np.random.default_rng(7).laplace(size=(100_000, len(scales))) * scales
    labels = tuple((str(place % 2), str(place)) for place in range(len(scales)))
    rows = tuple((TableAnswer(0.0, np.log(20) * scale),) for scale in scales)
    shown, expected = rolled_up(labels, rows, [None], [0])
    weights = np.square(scales) / np.square(scales).sum()
    moved = noise - noise.sum(axis=1, keepdims=True) * weights
    for own, (one,) in zip(shown, expected, strict=True):
        there = [
            place
            for place, label in enumerate(labels)
            if label[: len(own) - own.count(TOTAL)] == own[: len(own) - own.count(TOTAL)]
        ]
        held = np.abs(moved[:, there].sum(axis=1)) <= one.error_bar + 1e-9
        assert held.mean() > 0.948
        assert one.error_bar == 0 or held.mean() < 0.975


def test_a_ledger_gives_the_totals_of_groups_that_were_paid_for(tmp_path):
    ledger = mdp.ledger.Ledger.create(tmp_path / "ledger.db")
    ledger.open_account("people", POLICY.askable.guarantee(("state", "county")))
    pq.write_table(TABLE, tmp_path / "people.parquet")
    session = mdp.Session(tmp_path / "people.parquet", POLICY, ledger, "people")
    first = session.ask("select state, county, count(*) as n from people group by state, county")
    again = session.ask("select state, county, count(*) as n from people group by rollup(state, county)")
    assert again.again
    shown = [one.value for labels, one in zip(again.groups, again["n"], strict=True) if TOTAL not in labels]
    moved = [now - before.value for now, before in zip(shown, first["n"], strict=True)]
    assert moved == pytest.approx([(60 - sum(one.value for one in first["n"])) / 6] * 6)  # they add up to all records


@pytest.mark.parametrize("scales", [(1, 1), (1, 3), (1, 1, 1, 1, 1), (5, 1, 1, 1), (1, 0.01), (1,) * 40])
def test_bars_of_totals_hold_in_at_least_95_percent(scales):
    noise = np.random.default_rng(7).laplace(size=(200_000, len(scales))) * scales
    bar = total_bar(np.log(20) * scale for scale in scales)
    assert 0.949 < (np.abs(noise.sum(axis=1)) <= bar).mean() < 0.97


def test_totals_of_whole_numbers_are_whole():
    rows = tuple((TableAnswer(value, 3.0),) for value in (1, 2))
    labels, totals = rolled_up((("a",), ("b",)), rows, [None], [None])
    assert labels == (("a",), ("b",), (TOTAL,))
    assert totals[-1] == (TableAnswer(3, 18**0.5),)
    assert isinstance(totals[-1][0].value, int)
