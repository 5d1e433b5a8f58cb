"""Plots of what users have: other sizes, long and foreign names; and of what is nothing to be drawn."""

import warnings
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp import plots
from metricdp.adversaries import as_loss, hyper
from metricdp.channels import Channel
from metricdp.errors import ArgumentError, TooLargeError

m = mdp.metrics
LONG = [f"a very long label of a secret that goes on and on, number {place}" for place in range(3)]
FOREIGN = ["北京", "Αθήνα", "القاهرة"]


def flat(secrets):
    return Channel.from_matrix(secrets, secrets, [[Fraction(1, len(secrets))] * len(secrets)] * len(secrets))


@pytest.mark.parametrize("secrets", ["ab", LONG, FOREIGN, range(50)])
def test_sizes_and_names(secrets):
    """Nothing warns, and everything is drawn; a simplex takes up to four secrets."""
    secrets = list(secrets)
    channel, space = flat(secrets), mdp.Space(secrets, m.discrete() if len(secrets) < 5 else m.absolute())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures = [plots.heat_map(channel), plots.heat_map(channel, "uniform"), plots.graph(space)]
        if len(secrets) <= 4:
            figures.append(plots.simplex({"x" * 90: hyper("uniform", channel)}))
            figures += [plots.surface(as_loss("bin", secrets))] * (len(secrets) == 2)
        else:
            with pytest.raises(TooLargeError, match="secrets"):
                plots.simplex(hyper("uniform", channel))
            with pytest.raises(TooLargeError, match="restricted"):
                plots.surface(as_loss("bin", secrets))
        for figure in figures:
            figure.savefig("/dev/null", format="png", dpi=20)
            assert plots.words_of(figure)


def test_nothing_to_draw():
    for empty in ([], {}, {"none": []}):
        with pytest.raises(ArgumentError):
            plots.simplex(empty)


THINGS = [object(), None, 3, "text", [object()], {"a": object()}, Channel, mdp.Space.line(2), mdp.laplace(m.absolute())]
NOISE = type(mdp.laplace(m.absolute()))
TAKEN = {"graph": mdp.Space, "noise_figure": NOISE, "noise_svg": NOISE}
ONE_ARGUMENT = [
    "curves",
    "distributions",
    "error_bars",
    "graph",
    "heat_map",
    "histogram",
    "noise_figure",
    "noise_svg",
    "simplex",
    "surface",
    "traces",
    "usefulness",
    "save",
    "words_of",
    "data_of",
    "to_svg",
    "draw",
]


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_what_is_no_such_thing_is_refused_in_our_words(name):
    more = {"save": ("x.png",), "to_svg": ("title",)}.get(name, ())
    for thing in THINGS:
        if isinstance(thing, TAKEN.get(name, ())):
            continue
        with pytest.raises(ArgumentError) as error:
            getattr(plots, name)(thing, *more)
        assert len(str(error.value)) > 10


def test_panels_and_paths():
    for ax in (3, "no", object()):
        with pytest.raises(ArgumentError, match="panel of matplotlib"):
            plots.curves({"a": [1, 2]}, [0, 1], ax=ax)
    for path in (3, None, object()):
        with pytest.raises(ArgumentError, match="path of a file"):
            plots.save(plots.curves({"a": [1, 2]}, [0, 1]), path)


def test_many_names_stand_below_and_counts_are_whole():
    figure = plots.curves({f"line {place}": [place, 1] for place in range(5)}, [1, 2])
    assert figure.axes[0].get_legend() is None
    assert len(figure.legends[0].get_texts()) == 5
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["1", "2"]
    assert plots.curves({"a": [1, 2]}, [0, 1]).axes[0].get_legend() is not None
