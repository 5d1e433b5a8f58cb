"""Counts that are known from elsewhere: met exactly, used with the right covariance, refused where they do not fit."""

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import metricdp as mdp
from metricdp.cli import app
from metricdp.errors import ArgumentError
from metricdp.estimates import TopElements, estimate
from metricdp.tables import sanitize

POLICY = {
    "format": 2,
    "columns": {
        "site": "keep",
        "sex": {"type": "category", "values": ["f", "m"], "factor": 3, "missing": "refuse"},
        "health": {"type": "category", "values": ["good", "fair", "poor"], "factor": 4, "missing": "refuse"},
        "age": {"type": "integer", "bounds": [0, 99], "within": 10, "missing": "refuse"},
    },
}
NUMBERS = {
    "age": POLICY["columns"]["age"],
    "pay": {"type": "number", "within": 20, "bounds": [0, 100], "missing": "refuse"},
    "score": "keep",
}
QUESTION = "select count(*) where sex = 'f' and health = 'good'"


def people(rng, rows=1000):
    sex = rng.choice(["f", "m"], rows, p=[0.3, 0.7])
    often, rarely = rng.choice(["good", "fair", "poor"], (2, rows), p=[0.8, 0.1, 0.1])
    health = np.where(sex == "f", often, np.where(rarely == "good", "poor", rarely))
    return {"site": rng.choice(["x", "y"], rows), "sex": sex, "health": health, "age": rng.integers(20, 60, rows)}


def counted(table, **wanted):
    return int(np.logical_and.reduce([table[name] == value for name, value in wanted.items()]).sum())


@pytest.fixture(scope="module")
def released():
    table = people(np.random.default_rng(1))
    return table, sanitize(pa.table(table), POLICY).table


def test_a_known_count_is_met_exactly(released):
    table, rows = released
    women = counted(table, sex="f")
    found = estimate(rows, "select count(*) group by sex", policy=POLICY, known={"sex = 'f'": women})
    assert [one.value for one in found] == [women, len(table["sex"]) - women]
    assert [one.interval for one in found] == [(one.value, one.value) for one in found]


def test_another_count_gets_narrower_and_says_why(released):
    table, rows = released
    known = {"sex = 'f'": counted(table, sex="f"), "health = 'good'": counted(table, health="good")}
    plain = estimate(rows, QUESTION, policy=POLICY).only
    found = estimate(rows, QUESTION, policy=POLICY, known=known).only
    assert np.diff(found.interval) < 0.95 * np.diff(plain.interval)
    assert "counts that are known" in found.method


def test_what_is_known_says_nothing_of_other_columns(released):
    table, rows = released
    known = {"site = 'x'": counted(table, site="x")}
    question = "select count(*), avg(age), sum(age), median(age) where health = 'poor'"
    with_it, without = (estimate(rows, question, policy=POLICY, known=one) for one in (known, None))
    for one, other in zip(with_it, without, strict=True):
        assert one.interval == pytest.approx(other.interval)
    assert any("not for percentiles" in note for note in with_it.notes)


@pytest.mark.parametrize("number", ["age", "pay", "score"])
def test_averages_and_sums_get_narrower_and_hold_as_often_as_they_say(number):
    """For numbers that are counted one by one, that are summed, and that are kept."""
    rng = np.random.default_rng(3)
    rules = {"format": 2, "columns": {"sex": POLICY["columns"]["sex"], number: NUMBERS[number]}}
    errors, widths, plain, held = [], [], [], 0
    for _ in range(50):
        women = rng.random(600) < 0.3
        values = rng.integers(20, 60, 600) + 10 * women
        values = values if number == "age" else values.astype(float)
        with mdp.seeded(int(rng.integers(1 << 30))):
            rows = sanitize(pa.table({"sex": np.where(women, "f", "m"), number: values}), rules).table
        question = f"select avg({number}), sum({number}) where sex = 'f'"
        known = {"sex = 'f'": int(women.sum())}
        found, other = (estimate(rows, question, policy=rules, known=one) for one in (known, None))
        for one, truth in zip(found, (values[women].mean(), values[women].sum()), strict=True):
            assert "counts that are known" in one.method
            held += one.interval[0] <= truth <= one.interval[1]
            errors.append((one.value - truth) / np.diff(one.interval)[0] * 2 * 1.96)
        widths.append([np.diff(one.interval)[0] for one in found])
        plain.append([np.diff(one.interval)[0] for one in other])
    narrower = np.mean(widths, axis=0) / np.mean(plain, axis=0)
    assert narrower[0] < 1.02
    assert narrower[1] < 0.8
    assert held >= 100 * 0.95 - 3 * np.sqrt(100 * 0.95 * 0.05) * np.sqrt(2)  # the two answers go together
    assert 0.75 < np.std(errors) < 1.25


def test_what_is_known_of_the_number_itself_does_not_narrow_its_sums(released):
    table, rows = released
    known = {"age >= 40": int((table["age"] >= 40).sum())}
    question = "select avg(age), sum(age) where sex = 'f'"
    with_it, without = (estimate(rows, question, policy=POLICY, known=one) for one in (known, None))
    for one, other in zip(with_it, without, strict=True):
        assert one.interval == pytest.approx(other.interval)


def test_intervals_hold_and_errors_are_as_small_as_they_say():
    """Of 80 tables; the covariance without the secrets' own would give intervals a fifth too wide or too narrow."""
    rng = np.random.default_rng(2)
    errors, widths, held = [], [], 0
    for _ in range(80):
        table = people(rng)
        known = {"sex = 'f'": counted(table, sex="f"), "health = 'good'": counted(table, health="good")}
        found = estimate(sanitize(pa.table(table), POLICY).table, QUESTION, policy=POLICY, known=known).only
        truth = counted(table, sex="f", health="good")
        held += found.interval[0] <= truth <= found.interval[1]
        errors.append(found.value - truth)
        widths.append((found.interval[1] - found.interval[0]) / 2 / 1.96)
    assert held >= 80 * 0.95 - 3 * np.sqrt(80 * 0.95 * 0.05)
    assert 0.75 < np.std(errors) / np.mean(widths) < 1.2
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(80)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"sex = 'f'": 20}, "does not fit the released table"),
        ({"sex = 'f'": 5000}, "more than the 1,000 rows"),
        ({"sex = 'f'": -1}, "number of rows"),
        ({"sex = 'f'": float("nan")}, "number of rows"),
        ({"sex = 'f'": True}, "number of rows"),
        ({"": 3}, "a condition in SQL"),
        ({"wage > 3": 3}, "wage"),
        ({"sex =": 3}, "cannot be read"),
        ([3], "a dict of conditions"),
    ],
)
def test_what_cannot_be_is_refused(released, known, words):
    with pytest.raises(ArgumentError, match=words):
        estimate(released[1], QUESTION, policy=POLICY, known=known)


def test_a_population_and_other_questions_know_no_counts(released):
    with pytest.raises(ArgumentError, match="nothing of a population"):
        estimate(released[1], QUESTION, policy=POLICY, known={"sex = 'f'": 300}, truth="population")
    with pytest.raises(ArgumentError, match="a question in SQL"):
        estimate(released[1], TopElements("sex", 1), policy=POLICY, known={"sex = 'f'": 300})


def test_the_command(released, tmp_path):
    table, _ = released
    out = tmp_path / "released.parquet"
    sanitize(pa.table(table), POLICY, out=out)
    known = ["--known", f"{counted(table, sex='f')}: sex = 'f'"]
    run = CliRunner().invoke(app, ["estimate", str(out), "select count(*) where sex = 'f'", *known])
    assert f"{counted(table, sex='f')}" in run.output
    wrong = CliRunner().invoke(app, ["estimate", str(out), "select count(*)", "--known", "sex = 'f'"])
    assert wrong.exit_code == 2
