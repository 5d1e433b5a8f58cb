"""Curves: labels, units, legend, and the data behind them."""

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.metrics import absolute
from metricdp.plots import curves, data_of, usefulness, words_of


def test_curves_of_several_kinds():
    figure = curves(
        {"a list": [1, None, 3], "a function": lambda x: 2 * x, "its own": ([0, 1], [5, 6])},
        [0, 1, 2],
        x="ε",
        y="leakage, bits",
        marks={"ln 2": 0.69},
        spans={"none exists": (0, 0.5)},
        points={"a list": [(0, 1)]},
        title="Bounds",
    )
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == ("ε", "leakage, bits", "Bounds")
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["a list", "a function", "its own", "none exists"]
    assert [text.get_text() for text in axes.texts] == ["ln 2"]
    styles = {(line.get_color(), str(line.get_linestyle())) for line in axes.get_lines()[:3]}
    assert len(styles) >= 2
    lines = data_of(figure)[0]["lines"]
    assert [line["y"] for line in lines] == [[1, None, 3], [0, 2, 4], [5, 6]]
    assert words_of(figure) == (
        "Bounds. Curves of leakage, bits over ε from 0 to 2: a list, from 1 to 3; a function, from 0 to 4; "
        "its own, from 5 to 6."
    )


def test_what_cannot_be_drawn():
    with pytest.raises(ArgumentError, match="at least one line"):
        curves({}, [1])
    with pytest.raises(ArgumentError, match="'a' has 2 values at 1 places"):
        curves({"a": [1, 2]}, [1])
    with pytest.raises(ArgumentError, match="'a' wants over="):
        curves({"a": abs})
    with pytest.raises(ArgumentError, match="at least one mechanism"):
        usefulness({})


def test_usefulness_is_the_probability_to_lie_within():
    wide, narrow = mdp.laplace(absolute() / 10), mdp.laplace(absolute() / 5)
    figure = usefulness({"wide": wide, "narrow": narrow}, [0, 5, 10], unit="days")
    assert figure.axes[0].get_xlabel() == "distance from the secret, days"
    assert figure.axes[0].get_ylabel() == "probability to lie within"
    lines = {line["name"]: line["y"] for line in data_of(figure)[0]["lines"]}
    assert lines["narrow"][1] == pytest.approx(0.632, abs=1e-3)
    assert lines["wide"] == [wide.probability_within(r) for r in (0, 5, 10)]
    reach = data_of(usefulness({"narrow": narrow}))[0]["lines"][0]["x"][-1]
    assert reach == pytest.approx(10 * narrow.radius(0.99))


def test_a_value_between_gaps_is_drawn_as_a_point():
    figure = curves({"a": [1, None, 3, 4]}, [0, 1, 2, 3])
    (points,) = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert points.get_xydata().tolist() == [[0, 1]]
    assert len(curves({"a": [1]}, [0]).axes[0].lines) == 2


def test_many_lines_differ_in_colour_or_dashes():
    figure = curves({str(place): [0, place] for place in range(20)}, [0, 1])
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in figure.axes[0].lines}
    assert len(looks) == 20


def test_by_powers_of_ten_where_nothing_is_positive():
    figure = curves({"nothing": [0, 0]}, [1, 2], log=True)
    figure.draw_without_rendering()
    assert figure.axes[0].get_yscale() == "linear"
