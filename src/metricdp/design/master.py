"""The master problem: which columns to use, and how much of each.

Over the columns (v_k, z_k) found so far, of cost ``c_k = Σ_x c(x, z_k) v_k(x)``,

    minimise  Σ_k λ_k c_k   with   Σ_k λ_k v_k(x) = 1 for every point x,   λ >= 0,

with the equations of alike points added up. Its duals are the prices μ of the points.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from metricdp.design.orbits import Orbits
from metricdp.errors import ImpossibleError
from metricdp.exact.refine import Floats
from metricdp.programs import LinearProgram, Solution, Sparse

__all__ = ["Master"]

_MOST_COLUMNS = 3
"""For each equation, when columns are left out; that is done when there are twice as many."""

_MOST_COLUMNS = 3
"""For each equation, when columns are left out; that is done when there are twice as many."""

_METHODS: tuple[tuple[float, Literal["dual", "ipm"]], ...] = ((1e-9, "dual"), (1e-9, "ipm"), (1e-7, "dual"))


class Master:
    """All columns, and the program that chooses among them.

    Args:
        orbits: which points are alike.
        costs: c, a matrix of points by outputs.
    """

    def __init__(self, orbits: Orbits, costs: Floats) -> None:
        self.orbits = orbits
        self.costs = costs
        self.sizes: Floats = orbits.sizes.astype(np.float64)
        self.columns: list[Floats] = []
        self.places: list[int] = []
        self.sums: Floats = np.empty((len(self.sizes), 0))
        self.prices: Floats = np.empty(0)
        self._last: Solution | None = None
        self._program = LinearProgram()
        count = len(self.sizes)
        nothing = Sparse(np.zeros(count, np.int32), np.empty(0, np.int32), np.empty(0))
        self._program.add_rows(self.sizes, self.sizes, nothing)

    def add(self, columns: list[Floats], places: list[int]) -> None:
        """More columns, each with the place of its output's orbit."""
        if not columns:
            return
        outputs = self.orbits.representatives[places]
        sums = np.array([self.orbits.sums(column) for column in columns])
        prices = np.array([self.costs[:, z] @ column for z, column in zip(outputs, columns, strict=True)])
        self._program.add_columns(prices, entries=Sparse.of_dense(sums))
        self.columns.extend(columns)
        self.places.extend(places)
        self.sums = np.hstack([self.sums, sums.T])
        self.prices = np.concatenate([self.prices, prices])

    def solve(self) -> tuple[float, Floats, Floats]:
        """The least loss with these columns, their weights, and the price of each orbit."""
        solved = self._program.solve("primal", keep_basis=False)
        # Nearly parallel equations can lead the simplex method astray.
        solution = solved if solved.optimal else self._afresh() or self._last
        if solution is None:
            raise ImpossibleError("the solver finds no weights for the columns; are some distances extremely small?")
        self._last = solution
        weights = np.zeros(len(self.prices))
        weights[: len(solution.primal)] = np.maximum(solution.primal, 0.0)
        return solution.objective, weights, solution.duals

    def trim(self, weights: Floats, duals: Floats) -> Floats:
        """Leave out the columns that are farthest from being of use, where there are very many; the weights left."""
        most = _MOST_COLUMNS * len(self.sizes)
        if len(weights) <= 2 * most or len(weights) < len(self.prices):
            return weights
        reduced = np.where(weights > 0, -np.inf, self.prices - duals @ self.sums)
        kept = np.sort(np.argsort(reduced, kind="stable")[:most])
        left_out = np.setdiff1d(np.arange(len(weights)), kept)
        self._program.remove_columns(left_out)
        self._last = None
        self.columns, self.places = ([held[k] for k in kept.tolist()] for held in (self.columns, self.places))
        self.sums, self.prices = np.ascontiguousarray(self.sums[:, kept]), self.prices[kept]
        return weights[kept]

    def _afresh(self) -> Solution | None:
        """The same program from nothing, by the first method that ends well; None where none does."""
        for tolerance, method in _METHODS:
            program = LinearProgram(tolerance=tolerance)
            program.add_columns(self.prices)
            program.add_rows(self.sizes, self.sizes, Sparse.of_dense(self.sums))
            solution = program.solve(method)
            if solution.optimal:
                self._program = program
                return solution
        return None

    def even(self, weights: Floats) -> Floats:
        """Weights that fulfil the equations to the last digits, where those of a solver do to its tolerance."""
        used = np.flatnonzero(weights > 0)
        sums, refined = self.sums[:, used], weights[used].copy()
        for _ in range(4):
            missing = self.sizes - sums @ refined
            if np.abs(missing / self.sizes).max() < 2.0**-50:
                break
            step = np.linalg.lstsq(sums, missing, rcond=1e-14)[0]
            if (refined + step < 0).any():
                break
            refined += step
        even = np.zeros_like(weights)
        even[used] = refined
        return even

    def assembled(self, weights: Floats) -> Floats:
        """The matrix of points by outputs that the weighted columns make, spread over all symmetries."""
        orbits = self.orbits
        matrix = np.zeros(self.costs.shape)
        for place in range(len(orbits.representatives)):
            chosen = [k for k in np.flatnonzero(weights).tolist() if self.places[k] == place]
            if not chosen:
                continue
            total = np.sum([weights[k] * self.columns[k] for k in chosen], axis=0)
            settled = orbits.settled(place, total)
            alike = np.flatnonzero(orbits.outputs == place)
            for z in alike.tolist():
                matrix[orbits.carriers[z], z] = settled / len(alike)
        return matrix
