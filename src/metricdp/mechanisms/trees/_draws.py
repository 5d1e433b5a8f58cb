"""Draws of the exponential mechanism on a tree, which walk along it.

A draw climbs from the secret x to the lowest common ancestor of x and what is drawn, and descends from there. How far
it climbs, and how far it follows a path downward, is found by bisection in numbers that are ordered along the way, in
logarithms of floats with a rigorous error; where that leaves a choice open, it is made with more bits of the same
uniform, in balls. So a draw takes few steps whatever the shape of the tree, and is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats
from metricdp.exact.assumed import ERROR, trusted
from metricdp.exact.balls import precision
from metricdp.exact.bits import Source, Words, source
from metricdp.exact.choice import uniform_below
from metricdp.exact.refine import BLOCK, Integers, _balls_only
from metricdp.mechanisms.trees._sums import BITS, Sums, TreeSums

__all__ = ["TreeDraws"]

_ROUNDED = 2.0**-50
_NONE = np.int64(-1)

Bools = NDArray[np.bool_]


class TreeDraws:
    """Exact draws from the law that the sums of a tree describe.

    Attributes:
        law: the sums.
    """

    def __init__(self, law: TreeSums) -> None:
        self.law = law

    def draw(self, secrets: Integers) -> Integers:
        """A secret for each of the given ones, by their numbers."""
        drawn = np.empty_like(secrets)
        for start in range(0, len(secrets), BLOCK):
            some = secrets[start : start + BLOCK]
            drawn[start : start + len(some)] = self._draw(some)
        return drawn

    def _draw(self, secrets: Integers) -> Integers:
        drawn = np.full(len(secrets), -1, dtype=np.int64)
        nodes = self.law.nodes[secrets]
        if self.law.null >= 0:
            for present in (True, False):
                rows = np.flatnonzero((nodes >= 0) == present)
                if len(rows):
                    drawn[rows] = self._draw_null(nodes[rows], present)
        rows = np.flatnonzero((drawn < 0) & (nodes >= 0))
        if len(rows):
            drawn[rows] = self._draw_nodes(nodes[rows])
        rest = np.flatnonzero(drawn < 0)  # from None to a node: all are alike
        if len(rest):
            others = np.flatnonzero(self.law.nodes >= 0)
            drawn[rest] = others[uniform_below(len(others), len(rest))]
        return drawn

    def _draw_null(self, nodes: Integers, present: bool) -> Integers:
        """None, or -1 where it is to be a node."""
        known = self._floats
        chance = known.null_of_node[nodes] if present else np.full(len(nodes), known.null_of_null)

        def attempt(row: int, uniform: arb, sums: Sums) -> int | None:
            assert sums.null is not None
            count = len(self.law.hierarchy.places) - 1
            total = sums.total(int(nodes[row])) + sums.null if present else 1 + count * sums.null
            share = (sums.null if present else arb(1)) / total
            return self.law.null if uniform < share else -1 if uniform > share else None

        draw = _Uniforms(len(nodes))
        chosen = np.where(draw.below(chance), self.law.null, _NONE)
        return draw.settled(chosen, attempt, self.law.sums)

    def _draw_nodes(self, nodes: Integers) -> Integers:
        tops, barred = self._climb(nodes)
        drawn = np.full(len(nodes), -1, dtype=np.int64)
        rows = np.arange(len(nodes))
        while len(rows):
            items = self._leave(tops, barred)
            leads = self._leads[items]
            ends = leads < 0
            drawn[rows[ends]] = self._secrets[tops[ends]]
            rows, children = rows[~ends], leads[~ends]
            if len(rows):
                tops = self._descend(children)
                barred = self._heavy[tops]
        return drawn

    def _climb(self, nodes: Integers) -> tuple[Integers, Integers]:
        """The lowest common ancestor of secret and draw, and the child of it on the way from the secret, or -1.

        The draw is not below an ancestor a with the probability ``exp(-s d(x, a)) outside(a) / total(x)``.
        """
        known, draw = self._floats, _Uniforms(len(nodes))
        goal = known.total[nodes] + known.depths[nodes]
        beyond = draw.above_goal(known.climbing, nodes, goal)  # the draw is not below the secret itself
        last = nodes.copy()
        for ancestors in reversed(self._ancestors):
            there = ancestors[last]
            can = beyond & (there >= 0)
            there = np.where(can, there, last)
            last = np.where(can & draw.above_goal(known.climbing, there, goal, can), there, last)
        chosen = np.where(beyond, last, _NONE)

        def attempt(row: int, uniform: arb, sums: Sums) -> int | None:
            node, child = int(nodes[row]), -1
            start = node
            while node >= 0:
                mass = sums.outside[node] * (sums.depths[node] - sums.depths[start]).exp() / sums.total(start)
                if uniform > mass or mass.is_zero():
                    return child
                if not uniform < mass:
                    return None
                node, child = self.law.parents[node], node
            return child

        children = draw.settled(chosen, attempt, self.law.sums)
        return np.where(children >= 0, self._parent_array[children], nodes), children

    def _leave(self, nodes: Integers, barred: Integers) -> Integers:
        """One of the items of each node, but for the barred child."""
        known = self._floats
        first, last = self._starts_array[nodes], self._starts_array[nodes + 1] - 1
        at = np.where(barred >= 0, self._item_array[barred], last + 1)
        has_left, has_right = at > first, at < last
        side = _Uniforms(len(nodes))
        open_rows = has_left & has_right
        left = np.where(open_rows, side.below(known.left[np.minimum(at, len(known.left) - 1)], open_rows), has_left)

        def which_side(row: int, uniform: arb, sums: Sums) -> int | None:
            place = int(at[row])
            before, after = sums.upto[place - 1], sums.since[place + 1]
            share = before / (before + after)
            return 1 if uniform < share else 0 if uniform > share else None

        left = side.settled(left.astype(np.int64), which_side, self.law.sums, open_rows) == 1
        draw = _Uniforms(len(nodes))
        low, high = np.where(left, first, at + 1), np.where(left, at - 1, last)
        goal = np.where(left, known.upto[np.maximum(at - 1, 0)], known.since[np.minimum(at + 1, len(known.since) - 1)])
        while bool((low < high).any()):
            searching = low < high
            # The first item whose sum up to it is above the goal, or the last whose sum from it on is.
            middle = np.where(left, (low + high) >> 1, (low + high + 1) >> 1)
            values = np.where(left, known.upto[middle], known.since[middle])
            above = draw.compare(values, goal, searching)
            high = np.where(searching & left & above, middle, np.where(searching & ~left & ~above, middle - 1, high))
            low = np.where(searching & left & ~above, middle + 1, np.where(searching & ~left & above, middle, low))

        def attempt(row: int, uniform: arb, sums: Sums) -> int | None:
            place, is_left = int(at[row]), bool(left[row])
            places = range(int(first[row]), place) if is_left else range(int(last[row]), place, -1)
            masses = sums.upto if is_left else sums.since
            goal = uniform * (masses[place - 1] if is_left else masses[place + 1])
            for item in places[:-1]:
                if masses[item] > goal:
                    return item
                if not masses[item] < goal:
                    return None
            return places[-1]

        return draw.settled(low, attempt, self.law.sums)

    def _descend(self, nodes: Integers) -> Integers:
        """The last node on the way down, always to the child with most secrets below it, that the draw is below."""
        known, draw = self._floats, _Uniforms(len(nodes))
        start = self._path_places[nodes]
        low, high = start.copy(), self._path_ends[nodes]
        goal = known.descending[nodes]
        while bool((low < high).any()):
            searching = low < high
            middle = (low + high + 1) >> 1
            above = draw.compare(known.descending[self._path[middle]], goal, searching)
            low = np.where(searching & above, middle, low)
            high = np.where(searching & ~above, middle - 1, high)

        def attempt(row: int, uniform: arb, sums: Sums) -> int | None:
            top = int(nodes[row])
            node = top
            while self._heavy[node] >= 0:
                there = int(self._heavy[node])
                mass = sums.below[there] * (sums.depths[top] - sums.depths[there]).exp() / sums.below[top]
                if uniform > mass:
                    return node
                if not uniform < mass:
                    return None
                node = there
            return node

        return draw.settled(self._path[low], attempt, self.law.sums)

    # The tree as arrays

    @cached_property
    def _secrets(self) -> Integers:
        return np.array(self.law.secret, dtype=np.int64)

    @cached_property
    def _leads(self) -> Integers:
        return np.array(self.law.items, dtype=np.int64)

    @cached_property
    def _starts_array(self) -> Integers:
        return np.array(self.law.starts, dtype=np.int64)

    @cached_property
    def _item_array(self) -> Integers:
        return np.array(self.law.item_of, dtype=np.int64)

    @cached_property
    def _parent_array(self) -> Integers:
        return np.array(self.law.parents, dtype=np.int64)

    @cached_property
    def _ancestors(self) -> list[Integers]:
        """For k = 0, 1, ..: for each node its 2^k-th ancestor, or -1."""
        tables = [self._parent_array]
        while bool((tables[-1] >= 0).any()):
            last = tables[-1]
            tables.append(np.where(last >= 0, last[last], -1))
        return tables[:-1]

    @cached_property
    def _heavy(self) -> Integers:
        """For each node the child with most secrets below it; -1 where there is none."""
        heavy = [-1] * len(self.law.parents)
        for node, parent in enumerate(self.law.parents):
            if (
                parent >= 0
                and self.law.size[node]
                and (heavy[parent] < 0 or self.law.size[node] > self.law.size[heavy[parent]])
            ):
                heavy[parent] = node
        return np.array(heavy, dtype=np.int64)

    @cached_property
    def _paths(self) -> tuple[Integers, Integers, Integers]:
        """All nodes, path after path of heaviest children; where each node stands, and where its path ends."""
        heavy = self._heavy.tolist()
        order: list[int] = []
        places, ends = [0] * len(heavy), [0] * len(heavy)
        for node, parent in enumerate(self.law.parents):
            if parent < 0 or heavy[parent] != node:
                path = [node]
                while heavy[path[-1]] >= 0:
                    path.append(heavy[path[-1]])
                last = len(order) + len(path) - 1
                for there in path:
                    places[there], ends[there] = len(order), last
                    order.append(there)
        return np.array(order, dtype=np.int64), np.array(places, dtype=np.int64), np.array(ends, dtype=np.int64)

    @property
    def _path(self) -> Integers:
        return self._paths[0]

    @property
    def _path_places(self) -> Integers:
        return self._paths[1]

    @property
    def _path_ends(self) -> Integers:
        return self._paths[2]

    @cached_property
    def _floats(self) -> _Floats:
        with precision(BITS):
            sums = self.law.sums(BITS)
            nodes = range(len(self.law.parents))
            zero = arb(0)
            climbing = [_log(sums.outside[v], sums.depths[v]) for v in nodes]
            descending = [_log(sums.below[v], -sums.depths[v]) for v in nodes]
            lefts = []
            for node in nodes:
                start, stop = self.law.starts[node], self.law.starts[node + 1]
                for place in range(start, stop):
                    inner = start < place < stop - 1
                    before = sums.upto[place - 1] if inner else zero
                    lefts.append(_log(before / (before + sums.since[place + 1])) if inner else -math.inf)
            null = sums.null
            return _Floats(
                depths=np.array([float(depth) for depth in sums.depths]),
                total=np.array([_log(sums.total(v)) for v in nodes]),
                climbing=np.array(climbing),
                descending=np.array(descending),
                upto=np.array([_log(value) for value in sums.upto]),
                since=np.array([_log(value) for value in sums.since]),
                left=np.array(lefts),
                null_of_node=np.array([] if null is None else [_log(null / (sums.total(v) + null)) for v in nodes]),
                null_of_null=0.0 if null is None else _log(1 / (1 + (len(self.law.hierarchy.places) - 1) * null)),
            )


@dataclass(frozen=True)
class _Floats:
    """Logarithms as floats, each within a relative 2^-52."""

    depths: Floats
    total: Floats
    climbing: Floats
    descending: Floats
    upto: Floats
    since: Floats
    left: Floats
    null_of_node: Floats
    null_of_null: float


class _Uniforms:
    """A uniform for each row, of which 64 bits are read: compared in logarithms, and what stays open is remembered."""

    def __init__(self, count: int) -> None:
        self._bits: Source = source()
        self._words: Words = self._bits.words(count)
        middle = self._words.astype(np.float64) + 0.5
        self._logs = np.log(middle) - 64 * math.log(2)
        # The bits that are not read move U by half a unit, and its float by a share of 2^-53.
        self._error = np.where(middle > 1, 0.6 / np.maximum(middle - 1, 0.25), math.inf) + 100 * ERROR
        self._open: Bools = np.zeros(count, dtype=bool) if trusted() else np.ones(count, dtype=bool)

    def below(self, shares: Floats, rows: Bools | None = None) -> Bools:
        """Whether U is below ``exp(share)``."""
        return self.compare(shares, np.zeros(len(shares)), rows)

    def above_goal(self, values: Floats, places: Integers, goal: Floats, rows: Bools | None = None) -> Bools:
        """Whether ``exp(value) > U exp(goal)``."""
        return self.compare(values[places], goal, rows)

    def compare(self, values: Floats, goals: Floats, rows: Bools | None = None) -> Bools:
        """Whether ``exp(value) > U exp(goal)``, for the rows that matter."""
        with np.errstate(invalid="ignore"):
            apart = values - goals - self._logs
            sizes = np.where(np.isfinite(values), np.abs(values), 0) + np.abs(goals) + np.abs(self._logs)
            doubtful = ~(np.abs(apart) > self._error + sizes * _ROUNDED)  # also where one of them is no number
        self._open |= doubtful if rows is None else doubtful & rows
        return np.asarray(apart > 0)

    def settled(
        self,
        chosen: Integers,
        attempt: Callable[[int, arb, Sums], int | None],
        sums: Callable[[int], Sums],
        rows: Bools | None = None,
    ) -> Integers:
        """What was chosen, with the open rows decided in balls, from more bits of the same U where it takes more."""
        undecided = np.ones(len(chosen), dtype=bool) if _balls_only.get() else self._open
        for row in np.flatnonzero(undecided if rows is None else undecided & rows).tolist():
            word, read = int(self._words[row]), 64
            while True:
                bits = 64 + 2 * read
                with precision(bits):
                    uniform = arb(arb((2 * word + 1, -read - 1)), arb((1, -read - 1)))
                    found = attempt(row, uniform, sums(bits))
                if found is not None:
                    chosen[row] = found
                    break
                word, read = (word << read) | self._bits.integer(read), 2 * read
        return chosen


def _log(mass: arb, plus: arb | None = None) -> float:
    if mass.is_zero():
        return -math.inf
    return float(mass.log() if plus is None else mass.log() + plus)
