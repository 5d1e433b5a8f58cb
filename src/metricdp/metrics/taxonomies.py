"""Distances along the edges of a tree of categories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from metricdp.errors import ArgumentError, MetricDPError, NotAMetricError
from metricdp.exact.arrays import Floats
from metricdp.exact.level import Level
from metricdp.metrics.amounts import Budget, Exact, matrix_entry
from metricdp.metrics.coordinates import frozen
from metricdp.metrics.enclosures import Enclosures
from metricdp.metrics.finite import Listed
from metricdp.metrics.trees import Hierarchy, RootedTree

__all__ = ["Taxonomy", "taxonomy"]


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
    sound: ClassVar[bool] = True
    _unit_name: ClassVar[str | None] = "steps"

    @property
    def listed(self) -> Sequence[Any]:
        """The nodes."""
        return self.nodes

    @property
    def place_words(self) -> str:
        """In the taxonomy."""
        return "in the taxonomy"

    @cached_property
    def tree(self) -> RootedTree:
        """The nodes by their places."""
        return RootedTree(self.parents, self.lengths)

    def hierarchy(self, points: Sequence[Any]) -> Hierarchy:
        """The points as nodes of the tree."""
        return Hierarchy(self.tree, tuple(self._read(points)))

    def _between(self, left: list[int], right: list[int]) -> Floats:
        return self._enclosed_between(left, right).nearest

    def _enclosed_between(self, left: list[int], right: list[int]) -> Enclosures:
        return Enclosures.ratios(self.tree.steps(left, right), self.tree.scale)

    def _exactly(self, x: Any, y: Any) -> Exact:
        steps = self.tree.step(self._place(x), self._place(y))
        return math.inf if steps < 0 else Fraction(steps, self.tree.scale)

    def farthest(self, points: Sequence[Any]) -> tuple[Any, Any]:
        """Two of the points that are as far apart as any two."""
        listed = list(points)
        one, two = self.tree.farthest(self._read(listed))
        return listed[one], listed[two]

    @cached_property
    def greatest(self) -> Budget:
        """The distance of the two nodes that are farthest apart; infinite where there are several trees."""
        longest = self._exactly(*self.farthest(self.nodes))
        return Level(longest) if isinstance(longest, Fraction) and longest > 0 else math.inf

    def _formula(self) -> str:
        return f"taxonomy({len(self.nodes)} nodes)"

    def _arguments(self) -> dict[str, Any]:
        edges = [(node, parent) for node, parent in enumerate(self.parents) if parent >= 0]
        arguments: dict[str, Any] = {"parents": {self.nodes[node]: self.nodes[parent] for node, parent in edges}}
        if any(self.lengths[node] != 1 for node, _ in edges):
            arguments["lengths"] = {self.nodes[node]: self.lengths[node] for node, _ in edges}
        return arguments


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
    try:
        parents = {frozen(child): frozen(parent) for child, parent in dict(parents).items()}
        _ = {*parents.values()}  # whether they can be nodes at all
    except (TypeError, ValueError) as error:
        if isinstance(error, MetricDPError):
            raise
        raise ArgumentError("a taxonomy is a mapping from each child to its parent") from None
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
        raise ArgumentError("a taxonomy has at least one edge")
    nodes = sorted(depths, key=depths.__getitem__)
    places = {node: place for place, node in enumerate(nodes)}
    given = {frozen(child): length for child, length in lengths.items()} if isinstance(lengths, Mapping) else lengths
    return Taxonomy(
        tuple(nodes),
        tuple(places[parents[node]] if node in parents else -1 for node in nodes),
        tuple(_edge_length(given, node, depths[node]) if node in parents else Fraction(0) for node in nodes),
    )


def _edge_length(lengths: Sequence[Any] | Mapping[Any, Any] | None, child: Any, depth: int) -> Fraction:
    if lengths is None:
        return Fraction(1)
    try:
        length = matrix_entry(lengths[child if isinstance(lengths, Mapping) else depth - 1])
    except (IndexError, KeyError):
        raise ArgumentError("every edge of a taxonomy has a length") from None
    if not isinstance(length, Fraction) or length < 0:
        raise NotAMetricError("an edge has a length that is negative or not finite")
    return length
