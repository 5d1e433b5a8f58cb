"""The master problem: which columns to use, and how much of each.

Over the columns (v_k, z_k) found so far, of cost ``c_k = Σ_x c(x, z_k) v_k(x)``,

    minimise  Σ_k λ_k c_k   with   Σ_k λ_k v_k(x) = 1 for every point x,   λ >= 0,

with the equations of alike points added up. Its duals are the prices μ of the points.
"""

from __future__ import annotations

import math
import time
from typing import Literal, NamedTuple

import numpy as np

from metricdp.design.optimal._orbits import Orbits
from metricdp.errors import ImpossibleError
from metricdp.exact.arrays import Floats
from metricdp.programs import Basis, LinearProgram, Solution, Sparse, Status

__all__ = ["TIME", "Master"]

TIME = "the time limit was reached"

_MOST_COLUMNS = 3
"""For each equation, when columns are left out; that is done when there are twice as many."""

_FEASIBLE = 1e-7
"""By how much an equation may be missed, relatively; certification mends it."""

_METHODS: tuple[tuple[float, Literal["dual", "ipm"]], ...] = ((1e-9, "dual"), (1e-9, "ipm"), (1e-7, "dual"))


class _Weighed(NamedTuple):
    """Weights that meet the equations, with their loss and the prices that go with them."""

    loss: float
    weights: Floats
    duals: Floats


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
        self._last: _Weighed | None = None
        self._start: Basis | None = None
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

    def know(self, weights: list[float], begin: bool) -> None:
        """Weights of the last columns that are known to meet the equations; they are never lost.

        Args:
            weights: one for each of the last columns.
            begin: whether the first solve starts from them, as a basis.
        """
        count = len(weights)
        last = range(len(self.prices) - count, len(self.prices))
        known = np.zeros(len(self.prices))
        known[last.start :] = weights
        if begin and count == len(self.sizes):
            self._start = Basis.of_columns(last.stop, last, count)
        self._keep(known, np.zeros(len(self.sizes)))

    def _keep(self, weights: Floats, duals: Floats) -> bool:
        """Keep weights that meet the equations, if none better are known; whether these are kept."""
        whole = np.zeros(len(self.prices))
        whole[: len(weights)] = np.maximum(weights, 0.0)
        if not (np.isfinite(whole).all() and np.abs(self.sums @ whole / self.sizes - 1).max() < _FEASIBLE):
            return False
        loss = float(self.prices @ whole)
        if self._last is not None and self._last.loss < loss:
            return False
        self._last = _Weighed(loss, whole, duals)
        return True

    def solve(self, seconds: float = math.inf) -> tuple[float, Floats, Floats]:
        """The least loss with these columns, their weights, and the price of each orbit.

        Args:
            seconds: after them, the best weights so far.

        Raises:
            ImpossibleError: the solver found nothing, the last time included.
        """
        started = time.monotonic()
        start, self._start = self._start, None
        if start is not None and len(start.columns) < len(self.prices):
            more = (0,) * (len(self.prices) - len(start.columns))
            start = Basis(start.columns + more, start.rows)
        solved = self._program.solve("primal", seconds, basis=start, keep_basis=False, interruptible=True)
        # Nearly parallel equations can lead the simplex method astray.
        left = seconds - (time.monotonic() - started)
        solution = solved if solved.optimal else self._afresh(left)
        if solution is not None:
            weights = np.zeros(len(self.prices))
            weights[: len(solution.primal)] = np.maximum(solution.primal, 0.0)
            self._last = _Weighed(solution.objective, weights, solution.duals)
        elif len(solved.primal) == len(self.prices):  # stopped on its way, perhaps at a point that can be used
            self._keep(solved.primal, solved.duals)
        if self._last is None:
            late = solved.status is Status.TIME_LIMIT
            raise ImpossibleError(TIME if late else "the solver found no weights for the columns")
        return self.best_so_far()

    def best_so_far(self) -> tuple[float, Floats, Floats]:
        """The same without another solve: the best weights that are known.

        Raises:
            ImpossibleError: if none are known.
        """
        if self._last is None:
            raise ImpossibleError("no weights for the columns were found")
        weights = np.zeros(len(self.prices))
        weights[: len(self._last.weights)] = self._last.weights
        return self._last.loss, weights, self._last.duals

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

    def _afresh(self, seconds: float) -> Solution | None:
        """The same program from nothing, by the first method that ends well and in time; None where none does."""
        stop = time.monotonic() + seconds
        for tolerance, method in _METHODS:
            left = stop - time.monotonic()
            if left <= 0:
                return None
            program = LinearProgram(tolerance=tolerance)
            program.add_columns(self.prices)
            program.add_rows(self.sizes, self.sizes, Sparse.of_dense(self.sums))
            solution = program.solve(method, left, interruptible=True)
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
