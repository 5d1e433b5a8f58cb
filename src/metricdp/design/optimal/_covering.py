"""Prices, made to prove a bound output by output, each on the places around it.

Prices μ prove the bound ``Σ μ`` if for every output z the places where ``c(., z) - μ`` is negative can be covered from
those where it is positive, a unit at j being worth ``exp(-d_ij)`` at i (see `proven_bound`). By the triangle inequality
no way through a third place is better, so that is a transport problem between two sets of places, and only near pairs
matter. Two kinds of places lack something. Around z costs are small and prices exceed them: they are covered from a
ring around z, by a small linear program. Far from z, unlikely places have almost no cost but still a price: they are
covered from likely places near *them*, greedily.

Outputs are visited one after the other. What cannot be covered is taken off the prices at once, rounded outward; prices
only fall, so outputs that were visited before stay covered, no flow has to be kept, and after the last output the
prices are proved. Where an output lacks something, the duals of its program are a column that the search had missed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from metricdp.design.optimal._dual_bound import Flow, left_after, left_over
from metricdp.design.optimal._lifted import Lifted
from metricdp.exact.arrays import Floats, Places, each_block, row_blocks
from metricdp.exact.processors import processors
from metricdp.programs.transport import Transport

__all__ = ["Covered", "Covering", "nearest_points"]

_BALL = 150
_WIDE_BALL = 500
_FEW = 10
"""Where there are so many times as many points as outputs, the larger ball is taken."""

_NEIGHBOURS = 24
_SOURCES = 24
_TOGETHER = 4
"""Outputs that are visited at the same prices, on all cores; the answer does not depend on how many there are."""

_APART = 8.0
"""How far apart they are."""

_HURRIED = 32
"""So many at once where time is out."""

_SOLVES = 4
_NEGLIGIBLE = 1e-7
"""Of the largest need: what is less is taken off the prices."""

_PLENTY = 1e5
_MISSED = 1e-7
_WORTH = 1e-10


@dataclass(eq=False)
class Covered:
    """What a visit of all outputs shows.

    Attributes:
        prices: as far as they are proved.
        columns: of the cone; of them at given prices some cost less than they are worth.
        whole: whether every output was visited with care; where time ran out, the others lowered prices more.
        interrupted: whether Ctrl-C made it hurry.
    """

    prices: Floats
    columns: list[Lifted] = field(default_factory=list)
    whole: bool = True
    interrupted: bool = False


class Covering:
    """The places of a problem and their neighbours.

    Args:
        distances: a metric as floats; infinite where nothing is asked.
        decay: ``exp(-distances)``.
        above: floats that are at least d; what is proved rests on them.
        costs: a matrix of points by outputs.
        centres: for each output, the point for which it is meant.
        error: relative, of the costs.
    """

    def __init__(
        self, distances: Floats, decay: Floats, above: Floats, costs: Floats, centres: Places, error: float
    ) -> None:
        self.distances = distances
        self.decay, self.above, self.costs, self.centres, self.error = decay, above, costs, centres, error
        few = _FEW * costs.shape[1] <= len(distances)  # then each serves places farther away
        self.nearest = nearest_points(distances, _WIDE_BALL if few else _BALL)
        near = self.nearest[:, 1 : 1 + _NEIGHBOURS]
        self.near, self.gains = near, np.take_along_axis(decay, near, axis=1)
        self._solvers = threading.local()

    def visit(self, prices: Floats, order: Places, late: Callable[[], bool]) -> Covered:
        """Lower the prices until every output is covered.

        Args:
            prices: to begin with.
            order: of the outputs.
            late: says when to hurry. Ctrl-C does, too; pressed once more it ends the visit.
        """
        found = Covered(prices.copy())
        with ThreadPoolExecutor(processors()) as pool:
            while len(order):
                if found.interrupted or late():
                    found.whole = False
                    some, order = order[:_HURRIED].tolist(), order[_HURRIED:]
                    found.prices = _lowered(found.prices, self._several(some, found.prices))
                    continue
                some, rest = self._together(order)
                held = found.prices
                try:
                    answers = list(pool.map(lambda z: self._one(z, held), some))  # noqa: B023  # used at once
                except KeyboardInterrupt:
                    found.interrupted = True
                    continue
                order = rest
                found.prices = _lowered(held, np.maximum.reduce([lowered for lowered, _ in answers]))
                found.columns += [column for _, columns in answers for column in columns]
        return found

    def _together(self, order: Places) -> tuple[list[int], Places]:
        """The next outputs to be visited at the same prices, which ask for nothing of the same places; and the rest."""
        kept, start = [0], self.centres[order]
        nearest = self.distances[start[0], start]
        while len(kept) < _TOGETHER:
            apart = nearest > _APART
            if not apart.any():
                break
            kept.append(int(apart.argmax()))
            nearest = np.minimum(nearest, self.distances[start[kept[-1]], start])
        return order[kept].tolist(), np.delete(order, kept)

    def _several(self, some: list[int], prices: Floats) -> Floats:
        """What some outputs ask to be taken off the prices, each covered from neighbours alone."""
        width, flows = len(some), list[Flow]()
        costs, held = self.costs[:, some].ravel(), np.repeat(prices, width)
        left = costs - held
        self._from_neighbours(left, np.flatnonzero(left < 0), flows, width)
        first, second, amount = (np.concatenate(parts) for parts in zip(*flows, strict=True)) if flows else _nothing()
        lengths = self.above[first // width, second // width]
        rest = left_after(costs, held, (first, second, amount), lengths, self.error)
        lacking: Floats = np.maximum(-rest.reshape(-1, width).min(axis=1), 0.0)
        return lacking

    def _one(self, z: int, prices: Floats) -> tuple[Floats, list[Lifted]]:
        """What one output asks to be taken off the prices, proved, and columns that show why."""
        left = self.costs[:, z] - prices
        flows: list[Flow] = []
        ball = self.nearest[self.centres[z]]
        inside = np.zeros(len(prices), dtype=bool)
        inside[ball] = True
        self._from_neighbours(left, np.flatnonzero((left < 0) & ~inside), flows)
        columns = self._in_the_ball(left, ball, flows)
        first, second, amount = (np.concatenate(parts) for parts in zip(*flows, strict=True)) if flows else _nothing()
        rest = left_over(self.costs[:, z], prices, (first, second, amount), self.above, self.error)
        return np.maximum(-rest, 0.0), columns

    def _from_neighbours(self, left: Floats, lacking: Places, flows: list[Flow], width: int = 1) -> None:
        """Cover places from their own neighbours, the nearest first; those that ask for the same share it.

        For several outputs at once, entries stand place by place, ``width`` of them for each.
        """
        need = -left[lacking]
        for k in range(self.near.shape[1]):
            if not len(lacking):
                return
            places, which = np.divmod(lacking, width)
            givers, gains = self.near[places, k] * width + which, self.gains[places, k]
            asked = need / np.maximum(gains, 1e-300)
            together = np.bincount(givers, asked, minlength=len(left))[givers]
            given = asked * np.minimum(1.0, np.maximum(left[givers], 0.0) / np.maximum(together, 1e-300))
            given[gains <= 0] = 0.0
            np.subtract.at(left, givers, given)
            left[lacking] += given * gains
            flows.append((lacking, givers, given))
            open_still = left[lacking] < 0
            lacking = lacking[open_still]
            need = -left[lacking]

    def _in_the_ball(self, left: Floats, ball: Places, flows: list[Flow]) -> list[Lifted]:
        """Cover places around the output in the best way; columns that show what cannot be covered."""
        here = left[ball]
        most = -float(here.min())
        if most <= 0:
            return []
        lacking, sources = ball[here < -_NEGLIGIBLE * most], ball[here > _NEGLIGIBLE * most]
        gains = self.decay[np.ix_(lacking, sources)]
        kept = min(_SOURCES, len(sources))
        first = np.repeat(np.arange(len(lacking)), kept)
        second = np.argpartition(-gains, kept - 1, axis=1)[:, :kept].ravel() if kept else first
        usable = gains[first, second] > 0
        first, second = first[usable], second[usable]
        needs, spare = -left[lacking] / most, np.minimum(left[sources] / most, _PLENTY)
        for _ in range(_SOLVES):
            shipped = self._solver().solve(needs, spare, first, second, gains[first, second])
            used = shipped.flow > 0
            flow = (lacking[first[used]], sources[second[used]], shipped.flow[used] * most)
            if shipped.lacking.sum() < _MISSED or not kept:
                break
            reached = shipped.values[:, None] * gains
            best = reached.argmax(axis=0)
            missed = np.flatnonzero(reached[best, np.arange(len(sources))] > shipped.worth * (1 + _MISSED) + 1e-9)
            if not len(missed):
                break
            first, second = np.concatenate([first, best[missed]]), np.concatenate([second, missed])
        flows.append(flow)
        if shipped.lacking.sum() * most < _WORTH or not shipped.values.any():
            return []
        return list(_columns(lacking, shipped.values, flow))

    def _solver(self) -> Transport:
        if not hasattr(self._solvers, "own"):
            self._solvers.own = Transport()
        solver: Transport = self._solvers.own
        return solver


def _columns(lacking: Places, values: Floats, flow: Flow) -> Iterator[Lifted]:
    """The least column above these values; and of its parts that no flow joins, where there are several."""
    kept = values > 1e-9
    places, values = lacking[kept], values[kept]
    yield Lifted(places, values)
    parts = _joined(places, flow)
    if len(parts) > 1:
        for part in parts:
            yield Lifted(places[part], values[part])


def _lowered(prices: Floats, lacking: Floats) -> Floats:
    """Prices less what they lack, rounded down."""
    lower = np.nextafter(prices - lacking * (1 + 2.0**-50), -np.inf)
    return np.where(lacking > 0, lower, prices)


def nearest_points(distances: Floats, count: int = _BALL) -> Places:
    """For each point, it and the nearest others, in their order."""
    if count >= len(distances):
        return np.argsort(distances, axis=1, kind="stable")
    nearest = np.empty((len(distances), count), dtype=np.int64)

    def find(rows: slice) -> None:
        some = np.sort(np.argpartition(distances[rows], count - 1, axis=1)[:, :count], axis=1)
        order = np.argsort(np.take_along_axis(distances[rows], some, axis=1), axis=1, kind="stable")
        nearest[rows] = np.take_along_axis(some, order, axis=1)

    each_block(find, list(row_blocks(distances.shape)))  # all at once would take as much memory as the distances
    return nearest


def _joined(places: Places, flow: Flow) -> list[list[int]]:
    """The places in sets that get something from one source, or from sources that are joined in this way."""
    root: dict[int, int] = {}

    def find(node: int) -> int:
        while root.setdefault(node, node) != node:
            node = root[node]
        return node

    for i, j in zip(flow[0].tolist(), flow[1].tolist(), strict=True):
        root[find(i)] = find(-1 - j)
    parts: dict[int, list[int]] = {}
    for row, place in enumerate(places.tolist()):
        parts.setdefault(find(place), []).append(row)
    return list(parts.values())


def _nothing() -> Flow:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
