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
