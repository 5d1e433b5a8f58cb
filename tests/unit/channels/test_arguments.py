"""What is taken where a channel or a space is meant, and what the errors say how to make."""

import numpy as np
import pandas
import polars
import pytest

import metricdp as mdp
from metricdp.channels import Channel, certify, choice, equivalent, merged, parallel, refines, restrict, sequential
from metricdp.channels.arguments import as_channel, as_space
from metricdp.errors import ArgumentError

m = mdp.metrics
ROWS = [["2/3", "1/3"], ["1/4", "3/4"]]
C = Channel.from_matrix("ab", "yz", ROWS)
FLOATS = np.array([[0.75, 0.25], [0.25, 0.75]])


@pytest.mark.parametrize(
    "given",
    [
        C,
        {"a": {"y": "2/3", "z": "1/3"}, "b": {"y": "1/4", "z": "3/4"}},
        {"a": {"y": "2/3", "z": "1/3"}, "b": {"z": "3/4", "y": "1/4"}},
        pandas.DataFrame(ROWS, index=list("ab"), columns=list("yz")),
        polars.DataFrame({"input": ["a", "b"], "y": ["2/3", "1/4"], "z": ["1/3", "3/4"]}),
    ],
)
def test_labelled_probabilities_are_channels(given):
    assert as_channel(given, "verify") == C


def test_rows_without_labels_take_those_that_are_known():
    assert as_channel(FLOATS, "verify").inputs == (0, 1)
    assert as_channel(FLOATS, "verify", "ab").inputs == ("a", "b")
    assert as_channel(FLOATS, "verify", "ab").outputs == ("a", "b")
    assert as_channel(FLOATS, "verify", "abc").inputs == (0, 1)
    assert as_channel([[0.5, 0.5, 0], [0, 0, 1]], "verify", "ab").outputs == (0, 1, 2)
    assert as_channel({"a": [1, 0], "b": [0, 1]}, "verify").outputs == (0, 1)
    assert as_channel(polars.DataFrame({"y": [1.0, 0.5], "z": [0.0, 0.5]}), "verify").inputs == (0, 1)


def test_an_array_is_the_matrix_and_back():
    channel = Channel.from_matrix("ab", "yz", FLOATS)
    assert np.asarray(channel).tolist() == FLOATS.tolist()
    assert np.asarray(channel, dtype=np.float32).dtype == np.float32
    copied = np.array(channel)
    copied[0, 0] = 7
    assert channel.matrix[0, 0] == 0.75


def test_every_function_of_channels_takes_arrays():
    eye = np.eye(2)
    plain = as_channel(FLOATS, "test")
    assert (plain @ FLOATS) == (plain @ plain)
    assert sequential(FLOATS, eye).shape == (2, 4)
    assert parallel(FLOATS, eye).shape == (4, 4)
    assert choice(0.5, FLOATS, eye).shape == (2, 4)
    assert restrict(FLOATS, [1]).inputs == (1,)
    assert merged(FLOATS) == merged(plain)
    assert equivalent(FLOATS, FLOATS[:, ::-1])
    assert refines(FLOATS, eye).holds
    assert not refines(eye, FLOATS).holds
    assert certify(plain, mdp.ln(3) * m.absolute()).promise.metric == mdp.ln(3) * m.absolute()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (3, r"not int: mdp.Channel.from_matrix\(inputs, outputs, rows\)"),
        ("noise.csv", "not str"),
        (None, "not NoneType"),
        ([], "not list"),
        ([0.5, 0.5], "not list"),
        (np.ones(3), "not ndarray"),
        (mdp.randomized_response("ab", 1), r"mdp.channels.of\(mechanism, inputs\)"),
        ({"a": 1, "b": 0}, "from each input to a row"),
        ({"a": {"y": 1}, "b": [1]}, "from each input to a row"),
        ([[0.5, 0.6], [0, 1]], "row 0: input 0: its probabilities sum to 1.1"),
        ([[1, 0], [1]], "a matrix of 2 rows and 2 columns"),
    ],
)
def test_what_is_no_channel_says_how_to_make_one(given, words):
    with pytest.raises(ArgumentError, match=words):
        as_channel(given, "verify")


def test_a_metric_is_a_space_where_the_points_are_known():
    assert as_space(m.absolute(), "verify", [0, 1]) == mdp.Space([0, 1], m.absolute())
    space = mdp.Space.line(2)
    assert as_space(space, "verify") is space


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (m.absolute(), r"not a metric alone: say which points, as in mdp.Space\(points, metric\)"),
        ([0, 1], "not points alone: say how far apart they are"),
        (C, "not Channel: mdp.Space"),
        (3, "not int"),
        (None, "not NoneType"),
        ("line", "not str"),
    ],
)
def test_what_is_no_space_says_how_to_make_one(given, words):
    with pytest.raises(ArgumentError, match=words):
        as_space(given, "regular")
