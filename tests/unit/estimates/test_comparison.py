"""A release beside its secrets: the truth is the truth, and the page says that it is not to be released."""

import json

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.estimates import compare
from metricdp.tables import sanitize

POLICY = {
    "format": 2,
    "rows": {"order": "public"},
    "columns": {
        "name": "drop",
        "income": {"type": "number", "within": 500, "bounds": [0, 20000], "outside": "clamp", "missing": "refuse"},
        "age": {"type": "integer", "within": 3, "bounds": [0, 90], "count_by": 30, "missing": "refuse"},
        "born": {"type": "date", "within": "30 days"},
        "score": {"type": "number", "within": 10, "bounds": [0, 100], "resolution": 0.1, "missing": "secret"},
        "health": {"type": "category", "values": ["good", "fair", "poor"], "factor": 4, "missing": "refuse"},
        "home": {"type": "place", "columns": ["lat", "lon"], "within": "500 m"},
    },
}
ROWS = 3000


@pytest.fixture(scope="module")
def secrets():
    random = np.random.default_rng(8)
    score = np.round(random.beta(5, 2, ROWS) * 100, 1)
    score[random.random(ROWS) < 0.2] = np.nan
    return pa.table(
        {
            "name": ["<b>Ann</b>"] * ROWS,
            "income": random.lognormal(8.5, 0.8, ROWS),
            "age": np.minimum(random.gamma(2, 4, ROWS), 90).astype(np.int64),
            "born": (7000 + random.integers(0, 800, ROWS)).astype("datetime64[D]"),
            "score": pa.array(score, from_pandas=True),
            "health": random.choice(["good", "fair", "poor"], ROWS, p=[0.6, 0.3, 0.1]),
            "lat": 48.85 + 0.02 * random.standard_normal(ROWS),
            "lon": 2.35 + 0.02 * random.standard_normal(ROWS),
        }
    )


@pytest.fixture(scope="module")
def released(secrets):
    with mdp.seeded(9):
        return sanitize(secrets, POLICY).table


QUESTIONS = [
    "select avg(income), count(*) group by health",
    "select count(*) where income > 5000 and age < 10",
    "select count(*), avg(income) group by age",
    "select median(age), avg(born), avg(score), count(score)",
]


def test_the_truth_is_what_the_secrets_say(secrets, released):
    found = compare(secrets, released, QUESTIONS)
    frame = secrets.to_pandas()
    income = frame.income.clip(0, 20000)
    truths = {one.label: one.truth for one in found.answers}
    assert truths["good: avg(income)"] == pytest.approx(income[frame.health == "good"].mean())
    assert truths["good: count(*)"] == (frame.health == "good").sum()
    assert truths["count(*)"] == ((income > 5000) & (frame.age < 10)).sum()
    assert truths["30..59: count(*)"] == frame.age.between(30, 59).sum()
    assert truths["30..59: avg(income)"] == pytest.approx(income[frame.age.between(30, 59)].mean())
    assert truths["median(age)"] == np.sort(frame.age)[(ROWS - 1) // 2]
    assert truths["avg(score)"] == pytest.approx(frame.score.mean())
    assert truths["count(score)"] == frame.score.count()
    assert truths["avg(born)"].isoformat() == str(
        np.datetime64(round(frame.born.astype("datetime64[s]").astype("int64").mean() / 86400), "D")
    )
    assert sum(one.held for one in found.answers) >= len(found.answers) - 2


def test_rows_that_moved_are_measured_where_their_order_is_public(secrets, released):
    moved = {one.name: one for one in compare(secrets, released).moved}
    apart = np.abs(np.clip(secrets["income"].to_numpy(), 0, 20000) - released["income"].to_numpy())
    assert dict(moved["income"].shares)[0.95] == pytest.approx(np.quantile(apart, 0.95))
    assert dict(moved["lat"].shares)[0.5] == pytest.approx(500 * 1.678 / np.log(2), rel=0.1)
    changed = np.mean(np.array(secrets["health"]) != np.array(released["health"]))
    assert moved["health"].shares[0][1] == pytest.approx(changed)
    assert all(one.measured for one in moved.values())


def test_rows_in_another_order_are_told_by_the_law(secrets):
    policy = {"format": 2, "columns": {"health": POLICY["columns"]["health"], "age": POLICY["columns"]["age"]}}
    with mdp.seeded(10):
        released = sanitize(secrets.select(["health", "age"]), policy).table
    moved = {one.name: one for one in compare(secrets, released).moved}
    assert not moved["age"].measured
    assert moved["health"].shares[0][1] == pytest.approx(1 / 3)
    assert moved["age"].words.startswith("half of the rows move by 3 at most, 95% by ")
    assert "by the law of the noise" in moved["age"].words


def test_questions_are_told_apart_where_there_are_several(secrets, released):
    questions = ["select count(*) where health = 'poor'", "select count(*) where health = 'fair'"]
    lines = str(compare(secrets, released, questions)).splitlines()
    for question in questions:
        assert lines[lines.index(question) + 1].startswith("count(*)")
    assert questions[0] not in str(compare(secrets, released, questions[:1]))


def test_pictures_have_the_secret_the_release_and_the_correction(secrets, released):
    pictures = {one.name: one for one in compare(secrets, released).pictures}
    assert set(pictures) == {"income", "age", "born", "score", "health", "home"}
    health = pictures["health"].shares
    truth = np.array([np.mean(np.array(secrets["health"]) == name) for name in ("good", "fair", "poor")])
    assert health["secret"] == pytest.approx(truth)
    assert np.abs(health["corrected"] - truth).sum() < np.abs(health["released"] - truth).sum() / 2
    for name in ("income", "age", "born", "score"):
        parts = pictures[name].shares
        assert all(part.sum() == pytest.approx(1, abs=0.02) for part in parts.values()), name
    age = pictures["age"].shares
    assert np.abs(age["corrected"] - age["secret"]).sum() < 0.8 * np.abs(age["released"] - age["secret"]).sum()


def test_the_page_and_the_words_say_that_they_are_not_to_be_released(secrets, released):
    found = compare(secrets, released, QUESTIONS)
    page = found.html()
    assert page.count("NOT TO BE RELEASED") >= 3
    assert page.count("<svg") == 6
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "Ann" not in page
    assert str(found).startswith("NOT TO BE RELEASED")
    assert json.loads(json.dumps(found.to_json()))["not_to_be_released"] is True


def test_two_tables_that_are_not_one_are_refused(secrets, released):
    with pytest.raises(ArgumentError, match="not one table before and after"):
        compare(secrets.slice(0, 100), released)
    with pytest.raises(ArgumentError, match="no column 'name'"):
        compare(secrets, released, ["select count(*) where name = 'x'"])
