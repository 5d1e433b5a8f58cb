"""Metrics as graphs."""

import pytest

import metricdp as mdp
from metricdp.channels import of
from metricdp.errors import ArgumentError
from metricdp.metrics import Space, absolute, blowfish, discrete
from metricdp.plots import data_of, graph, words_of


def test_a_cube_with_a_path():
    path = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]
    figure = graph(Space.bits(3), path=path, title="Three bits")
    data = data_of(figure)[0]
    assert len(data["edges"]) == 12
    assert {length for *_, length in data["edges"]} == {1}
    assert data["path"] == [0, 4, 6, 7]
    names = {text.get_text() for text in figure.axes[0].texts}
    assert {"000", "111", "distances: dₕ"} <= names
    assert words_of(figure) == "Three bits. A graph of 8 points and 12 neighbouring pairs; dₕ."


def test_lengths_are_written_where_they_differ():
    texts = [text.get_text() for text in graph(Space.grid(2, 2)).axes[0].texts]
    assert texts.count("1") == 4
    assert texts.count("1.41") == 2
    assert "1" not in [text.get_text() for text in graph(Space(["a", "b"], discrete())).axes[0].texts]


def test_the_graph_of_a_sum():
    edges = data_of(graph(Space(range(7), blowfish(absolute(), 3, 1))))[0]["edges"]
    assert {(i, j) for i, j, _ in edges} == {(i, j) for i in range(7) for j in range(i + 1, min(7, i + 4))}


def test_tight_pairs_of_a_channel():
    space = Space.line(3, mdp.ln(2) * absolute())
    tight = data_of(graph(space, channel=of(mdp.truncated_geometric(space.metric, steps=2), range(3))))[0]["tight"]
    assert [0, 1] in tight
    looser = mdp.Channel.from_matrix(range(3), "yz", [["1/2", "1/2"]] * 3)
    assert data_of(graph(space, channel=looser))[0]["tight"] == []


@pytest.mark.parametrize("count", [1, 2, 50])
def test_other_sizes(count, tmp_path):
    names = [f"{place}-{'長' * 30}" for place in range(count)]
    figure = graph(Space(names, discrete()))
    figure.savefig(tmp_path / "graph.png", dpi=40)
    assert len(data_of(figure)[0]["edges"]) == count * (count - 1) // 2


def test_names_of_many_points_in_a_row_do_not_cover_each_other():
    written = [text.get_text() for text in graph(mdp.Space.line(50, mdp.metrics.absolute())).axes[0].texts]
    names = [text for text in written if text.isdigit()]
    assert names == [str(place) for place in range(0, 50, 3)]


def test_a_channel_as_rows_and_what_does_not_fit():
    space = mdp.Space.line(2, mdp.ln(2) * mdp.metrics.absolute())
    assert data_of(graph(space, channel=[["2/3", "1/3"], ["1/3", "2/3"]]))[0]["tight"] == [[0, 1], [1, 0]]
    few = mdp.Channel.from_matrix([0], "a", [[1]])
    with pytest.raises(ArgumentError, match="1 is a point of the space, but not an input"):
        graph(space, channel=few)
    for places in ({0: (0, 0)}, {0: (0, 0), 1: 5}, {0: (0, 0), 1: (1, 2, 3)}):
        with pytest.raises(ArgumentError, match="row 1: the point 1 has no two coordinates"):
            graph(space, places=places)
