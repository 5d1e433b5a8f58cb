"""Histograms."""

import pytest

from metricdp.errors import ArgumentError
from metricdp.plots import data_of, histogram, words_of


def test_one_and_several():
    one = histogram([1, 2, 2, 3], bins=2, x="improvement factor")
    assert one.axes[0].get_xlabel() == "improvement factor"
    assert one.axes[0].get_ylabel() == "how many"
    assert one.axes[0].get_legend() is None
    assert data_of(one)[0]["series"][0]["mean"] == 2
    several = histogram({"T = 2": [1, 2], "T = 4": [3, 40]}, bins=[0, 2, 4], x="factor")
    assert several.axes[0].get_xlabel() == "factor (the last bar: 2 and more)"
    assert [text.get_text() for text in several.axes[0].get_legend().get_texts()] == ["T = 2", "T = 4"]
    assert [series["counts"] for series in data_of(several)[0]["series"]] == [[1, 1], [0, 2]]
    assert words_of(several) == "Histogram of factor from 0 to 4: T = 2, mean 1.5; T = 4, mean 21.5."


def test_all_alike_and_none():
    assert sum(data_of(histogram([5, 5]))[0]["series"][0]["counts"]) == 2
    for nothing in ([], {}, [float("nan")]):
        with pytest.raises(ArgumentError, match="at least one number"):
            histogram(nothing)


def test_an_empty_list_among_others_and_what_lies_below_the_first_edge():
    figure = histogram({"some": [-5, 1, 2], "none": []}, bins=[0, 1, 2, 3], x="factor")
    assert data_of(figure)[0]["series"][1] == {"name": "none", "counts": [0, 0, 0], "mean": None, "largest": None}
    assert "none, empty." in words_of(figure)
    assert figure.axes[0].get_xlabel() == "factor (the first bar: 1 and less)"


@pytest.mark.parametrize("bins", [0, -1, [1], [2, 1], [0, float("nan")], "abc"])
def test_bins_that_are_none(bins):
    with pytest.raises(ArgumentError):
        histogram([1, 2], bins=bins)


def test_numbers_farther_apart_than_floats_can_say_are_refused():
    with pytest.raises(ArgumentError, match="whose distance floats can hold"):
        histogram([-1e308, 1e308])
