"""The mechanism whose largest expected loss, over all inputs, is least: for users who fear the worst.

    minimise  t   with   Σ_k λ_k v_k(x) = 1   and   Σ_k λ_k v_k(x) c(x, z_k) <= t   for every point x,   λ >= 0.

The duals of the second rows are a prior π, the one against which nobody can do better (minimax): for it the least
expected loss is t as well. Columns are priced at ``π c(., z) - μ``, at prices between the best so far and the new ones.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from metricdp.design.column_search import ColumnSearch
from metricdp.design.master import Master
from metricdp.design.orbits import Orbits
from metricdp.design.problem import Problem
from metricdp.errors import ImpossibleError
from metricdp.exact.refine import Floats
from metricdp.programs import Sparse

__all__ = ["WorstCase", "WorstCaseSearch"]

_MOST_ROUNDS = 1000
_CAREFUL = 0.6


class WorstCase(Problem):
    """Minimise ``max_x Σ_z K(x)(z) loss(z, x)`` over the private channels K; the prior only says where to begin."""

    @cached_property
    def costs(self) -> Floats:
        """The losses above the least of them: taking one number off all of them changes no choice."""
        return self.losses - self.offset

    @cached_property
    def offset(self) -> float:
        """The least loss of all."""
        return float(self.losses.min())

    def loss_of(self, matrix: Floats) -> float:
        """The largest expected loss of a channel given by its probabilities as floats, rounded up."""
        values, sizes = (matrix * self.losses).sum(axis=1), (matrix * np.abs(self.losses)).sum(axis=1)
        return float((values + sizes * (matrix.shape[1] + 8) * 2.0**-52).max()) + 1e-290


class WorstCaseMaster(Master):
    """Which columns to use where the largest loss counts; the first column of its program is t."""

    def __init__(self, orbits: Orbits, costs: Floats) -> None:
        super().__init__(orbits, costs)
        count = len(self.sizes)
        nothing = Sparse(np.zeros(count, np.int32), np.empty(0, np.int32), np.empty(0))
        self._program.add_rows(-np.inf, np.zeros(count), nothing)
        self._program.add_columns([1.0], -np.inf, np.inf, Sparse.of_dense([*np.zeros(count), *-self.sizes]))
        self.belief: Floats = np.full(count, 1 / float(self.sizes.sum()))

    def add(self, columns: list[Floats], places: list[int]) -> None:
        """More columns, each with the place of its output's orbit."""
        if not columns:
            return
        outputs = self.orbits.representatives[places]
        sums = np.array([self.orbits.sums(column) for column in columns])
        risks = [self.orbits.sums(self.costs[:, z] * column) for z, column in zip(outputs, columns, strict=True)]
        self._program.add_columns(np.zeros(len(columns)), entries=Sparse.of_dense(np.hstack([sums, np.array(risks)])))
        self.columns.extend(columns)
        self.places.extend(places)
        self.sums = np.hstack([self.sums, sums.T])
        self.prices = np.concatenate([self.prices, np.zeros(len(columns))])

    def solve(self) -> tuple[float, Floats, Floats]:
        """The least largest loss with these columns, their weights, and the price of each orbit; sets `belief`."""
        solution = self._program.solve("primal", keep_basis=False)
        if not solution.optimal:
            raise ImpossibleError("the solver finds no weights for the columns; are some distances extremely small?")
        count = len(self.sizes)
        self.belief = np.maximum(-solution.duals[count:], 0.0)
        return solution.objective, np.maximum(solution.primal[1:], 0.0), solution.duals[:count]

    def trim(self, weights: Floats, duals: Floats) -> Floats:
        """All columns stay."""
        del duals
        return weights


class WorstCaseSearch(ColumnSearch):
    """The search of `ColumnSearch` for the least largest loss."""

    master: WorstCaseMaster

    @cached_property
    def prior(self) -> Floats:
        """Of each point: the one for which the best bound was found, at first that of the instance."""
        return self.instance.prior

    @cached_property
    def _belief(self) -> Floats:
        return self.prior

    def _new_master(self) -> Master:
        return WorstCaseMaster(self.orbits, self.instance.costs)

    def run(self, target: float) -> bool:
        """Rounds until the gap, in floats, is at most ``target``; False where time ran out before."""
        prices, belief = self._first(), self._orbit_values(self.prior)
        careful = _CAREFUL
        while True:
            self.weigh()
            if self._close(self.bound, target):
                return True
            if self.rounds >= _MOST_ROUNDS or self._late():
                return False
            trial = careful * prices + (1 - careful) * self.duals
            mixed = careful * belief + (1 - careful) * self.master.belief
            self._belief = mixed[self.orbits.points]
            before, known = self.bound, len(self.master.columns)
            if self._price(trial, whole=True) is None:
                return False
            if self.bound > before:
                prices, belief, self.prior = trial, mixed, self._belief
            careful = 0.0 if len(self.master.columns) == known else _CAREFUL
            self.rounds += 1
            if self.tell is not None:
                self.tell(self)

    def _first(self) -> Floats:
        return np.zeros(len(self.master.sizes)) if self.flows is None else self._orbit_values(self.prices)

    def _gains(self, place: int, prices: Floats) -> Floats:
        return self._belief * self.instance.costs[:, self.orbits.representatives[place]] - prices
