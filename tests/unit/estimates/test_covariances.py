"""Correlations and regressions of columns with noise: the truth is within, where the naive value is not."""

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.estimates import Correlation, LogisticRegression, Regression, estimate
from metricdp.tables import sanitize

ROWS = 8000
POLICY = {
    "format": 2,
    "columns": {
        "x": {"type": "number", "within": 8},
        "y": {"type": "number", "within": 8, "bounds": [-100, 160], "missing": "refuse"},
        "late": {"type": "boolean", "factor": 4, "missing": "refuse"},
        "kind": {"type": "category", "values": ["a", "b"], "factor": 4, "missing": "refuse"},
        "part": {"type": "number", "within": 8, "missing": "public"},
        "hidden": {"type": "number", "within": 8, "bounds": [0, 100], "missing": "secret"},
    },
}


@pytest.fixture(scope="module")
def tables():
    random = np.random.default_rng(21)
    x = random.normal(20, 15, ROWS)
    y = np.clip(3 + 1.02 * x + random.normal(0, 6, ROWS), -100, 160)
    secret = pa.table(
        {
            "x": x,
            "y": y,
            "late": x > 25,
            "kind": random.choice(["a", "b"], ROWS),
            "part": [None if place % 5 == 0 else float(value) for place, value in enumerate(y)],
            "hidden": random.uniform(0, 100, ROWS),
        }
    )
    with mdp.seeded(22):
        return secret, sanitize(secret, POLICY).table


def inside(one, truth):
    return one.interval[0] <= truth <= one.interval[1]


def test_the_correlation_is_corrected(tables):
    secret, released = tables
    truth = np.corrcoef(secret["x"], secret["y"])[0, 1]
    found = estimate(released, Correlation("x", "y"), confidence=0.9999).only
    assert inside(found, truth)
    assert abs(found.value - truth) < abs(found.naive - truth) / 4
    assert found.conservative


def test_slopes_are_corrected(tables):
    secret, released = tables
    slope, intercept = np.polyfit(secret["x"].to_numpy(), secret["y"].to_numpy(), 1)
    found = estimate(released, Regression("y", ["x"]), confidence=0.9999)
    assert inside(found["slope of x"][0], slope)
    assert inside(found["intercept"][0], intercept)
    assert found["slope of x"][0].naive < 0.8 * slope


def test_booleans_are_0_and_1_and_several_columns_explain(tables):
    secret, released = tables
    late = secret["late"].to_numpy(zero_copy_only=False).astype(float)
    truth = np.corrcoef(secret["x"], late)[0, 1]
    assert inside(estimate(released, Correlation("x", "late"), confidence=0.9999).only, truth)
    design = np.stack([np.ones(ROWS), secret["x"].to_numpy(), late], axis=1)
    wanted = np.linalg.lstsq(design, secret["y"].to_numpy(), rcond=None)[0]
    found = estimate(released, Regression("y", ["x", "late"]), confidence=0.9999)
    assert all(inside(one, truth) for one, truth in zip(found, wanted, strict=True))


def test_rows_with_public_gaps_are_left_out(tables):
    secret, released = tables
    there = secret.filter(pa.compute.is_valid(secret["part"]))
    truth = np.corrcoef(there["x"], there["part"])[0, 1]
    found = estimate(released, Correlation("x", "part"), confidence=0.9999).only
    assert found.rows == len(there)
    assert inside(found, truth)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (Correlation("x", "x"), "twice"),
        (Correlation("x", "kind"), "category"),
        (Correlation("x", "hidden"), "secret"),
        (Correlation("x", "gone"), "no column"),
        (Regression("y", []), "one at least"),
    ],
)
def test_what_has_no_correlation_is_refused(tables, question, words):
    with pytest.raises(ArgumentError, match=words):
        estimate(tables[1], question)


def test_too_few_rows_are_refused_or_honest(tables):
    with pytest.raises(ArgumentError, match="two rows"):
        estimate(tables[1].slice(0, 1), Correlation("x", "y"))
    few = estimate(tables[1].slice(0, 3), Correlation("x", "y")).only
    assert -1 <= few.interval[0] <= few.interval[1] <= 1


@pytest.mark.parametrize("bounds", [None, [0, 2], [0, 1000]], ids=str)
@pytest.mark.parametrize("epsilon", [1, 6])
def test_integers_with_few_values_or_little_noise_explain_as_they_do(epsilon, bounds):
    random = np.random.default_rng(1)
    x = random.integers(0, 3, ROWS)
    secret = pa.table(
        {"x": x, "y": 2.0 * x + random.normal(0, 1, ROWS), "yes": random.random(ROWS) < 1 / (1 + np.exp(1 - x))}
    )
    entry = {"type": "integer", "epsilon": epsilon, "missing": "refuse"} | (
        {} if bounds is None else {"bounds": bounds}
    )
    policy = {
        "format": 2,
        "columns": {
            "x": entry,
            "y": {"type": "number", "within": 1, "missing": "refuse"},
            "yes": {"type": "boolean", "epsilon": 3, "missing": "refuse"},
        },
    }
    with mdp.seeded(1):
        released = sanitize(secret, policy).table
    slope = np.polyfit(secret["x"].to_numpy(), secret["y"].to_numpy(), 1)[0]
    assert inside(estimate(released, Regression("y", ["x"]), confidence=0.999)["slope of x"][0], slope)
    assert inside(
        estimate(released, Correlation("x", "y"), confidence=0.999).only, np.corrcoef(secret["x"], secret["y"])[0, 1]
    )
    assert inside(estimate(released, LogisticRegression("yes", ["x"]), confidence=0.999)["slope of x"][0], 1.0)


def test_coarse_steps_are_refused_where_they_cannot_be_corrected():
    policy = {"format": 2, "columns": {"x": {"type": "number", "within": 10, "resolution": 10}, "y": "keep"}}
    table = pa.table({"x": [10.0, 20.0, 50.0], "y": [1.0, 2.0, 3.0]})
    for question in (Correlation("x", "y"), Regression("y", ["x"])):
        with pytest.raises(ArgumentError, match="rounded too coarsely"):
            estimate(table, question, policy=policy)
    one = estimate(table, "select avg(x)", policy=policy).only
    assert any("rounded to steps of 10" in note for note in one.notes)
