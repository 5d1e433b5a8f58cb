"""The mechanism whose largest expected loss, over all inputs, is least.

    minimise  t   with   Σ_k λ_k v_k(x) = 1   and   Σ_k λ_k v_k(x) c(x, z_k) <= t   for every point x,   λ >= 0.

The duals of the second rows are a prior π, the worst one for every mechanism (minimax): for it the least
expected loss is t as well. Columns are priced at ``π c(., z) - μ``, at prices between the best so far and the new ones.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from metricdp.design.optimal._column_search import FLOATS, ROUNDS, TIME, ColumnSearch
from metricdp.design.optimal._master import Master
from metricdp.design.optimal._orbits import Orbits
from metricdp.design.optimal._problem import Problem
from metricdp.errors import ImpossibleError
from metricdp.exact.arrays import Floats, Places
from metricdp.programs import Sparse, Status

__all__ = ["WorstCase", "WorstCaseSearch"]

_MOST_ROUNDS = 1000
_CAREFUL = 0.6
_IDLE = 3
"""After so many rounds in which neither a column nor a bound is found, floats show no more."""

_METHODS: tuple[Literal["primal", "dual", "ipm"], ...] = ("primal", "dual", "ipm")
"""The next one where the one before goes astray."""

_MOST_RISK = 1e10
"""In units of the best constant channel's loss: a column that costs a point more can have a weight of 1e-10 at most."""


class WorstCase(Problem):
    """Minimise ``max_x Σ_z K(x)(z) loss(z, x)`` over the private channels K; the prior only says where to begin."""

    most_points = 6000

    @cached_property
    def costs(self) -> Floats:
        """The losses above the least of them: taking one number off all of them changes no choice."""
        return self.losses - self.offset

    @cached_property
    def offset(self) -> float:
        """The least loss of all."""
        return float(self.losses.min())

    @cached_property
    def error(self) -> float:
        """Nothing is proved by these costs: the bound is that of a prior, see `Problem`."""
        return 0.0

    def best_output(self, points: Places) -> int:
        """The output whose largest loss for these points is least."""
        return int(self.losses[points].max(axis=0).argmin())

    @cached_property
    def about_constant(self) -> float:
        """Below the least of them, so that the best of them is always looked at."""
        return -math.inf

    def about(self, matrix: Floats) -> float:
        """Nothing is known of it: a remap that is best for one prior need not be for another."""
        return -math.inf

    def _together(self, losses: list[Fraction]) -> Fraction:
        return max(losses)

    def _in_floats(self, values: Floats, sizes: Floats, terms: float) -> float:
        return float((values + sizes * terms).max()) + 1e-300


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
        """More columns, each with the place of its output's orbit; without those that cost too much to be used.

        Of weight w, a column that costs a point r costs the whole w r, and no more than the best constant channel is
        of use. So one with a very large r would hardly be used, and no solver takes it beside the others.
        """
        risks = [self._risks(column, place) for column, place in zip(columns, places, strict=True)]
        kept = [k for k, risk in enumerate(risks) if (risk <= _MOST_RISK * self.sizes).all()]
        if not kept:
            return
        columns, places = [columns[k] for k in kept], [places[k] for k in kept]
        sums = np.array([self.orbits.sums(column) for column in columns])
        entries = np.hstack([sums, np.array([risks[k] for k in kept])])
        self._program.add_columns(np.zeros(len(columns)), entries=Sparse.of_dense(entries))
        self.columns.extend(columns)
        self.places.extend(places)
        self.sums = np.hstack([self.sums, sums.T])
        self.prices = np.concatenate([self.prices, np.zeros(len(columns))])

    def _risks(self, column: Floats, place: int) -> Floats:
        """What a column of this output costs the points of each orbit."""
        return self.orbits.sums(self.costs[:, self.orbits.representatives[place]] * column)

    def solve(self, seconds: float = math.inf) -> tuple[float, Floats, Floats]:
        """The least largest loss with these columns, their weights, and the price of each orbit; sets `belief`."""
        stop = time.monotonic() + seconds
        for method in _METHODS:
            solution = self._program.solve(method, seconds, keep_basis=False, interruptible=True)
            seconds = stop - time.monotonic()
            if solution.optimal or seconds <= 0:
                break
        if not solution.optimal:
            late = solution.status is Status.TIME_LIMIT
            raise ImpossibleError(TIME if late else "the solver found no weights for the columns")
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

    def _begin(self) -> None:
        self._add_first_columns()

    def _new_master(self) -> Master:
        return WorstCaseMaster(self.orbits, self.instance.costs)

    def run(self, target: float) -> bool:
        """Rounds until the gap, in floats, is at most ``target``; False where time ran out before."""
        prices, belief = self._first(), self._orbit_values(self.prior)
        careful, idle = _CAREFUL, 0
        while True:
            self.weigh()
            if self._close(self.bound, target):
                return True
            if idle == _IDLE or self.rounds >= _MOST_ROUNDS or self._late():
                self.stopped = TIME if self._late() else FLOATS if idle == _IDLE else ROUNDS
                return False
            trial = careful * prices + (1 - careful) * self.duals
            mixed = careful * belief + (1 - careful) * self.master.belief
            self._belief = mixed[self.orbits.points]
            before, known = self.bound, len(self.master.columns)
            if self._price(trial, whole=True) is None:
                self.stopped = TIME
                return False
            if self.bound > before:
                prices, belief, self.prior = trial, mixed, self._belief
            moved = len(self.master.columns) > known
            idle = 0 if moved or self.bound > before else idle + 1
            careful = _CAREFUL if moved else 0.0
            self.rounds += 1
            if self.tell is not None:
                self.tell(self)

    def _first(self) -> Floats:
        return np.zeros(len(self.master.sizes)) if self.flows is None else self._orbit_values(self.prices)

    def _gains(self, place: int, prices: Floats) -> Floats:
        return self._belief * self.instance.costs[:, self.orbits.representatives[place]] - prices
