"""Where the search of thousands of points begins: a channel and prices in closed form, in seconds.

The tight-constraints mechanism ``exp(-d(x, y)) a(y)`` needs weights a that make rows sum to one. Where some are
negative they are left out, distances taken as a share of d, and rows divided by their sums: that is private as soon as
the logarithms of the sums change by no more than what the share leaves of the distances. The share is found from how
much they change. With a share of one half and all weights one it is the exponential mechanism, which always is.

Each column is used for the output that costs least with it, looked for among those near its point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from metricdp.channels.near_sets import near_sets
from metricdp.design.optimal._equations import falling_solution
from metricdp.exact.arrays import Floats, Places, each_block, row_blocks

__all__ = ["ClosedForm", "Ground", "closed_form", "falling", "start_prices"]

_TOGETHER = 128
_NEAR = 64
_FEW_OUTPUTS = 400
_ATTEMPTS = 4
_LEAST_SHARE = 0.5
_ALIKE = 0.9
"""From this share on, columns are used for the outputs that they are used for at the whole distances."""

_NEARLY = 1e-8
"""To what share equations are solved where rows are divided by their sums in any case."""

_SPARE = 1.02


@dataclass(frozen=True, eq=False)
class Ground:
    """What the start is made of: one point of each group at distance zero.

    Attributes:
        distances: a metric as floats.
        decay: ``exp(-distances)``.
        costs: a matrix of points by outputs.
        centres: for each output, the point for which it is meant.
        nearest: for each point, it and the nearest others.
    """

    distances: Floats
    decay: Floats
    costs: Floats
    centres: Places
    nearest: Places

    def best_outputs(self, falls: Floats, sums: Floats | None = None) -> Places:
        """For the column ``falls(., x) / sums`` of each point x the output that costs least.

        Among outputs near the point, where there are many: points that are near each other are looked at together, in
        short floats, which are near enough to choose.
        """
        count, outputs = self.costs.shape
        guesses, short = np.empty(count, dtype=np.int64), self._short_costs

        def look(some: Places) -> None:
            if outputs > _FEW_OUTPUTS:
                near = np.zeros(count, dtype=bool)
                near[self.nearest[some, :_NEAR]] = True
                candidates = np.flatnonzero(near[self.centres])
            if outputs <= _FEW_OUTPUTS or not len(candidates):
                candidates = np.arange(outputs)
            columns = (falls[some] if sums is None else falls[some] / sums).astype(np.float32)
            guesses[some] = candidates[(columns @ short[candidates].T).argmin(axis=1)]

        each_block(look, list(near_sets(self.distances, _TOGETHER)))
        return guesses

    @cached_property
    def _short_costs(self) -> NDArray[np.float32]:
        """Outputs by points, the largest of them one."""
        short = np.empty(self.costs.shape[::-1], dtype=np.float32)
        scale = 1 / max(float(self.costs.max()), 1e-300)

        def fill(rows: slice) -> None:
            short[:, rows] = (self.costs[rows] * scale).astype(np.float32).T

        each_block(fill, list(row_blocks(self.costs.shape)))
        return short

    def worth(self, falls: Floats, sums: Floats | None, guesses: Places) -> Floats:
        """What the columns cost with their outputs."""
        parts: list[Floats] = []

        def add(rows: slice) -> None:
            costs = self.costs[rows].take(guesses, axis=1)
            costs *= falls[rows]
            parts.append(costs.sum(axis=0) if sums is None else (1 / sums[rows]) @ costs)

        each_block(add, list(row_blocks(falls.shape)))
        worth: Floats = np.sum(parts, axis=0)
        return worth


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The channel ``exp(-share d(x, y)) a(y) / sums(x)`` with each column y used for an output.

    Attributes:
        ground: the points.
        share: of the distances.
        weights: a.
        sums: of the rows, before they are divided by them; None where they are one.
        guesses: for each y an output.
        loss: its expected loss, about.
    """

    ground: Ground
    share: float
    weights: Floats
    sums: Floats | None
    guesses: Places
    loss: float

    def rows(self, rows: slice) -> Floats:
        """Some rows of it, before columns are used for outputs."""
        ground = self.ground
        falls = ground.decay[rows] if self.share == 1 else np.exp(-self.share * ground.distances[rows])
        made: Floats = falls * self.weights
        return made if self.sums is None else made / self.sums[rows, None]

    def matrix(self) -> Floats:
        """Points by outputs."""
        order = np.argsort(self.guesses, kind="stable")
        used, starts = np.unique(self.guesses[order], return_index=True)
        merged = np.zeros(self.ground.costs.shape)

        def fill(rows: slice) -> None:
            merged[rows, used] = np.add.reduceat(self.rows(rows)[:, order], starts, axis=1)

        each_block(fill, list(row_blocks(self.ground.decay.shape)))
        return merged

    def columns(self) -> tuple[Floats, Places]:
        """Its columns that are not zero, one row each, with sum one; and what they are used for."""
        used = self.weights > 0
        table = np.empty((len(self.weights), int(used.sum())))
        for rows in row_blocks(self.ground.decay.shape):
            table[rows] = self.rows(rows)[:, used]
        columns = np.ascontiguousarray(table.T)
        del table
        columns /= columns.sum(axis=1, keepdims=True)
        return columns, self.guesses[used]


def start_prices(ground: Ground, goals: Floats) -> tuple[Floats, Floats] | None:
    """The weights of the tight-constraints mechanism, and its prices for the goals; None where they are not found."""
    found = falling_solution(ground.decay, ground.nearest, np.stack([np.ones(len(goals)), goals], axis=1))
    return None if found is None else (found[:, 0], found[:, 1])


def closed_form(ground: Ground, weights: Floats | None, guesses: Places, worth: Floats) -> ClosedForm:
    """The tight-constraints mechanism at the highest share that is found to serve, or the exponential mechanism.

    Args:
        ground: the points.
        weights: of the tight-constraints mechanism, where they are known.
        guesses: the best output of each of its columns.
        worth: what they cost.
    """
    if weights is not None:
        if weights.min() >= 0:
            return ClosedForm(ground, 1.0, weights, None, guesses, float(weights @ worth))
        positive = np.maximum(weights, 0.0)
        share = 1 - _SPARE * _steepness(ground, ground.decay @ positive)
        for _ in range(_ATTEMPTS):
            if not share > _LEAST_SHARE:
                break
            falls = falling(ground.distances, share)
            found = falling_solution(falls, ground.nearest, np.ones((len(falls), 1)), _NEARLY)
            if found is None:
                break
            positive = np.maximum(found[:, 0], 0.0)
            sums = falls @ positive
            steepness = _steepness(ground, sums)
            if steepness <= (1 - share) * (1 - 1e-9):
                return _divided(ground, share, falls, positive, sums, guesses if share > _ALIKE else None)
            share = 1 - _SPARE * max(steepness, 1 - share)
    falls = falling(ground.distances, _LEAST_SHARE)
    return _divided(ground, _LEAST_SHARE, falls, np.ones(len(falls)), falls.sum(axis=1))


def falling(distances: Floats, share: float = 1.0) -> Floats:
    """``exp(-share * distances)``, on all cores."""
    falls = np.empty(distances.shape)

    def fill(rows: slice) -> None:
        np.multiply(distances[rows], -share, out=falls[rows])
        np.exp(falls[rows], out=falls[rows])

    each_block(fill, list(row_blocks(distances.shape)))
    return falls


def _divided(
    ground: Ground, share: float, falls: Floats, weights: Floats, sums: Floats, guesses: Places | None = None
) -> ClosedForm:
    if guesses is None:
        guesses = ground.best_outputs(falls, sums)
    worth = ground.worth(falls, sums, guesses)
    return ClosedForm(ground, share, weights, sums, guesses, float(weights @ worth))


def _steepness(ground: Ground, sums: Floats) -> float:
    """The largest change of the logarithm of the sums for each unit of distance; infinite where a sum is 0."""
    if not (sums > 0).all():
        return np.inf
    logs, most = np.log(sums), [0.0]

    def look(rows: slice) -> None:
        change = np.subtract.outer(logs[rows], logs)
        np.abs(change, out=change)
        change /= ground.distances[rows] + 1e-300  # of itself a point is at distance zero, and it alone
        most.append(float(change.max()))

    each_block(look, list(row_blocks(ground.distances.shape)))
    return max(most)
