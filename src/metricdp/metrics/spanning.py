"""A network's shortest tree as a metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.metrics.coordinates import frozen
from metricdp.metrics.graph import Graph, graph

__all__ = ["spanning_tree"]


def spanning_tree(edges: Iterable[Sequence[Any]], sensitivity: Mapping[Any, Any] | None = None) -> Graph:
    """The lengths of paths in a minimum spanning tree of a network.

    Of all trees on the network's edges it is one of the least total length (Kruskal); between two nodes there is one
    path, so that people farther apart in the tree may be told apart better. Distances are never below those of
    `metricdp.metrics.graph`: the promise is weaker than with all edges, and there is less noise.

    Args:
        edges: ``(a, b)`` of length 1, or ``(a, b, length)``; the first of equally short ones is taken.
        sensitivity: for some nodes, a factor of (0, 1] by which their edges are shortened: it protects them more.

    Raises:
        ArgumentError: no edge, or a factor that is not in (0, 1].

    References:
        Paper 4, Section 5 (privacy in social networks).

    >>> friends = [("ann", "bob"), ("bob", "cid"), ("cid", "ann", 3)]
    >>> spanning_tree(friends)("ann", "cid")
    2.0
    >>> spanning_tree(friends, {"bob": "1/2"})("ann", "cid")
    1.0
    """
    whole = graph(edges)
    if not whole.edges:
        raise ArgumentError("a spanning tree is made of the edges of a network, and there are none")
    factors = {frozen(node): _factor(value) for node, value in (sensitivity or {}).items()}
    unknown = set(factors) - set(whole.nodes)
    if unknown:
        raise ArgumentError(f"{sorted(map(repr, unknown))[0]} is no node of the network")
    lengths = [
        (length * factors.get(whole.nodes[i], Fraction(1)) * factors.get(whole.nodes[j], Fraction(1)), place, i, j)
        for place, (i, j, length) in enumerate(whole.edges)
    ]
    root = list(range(len(whole.nodes)))

    def top(node: int) -> int:
        while root[node] != node:
            root[node] = node = root[root[node]]
        return node

    kept = []
    for length, _, i, j in sorted(lengths):
        if top(i) != top(j):
            root[top(i)] = top(j)
            kept.append((whole.nodes[i], whole.nodes[j], length))
    return graph(kept)


def _factor(value: Any) -> Fraction:
    try:
        factor = Fraction(value)
    except (ValueError, TypeError):
        raise ArgumentError("a sensitivity is a number of (0, 1]") from None
    if not 0 < factor <= 1:
        raise ArgumentError("a sensitivity is a number of (0, 1]: 1 for nodes that need no more than others")
    return factor
