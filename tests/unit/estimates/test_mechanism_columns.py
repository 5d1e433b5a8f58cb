"""Released columns with their mechanisms, without a policy."""

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, ColumnError
from metricdp.estimates import Correlation, estimate

ROWS = 4000
within = mdp.metrics.absolute().within


@pytest.fixture(scope="module")
def released():
    random = np.random.default_rng(4)
    secrets = {
        "income": random.uniform(0, 100, ROWS),
        "visits": random.poisson(3, ROWS),
        "age": random.integers(0, 91, ROWS),
        "health": random.choice(["good", "poor"], ROWS, p=[0.8, 0.2]).tolist(),
        "smokes": (random.random(ROWS) < 0.3).tolist(),
        "score": [None if random.random() < 0.2 else float(value) for value in random.integers(0, 101, ROWS)],
    }
    mechanisms = {
        "income": mdp.laplace(within(5), resolution="0.01", bounds=(0, 100)),
        "visits": mdp.geometric(within(2)),
        "age": mdp.truncated_geometric(within(3), 90),
        "health": mdp.randomized_response(["good", "poor"], mdp.ln(4)),
        "smokes": mdp.randomized_response([True, False], mdp.ln(3)),
        "score": mdp.laplace(mdp.ln(2) / 10 * mdp.metrics.nullable(mdp.metrics.absolute(), 70), bounds=(0, 100)),
    }
    with mdp.seeded(5):
        return secrets, {name: (mechanisms[name].release(secrets[name]), mechanisms[name]) for name in secrets}


def test_every_kind_of_mechanism_is_corrected(released):
    secrets, columns = released
    known = [value for value in secrets["score"] if value is not None]
    for question, truth in {
        "select avg(income)": np.mean(secrets["income"]),
        "select avg(visits)": np.mean(secrets["visits"]),
        "select avg(age)": np.mean(secrets["age"]),
        "select count(*) where age >= 40": (secrets["age"] >= 40).sum(),
        "select count(*) where health = 'good'": secrets["health"].count("good"),
        "select count(*) where smokes = true and health = 'poor'": sum(
            one and two == "poor" for one, two in zip(secrets["smokes"], secrets["health"], strict=True)
        ),
        "select avg(score)": np.mean(known),
        "select count(*) where score is null": ROWS - len(known),
    }.items():
        low, high = estimate(columns, question, confidence=0.9999).only.interval
        assert low <= truth <= high, question
    assert abs(estimate(columns, Correlation("income", "age")).only.value) < 0.2


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": [1, 2]}, "is no mechanism"),
        ({"x": 7}, "released values and their mechanism"),
        ({"x": ([1.0], "laplace")}, "is no mechanism"),
        ({"x": (["a"], mdp.laplace(within(1)))}, "not what its mechanism releases"),
        ({"x": ([1.0], mdp.laplace(within(1))), "y": ([1.0, 2.0], mdp.laplace(within(1)))}, "as many values"),
        ({"x": ([[0.0, 0.0]], mdp.laplace(mdp.metrics.great_circle().within(5)))}, "not for numbers on a line"),
        ({"x": (["a"], mdp.randomized_response([None, "a"], 1))}, "None has to be the last"),
    ],
)
def test_columns_that_are_none_are_refused(columns, words):
    with pytest.raises(ArgumentError, match=words):
        estimate(columns, "select count(*)")


def test_a_value_that_the_mechanism_cannot_release_is_refused():
    response = mdp.randomized_response(["a", "b"], 1)
    with pytest.raises(ColumnError, match="row 1"):
        estimate({"x": (["a", "c"], response)}, "select count(*) where x = 'a'")
