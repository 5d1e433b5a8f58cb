"""A lower bound on every private mechanism's loss that is a proof, whatever a solver did.

Whoever names prices μ and, for every output z, flows ``y_ij >= 0`` with

    c(., z) - μ  >=  Σ y_ij (e_j - exp(-d_ij) e_i)     entry by entry,

has shown that no d-private mechanism has a loss below ``Σ μ``: the right side is not negative on any column v of the
cone, so ``c(., z) . v >= μ . v``, and the columns add up to one. Flows as a solver returns them are mended first, from
the farthest points inwards; what is missing still is taken off the prices. All that is computed in floats is moved to
the safe side by what rounding can do to it.
"""

from __future__ import annotations

import numpy as np

from metricdp.channels.pairs import VIEW_ERROR
from metricdp.exact.arrays import Floats, Places

__all__ = ["Flow", "all_to_one", "left_after", "left_over", "mended", "proven_bound", "sum_below"]

Flow = tuple[Places, Places, Floats]
"""The pairs i, j and the flow between them."""

_UNIT = 2.0**-52
_SWEEPS = 3
_TRIED = 32


def mended(costs: Floats, flow: Flow, away: Floats, decay: Floats) -> Flow:
    """A flow near to the given one that leaves as little as can be of what is negative in ``costs - flow``.

    Points are visited from the farthest to the centre: what one can still spare goes to the point it hangs on, what it
    lacks is taken from what it gives.
    """
    first, second, amount = flow
    kept = np.flatnonzero(amount > 0)
    first, second = first[kept].tolist(), second[kept].tolist()
    amount = amount[kept].tolist()
    gains = [float(decay[i, j]) for i, j in zip(first, second, strict=True)]
    given: list[list[int]] = [[] for _ in costs]
    taken: list[list[int]] = [[] for _ in costs]
    for edge, (i, j) in enumerate(zip(first, second, strict=True)):
        given[j].append(edge)
        taken[i].append(edge)
    order = np.argsort(-away, kind="stable").tolist()
    wanted = costs.tolist()
    for _ in range(_SWEEPS):
        for x in order:
            edges = given[x]
            if not edges:
                continue
            spare = wanted[x] + sum(gains[e] * amount[e] for e in taken[x]) - sum(amount[e] for e in edges)
            if spare > 0:
                amount[max(edges, key=amount.__getitem__)] += spare
            elif spare < 0:
                total = sum(amount[e] for e in edges)
                left = max(0.0, 1 + spare / total) if total > 0 else 0.0
                for e in edges:
                    amount[e] *= left
    return np.array(first, dtype=np.int64), np.array(second, dtype=np.int64), np.array(amount, dtype=np.float64)


def proven_bound(costs: Floats, prices: Floats, flows: list[Flow], distances: Floats, error: float) -> float:
    """``Σ μ`` for the largest μ up to ``prices`` that the flows prove, rounded down.

    Args:
        costs: a matrix of points by outputs.
        prices: one for each point.
        flows: one for each output, none of them negative.
        distances: the metric's floats, which may be off by `VIEW_ERROR`; a larger one asks less, so is safe.
        error: relative, of the costs.
    """
    with np.errstate(over="ignore"):  # infinite is above, too
        above = distances * (1 + 2 * VIEW_ERROR)
    lacking = np.zeros(len(prices))
    for z, flow in enumerate(flows):
        np.maximum(lacking, -left_over(costs[:, z], prices, flow, above, error), out=lacking)
    return sum_below(prices, lacking)


def all_to_one(costs: Floats, above: Floats, prior: Floats, error: float) -> Floats:
    """The best prices that are zero but at one of the likeliest points, which prove a bound without any search.

    Column v of an output z has ``v_x >= exp(-d(x, y)) v_y`` for every x, so at price ``min over z of Σ_x c(x, z)
    exp(-d(x, y))`` for y alone every output is covered: each point gives all it has to y.

    Args:
        costs: a matrix of points by outputs.
        above: floats that no distance exceeds.
        prior: how likely each point is.
        error: relative, of the costs.
    """
    points = np.argsort(-prior, kind="stable")[:_TRIED]
    with np.errstate(over="ignore"):
        reach = np.exp(-above[points]) * (1 - 4 * _UNIT)
    values = (reach @ costs).min(axis=1) * (1 - (len(costs) + 8) * _UNIT - 2 * error)
    best, prices = int(values.argmax()), np.zeros(len(costs))
    prices[points[best]] = max(float(np.nextafter(values[best], -np.inf)), 0.0)
    return prices


def left_over(costs: Floats, prices: Floats, flow: Flow, above: Floats, error: float) -> Floats:
    """What is left of ``costs - prices`` after a flow, rounded down; where it is negative, prices are too high.

    Args:
        costs: of one output, for each point.
        prices: one for each point.
        flow: none of it negative.
        above: floats that no distance exceeds.
        error: relative, of the costs.
    """
    return left_after(costs, prices, flow, above[flow[0], flow[1]], error)


def left_after(costs: Floats, prices: Floats, flow: Flow, lengths: Floats, error: float) -> Floats:
    """The same with the distances of the pairs of the flow alone."""
    count, (first, second, amount) = len(prices), flow
    with np.errstate(over="ignore"):  # beyond floats, no help at all: less than there is
        weaker = np.exp(-lengths) * (1 - 4 * _UNIT)
    helped = np.bincount(first, weights=weaker * amount, minlength=count)
    spent = np.bincount(second, weights=amount, minlength=count)
    size = np.abs(costs) + np.abs(prices) + spent + helped
    terms = np.bincount(first, minlength=count) + np.bincount(second, minlength=count) + 8
    left: Floats = costs - prices - spent + helped - size * (terms * _UNIT) - np.abs(costs) * error
    return left


def sum_below(prices: Floats, lacking: Floats) -> float:
    """The sum of prices less what they lack, rounded down."""
    total = float(np.sum(prices) - np.sum(lacking))
    return total - (len(prices) + 2) * _UNIT * float(np.sum(np.abs(prices)) + np.sum(lacking)) - 1e-300
