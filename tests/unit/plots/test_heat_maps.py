"""Channels and posteriors as shades."""

import numpy as np

import metricdp as mdp
from metricdp.channels import Channel
from metricdp.plots import data_of, heat_map, words_of

CHANNEL = Channel.from_matrix([1, 0], "ab", [["3/4", "1/4"], ["1/2", "1/2"]])


def test_the_channel():
    figure = heat_map(CHANNEL, names={1: "yes", 0: "no"}, title="A channel")
    axes, bar = figure.axes
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("secret", "released")
    assert [text.get_text() for text in axes.get_yticklabels()] == ["no", "yes"]
    assert bar.get_ylabel() == "probability of the release, given the secret"
    assert data_of(figure)[0]["matrix"] == [[0.5, 0.5], [0.75, 0.25]]
    assert words_of(figure).startswith("A channel. A table of 2 secrets by 2 releases")


def test_posteriors_are_columns_that_sum_to_one():
    figure = heat_map(CHANNEL, "uniform")
    assert np.allclose(np.sum(data_of(figure)[0]["matrix"], axis=0), 1)
    assert figure.axes[1].get_ylabel() == "probability of the secret, given the release"


def test_fifty_secrets_and_a_panel():
    from matplotlib.figure import Figure

    own = Figure()
    figure = heat_map(Channel.from_matrix(range(50), range(50), np.eye(50)), ax=own.add_subplot())
    assert figure is own
    assert len(data_of(own)[0]["rows"]) == 50


def test_a_long_title_stays_inside_the_figure():
    figure = heat_map(CHANNEL, title="a title with many words that no narrow figure has room for in a single line")
    figure.canvas.draw()
    title = figure.axes[0].get_title(loc="left")
    (drawn,) = [text for text in figure.findobj() if getattr(text, "get_text", str)() == title]
    box = drawn.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.bbox.y1


def test_long_names_leave_the_words_of_the_scale_inside_the_figure():
    long = ["a" * 60, "b" * 80, "c"]
    space = mdp.Space(long, mdp.metrics.discrete())
    figure = heat_map(mdp.channels.of(mdp.exponential(space), long))
    figure.draw_without_rendering()
    words = figure.axes[1].yaxis.label.get_window_extent()
    assert words.y0 >= 0
    assert words.y1 <= figure.bbox.height


def test_long_names_and_a_long_title_leave_room_for_the_matrix():
    names = [f"a very long name of a secret that nobody would print in full {place}" for place in range(3)]
    noise = Channel.from_matrix(names, names, [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
    figure = heat_map(noise, title=2 * names[0])
    figure.draw_without_rendering()  # warns where nothing is left
    assert figure.axes[0].get_window_extent().height > 100
