"""What is taken for a channel, a space and a gain: arrays, dicts, frames, metrics, functions."""

import numpy as np
import pandas
import pytest

import metricdp as mdp
from metricdp.adversaries import (
    Prior,
    capacity,
    constraints_matrix,
    convex_coordinates,
    corner_priors,
    error_bound,
    hiding_bound,
    hyper,
    informed_bound,
    leakage,
    leakage_bound,
    leakages,
    min_entropy_leakage,
    posterior,
    posterior_floats,
    posteriors,
    prior_bounds,
    reached_error,
    regular,
    remap,
    shannon_capacity,
    shannon_leakage,
    uncertainty,
    utility_bound,
    vulnerability,
)
from metricdp.channels import Channel
from metricdp.errors import ArgumentError

m = mdp.metrics
ROWS = np.array([[0.75, 0.25], [0.25, 0.75]])
NAMED = Channel.from_matrix("ab", "ab", ROWS)
COUNTED = Channel.from_matrix([0, 1], [0, 1], ROWS)
PRIOR = Prior("ab", (1, 3), 4)
FRAME = pandas.DataFrame(ROWS, index=list("ab"), columns=list("ab"))
DICT = {"a": {"a": 0.75, "b": 0.25}, "b": {"a": 0.25, "b": 0.75}}

MEASURES = {
    "vulnerability": vulnerability,
    "uncertainty": uncertainty,
    "leakage": leakage,
    "min-entropy": min_entropy_leakage,
    "shannon": shannon_leakage,
    "hyper": hyper,
    "posteriors": posteriors,
    "remap": remap,
    "table": leakages,
}


@pytest.mark.parametrize("name", MEASURES)
def test_rows_without_labels_are_those_of_the_prior(name):
    measure = MEASURES[name]
    expected = measure(PRIOR, NAMED)
    for given in (ROWS, ROWS.tolist(), DICT, FRAME):
        assert measure(PRIOR, given) == expected
    assert measure({"a": 0.25, "b": 0.75}, ROWS) == expected
    assert str(measure([0.25, 0.75], ROWS)) == str(measure([0.25, 0.75], COUNTED))
    assert str(measure("uniform", ROWS)) == str(measure("uniform", COUNTED))


def test_of_one_channel():
    assert capacity(ROWS) == capacity(COUNTED)
    assert shannon_capacity(ROWS).upper == shannon_capacity(COUNTED).upper
    assert posterior(PRIOR, ROWS, "a") == posterior(PRIOR, NAMED, "a")
    assert posterior_floats(PRIOR, ROWS).tolist() == posterior_floats(PRIOR, NAMED).tolist()
    space = mdp.Space("ab", mdp.ln(3) * m.discrete())
    assert informed_bound(space, "ab", ROWS).holds
    assert hiding_bound(space, {"a": "b", "b": "a"}, ROWS).holds
    assert reached_error(ROWS, space) == reached_error(NAMED, space) == 0.25
    assert reached_error(NAMED, mdp.ln(3) * m.discrete()) == 0.25


def test_a_metric_is_a_space_on_the_secrets_of_the_prior_or_the_channel():
    d = mdp.ln(2) * m.discrete()
    space = mdp.Space("ab", d)
    uniform = Prior.uniform("ab")
    assert regular(uniform, d).holds
    assert utility_bound(uniform, d) == utility_bound(uniform, space)
    assert leakage_bound(uniform, d) == leakage_bound(uniform, space)
    assert convex_coordinates(uniform, d) == convex_coordinates(uniform, space)
    assert vulnerability(PRIOR, NAMED, "distance", space=d) == vulnerability(PRIOR, NAMED, "distance", space=space)
    with pytest.raises(ArgumentError, match="not a metric alone"):
        regular("uniform", d)
    for measure in (corner_priors, prior_bounds, constraints_matrix, error_bound):
        with pytest.raises(ArgumentError, match="not a metric alone"):
            measure(d)


def test_a_gain_may_be_a_function():
    def near(guess, secret):
        return 1 / (1 + abs(guess - secret))

    table = [[near(w, x) for x in (0, 1)] for w in (0, 1)]
    assert vulnerability("uniform", COUNTED, near) == vulnerability("uniform", COUNTED, table)


@pytest.mark.parametrize("given", [3, "noise.csv", mdp.randomized_response("ab", 1)])
def test_what_is_no_channel(given):
    with pytest.raises(ArgumentError, match="takes a Channel"):
        vulnerability("uniform", given)


def test_a_mechanism_is_a_channel_where_the_secrets_are_known():
    mechanism = mdp.randomized_response("ab", mdp.ln(3))
    assert vulnerability(PRIOR, mechanism) == vulnerability(PRIOR, NAMED)
