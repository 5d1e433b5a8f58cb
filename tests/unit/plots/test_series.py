"""Series before and after."""

import json
import math

import pytest

from metricdp.errors import ArgumentError
from metricdp.plots import data_of, traces, words_of


def test_a_meter():
    figure = traces(
        [1, 2, 3], {"ε = 0.1": [9, 9, 9], "ε = 0.5": [1, 2, 4]}, [0, 10, 20], x="time, s", y="power, W",
        whole=([0, 5, 10], [1, 1, 2]), title="A signature",
    )  # fmt: skip
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time, s", "power, W")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["secret", "ε = 0.1", "ε = 0.5"]
    assert data_of(figure)[0]["series"][2] == {"name": "ε = 0.5", "values": [1, 2, 4]}
    assert words_of(figure) == "A signature. power, W over time, s: secret, ε = 0.1, ε = 0.5, 3 values each."


def test_releases_alone_and_nothing():
    assert [series["name"] for series in data_of(traces(None, {"released": [1, 2]}))[0]["series"]] == ["released"]
    with pytest.raises(ArgumentError, match="wants the secret values"):
        traces(None)
    with pytest.raises(ArgumentError, match="'a' has 1 values for 2 times"):
        traces([1, 2], {"a": [1]})


def test_gaps_are_no_numbers_of_json():
    figure = traces([1, None, 3], {"noisy": [1, math.inf, 2]}, whole=([0, 1], [None, 3]))
    panel = data_of(figure)[0]
    json.dumps(panel, allow_nan=False)
    assert [part["values"] for part in panel["series"]] == [[1, None, 3], [1, None, 2]]
    assert panel["whole"] == {"times": [0, 1], "values": [None, 3]}
    with pytest.raises(ArgumentError, match="1 values for 2 times"):
        traces([1], whole=([0, 1], [1]))
