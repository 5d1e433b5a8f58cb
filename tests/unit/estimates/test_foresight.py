"""How well a question could be answered is known before there is a table, and comes true."""

import json

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.estimates import estimate, foresee
from metricdp.tables import sanitize

POLICY = {
    "format": 2,
    "columns": {
        "site": "keep",
        "income": {"type": "number", "within": 500, "bounds": [0, 20000], "outside": "clamp", "missing": "refuse"},
        "delay": {"type": "number", "within": 10},
        "age": {"type": "integer", "within": 3, "bounds": [0, 90], "count_by": 30, "missing": "refuse"},
        "born": {"type": "date", "within": "30 days"},
        "score": {"type": "number", "within": 10, "bounds": [0, 100], "resolution": 0.1, "missing": "secret"},
        "health": {"type": "category", "values": ["good", "fair", "poor"], "factor": 4, "missing": "refuse"},
        "smokes": {"type": "boolean", "factor": 3, "missing": "secret"},
    },
}
ROWS = 5000


@pytest.fixture(scope="module")
def released():
    """A table whose secrets are spread as is assumed."""
    random = np.random.default_rng(5)
    score = np.round(random.uniform(0, 100, ROWS), 1)
    score[random.random(ROWS) < 0.1] = np.nan
    smokes = [None if random.random() < 0.1 else bool(random.random() < 0.5) for _ in range(ROWS)]
    table = pa.table(
        {
            "site": ["x"] * ROWS,
            "income": random.uniform(0, 20000, ROWS),
            "delay": random.uniform(-129, 159, ROWS),
            "age": random.integers(0, 91, ROWS),
            "born": (7000 + random.integers(0, 800, ROWS)).astype("datetime64[D]"),
            "score": pa.array(score, from_pandas=True),
            "health": random.choice(["good", "fair", "poor"], ROWS),
            "smokes": smokes,
        }
    )
    with mdp.seeded(6):
        return sanitize(table, POLICY).table


@pytest.mark.parametrize(
    "question",
    [
        "select avg(income)",
        "select sum(income)",
        "select avg(delay)",
        "select avg(age)",
        "select avg(born)",
        "select avg(score)",
        "select count(*) where score is null",
        "select count(*) where health = 'good'",
        "select count(*) where health = 'good' and smokes = true",
        "select avg(income) where health = 'good'",
        "select avg(income) group by health",
        "select count(*) where delay > 15",
        "select count(*) where age >= 40",
        "select count(*) group by age",
        "select median(age)",
    ],
)
def test_the_width_that_was_foreseen_is_the_width_that_is_found(released, question):
    foreseen = foresee(POLICY, question, rows=ROWS)
    found = estimate(released, question)
    assert foreseen.estimates.groups == found.groups
    for row, halves in zip(found.found, foreseen.halves, strict=True):
        for one, half in zip(row, halves, strict=True):
            apart = one.interval[1] - one.interval[0]
            width = getattr(apart, "days", apart)
            # two scores have noise of their own, and so has how far they are apart
            assert 2 * half == pytest.approx(
                width, rel=0.4 if one.conservative else 0.25, abs=2 if "median" in question or "born" in question else 0
            )


def test_the_level_that_suffices_suffices_and_a_stronger_one_does_not():
    question = "select count(*) where health = 'good'"
    for within in (50, 400):
        found = foresee(POLICY, question, rows=10_000, within=within)
        assert found.suffices == (within == 400)
        assert (found.factor > 1) == (within == 50)
        level = np.log(4) * found.factor
        for change, holds in ((1.001, True), (0.97, False)):
            column = {k: v for k, v in POLICY["columns"]["health"].items() if k != "factor"}
            other = {"format": 2, "columns": {"health": column | {"epsilon": round(level * change, 6)}}}
            assert (foresee(other, question, rows=10_000).widest <= within) is holds
    assert "health: factor = " in str(found)


def test_distances_are_said_in_their_unit():
    found = foresee(POLICY, "select avg(income)", rows=10_000, within=5)
    assert found.factor == pytest.approx(foresee(POLICY, "select avg(income)", rows=10_000).widest / 5, rel=0.05)
    ((name, words),) = found.levels
    assert name == "income"
    assert words.endswith("in place of 500")
    assert json.loads(json.dumps(found.to_json()))["suffices"] is False


def test_what_no_level_reaches_is_said():
    found = foresee(POLICY, "select avg(income)", rows=100, within=1e-9)
    assert found.factor == np.inf
    assert "No level leaves the answers within" in str(found)
    assert found.to_json()["factor"] is None


def test_assumptions_are_printed_and_values_are_not():
    text = str(foresee(POLICY, "select avg(delay), count(*) where score > 50", rows=1000))
    assert "delay: has no bounds" in text
    assert "score: taken to be spread evenly over its bounds, a tenth of them missing" in text
    assert "corrected" not in text


@pytest.mark.parametrize(
    ("question", "more", "words"),
    [
        ("select count(*) where site = 'x'", {}, "nothing is known of it before a table is read"),
        ("select avg(income)", {"rows": 0}, "1 at least"),
        ("select avg(income)", {"within": -1}, "above 0"),
        ("select avg(income)", {"confidence": 2}, "between 0 and 1"),
        ("select nothing", {}, "nothing"),
    ],
)
def test_what_cannot_be_foreseen_is_refused(question, more, words):
    with pytest.raises(ArgumentError, match=words):
        foresee(POLICY, question, **{"rows": 100} | more)


def test_what_hangs_on_no_level_is_said_to():
    policy = {"format": 2, "columns": {"x": {"type": "number", "within": 3, "bounds": [0, 10], "missing": "refuse"}}}
    found = foresee(policy, "select count(*)", rows=1000, within=5)
    assert (found.factor, found.levels) == (0, ())
    assert "any level suffices" in str(found)
