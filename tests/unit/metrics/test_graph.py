import math
from fractions import Fraction

import networkx
import pytest

from metricdp.errors import ArgumentError, NotAMetricError, UnknownCategoryError
from metricdp.metrics import graph, graph_of, taxonomy


def test_paths_and_islands():
    network = networkx.path_graph(4)
    network.add_node("island")
    d = graph(network)
    assert d(0, 3) == 3
    assert d(0, "island") == math.inf
    assert d("island", "island") == 0
    with pytest.raises(UnknownCategoryError):
        d(0, 99)


def test_weights_are_exact():
    network = networkx.Graph()
    network.add_edge("a", "b", km=0.1)
    network.add_edge("b", "c", km=0.2)
    network.add_edge("a", "c", km=math.inf)
    d = graph(network, weight="km")
    assert d.exactly("a", "c") == Fraction(0.1) + Fraction(0.2) != Fraction(0.1 + 0.2)
    assert d.edges == ((0, 1, Fraction(0.1)), (1, 2, Fraction(0.2)))


def test_the_shortest_of_parallel_edges_counts_and_loops_do_not():
    network = networkx.MultiGraph()
    network.add_edge("a", "b", km=5)
    network.add_edge("b", "a", km=3)
    network.add_edge("a", "a", km=7)
    assert graph(network, "km").exactly("a", "b") == 3
    assert graph(network, "km").exactly("a", "a") == 0


def test_what_is_no_graph_of_ours():
    with pytest.raises(NotAMetricError, match="directed"):
        graph(networkx.DiGraph([(1, 2)]))
    with pytest.raises(ArgumentError):
        graph(networkx.Graph())
    with pytest.raises(ArgumentError, match="km"):
        graph(networkx.path_graph(2), weight="km")
    for length in (-1, math.nan, -math.inf):
        with pytest.raises(NotAMetricError):
            graph_of("ab", [(0, 1, length)])


def test_taxonomy():
    parents = {"flu": "lungs", "asthma": "lungs", "gout": "joints", "lungs": "disease", "joints": "disease"}
    d = taxonomy(parents, lengths=[10, 1])
    assert d("flu", "asthma") == 2
    assert d("flu", "gout") == 22
    assert d("flu", "disease") == 11
    assert d("lungs", "joints") == 20
    assert d.pairwise(["flu", "gout"], ["asthma", "disease"]).tolist() == [[2, 11], [22, 11]]
    assert taxonomy(parents, dict.fromkeys(parents, 1)) == taxonomy(parents)


def test_several_trees():
    d = taxonomy({"a": "root", "b": "other"})
    assert d("a", "b") == d.exactly("a", "b") == math.inf
    assert d("a", "root") == 1


def test_what_is_no_taxonomy():
    with pytest.raises(NotAMetricError, match="ancestor"):
        taxonomy({"a": "b", "b": "c", "c": "a"})
    with pytest.raises(ArgumentError):
        taxonomy({})
    with pytest.raises(ArgumentError):
        taxonomy({"a": "b", "b": "c"}, lengths=[1])
    with pytest.raises(ArgumentError):
        taxonomy({"a": "b", "b": "c"}, lengths={"a": 1})
    for length in (-1, math.inf, math.nan):
        with pytest.raises(NotAMetricError):
            taxonomy({"a": "b"}, lengths=[length])
