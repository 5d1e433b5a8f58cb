"""Beliefs on a simplex: what is drawn, and what is said of it."""

import numpy as np
import pytest

import metricdp as mdp
from metricdp.adversaries import Hyper, Prior, corner_priors, hyper
from metricdp.channels import Channel, of
from metricdp.design import kernels, vertices
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.metrics import Space, absolute, discrete
from metricdp.plots import data_of, simplex, words_of

LINE = Space.line(3, mdp.ln(2) * absolute())
GEOMETRIC = of(mdp.truncated_geometric(LINE.metric, steps=2), range(3))


def legend_of(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def test_three_secrets_vertices_and_a_channel():
    figure = simplex(vertices(LINE), {"geometric": GEOMETRIC}, title="The type")
    axes = figure.axes[0]
    assert axes.name == "ternary"
    assert [axes.get_tlabel(), axes.get_llabel(), axes.get_rlabel()] == ["0", "1", "2"]
    assert legend_of(figure) == ["private posteriors", "geometric"]
    assert axes.get_title() == "The type"
    region, channel = data_of(figure)[0]["layers"]
    assert region["hull"]
    assert sorted(map(tuple, np.round(region["points"], 6).tolist())) == sorted(
        (round(a / s, 6), round(b / s, 6), round(c / s, 6))
        for a, b, c, s in [(4, 2, 1, 7), (1, 2, 4, 7), (1, 2, 1, 4), (2, 1, 2, 5)]
    )
    assert channel["weights"] == pytest.approx([7 / 18, 2 / 9, 7 / 18])
    assert words_of(figure).startswith("The type. A triangle of beliefs with the corners 0, 1, 2. private posteriors")


def test_two_secrets_are_a_segment():
    figure = simplex(hyper("uniform", Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])))
    assert figure.axes[0].get_xlabel() == "probability of b (of a: one minus it)"
    assert legend_of(figure) == ["posteriors"]


def test_four_secrets_are_a_tetrahedron():
    space = Space("abcd", mdp.ln(2) * discrete())
    figure = simplex({"regular priors": corner_priors(space)}, {"private posteriors": vertices(space)})
    axes = figure.axes[0]
    assert axes.name == "3d"
    assert {text.get_text() for text in axes.texts} == set("abcd")
    assert legend_of(figure) == ["regular priors", "private posteriors"]


def test_more_are_refused_with_advice():
    many = Channel.from_matrix(range(50), range(50), np.eye(50))
    with pytest.raises(TooLargeError, match=r"a simplex of 50 secrets cannot be drawn: .*channels\.restrict.*heat_map"):
        simplex(many)


def test_kernels_each_with_its_hull():
    figure = simplex(kernels(LINE))
    assert legend_of(figure) == ["kernel 1", "kernel 2"]
    assert [len(layer["points"]) for layer in data_of(figure)[0]["layers"]] == [3, 2]


def test_empty_hypers_are_drawn_as_nothing():
    empty = Hyper((), (), ())
    figure = simplex({"nothing yet": empty, "uniform": Prior.uniform("abc")})
    assert legend_of(figure) == ["nothing yet (empty)", "uniform"]
    assert legend_of(simplex({"none": []}, secrets="ab")) == ["none (empty)"]
    with pytest.raises(ArgumentError, match="nothing says what the secrets are"):
        simplex(empty)
    with pytest.raises(ArgumentError, match="other secrets"):
        simplex(Prior.uniform("ab"), Prior.uniform("abc"))


def test_long_names_and_other_scripts(tmp_path):
    secrets = ["Санкт-Петербург", "東京 $x$", "a name that is much longer than the place there is for it"]
    figure = simplex(Prior.uniform(secrets))
    assert figure.axes[0].get_rlabel() == "a name that is …"
    figure.savefig(tmp_path / "names.png", dpi=40)  # warnings are errors, and a sign without a glyph is none


def test_a_panel_that_was_given():
    from matplotlib.figure import Figure

    own = Figure()
    panel = own.add_subplot(121, projection="ternary")
    assert simplex(GEOMETRIC, ax=panel) is own
    with pytest.raises(ArgumentError, match="projection='ternary'"):
        simplex(GEOMETRIC, ax=own.add_subplot(122))
