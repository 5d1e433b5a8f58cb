"""Rooted trees, and secrets that are nodes of one: all distances from a number for each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.level import Level
from metricdp.metrics.amounts import Budget

__all__ = ["Hierarchy", "RootedTree"]

Nodes = NDArray[np.int64]

_LONG = 1 << 60
_ONE = Level(Fraction(1))


@dataclass(frozen=True)
class RootedTree:
    """One rooted tree or several.

    Attributes:
        parents: for each node the place of its parent, which comes before it, or -1 for a root.
        lengths: for each node the length of the edge to its parent.
    """

    parents: tuple[int, ...]
    lengths: tuple[Fraction, ...]

    @cached_property
    def scale(self) -> int:
        """The common denominator of the lengths."""
        return lcm(*{length.denominator for length in self.lengths})

    @cached_property
    def depths(self) -> list[int]:
        """For each node its distance from the root, times `scale`."""
        depths: list[int] = []
        scale = self.scale
        for parent, length in zip(self.parents, self.lengths, strict=True):
            step = length.numerator * (scale // length.denominator)
            depths.append(depths[parent] + step if parent >= 0 else 0)
        return depths

    @cached_property
    def children(self) -> list[list[int]]:
        """For each node its children."""
        children: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(node)
        return children

    @cached_property
    def _order(self) -> tuple[Nodes, Nodes]:
        """The nodes from the left to the right of the picture, each before what is below it, and where each stands."""
        order: list[int] = []
        waiting = [node for node, parent in enumerate(self.parents) if parent < 0][::-1]
        while waiting:
            node = waiting.pop()
            order.append(node)
            waiting.extend(reversed(self.children[node]))
        nodes = np.array(order, dtype=np.int64)
        positions = np.empty_like(nodes)
        positions[nodes] = np.arange(len(nodes))
        return nodes, positions

    @cached_property
    def _least_parents(self) -> Nodes:
        """For k = 0, 1, ..: at each position, the first position among the parents of the 2^k nodes from there on."""
        nodes, positions = self._order
        parents = np.array(self.parents, dtype=np.int64)[nodes]
        tables = [np.where(parents >= 0, positions[parents], -1)]
        width = 1
        while 2 * width <= len(nodes):
            last = tables[-1]
            shifted = np.concatenate([last[width:], last[:width]])  # what is beyond the end is never asked for
            tables.append(np.minimum(last, shifted))
            width *= 2
        return np.stack(tables)

    def shared(self, left: Nodes, right: Nodes) -> Nodes:
        """For all pairs of nodes their lowest common ancestor; -1 where they have none.

        Of the nodes after the first of the two and up to the second, in order, it is the first among their parents.
        """
        nodes, positions = self._order
        one, two = positions[left][:, None], positions[right][None, :]
        first, last = np.minimum(one, two) + 1, np.maximum(one, two)
        power = np.frexp(np.maximum(last - first + 1, 1))[1].astype(np.int64) - 1
        table, size = self._least_parents.ravel(), len(nodes)
        beginning = power * size
        found = np.minimum(
            table[beginning + np.minimum(first, size - 1)], table[beginning + last - (np.int64(1) << power) + 1]
        )
        found = np.where(one == two, one, found)
        return np.where(found >= 0, nodes[found], -1)

    def steps(self, left: Sequence[int], right: Sequence[int]) -> NDArray[Any]:
        """The distances between all pairs of nodes, times `scale`, exactly; -1 where there is no way."""
        ones, others = np.array(left, dtype=np.int64), np.array(right, dtype=np.int64)
        shared, depths = self.shared(ones, others), self._depths
        apart = np.add.outer(depths[ones], depths[others]) - 2 * depths[shared]
        return np.where(shared >= 0, apart, -1)

    def step(self, one: int, other: int) -> int:
        """The same for one pair."""
        here, there = one, other
        while here != there:  # the later of the two is not above the other
            if here > there:
                here = self.parents[here]
            else:
                there = self.parents[there]
            if here < 0 or there < 0:
                return -1
        return self.depths[one] + self.depths[other] - 2 * self.depths[here]

    @cached_property
    def _depths(self) -> NDArray[Any]:
        return np.array(self.depths, dtype=np.int64 if max(self.depths) < _LONG else object)

    def farthest(self, places: Sequence[int]) -> tuple[int, int]:
        """Two of these nodes, by their numbers in the list, with no two farther apart: from one end to the other."""
        start = 0
        for _ in range(2):
            apart = self.steps([places[start]], places)[0]
            beyond = np.flatnonzero(apart < 0)
            if len(beyond):
                return start, int(beyond[0])
            last, start = start, int(np.argmax(apart))
        return min(start, last), max(start, last)


@dataclass(frozen=True)
class Hierarchy:
    """Secrets that are nodes of a tree, some perhaps absent, at distances of ``level`` times the way along the edges.

    Attributes:
        tree: the tree.
        places: for each secret its node; -1 for None.
        level: the number before the distances.
        null_distance: how far None is from every node; None where no secret is absent.
    """

    tree: RootedTree
    places: tuple[int, ...]
    level: Level = _ONE
    null_distance: Budget | None = None

    def scaled(self, level: Level) -> Hierarchy:
        """The same with another number before it."""
        return replace(self, level=self.level * level)

    def with_null(self, absent: Sequence[bool], distance: Budget) -> Hierarchy:
        """The same among secrets of which some are absent."""
        places = iter(self.places)
        return replace(
            self,
            places=tuple(-1 if is_absent else next(places) for is_absent in absent),
            null_distance=distance if any(absent) else None,
        )
