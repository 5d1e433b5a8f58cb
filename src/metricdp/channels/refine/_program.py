"""The float side of factoring by linear programming: the least distance.

The problem: minimise t over stochastic R and P >= 0 with ``A - B R <= P`` and ``sum over z of P_xz <= t`` for each x.
Its duals G >= 0 of the first rows maximise ``<A, G> - sum over y of max_z (B^T G)_yz`` where
``sum over x of max_z G_xz`` is at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.weights import Weights
from metricdp.programs import LinearProgram, PreciseProgram, Sparse, Status

__all__ = ["Nearest", "PreciselyNearest", "least_distance", "precisely"]

Floats = NDArray[np.float64]


class Nearest(NamedTuple):
    """What the program says, in floats: t, R, where R is basic, and the gains G, actions by inputs."""

    status: Status
    distance: float
    factor: Floats
    basic: NDArray[np.bool_]
    gains: Floats


class PreciselyNearest(NamedTuple):
    """The same in integers: R times some number, where R is basic, and G times some number."""

    factor: list[list[int]]
    basic: NDArray[np.bool_]
    gains: list[list[int]]


def least_distance(a: Floats, b: Floats) -> Nearest:
    """Solve the problem; the columns of the program are R, then P, then t."""
    (inputs, columns), outputs = b.shape, a.shape[1]
    program = LinearProgram()
    program.add_columns(np.zeros((columns + inputs) * outputs))
    program.add_columns([1.0])
    program.add_rows(a.ravel(), np.inf, _missing_rows(b, outputs))
    program.add_rows(1, 1, _sum_rows(columns, outputs))
    program.add_rows(0, np.inf, _variation_rows(inputs, columns, outputs))
    solution = program.solve()
    many = columns * outputs
    if not solution.optimal:  # no point, no gains: any R and no proof
        anything = np.full((columns, outputs), 1 / outputs)
        return Nearest(solution.status, 1.0, anything, anything > 0, np.zeros((outputs, inputs)))
    basic = np.zeros(len(solution.primal), dtype=bool)
    if solution.basis is not None:
        basic[solution.basis.basic_columns] = True
    gains = np.maximum(solution.duals[: inputs * outputs], 0).reshape(inputs, outputs).T
    factor = np.maximum(solution.primal[:many], 0).reshape(columns, outputs)
    return Nearest(solution.status, solution.objective, factor, basic[:many].reshape(columns, outputs), gains)


def precisely(a: Weights, a_total: int, b: Weights, b_total: int, rounds: int) -> Iterator[PreciselyNearest]:
    """Solve the problem ever more precisely.

    With slacks S and Q, all columns being >= 0, it is ``B R + P - S = A``, ``R 1 = 1`` and ``t - P 1 - Q = 0``.
    """
    (inputs, columns), outputs = b.shape, a.shape[1]
    whole = math.lcm(a_total, b_total)
    pieces, slack = columns * outputs, inputs * outputs
    p, t = pieces, pieces + slack
    s, q = t + 1, t + 1 + slack
    rows: list[tuple[list[int], list[int]]] = []
    for x, weights in enumerate(b.tolist()):
        held = [(y, weight * (whole // b_total)) for y, weight in enumerate(weights) if weight]
        for z in range(outputs):
            place = x * outputs + z
            places = [y * outputs + z for y, _ in held]
            rows.append(([*places, p + place, s + place], [*(weight for _, weight in held), whole, -whole]))
    rows += [(list(range(y * outputs, (y + 1) * outputs)), [whole] * outputs) for y in range(columns)]
    for x in range(inputs):
        across = range(p + x * outputs, p + (x + 1) * outputs)
        rows.append(([t, *across, q + x], [whole] + [-whole] * (outputs + 1)))
    right = [weight * (whole // a_total) for row in a.tolist() for weight in row] + [whole] * columns + [0] * inputs
    costs = [0] * (q + inputs)
    costs[t] = 1
    for answer in PreciseProgram(costs, rows, right, whole).rounds(rounds):
        factor = [answer.primal[y * outputs : (y + 1) * outputs] for y in range(columns)]
        basic = np.array([place in answer.basic for place in range(pieces)]).reshape(columns, outputs)
        gains = [[max(answer.duals[x * outputs + z], 0) for x in range(inputs)] for z in range(outputs)]
        yield PreciselyNearest(factor, basic, gains)


def _missing_rows(b: Floats, outputs: int) -> Sparse:
    """``sum over y of B_xy R_yz + P_xz``, one row for each (x, z)."""
    inputs, columns = b.shape
    x, z = np.divmod(np.arange(inputs * outputs), outputs)
    places = np.empty((inputs * outputs, columns + 1), dtype=np.int32)
    places[:, :columns] = np.arange(columns) * outputs + z[:, None]
    places[:, columns] = columns * outputs + np.arange(inputs * outputs)
    values = np.ones((inputs * outputs, columns + 1))
    values[:, :columns] = b[x]
    return _without_zeros(places, values)


def _sum_rows(columns: int, outputs: int) -> Sparse:
    """``sum over z of R_yz``, one row for each y."""
    places = np.arange(columns * outputs, dtype=np.int32).reshape(columns, outputs)
    return _without_zeros(places, np.ones(places.shape))


def _variation_rows(inputs: int, columns: int, outputs: int) -> Sparse:
    """``t - sum over z of P_xz``, one row for each x."""
    places = np.empty((inputs, outputs + 1), dtype=np.int32)
    places[:, :outputs] = columns * outputs + np.arange(inputs * outputs).reshape(inputs, outputs)
    places[:, outputs] = (columns + inputs) * outputs
    values = np.full(places.shape, -1.0)
    values[:, outputs] = 1
    return _without_zeros(places, values)


def _without_zeros(places: NDArray[np.int32], values: Floats) -> Sparse:
    kept = values != 0
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))[:-1]]).astype(np.int32)
    return Sparse(starts, places[kept], values[kept])
