"""Numbers with intervals, as lines and as a band."""

import math

import pytest

from metricdp.errors import ArgumentError
from metricdp.plots import data_of, intervals, words_of


@pytest.mark.parametrize("size", [1, 5, 60])
def test_every_number_is_drawn_and_said(size):
    figure = intervals([f"g{n}" for n in range(size)], range(size), [(n - 1, n + 1) for n in range(size)], x="people")
    lines = data_of(figure)[0]["lines"]
    assert [line["value"] for line in lines] == list(range(size))
    assert "people with intervals" in words_of(figure)
    figure.canvas.draw()


def test_what_is_not_known_is_left_out():
    figure = intervals(["a", "b"], [float("nan"), 1], [(float("-inf"), float("inf")), (0, 2)], [None, 3])
    assert data_of(figure)[0]["lines"][0] == {"label": "a", "value": None, "low": None, "high": None, "other": None}
    figure.canvas.draw()


@pytest.mark.parametrize("given", [([], [], []), (["a"], [1, 2], [(0, 1)])])
def test_lists_of_different_lengths_are_refused(given):
    with pytest.raises(ArgumentError):
        intervals(*given)


def test_an_interval_without_an_end_reaches_the_edge_of_the_panel():
    figure = intervals(
        ["a", "b", "c"], [1.0, math.nan, 3.0], [(-math.inf, math.inf), (0.0, math.inf), (2.0, 4.0)], x="avg"
    )
    (axes,) = figure.axes
    low, high = axes.get_xlim()
    drawn = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    assert drawn == [[low, high], [0.0, high], [2.0, 4.0]]
    assert data_of(figure)[0]["lines"][0]["low"] is None
    intervals(["a"], [math.nan], [(-math.inf, math.inf)])
