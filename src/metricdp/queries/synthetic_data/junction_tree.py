"""Junction trees: distributions over many attributes by tables of a few, and messages between the tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from metricdp.errors import TooLargeError
from metricdp.exact.arrays import Floats

__all__ = ["JunctionTree", "TreeNode"]

_MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class TreeNode:
    """One table of a junction tree.

    Attributes:
        attributes: their places, in order.
        parent: the place of the table that it hangs on; None for a root.
        shared: the attributes that both have.
    """

    attributes: tuple[int, ...]
    parent: int | None
    shared: tuple[int, ...]


class JunctionTree:
    """Tables such that every given set of attributes is in one, in trees along which each attribute is connected.

    A distribution ``p(x) ~ exp(sum over tables of theta_C(x_C))`` then has marginals that messages between neighbours
    give: tables are as large as they have to be, and the product of all attributes is never written down.

    Args:
        shape: the number of cells of each attribute.
        sets: of attributes, by their places.

    >>> tree = JunctionTree((2, 3, 4), [(0, 1), (1, 2)])
    >>> [node.attributes for node in tree.nodes], tree.nodes[1].shared
    ([(0, 1), (1, 2)], (1,))
    """

    def __init__(self, shape: Sequence[int], sets: Iterable[tuple[int, ...]]) -> None:
        self.shape = tuple(shape)
        self.nodes = _hung(_cliques(self.shape, [tuple(sorted(one)) for one in sets]))
        cells = sum(math.prod(self.shape[axis] for axis in node.attributes) for node in self.nodes)
        if cells > _MOST_CELLS:
            raise TooLargeError(
                f"these marginals together need tables of {cells:,} cells, and {_MOST_CELLS:,} is the most: ask for "
                "fewer of them (marginals = 1, or a list), for fewer columns, or declare wider cells"
            )

    def home(self, chosen: Sequence[int]) -> int:
        """The smallest table that has all of these attributes."""
        fits = [place for place, node in enumerate(self.nodes) if set(chosen) <= set(node.attributes)]
        return min(fits, key=lambda place: math.prod(self.shape[axis] for axis in self.nodes[place].attributes))

    def zeros(self) -> list[Floats]:
        """A table of zeros for each node."""
        return [np.zeros([self.shape[axis] for axis in node.attributes]) for node in self.nodes]

    def marginals(self, potentials: Sequence[Floats]) -> list[Floats]:
        """The distribution of each table's attributes, from the logarithms of factors: messages up, and then down."""
        if len(self.nodes) == 1:
            return [_normal(potentials[0])]
        gathered = [table.copy() for table in potentials]
        sent: dict[int, Floats] = {}
        for place in reversed(range(len(self.nodes))):  # a node stands after the one it hangs on
            node = self.nodes[place]
            if node.parent is not None:
                sent[place] = _log_sum(gathered[place], node.attributes, node.shared)
                gathered[node.parent] += _spread(sent[place], node.shared, self.nodes[node.parent].attributes)
        for place, node in enumerate(self.nodes):
            if node.parent is not None:
                above = _log_sum(gathered[node.parent], self.nodes[node.parent].attributes, node.shared)
                gathered[place] += _spread(above - sent[place], node.shared, node.attributes)
        return [_normal(table) for table in gathered]

    def of_set(self, tables: Sequence[Floats], chosen: Sequence[int]) -> Floats:
        """The sum of the tables' numbers over all attributes but these, which one of them has."""
        place = self.home(chosen)
        attributes = self.nodes[place].attributes
        away = tuple(axis for axis, attribute in enumerate(attributes) if attribute not in chosen)
        return np.asarray(tables[place].sum(axis=away))


def _normal(logs: Floats) -> Floats:
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())


def _log_sum(logs: Floats, attributes: Sequence[int], kept: Sequence[int]) -> Floats:
    """The logarithms of the sums over all attributes but those that are kept."""
    away = tuple(axis for axis, attribute in enumerate(attributes) if attribute not in kept)
    most = logs.max(axis=away, keepdims=True)
    return np.asarray(
        np.log(np.exp(logs - most).sum(axis=away)) + most.reshape([logs.shape[attributes.index(k)] for k in kept])
    )


def _spread(table: Floats, attributes: Sequence[int], onto: Sequence[int]) -> Floats:
    """A table with an axis for each of more attributes, of length 1 where it has none of its own."""
    shape = [table.shape[list(attributes).index(attribute)] if attribute in attributes else 1 for attribute in onto]
    return table.reshape(shape)


def _cliques(shape: Sequence[int], sets: list[tuple[int, ...]]) -> list[set[int]]:
    """The largest sets of a chordal graph that has all given sets, by elimination of what adds the fewest cells."""
    near: dict[int, set[int]] = {axis: set() for one in sets for axis in one}
    for one in sets:
        for i, j in itertools.permutations(one, 2):
            near[i].add(j)
    found: list[set[int]] = []
    while near:
        axis = min(near, key=lambda one: (math.prod(shape[other] for other in near[one] | {one}), one))
        clique = near.pop(axis) | {axis}
        if not any(clique <= other for other in found):
            found.append(clique)
        for other in clique - {axis}:
            near[other] |= clique - {other}
            near[other].discard(axis)
    return found


def _hung(cliques: list[set[int]]) -> tuple[TreeNode, ...]:
    """The cliques in trees with the most shared attributes, each after the one it hangs on."""
    left = sorted(range(len(cliques)), key=lambda place: sorted(cliques[place]))
    order: list[int] = []
    nodes: list[TreeNode] = []
    while left:
        best = max(
            ((len(cliques[one] & cliques[other]), -number, one, at) for number, one in enumerate(left)
             for at, other in enumerate(order)),
            default=(0, 0, left[0], -1),
        )  # fmt: skip
        shared, _, place, at = best
        if not shared:
            place, at = left[0], -1
        left.remove(place)
        joined = tuple(sorted(cliques[place] & cliques[order[at]])) if at >= 0 else ()
        nodes.append(TreeNode(tuple(sorted(cliques[place])), at if at >= 0 else None, joined))
        order.append(place)
    return tuple(nodes)
