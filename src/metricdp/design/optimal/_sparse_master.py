"""The master problem of thousands of points: which columns to use, in the basis of the tight-constraints mechanism.

Written as sums of columns of ``Φ = exp(-d)``, a column v of the cone is ``Φ⁻¹ v``: zero but where it does not fall as
fast as it may. So the equations ``Σ λ_k v_k = 1``, multiplied by Φ⁻¹, are sparse, and the columns of Φ themselves are
unit vectors: a basis to begin with. Entries that are nearly zero are left out; what weights miss for that is made up by
the columns of Φ, of each of which a little is kept in use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metricdp.design.optimal._equations import EXACT, falling_solution, near_factor
from metricdp.design.optimal._lifted import Lifted
from metricdp.design.optimal._wide_start import Ground
from metricdp.exact.arrays import Floats, Places
from metricdp.programs import LinearProgram, Sparse

__all__ = ["SparseMaster", "Weighed"]

_TOGETHER = 32
_NEGLIGIBLE = 1e-7
_LEAST = 1e-5
"""Of each column of Φ so much is used at least."""

_PENALTY = 20.0
"""What a weight that is missing costs, beside the average column."""


@dataclass(frozen=True, eq=False)
class Weighed:
    """An answer of the program.

    Attributes:
        prices: of the points, as the program has them.
        tight: weights of the columns of Φ; None where not all equations can be met yet.
        weights: of the other columns.
    """

    prices: Floats
    tight: Floats | None
    weights: Floats


class SparseMaster:
    """The columns of Φ, more columns, and the program that weighs them.

    Args:
        ground: the points.
        tight: the weights a with ``Φ a = 1``, some of them perhaps negative.
        guesses: the output that each column of Φ is used for.
        worth: what they cost.
    """

    def __init__(self, ground: Ground, tight: Floats, guesses: Places, worth: Floats) -> None:
        self.ground, self.guesses, self.worth = ground, guesses, worth
        self.columns: list[Lifted] = []
        self.outputs: Places = np.empty(0, dtype=np.int64)
        self.costs: Floats = np.empty(0)
        count = len(tight)
        self._factor = near_factor(ground.decay, ground.nearest)
        self._program = LinearProgram()
        units = Sparse(np.arange(count, dtype=np.int32), np.arange(count, dtype=np.int32), np.ones(count))
        nothing = Sparse(np.zeros(count, np.int32), np.empty(0, np.int32), np.empty(0))
        self._program.add_rows(tight, tight, nothing)
        self._program.add_columns(worth, lower=_LEAST, entries=units)
        short = np.flatnonzero(tight < _LEAST)
        self._short = len(short)
        if len(short):
            entries = Sparse.of([{int(x): -1.0} for x in short.tolist()])
            self._program.add_columns(np.full(len(short), _PENALTY * float(worth.mean())), entries=entries)

    def add(self, columns: list[Lifted], outputs: Places, costs: Floats, late: Callable[[], bool]) -> None:
        """More columns with their outputs and costs, as long as there is time."""
        for start in range(0, len(columns), _TOGETHER):
            if late():
                return
            rows = slice(start, start + _TOGETHER)
            some = np.array([one.column(self.ground.decay) for one in columns[rows]])
            found = self._solved(np.ascontiguousarray(some.T), _NEGLIGIBLE)
            if found is None:
                continue
            sizes = np.abs(found).max(axis=0)
            entries = np.where(np.abs(found) > _NEGLIGIBLE * sizes, found, 0.0).T
            self._program.add_columns(costs[rows], entries=Sparse.of_dense(entries))
            self.columns += columns[rows]
            self.outputs = np.concatenate([self.outputs, outputs[rows]])
            self.costs = np.concatenate([self.costs, costs[rows]])

    def solve(self, seconds: float) -> Weighed | None:
        """The cheapest weights, and their prices; None where the solver does not come to an end."""
        solution = self._program.solve("primal", seconds, presolve=False, interruptible=True)
        if not solution.optimal:
            return None
        prices = self._solved(solution.duals[:, None], 1e-9)
        if prices is None:
            return None
        count = len(self.guesses)
        missing = solution.primal[count : count + self._short]
        weights: Floats = np.maximum(solution.primal[count + self._short :], 0.0)
        tight = solution.primal[:count] if not missing.any() else None
        return Weighed(prices[:, 0], None if tight is None else self._even(tight, weights), weights)

    def _even(self, tight: Floats, weights: Floats) -> Floats | None:
        """Weights of the columns of Φ with which all rows sum to one, to the last digits; None if some are negative."""
        others = np.zeros(len(tight))
        for k in np.flatnonzero(weights > 0).tolist():
            others += weights[k] * self.columns[k].column(self.ground.decay)
        for _ in range(2):
            left = 1 - self.ground.decay @ tight - others
            step = self._solved(left[:, None])
            if step is None:
                break
            tight = tight + step[:, 0]
        return tight if tight.min() >= 0 and np.abs(left).max() < 1e-5 else None

    def _solved(self, right: Floats, tolerance: float = EXACT) -> Floats | None:
        """``Φ⁻¹`` times some columns; None where it is not found."""
        return falling_solution(self.ground.decay, self.ground.nearest, right, tolerance, self._factor)

    def loss(self, found: Weighed) -> float:
        """What the channel of an answer costs; infinite where it is none."""
        if found.tight is None:
            return np.inf
        return float(found.tight @ self.worth + found.weights @ self.costs[: len(found.weights)])

    def channel(self, found: Weighed) -> Floats:
        """Points by outputs: the weighed columns, each at the output it is used for."""
        tight = np.zeros(len(self.guesses)) if found.tight is None else found.tight
        matrix, outputs = np.zeros(self.ground.costs.shape), self.outputs[: len(found.weights)]
        for z in range(self.ground.costs.shape[1]):
            mine, others = np.flatnonzero(self.guesses == z), np.flatnonzero((outputs == z) & (found.weights > 0))
            if len(mine):
                matrix[:, z] += self.ground.decay[:, mine] @ tight[mine]
            for k in others.tolist():
                matrix[:, z] += found.weights[k] * self.columns[k].column(self.ground.decay)
        return matrix
