"""Histograms over one another."""

import pytest

from metricdp.errors import ArgumentError
from metricdp.plots import data_of, distributions


def test_numbers_and_categories_are_drawn():
    parts = {"secret": [0.2, 0.8], "released": [0.4, 0.6], "corrected": [0.25, 0.75]}
    for more in ({"edges": [0, 1, 3]}, {"labels": ["a long name of a category", "b"]}):
        figure = distributions(parts, x="x", **more)
        assert data_of(figure)[0]["shares"] == parts
        figure.canvas.draw()


@pytest.mark.parametrize(
    ("parts", "more"),
    [({}, {}), ({"a": [1]}, {}), ({"a": [1]}, {"edges": [0]}), ({"a": [1], "b": [1, 2]}, {"labels": ["x"]})],
)
def test_bins_that_do_not_fit_are_refused(parts, more):
    with pytest.raises(ArgumentError):
        distributions(parts, **more)


def test_names_that_look_like_formulas_and_many_of_them():
    figure = distributions({f"a$\\frac$b{place}": [1.0] for place in range(10)}, labels=["all"])
    figure.draw_without_rendering()
    assert len(figure.axes[0].patches) == 10


@pytest.mark.parametrize("edges", [[0, 1, float("inf")], [0, 0, 1], [2, 1, 0]])
def test_edges_that_make_no_bins_are_refused(edges):
    with pytest.raises(ArgumentError, match="each above the one before"):
        distributions({"secret": [0.5, 0.5]}, edges)
