"""Where the search begins: channels and prices in closed form, so that it is never worse than what is free.

Two channels need no search: the exponential mechanism, ``exp(-d(x, z) / 2)`` divided by its sums, and the
tight-constraints mechanism, ``exp(-d(x, z)) a(z)`` with ``Φ a = 1`` for ``Φ = exp(-d)``, where ``a >= 0``, and
otherwise, at a lower level, without what is negative. Each of their columns is used for the output that costs least
with it. As columns of the master they make every later loss at most theirs.

The prices ``μ = Φ⁻¹ min over z of Φ c(., z)`` are those of the tight-constraints mechanism. They prove a bound where,
for every output z, what is negative in ``c(., z) - μ`` can be covered from what is positive near it, a unit at j being
worth ``exp(-d_ij)`` at i. The outputs are visited one after the other, and what cannot be covered is taken off the
prices at once: prices only fall, so outputs that were visited before stay covered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from metricdp.design.optimal._coarsening import Instance
from metricdp.design.optimal._dual_bound import Flow
from metricdp.design.optimal._orbits import Orbits
from metricdp.exact.arrays import Floats, Places, row_blocks

__all__ = ["Start", "blurred_prices", "closed_channels", "closed_prices", "start"]

_NEIGHBOURS = 24
_SHARES = (1, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
"""Of the level, at which the tight-constraints mechanism is looked for."""

_MANY = 1500
_MOST_POINTS = 6000
"""Above it, no system of equations of all points is solved."""


@dataclass(frozen=True, eq=False)
class Start:
    """Prices that prove a bound, in floats.

    Attributes:
        prices: μ, one for each point; equal for points of one orbit.
        flows: for one output of each orbit, what covers ``c(., z) - μ``.
        bound: ``Σ μ``.
    """

    prices: Floats
    flows: list[Flow]
    bound: float


def closed_channels(
    decay: Floats, weights: Floats | None = None, in_time: Callable[[], bool] = lambda: True
) -> Iterator[tuple[bool, Floats]]:
    """Matrices of points by points with rows that sum to one and columns in the cone, and whether they are tight.

    Args:
        decay: ``Φ``.
        weights: of the tight-constraints mechanism, where they are known: ``Φ⁻¹ 1``.
        in_time: asked before any system of equations is solved; after a "no" there is only the exponential mechanism.
    """
    yield from _tight_channels(decay, weights, in_time)
    half = np.sqrt(decay)
    half /= half.sum(axis=1, keepdims=True)
    yield False, half


def _tight_channels(
    decay: Floats, weights: Floats | None, in_time: Callable[[], bool]
) -> Iterator[tuple[bool, Floats]]:
    for share in _SHARES if len(decay) <= _MANY else _SHARES[::3]:
        falls = decay if share == 1 else decay**share
        if share == 1 and weights is not None:
            diagonal: Floats | None = weights
        else:
            diagonal = _solved(falls, np.ones(len(falls))) if in_time() else None
        if diagonal is None:
            return
        tight = falls * np.maximum(diagonal, 0.0)
        sums = tight.sum(axis=1)
        if share == 1 and diagonal.min() >= 0 and np.abs(sums - 1).max() < 1e-6:
            yield True, tight
            return
        # Where weights are negative they are left out, and rows divided by their sums: a lower level has room for it.
        if share < 1 and _has_room(np.log(sums), decay, share):
            yield False, tight / sums[:, None]
            return


@np.errstate(divide="ignore", invalid="ignore")
def _has_room(sums: Floats, decay: Floats, share: float) -> bool:
    """Whether logarithms of sums of rows differ by no more than what a lower level leaves of the distances."""
    for rows in row_blocks(decay.shape):
        spread = np.abs(sums[rows, None] - sums)
        if not (spread <= -(1 - share) * np.log(decay[rows]) * (1 - 1e-9)).all():
            return False
    return True


def start(instance: Instance, orbits: Orbits, decay: Floats, first: Floats) -> Start:
    """The best of the prices in closed form and of ``first``, once they are repaired."""
    neighbours = np.argsort(instance.distances, axis=1, kind="stable")[:, 1 : 1 + _NEIGHBOURS]
    candidates = [first[orbits.points]]
    solved = _solved(decay, (decay @ instance.costs).min(axis=1))
    if solved is not None:
        even = (orbits.sums(solved) / orbits.sizes)[orbits.points]
        candidates += [np.maximum(even, 0.0), even]
    return max((_repaired(prices, instance, orbits, decay, neighbours) for prices in candidates), key=_bound)


def closed_prices(decay: Floats, goals: Floats) -> tuple[Floats, Floats] | None:
    """The weights of the tight-constraints mechanism, and its prices for the minima of ``decay @ costs``."""
    found = _solved(decay, np.stack([np.ones(len(goals)), goals], axis=1))
    return None if found is None else (found[:, 0], found[:, 1])


def blurred_prices(instance: Instance, decay: Floats) -> Floats:
    """The prior, blurred by the metric, times what the column ``exp(-d(., x))`` of the nearest output is worth with it.

    They need no system of equations, and are not as good as the prices of the tight-constraints mechanism.
    """
    costs, centres = instance.costs, instance.centres
    blurred = decay @ instance.prior / decay.sum(axis=1)
    values = np.zeros(costs.shape[1])
    for rows in row_blocks(costs.shape):
        values += np.einsum("xz,xz->z", costs[rows], decay[rows][:, centres])
    factors = values / np.maximum((decay @ blurred)[centres], 1e-300)
    prices: Floats = blurred * factors[costs.argmin(axis=1)]
    return prices


def _bound(found: Start) -> float:
    return found.bound


def _repaired(prices: Floats, instance: Instance, orbits: Orbits, decay: Floats, neighbours: Places) -> Start:
    """The prices, lowered until every output is covered by the flows that are found on the way."""
    held = prices.copy()
    near = neighbours.tolist()
    gains = np.take_along_axis(decay, neighbours, axis=1).tolist()
    flows: list[Flow] = []
    for z in orbits.representatives.tolist():
        left = instance.costs[:, z] - held
        lacking = np.flatnonzero(left < 0)
        spare = left.tolist()
        first: list[int] = []
        second: list[int] = []
        amount: list[float] = []
        lowered = np.zeros(len(held))
        for i in lacking[np.argsort(left[lacking], kind="stable")].tolist():
            need = spare[i]
            for j, gain in zip(near[i], gains[i], strict=True):
                if spare[j] > 0 and gain > 0:
                    given = min(spare[j], -need / gain)
                    spare[j] -= given
                    need += given * gain
                    first.append(i)
                    second.append(j)
                    amount.append(given)
                    if need >= 0:
                        break
            lowered[i] = max(-need, 0.0)
        flows.append((np.array(first, dtype=np.int64), np.array(second, dtype=np.int64), np.array(amount)))
        if lowered.any():
            most = np.zeros(int(orbits.points.max()) + 1)
            np.maximum.at(most, orbits.points, lowered)
            held -= most[orbits.points]
    return Start(held, flows, float(held.sum()))


def _solved(matrix: Floats, right: Floats) -> Floats | None:
    """The solution of a system of equations in floats; None where there is none to speak of."""
    if len(matrix) > _MOST_POINTS:
        return None
    try:
        with np.errstate(all="ignore"):
            found: Floats = np.linalg.solve(matrix, right).astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    return found if np.isfinite(found).all() else None
