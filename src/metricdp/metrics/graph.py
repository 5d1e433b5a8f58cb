"""Distances along the edges of a graph."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from metricdp.errors import ArgumentError, NotAMetricError
from metricdp.exact.arrays import Floats
from metricdp.exact.lists import as_list
from metricdp.metrics.amounts import Exact, matrix_entry
from metricdp.metrics.coordinates import frozen, label
from metricdp.metrics.enclosures import Enclosures
from metricdp.metrics.finite import Listed
from metricdp.visible import visible

__all__ = ["Graph", "graph", "graph_of"]


@dataclass(frozen=True, repr=False)
class Graph(Listed):
    """See `graph`.

    Attributes:
        nodes: the secrets.
        edges: (i, j, length) between ``nodes[i]`` and ``nodes[j]``, with i < j, in order.
    """

    nodes: tuple[Any, ...]
    edges: tuple[tuple[int, int, Fraction], ...]
    kind: ClassVar[str] = "graph_of"
    sound: ClassVar[bool] = True

    @property
    def listed(self) -> Sequence[Any]:
        """The nodes."""
        return self.nodes

    @cached_property
    def _scale(self) -> int:
        return math.lcm(*(length.denominator for _, _, length in self.edges))

    @cached_property
    def _neighbours(self) -> list[list[tuple[int, int]]]:
        neighbours: list[list[tuple[int, int]]] = [[] for _ in self.nodes]
        for i, j, length in self.edges:
            steps = int(length * self._scale)
            neighbours[i].append((j, steps))
            neighbours[j].append((i, steps))
        return neighbours

    @cached_property
    def _reached(self) -> dict[int, dict[int, int]]:
        return {}

    def _from(self, source: int) -> dict[int, int]:
        """The distance from one node to all it reaches, in integers over a common denominator (Dijkstra)."""
        if source in self._reached:
            return self._reached[source]
        distances: dict[int, int] = {}
        waiting = [(0, source)]
        while waiting:
            distance, node = heapq.heappop(waiting)
            if node not in distances:
                distances[node] = distance
                for neighbour, length in self._neighbours[node]:
                    if neighbour not in distances:
                        heapq.heappush(waiting, (distance + length, neighbour))
        self._reached[source] = distances
        return distances

    def _between(self, left: list[int], right: list[int]) -> Floats:
        return self._enclosed_between(left, right).nearest

    def _enclosed_between(self, left: list[int], right: list[int]) -> Enclosures:
        steps = [[self._from(i).get(j, -1) for j in right] for i in left]
        longest = max(max(row) for row in steps)
        return Enclosures.ratios(np.array(steps, dtype=np.int64 if longest < 1 << 62 else object), self._scale)

    def _distance(self, source: int, target: int) -> Exact:
        steps = self._from(source).get(target)
        return math.inf if steps is None else Fraction(steps, self._scale)

    def _exactly(self, x: Any, y: Any) -> Exact:
        return self._distance(self._place(x), self._place(y))

    def _formula(self) -> str:
        return f"graph({len(self.nodes)} nodes, {len(self.edges)} edges)"


def graph(network: Network | Iterable[Sequence[Any]], weight: str | None = None) -> Graph:
    """The length of the shortest path between two nodes of a network; infinite where there is none.

    Args:
        network: a networkx graph, undirected, or a list of edges: ``(a, b)`` of length 1, or ``(a, b, length)``, where
            a and b are the nodes themselves. Of parallel edges the shortest counts.
        weight: for a networkx graph the name of the edges' lengths, taken as exact rationals; every edge has length 1
            without it.

    References:
        Paper 1, Section 2 (metrics induced by a graph). Paper 4, Section 5 (social networks).

    >>> graph([("home", "park"), ("park", "office", 2.5)])("home", "office")
    3.5
    >>> import networkx
    >>> graph(networkx.cycle_graph(5))(0, 3)
    2.0
    """
    if not isinstance(network, Network):
        if weight is not None:
            raise ArgumentError("weight names the lengths in a networkx graph; edges in a list are (a, b, length)")
        return _of_edges(network)
    if network.is_directed():
        raise NotAMetricError("a directed graph gives no symmetric distance; use network.to_undirected()")
    nodes = list(network.nodes)
    places = {node: place for place, node in enumerate(nodes)}
    edges = [(places[a], places[b], _length(data, weight)) for a, b, data in network.edges(data=True)]
    return graph_of(nodes, edges)


def graph_of(nodes: Sequence[Any], edges: Iterable[Sequence[Any]]) -> Graph:
    """The length of the shortest path, from a list of nodes and edges ``(i, j, length)``: places in it, counted from 0.

    >>> graph_of(["home", "park", "office"], [(0, 1, 1), (1, 2, 2.5)])("home", "office")
    3.5
    """
    names = tuple(frozen(node) for node in as_list(nodes, "nodes"))
    if not names:
        raise ArgumentError("a graph has at least one node")
    shortest: dict[tuple[int, int], Fraction] = {}
    for edge in as_list(edges, "edges", "[(0, 1, 2.5)]"):
        i, j, length = _edge(edge)
        for end in (i, j):
            if isinstance(end, bool) or not isinstance(end, int | np.integer) or not 0 <= end < len(names):
                raise ArgumentError(
                    f"an edge of graph_of is (i, j, length) with places of nodes from 0 to {len(names) - 1}, not "
                    f"{visible(repr(edge), 60)}; graph([(a, b), ..]) takes the nodes themselves"
                )
        exact = _exact_length(length)
        if i != j and isinstance(exact, Fraction):  # an infinite edge is none
            ends = (min(int(i), int(j)), max(int(i), int(j)))
            shortest[ends] = min(exact, shortest.get(ends, exact))
    metric = Graph(names, tuple((i, j, length) for (i, j), length in sorted(shortest.items())))
    _ = metric._places
    return metric


@runtime_checkable
class Network(Protocol):
    """What is needed of a graph of networkx."""

    @property
    def nodes(self) -> Iterable[Any]:
        """The nodes."""
        ...

    @property
    def edges(self) -> Callable[..., Iterable[tuple[Any, Any, Mapping[str, Any]]]]:
        """Gives the edges with their data."""
        ...

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        ...


def _of_edges(edges: Iterable[Sequence[Any]]) -> Graph:
    try:
        listed = [_edge(edge) for edge in edges]
    except TypeError:
        raise ArgumentError(f"{_EDGES}, not {type(edges).__name__}") from None
    places: dict[Any, int] = {}
    for a, b, _ in listed:
        for node in (a, b):
            places.setdefault(label(frozen(node)), len(places))
    return graph_of(list(places), [(places[frozen(a)], places[frozen(b)], length) for a, b, length in listed])


_EDGES = "a graph is given by its edges, as in [('a', 'b'), ('b', 'c', 2.5)], or as a networkx graph"


def _edge(edge: Sequence[Any]) -> tuple[Any, Any, Any]:
    """An edge with its length, which is 1 where none is given."""
    if isinstance(edge, str) or not isinstance(edge, Sequence | np.ndarray) or len(edge) not in (2, 3):
        raise ArgumentError(f"{_EDGES}; {visible(repr(edge), 60)} is no edge")
    return edge[0], edge[1], edge[2] if len(edge) == 3 else 1


def _exact_length(length: Any) -> Exact:
    try:
        exact = matrix_entry(length)
    except (ValueError, TypeError):
        raise ArgumentError(f"the length of an edge is a number, not {visible(repr(length), 60)}") from None
    if exact != exact or exact < 0:
        raise NotAMetricError("an edge has a length that is negative or not a number")
    return exact


def _length(data: Mapping[str, Any], weight: str | None) -> Any:
    if weight is None:
        return 1
    if weight not in data:
        raise ArgumentError(f"an edge has no {weight!r}: the name of its length")
    return data[weight]
