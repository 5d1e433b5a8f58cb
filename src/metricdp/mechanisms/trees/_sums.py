"""Sums of ``exp(-s d)`` over the secrets of a tree, in two passes, and the proof of the share s.

Along the edges these factors multiply, so the sums over what is below a node, and over what is not, follow from those
of its neighbours: all of them cost as much as the tree has edges, whatever its shape.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball, precision
from metricdp.exact.refine import Integers
from metricdp.metrics.amounts import exact_ball
from metricdp.metrics.trees import Hierarchy

__all__ = ["BITS", "Sums", "TreeSums"]

BITS = 96
_GUESSED = 1e-9


@dataclass(frozen=True)
class Sums:
    """Sums of ``exp(-s d)`` at one precision.

    Attributes:
        depths: for each node, s times its distance from the root.
        below: the sum over the secrets below it and itself, as seen from it.
        outside: the sum over all others of its tree.
        upto: for each item, the sum of it and the items before it, as seen from their node.
        since: for each item, the sum of it and the items after it.
        null: the weight of None, as seen from a node; None where it is no secret.
    """

    depths: list[arb]
    below: list[arb]
    outside: list[arb]
    upto: list[arb]
    since: list[arb]
    null: arb | None

    def total(self, node: int) -> arb:
        """The sum over all secrets of its tree, as seen from a node."""
        return self.below[node] + self.outside[node]


class TreeSums:
    """The exponential mechanism with a share s, on secrets that are nodes of a tree.

    The items of a node are the node itself, if it is a secret, and those children that have secrets below them. They
    are listed node by node, each with where it leads: to a child, or nowhere.

    Attributes:
        hierarchy: the secrets and the tree.
        share: s.
    """

    def __init__(self, hierarchy: Hierarchy, share: Fraction) -> None:
        self.hierarchy, self.share = hierarchy, share
        tree = hierarchy.tree
        count = len(tree.parents)
        self.parents = list(tree.parents)
        self.secret: list[int] = [-1] * count  # which secret a node is
        self.null = -1
        for secret, node in enumerate(hierarchy.places):
            if node < 0:
                self.null = secret
            else:
                self.secret[node] = secret
        size = [int(secret >= 0) for secret in self.secret]
        for node in range(count - 1, -1, -1):
            if self.parents[node] >= 0:
                size[self.parents[node]] += size[node]
        self.size = size
        self.starts, self.items = [0], []
        self.item_of = [-1] * count
        for node in range(count):
            if self.secret[node] >= 0:
                self.items.append(-1)
            for child in tree.children[node]:
                if size[child]:
                    self.item_of[child] = len(self.items)
                    self.items.append(child)
            self.starts.append(len(self.items))
        self._balls: dict[int, Sums] = {}

    # Sums

    def sums(self, bits: int) -> Sums:
        """The sums at a precision, which the caller has set; kept, for refinement asks again."""
        if bits not in self._balls:
            self._balls[bits] = self._summed()
        return self._balls[bits]

    def _summed(self) -> Sums:
        tree, count = self.hierarchy.tree, len(self.parents)
        rate = ball(self.share) * self.hierarchy.level.ball()
        per_step = rate / ball(tree.scale)
        falls: dict[Fraction, arb] = {}
        for length in tree.lengths:
            if length not in falls:
                falls[length] = (-rate * ball(length)).exp()
        fall = [falls[length] for length in tree.lengths]
        below = [arb(int(secret >= 0)) for secret in self.secret]
        for node in range(count - 1, -1, -1):
            if self.parents[node] >= 0 and self.size[node]:
                below[self.parents[node]] += fall[node] * below[node]
        masses = [arb(1)] * len(self.items)
        for place, child in enumerate(self.items):
            if child >= 0:
                masses[place] = fall[child] * below[child]
        upto, since = list(masses), list(masses)
        outside = [arb(0)] * count
        for node in range(count):
            start, stop = self.starts[node], self.starts[node + 1]
            for place in range(start + 1, stop):
                upto[place] = upto[place - 1] + masses[place]
            for place in range(stop - 2, start - 1, -1):
                since[place] = since[place + 1] + masses[place]
            for place in range(start, stop):
                child = self.items[place]
                if child >= 0:
                    rest = outside[node]
                    if place > start:
                        rest = rest + upto[place - 1]
                    if place + 1 < stop:
                        rest = rest + since[place + 1]
                    outside[child] = fall[child] * rest
        null = self.hierarchy.null_distance
        weight = None if null is None else _exp(-rate * exact_ball(null))
        return Sums([per_step * ball(depth) for depth in tree.depths], below, outside, upto, since, weight)

    def with_share(self, share: Fraction) -> TreeSums:
        """The same tree with another share."""
        other = copy.copy(self)
        other.share, other._balls = share, {}
        return other

    # The proof of the share

    def plausible(self) -> bool:
        """What `proved` decides, guessed in floats: a hopeless share costs no balls, a wrong guess only utility."""
        tree, parents = self.hierarchy.tree, self.parents
        level, share = float(self.hierarchy.level), float(self.share)
        null = math.inf if self.hierarchy.null_distance is None else float(self.hierarchy.null_distance)
        try:
            lengths = [level * float(length) for length in tree.lengths]
        except OverflowError:
            return True
        below = [float(secret >= 0) for secret in self.secret]
        fall = [math.exp(-share * length) for length in lengths]
        for node in range(len(parents) - 1, -1, -1):
            if parents[node] >= 0:
                below[parents[node]] += fall[node] * below[node]
        total, beside = list(below), math.exp(-share * level * null)
        most, least = [-math.inf] * len(parents), [-math.inf] * len(parents)
        for node, parent in enumerate(parents):
            if parent >= 0:
                total[node] += fall[node] * (total[parent] - fall[node] * below[node])
        for node in range(len(parents) - 1, -1, -1):
            if self.secret[node] >= 0:
                constant = math.log(max(total[node] + beside, 1.0))
                most[node], least[node] = max(most[node], constant), max(least[node], -constant)
            if most[node] + least[node] > _GUESSED:
                return False
            if parents[node] >= 0:
                step, parent = (1 - share) * lengths[node], parents[node]
                most[parent] = max(most[parent], most[node] - step)
                least[parent] = max(least[parent], least[node] - step)
        return True

    def proved(self) -> bool:
        """Whether ``(1 - s) d(x, x') >= |ln C(x) - ln C(x')|`` for all secrets, by balls.

        C(x) is the sum over all secrets as seen from x. For every node, the greatest ``± ln C(x) - (1 - s) d(x, node)``
        of the secrets x below it are carried upward, and two that meet there from different sides add up to at most 0.
        """
        with precision(BITS):
            sums = self.sums(BITS)
            nodes = [node for node, secret in enumerate(self.secret) if secret >= 0]
            extra = arb(0) if sums.null is None else sums.null
            logs = {node: (sums.total(node) + extra).log() for node in nodes}
            slack = ball(1 - self.share) * self.hierarchy.level.ball()
            if not self._met(slack, logs):
                return False
            if sums.null is None:
                return True
            null = (1 + sums.null * len(nodes)).log()
            room = slack * exact_ball(self.hierarchy.null_distance or math.inf)
            return all(room >= abs(log - null) for log in logs.values())

    def _met(self, slack: arb, logs: dict[int, arb]) -> bool:
        count, lengths = len(self.parents), self.hierarchy.tree.lengths
        steps = {length: slack * ball(length) for length in set(lengths)}
        first = list(range(count))  # of the nodes at distance zero from one another, whose sums are the same
        for node, parent in enumerate(self.parents):
            if parent >= 0 and not lengths[node]:
                first[node] = first[parent]
        logs = {first[node]: log for node, log in logs.items()}
        rising: list[list[arb]] = [[] for _ in range(count)]  # for each node, of each of its items
        falling: list[list[arb]] = [[] for _ in range(count)]
        for node in range(count - 1, -1, -1):
            if not self.size[node] or first[node] != node:
                continue
            if node in logs:
                rising[node].append(logs[node].upper())
                falling[node].append((-logs[node]).upper())
            if not _pairs_below_zero(rising[node], falling[node]):
                return False
            if self.parents[node] >= 0:
                parent = first[self.parents[node]]
                step = steps[lengths[node]]
                rising[parent].append((max(rising[node]) - step).upper())
                falling[parent].append((max(falling[node]) - step).upper())
            rising[node] = falling[node] = []
        return True

    @cached_property
    def nodes(self) -> Integers:
        """For each secret its node; -1 for None."""
        return np.array(self.hierarchy.places, dtype=np.int64)

    @cached_property
    def constants(self) -> Floats:
        """For each secret the sum of ``exp(-s d)`` over all secrets, as a float."""
        with precision(BITS):
            return np.array([float(self.constant(node)) for node in self.hierarchy.places])

    def constant(self, node: int) -> arb:
        """The same for the secret at a node, or at -1 for None, as a ball."""
        sums = self.sums(BITS)
        if node < 0:
            assert sums.null is not None
            return 1 + sums.null * (len(self.hierarchy.places) - 1)
        return sums.total(node) + (sums.null or arb(0))


def _pairs_below_zero(rising: Sequence[arb], falling: Sequence[arb]) -> bool:
    """Whether no number of the first list and one of the second, at different places, add up to more than zero."""
    if len(rising) < 2:
        return True
    order, others = (sorted(range(len(rising)), key=values.__getitem__)[-2:] for values in (rising, falling))
    return all(rising[i] + falling[j] <= 0 for i, j in itertools.product(order, others) if i != j)


def _exp(exponent: arb) -> arb:
    return exponent.exp() if exponent.is_finite() else arb(0)
