"""Series before and after."""

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
