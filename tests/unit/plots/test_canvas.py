"""What all plots share."""

import builtins

import pytest

from metricdp.errors import MissingExtraError
from metricdp.plots import curves, words_of
from metricdp.plots.canvas import COLOURS, MARKERS, canvas, require_matplotlib


def test_a_notebook_shows_it_with_words():
    figure = curves({"a": [1, 2]}, [0, 1], x="ε", y="bits")
    data, more = figure._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"] == words_of(figure) == more["image/png"]["alt"]


def test_panels_of_others_are_told_by_their_labels():
    figure = require_matplotlib()()
    axes = figure.add_subplot()
    axes.set_xlabel("days")
    assert words_of(figure) == "days."


def test_without_matplotlib(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **more):
        if name.startswith("mpltern"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match="mpltern"):
        canvas(None, projection="ternary")


def test_colours_differ():
    assert len(set(COLOURS)) == len(COLOURS) == len(set(MARKERS))


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_words_are_in_the_file(tmp_path, ending):
    from metricdp.plots import save

    figure = curves({"a": [1, 2]}, [0, 1], x="radius", y="bits")
    save(figure, tmp_path / f"curve.{ending}")
    assert b"Curves of bits over radius from 0 to 1: a, from 1 to 2." in (tmp_path / f"curve.{ending}").read_bytes()


def test_a_panel_on_a_dark_ground_is_drawn_pale_and_a_figure_of_ours_is_white_in_any_style():
    import matplotlib as mpl
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure

    from metricdp.channels import Channel
    from metricdp.plots import heat_map
    from metricdp.plots.svg import INK

    noise = Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]])
    given = Figure(facecolor="black")
    for place, draw in enumerate((lambda ax: curves({"a": [1, 2]}, [0, 1], x="x", y="y", title="T", ax=ax),
                                  lambda ax: heat_map(noise, title="T", ax=ax))):  # fmt: skip
        ax = given.add_subplot(1, 2, place + 1, facecolor="black")
        draw(ax)
        around = [ax.xaxis.label, ax.yaxis.label, ax.title, *ax.get_xticklabels()]
        assert all(to_hex(text.get_color()) == "#e8ebee" for text in around if text.get_text())
    bar = next(axes for axes in given.axes if axes.get_label() == "<colorbar>")
    assert to_hex(bar.yaxis.label.get_color()) == "#e8ebee"
    with mpl.rc_context({"figure.facecolor": "black", "axes.facecolor": "black", "text.color": "white"}):
        figure = curves({"one": [1, 2], "two": [2, 1]}, [0, 1], x="x", y="y")
        (axes,) = figure.axes
        assert to_hex(figure.get_facecolor()) == to_hex(axes.get_facecolor()) == "#ffffff"
        assert {to_hex(text.get_color()) for text in axes.get_legend().get_texts()} == {INK}
