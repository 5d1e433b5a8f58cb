"""Spanning trees, beside networkx."""

import networkx as nx
import pytest

from metricdp.errors import ArgumentError
from metricdp.metrics import graph, spanning_tree


@pytest.mark.parametrize("seed", range(5))
def test_the_least_tree_is_networkx_s(seed):
    network = nx.gnm_random_graph(12, 30, seed=seed)
    edges = [(a, b, 1 + (a * 7 + b * 13 + seed) % 11) for a, b in network.edges]
    weighted = nx.Graph()
    weighted.add_weighted_edges_from(edges)
    ours = spanning_tree(edges)
    assert sum(length for *_, length in ours.edges) == sum(
        data["weight"] for *_, data in nx.minimum_spanning_tree(weighted).edges(data=True)
    )
    whole = graph(edges)
    nodes = list(weighted)
    assert all(ours(a, b) >= whole(a, b) for a in nodes for b in nodes)


def test_sensitive_nodes_and_mistakes():
    assert spanning_tree([("a", "b", 4)], {"a": "1/4"})("a", "b") == 1
    with pytest.raises(ArgumentError, match="no node"):
        spanning_tree([("a", "b")], {"c": 1})
    for wrong in (0, 2, "x"):
        with pytest.raises(ArgumentError, match=r"\(0, 1\]"):
            spanning_tree([("a", "b")], {"a": wrong})
    with pytest.raises(ArgumentError):
        spanning_tree([])
