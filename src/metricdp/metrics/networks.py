"""Distances along the edges of a graph or a tree."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from metricdp.errors import KindError, NotAMetricError, ShapeError
from metricdp.metrics.amounts import Exact, matrix_entry
from metricdp.metrics.coordinates import Floats, frozen
from metricdp.metrics.finite import Listed

__all__ = ["Graph", "Taxonomy", "graph", "graph_of", "taxonomy"]


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
        return np.array([[float(self._distance(i, j)) for j in right] for i in left])

    def _distance(self, source: int, target: int) -> Exact:
        steps = self._from(source).get(target)
        return math.inf if steps is None else Fraction(steps, self._scale)

    def _exactly(self, x: Any, y: Any) -> Exact:
        return self._distance(self._place(x), self._place(y))

    def _formula(self) -> str:
        return f"graph({len(self.nodes)} nodes, {len(self.edges)} edges)"


@dataclass(frozen=True, repr=False)
class Taxonomy(Listed):
    """See `taxonomy`.

    Attributes:
        nodes: all nodes, parents before their children.
        parents: for each node the place of its parent, or -1 for a root.
        lengths: for each node the length of the edge to its parent.
    """

    nodes: tuple[Any, ...]
    parents: tuple[int, ...]
    lengths: tuple[Fraction, ...]
    kind: ClassVar[str] = "taxonomy"
    rounds_closely: ClassVar[bool] = False  # depths are subtracted from one another
    sound: ClassVar[bool] = True

    @property
    def listed(self) -> Sequence[Any]:
        """The nodes."""
        return self.nodes

    @cached_property
    def _lines(self) -> list[tuple[int, ...]]:
        """For each node, its line of ancestors from the root down to itself."""
        lines: list[tuple[int, ...]] = []
        for node, parent in enumerate(self.parents):
            lines.append((*lines[parent], node) if parent >= 0 else (node,))
        return lines

    @cached_property
    def _depths(self) -> list[Fraction]:
        """For each node, its distance from the root."""
        depths: list[Fraction] = []
        for parent, length in zip(self.parents, self.lengths, strict=True):
            depths.append(depths[parent] + length if parent >= 0 else Fraction(0))
        return depths

    def _between(self, left: list[int], right: list[int]) -> Floats:
        longest = max(map(len, self._lines))
        padded = np.array([line + (-1 - node,) * (longest - len(line)) for node, line in enumerate(self._lines)])
        depths = np.array([float(depth) for depth in self._depths])
        shared = np.full((len(left), len(right)), -1)
        for level in range(longest):
            ancestors, others = padded[left, level], padded[right, level]
            same = np.equal.outer(ancestors, others) & (ancestors >= 0)[:, None]
            shared = np.where(same, ancestors[:, None], shared)
        total = np.add.outer(depths[left], depths[right])
        distances = np.where(shared >= 0, total - 2 * depths[shared], math.inf)
        return np.where(np.equal.outer(left, right), 0.0, distances)

    def _exactly(self, x: Any, y: Any) -> Exact:
        left, right = self._place(x), self._place(y)
        shared = [a for a, b in zip(self._lines[left], self._lines[right], strict=False) if a == b]
        if not shared:
            return math.inf
        return self._depths[left] + self._depths[right] - 2 * self._depths[shared[-1]]

    def _formula(self) -> str:
        return f"taxonomy({len(self.nodes)} nodes)"

    def _arguments(self) -> dict[str, Any]:
        edges = [(node, parent) for node, parent in enumerate(self.parents) if parent >= 0]
        arguments: dict[str, Any] = {"parents": {self.nodes[node]: self.nodes[parent] for node, parent in edges}}
        if any(self.lengths[node] != 1 for node, _ in edges):
            arguments["lengths"] = {self.nodes[node]: self.lengths[node] for node, _ in edges}
        return arguments


def graph(network: Any, weight: str | None = None) -> Graph:
    """The length of the shortest path between two nodes of a network; infinite where there is none.

    Args:
        network: a networkx graph, undirected; of parallel edges the shortest counts.
        weight: the name of the edges' lengths, taken as exact rationals; every edge has length 1 without it.

    References:
        Paper 1, Section 2 (metrics induced by a graph). Paper 4, Section 5 (social networks).

    >>> import networkx
    >>> graph(networkx.cycle_graph(5))(0, 3)
    2.0
    """
    if network.is_directed():
        raise NotAMetricError("a directed graph gives no symmetric distance; use network.to_undirected()")
    nodes = list(network.nodes)
    places = {node: place for place, node in enumerate(nodes)}
    edges = [(places[a], places[b], _length(data, weight)) for a, b, data in network.edges(data=True)]
    return graph_of(nodes, edges)


def graph_of(nodes: Sequence[Any], edges: Sequence[tuple[int, int, Any]]) -> Graph:
    """The same from a list of nodes and of edges (i, j, length) between their places."""
    if not nodes:
        raise ShapeError("a graph has at least one node")
    shortest: dict[tuple[int, int], Fraction] = {}
    for i, j, length in edges:
        exact = matrix_entry(length)
        if exact != exact or exact < 0:
            raise NotAMetricError("an edge has a length that is negative or not a number")
        if i != j and isinstance(exact, Fraction):  # an infinite edge is none
            ends = (min(i, j), max(i, j))
            shortest[ends] = min(exact, shortest.get(ends, exact))
    metric = Graph(tuple(map(frozen, nodes)), tuple((i, j, length) for (i, j), length in sorted(shortest.items())))
    _ = metric._places
    return metric


def taxonomy(parents: Mapping[Any, Any], lengths: Sequence[Any] | Mapping[Any, Any] | None = None) -> Taxonomy:
    """The length of the way from one node of a tree up to the lowest common ancestor and down to the other.

    Args:
        parents: for each child its parent. Leaves and inner nodes are secrets alike; several trees are infinitely far
            apart.
        lengths: of the edges, by level (the first below the roots first) or by child; 1 without it.

    >>> d = taxonomy({"flu": "lungs", "asthma": "lungs", "gout": "joints", "lungs": "disease", "joints": "disease"})
    >>> d("flu", "asthma"), d("flu", "gout"), d("flu", "lungs")
    (2.0, 4.0, 1.0)
    """
    parents = {frozen(child): frozen(parent) for child, parent in dict(parents).items()}
    depths: dict[Any, int] = {}
    for node in dict.fromkeys([*parents.values(), *parents]):
        line = [node]
        while line[-1] in parents and line[-1] not in depths:
            if len(line) > len(parents):
                raise NotAMetricError("a node is its own ancestor")
            line.append(parents[line[-1]])
        top = depths.setdefault(line[-1], 0)
        depths |= {ancestor: top + step for step, ancestor in enumerate(reversed(line))}
    if not depths:
        raise ShapeError("a taxonomy has at least one edge")
    nodes = sorted(depths, key=depths.__getitem__)
    places = {node: place for place, node in enumerate(nodes)}
    return Taxonomy(
        tuple(nodes),
        tuple(places[parents[node]] if node in parents else -1 for node in nodes),
        tuple(_edge_length(lengths, node, depths[node]) if node in parents else Fraction(0) for node in nodes),
    )


def _edge_length(lengths: Sequence[Any] | Mapping[Any, Any] | None, child: Any, depth: int) -> Fraction:
    if lengths is None:
        return Fraction(1)
    by_child = dict(lengths) if isinstance(lengths, Mapping) else None
    try:
        length = matrix_entry(lengths[depth - 1] if by_child is None else by_child[child])
    except (IndexError, KeyError):
        raise ShapeError("every edge of a taxonomy has a length") from None
    if not isinstance(length, Fraction) or length < 0:
        raise NotAMetricError("an edge has a length that is negative or not finite")
    return length


def _length(data: Mapping[str, Any], weight: str | None) -> Any:
    if weight is None:
        return 1
    if weight not in data:
        raise KindError(f"an edge has no {weight!r}")
    return data[weight]
