"""Logistic regression of noisy columns: the slope of the secrets is found where the naive one is pulled to zero."""

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.estimates import LogisticRegression, estimate
from metricdp.estimates.laws import LineLaw
from metricdp.estimates.logistic import _stencils
from metricdp.estimates.outline import Outline
from metricdp.policies import Policy
from metricdp.tables import sanitize

POLICY = {
    "format": 2,
    "columns": {
        "age": {"type": "integer", "within": 5, "bounds": [0, 90], "missing": "refuse"},
        "dose": {"type": "number", "within": 1, "resolution": 0.01},
        "level": {"type": "number", "within": 0.5, "bounds": [0, 4], "missing": "refuse"},
        "male": {"type": "boolean", "factor": 9, "missing": "refuse"},
        "ill": {"type": "boolean", "factor": 9, "missing": "refuse"},
        "area": {"type": "category", "values": ["n", "s"], "factor": 9, "missing": "refuse"},
    },
}
SLOPES = {"age": 0.05, "dose": 0.4, "level": 0.8, "male": -1.0}


def secrets(seed, rows):
    random = np.random.default_rng(seed)
    table = {
        "age": np.minimum(random.gamma(6, 7, rows), 90).astype(np.int64),
        "dose": random.normal(0, 2, rows),
        "level": random.uniform(0, 4, rows),
        "male": random.random(rows) < 0.5,
    }
    line = sum(slope * table[name] for name, slope in SLOPES.items()) - 3.5
    table["ill"] = random.random(rows) < 1 / (1 + np.exp(-line))
    table["area"] = np.where(table["ill"], "s", "n")
    return table


def fitted(table, names):
    """By Newton's method, of the secrets."""
    rows = np.stack([np.ones(len(table["ill"])), *(table[name].astype(float) for name in names)], axis=1)
    found = np.zeros(rows.shape[1])
    for _ in range(50):
        share = 1 / (1 + np.exp(-rows @ found))
        found = found + np.linalg.solve(
            (rows * (share * (1 - share))[:, None]).T @ rows, rows.T @ (table["ill"] - share)
        )
    return found


@pytest.mark.parametrize("names", [["age"], ["dose"], ["level"], ["male"], ["age", "dose", "male"]])
def test_slopes_of_the_secrets_are_found(names):
    table = secrets(3, 20_000)
    with mdp.seeded(4):
        released = sanitize(pa.table(table), POLICY).table
    found = estimate(released, LogisticRegression("ill", names), confidence=0.9999)
    truth = fitted(table, names)
    for one, wanted in zip(found, truth, strict=True):
        assert one.interval[0] <= wanted <= one.interval[1]
        assert one.interval[1] - one.interval[0] < 2 + abs(wanted)
    slope = found[f"slope of {names[0]}"][0]
    assert abs(slope.naive) < 0.9 * abs(slope.value)
    same = estimate(released, LogisticRegression("area", names, value="s"))
    assert same[f"slope of {names[0]}"][0].value == pytest.approx(truth[1], rel=0.35)


@pytest.mark.long
@pytest.mark.parametrize("name", ["age", "dose", "level"])
@pytest.mark.parametrize("function", [lambda x: x, lambda x: np.exp(-x / 9), lambda x: 1 / (1 + np.exp(2 - x / 2))])
def test_a_stencil_has_the_function_of_the_secret_for_its_mean(name, function):
    column = Policy.of({"format": 2, "columns": {name: POLICY["columns"][name]}}).columns[0]
    kind = pa.int64() if name == "age" else pa.float64()
    line = LineLaw(column, kind, Outline(-30.0, 30.0, np.linspace(-30, 30, 100)), 1000)
    step, weights = _stencils(line)
    cells = np.arange(*(line.noise.end_cells or (-40_000, 40_000)))
    cells = np.append(cells, cells[-1] + 1)
    for secret in (0, 2, 4):
        below = line.noise.cells_below(np.array([float(secret)]), cells[1:].astype(float))[0]
        shares = np.diff(np.concatenate([[0.0], below, [1.0]]))
        values = cells * line.width
        codes = np.ones(len(cells), dtype=int)
        if line.noise.end_cells is not None:
            codes[0], codes[-1] = 0, 2
        made = sum(weights[codes, place] * function(values + (place - 1) * step) for place in range(3))
        near = np.abs(values - secret) < 60 * line.scale
        assert shares[near] @ made[near] == pytest.approx(function(secret), rel=2e-3, abs=2e-3)


def test_noise_that_is_too_wide_is_said():
    table = secrets(5, 60)
    with mdp.seeded(6):
        policy = {"format": 2, "columns": POLICY["columns"] | {"dose": {"type": "number", "within": 30}}}
        released = sanitize(pa.table(table), policy).table
    one = estimate(released, LogisticRegression("ill", ["dose"]))["slope of dose"][0]
    assert one.interval == (-np.inf, np.inf)
    assert "too few rows for such noise" in one.notes[0]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (LogisticRegression("ill", []), "one at least"),
        (LogisticRegression("ill", "age"), "one at least"),
        (LogisticRegression("age", ["dose"]), "not yes or no"),
        (LogisticRegression("area", ["dose"], value="west"), "has no value 'west'"),
        (LogisticRegression("ill", ["area"]), "no number"),
        (LogisticRegression("ill", ["ill"]), "twice"),
    ],
)
def test_what_is_no_logistic_regression_is_refused(question, words):
    with mdp.seeded(7):
        released = sanitize(pa.table(secrets(8, 50)), POLICY).table
    with pytest.raises(ArgumentError, match=words):
        estimate(released, question)
