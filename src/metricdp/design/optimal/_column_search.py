"""Column generation, in floats: columns, prices that move with care, and the flows that show a bound.

Columns of private channels lie in a cone that the metric alone determines. A `Master` weighs those found so far, its
duals are prices of the points, and for each output the best column at these prices is sought (`Pricing`). Nothing here
is a proof: `metricdp.design.optimal` certifies what comes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from metricdp.design.optimal._coarsening import Coarser, Instance
from metricdp.design.optimal._dual_bound import Flow
from metricdp.design.optimal._master import TIME, Master
from metricdp.design.optimal._orbits import Orbits
from metricdp.design.optimal._pricing import Geometry, Priced, Pricing
from metricdp.design.optimal._stabilising import near_prices
from metricdp.design.optimal._start import Start, closed_channels, start
from metricdp.errors import ImpossibleError
from metricdp.exact.arrays import Floats
from metricdp.exact.processors import processors
from metricdp.exact.progress import Stopwatch

__all__ = ["FLOATS", "ROUNDS", "TIME", "ColumnSearch"]

ROUNDS = "the search took all its rounds"
FLOATS = "the search came as near as the floats of a solver can show"

_PLATEAUS = (0, 1, 2, 3, 5)
_LEVEL = 0.7
_MOST_ROUNDS = 2000
_USEFUL = 1e-10
_IDLE = 2
"""After so many rounds of no use an output is left out for a while."""

_WHOLE = 6
"""In every so many rounds all outputs are asked."""

_MANY = 64
"""With more outputs than this to be asked, a problem of a quarter of the points shows where to begin."""

_PATIENCE = 12
_COARSE_GAP = 0.01
_MOST_PAIRS = 100_000
"""Of points and outputs: for so many the solver's state is kept in memory, a gigabyte; the others' is rebuilt."""

_LEAST_MASS = 1e-3
_LEAST_TIME = 0.2
"""Seconds for the weights of the columns, however late it is."""


class ColumnSearch:
    """The state of one search: columns, prices, and the best bound with the flows that show it.

    Args:
        instance: what is to be minimised.
        orbits: which points and outputs are alike.
        watch: says when to stop.
        tell: called after each round.
    """

    def __init__(
        self,
        instance: Instance,
        orbits: Orbits,
        watch: Stopwatch | None = None,
        tell: Callable[[ColumnSearch], object] | None = None,
    ) -> None:
        self.instance = instance
        self.orbits = orbits
        self.watch = watch or Stopwatch()
        self.tell = tell
        self.rounds = 0
        self.geometry = Geometry.of(instance.distances, self._mass())
        self.master = self._new_master()
        self.pricings: dict[int, Pricing] = {}
        self.idle = [0] * len(orbits.representatives)
        self.loss, self.weights, self.duals = np.inf, np.empty(0), np.empty(0)
        self.bound = 0.0  # costs are not negative
        self.prices: Floats = np.zeros(len(instance.distances))
        self.flows: list[Flow] | None = None
        self.asked_all = False
        self.first: Start | None = None
        self._begin()
        self.start: Floats | None = None
        self.seeded = False
        self.stopped = FLOATS
        """Why the last search ended, where it did not reach what it was asked for."""

    def _new_master(self) -> Master:
        return Master(self.orbits, self.instance.costs)

    def _begin(self) -> None:
        """Columns to weigh first, and a bound to begin with, both in closed form."""
        self._add_channels()
        self._add_first_columns()
        found = start(self.instance, self.orbits, self.geometry.decay, self._first_prices())
        if found.bound > 0:
            self.first, self.bound, self.prices = found, found.bound, found.prices

    # The search

    def run(self, target: float) -> bool:
        """Rounds until the gap, in floats, is at most ``target``; False where time ran out before."""
        sizes, first = self.master.sizes, self._first_prices()
        spread = np.maximum(first / max(float(first.mean()), 1e-300), 1e-3)
        if self.start is None:
            self.start = first if self.first is None else self._orbit_values(self.first.prices)
            # With symmetries there are few outputs to ask, and a smaller problem, which may have none, has more.
            asked = len(self.orbits.representatives)
            self.seeded = asked > max(_MANY, len(self.instance.distances) // 4) and self._seed()
        centre = self.start if self.flows is None else self._orbit_values(self.prices)
        step, guess, stuck, still = 1.0, self.bound, False, 0
        while True:
            self.weigh()
            if self._close(self.bound, target):
                return True
            if self.rounds >= _MOST_ROUNDS or self._late():
                self.stopped = TIME if self._late() else ROUNDS
                return False
            whole = self._close(guess, target) or self.rounds % _WHOLE == 0
            if not self.asked_all:
                whole = not self.seeded or self.rounds >= _WHOLE or (whole and self.rounds > 0)
            if self.rounds == 0:
                trial = centre
            elif stuck:  # too near to the edge of what floats can do: the master's own prices, half way
                trial = (centre + self.duals) / 2
            else:
                small = 1e-3 * max(self.loss - guess, 1e-12 * self.loss)
                pull = sizes / (step * spread)
                trial = near_prices(self.master.sums, self.master.prices, sizes, centre, pull, small)
            promised, before = float(sizes @ trial) - guess, len(self.master.columns)
            bound = self._price(trial, whole)
            if bound is None:
                self.stopped = TIME
                return False
            moved = len(self.master.columns) > before or bound > guess + 1e-9 * abs(guess)
            stuck, still = not stuck and not moved, 0 if moved else still + 1
            if still == _PATIENCE:
                self.stopped = FLOATS
                return False
            if bound >= guess:
                centre, guess = trial, bound
            if whole and guess > self.bound:  # it was too hopeful
                centre, guess = self._orbit_values(self.prices), self.bound
            step *= float(np.clip(_LEVEL * (self.loss - guess) / max(promised, 1e-12), 0.4, 4.0))
            step = float(np.clip(step, 1e-9, 1e9))
            self.rounds += 1
            if self.tell is not None:
                self.tell(self)

    def weigh(self) -> None:
        """The best use of the columns there are."""
        self.loss, self.weights, self.duals = self.master.solve(max(self.watch.left, _LEAST_TIME))
        self.weights = self.master.trim(self.weights, self.duals)

    def settle(self) -> None:
        """Weights for the columns, where the search was interrupted before there were any: the best that are known."""
        if not len(self.weights):
            self.loss, self.weights, self.duals = self.master.best_so_far()

    def _price(self, trial: Floats, whole: bool) -> float | None:
        """The best column of each output at these prices; returns the bound they show, None where time ran out.

        Outputs that were of no use lately are left out unless all are asked for; then the bound is only a guess.
        """
        prices = trial[self.orbits.points]
        tolerance = 0.02 * (self.loss - self.bound) / len(prices)
        attempts = 3 if self.asked_all else 2
        awake = _MOST_PAIRS // len(prices)
        asked = [place for place, idle in enumerate(self.idle) if whole or idle < _IDLE]

        def ask(place: int) -> Priced | None:
            if self._late():
                return None
            pricing = self._pricing(place)
            priced = pricing.solve(self._gains(place, prices), tolerance, attempts)
            if place >= awake:
                pricing.rest()
            return priced

        # The solver leaves the interpreter free while it works; answers come in the order of the outputs.
        with ThreadPoolExecutor(processors()) as pool:
            try:
                answers = list(pool.map(ask, asked))
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        found = [(place, priced) for place, priced in zip(asked, answers, strict=True) if priced is not None]
        for place, priced in found:
            self.idle[place] = 0 if priced.reduced < -_USEFUL else self.idle[place] + 1
            seen = *priced.earlier, (priced.column, priced.reduced)
            columns = [column for column, reduced in seen if reduced < -_USEFUL]
            self.master.add(columns, [place] * len(columns))
        if len(found) < len(asked):
            self.weigh()
            return None
        worst = min([0.0, *(priced.value for _, priced in found)])
        mass = self.geometry.mass
        bound = float(prices.sum()) + float(mass.sum()) * worst
        if len(found) < len(self.idle):
            return bound
        self.asked_all = True
        if bound >= self.bound or (self.flows is None and self.first is None):
            self.bound = max(bound, 0.0)
            self.prices = prices + worst * mass if np.isfinite(worst) else np.zeros(len(prices))
            self.flows = [self._flow(place, priced) for place, priced in found]
        return bound

    def _pricing(self, place: int) -> Pricing:
        if place not in self.pricings:
            centre = int(self.instance.centres[self.orbits.representatives[place]])
            self.pricings[place] = Pricing(self.geometry, centre)
        return self.pricings[place]

    def _gains(self, place: int, prices: Floats) -> Floats:
        return self.instance.costs[:, self.orbits.representatives[place]] - prices

    def _flow(self, place: int, priced: Priced) -> Flow:
        first, second = self.pricings[place].pairs
        number = len(priced.flow)
        return first[:number], second[:number], priced.flow / self.pricings[place].scale[second[:number]]

    def _close(self, bound: float, target: float) -> bool:
        goal = target * abs(self.loss + self.instance.offset)
        return self.loss - bound <= max(goal, 0.5 * self.instance.negligible)

    def _late(self) -> bool:
        return self.watch.over

    # Where it begins

    def _add_channels(self) -> None:
        """The columns of channels in closed form, each for the output that it is best used for."""
        orbits = self.orbits
        chosen = np.unique(orbits.points, return_index=True)[1]
        for tight, matrix in closed_channels(self.geometry.decay):
            guesses = (matrix.T @ self.instance.costs).argmin(axis=1)
            shares = matrix.sum(axis=0)
            kept = [x for x in chosen.tolist() if shares[x] > 0]
            columns = [matrix[orbits.carriers[guesses[x]], x] / shares[x] for x in kept]
            self.master.add(columns, [int(orbits.outputs[guesses[x]]) for x in kept])
            # Columns of the tight mechanism fall fast, so a basis of them is well conditioned.
            self.master.know([float(shares[x]) * float(orbits.sizes[orbits.points[x]]) for x in kept], tight)

    def _add_first_columns(self) -> None:
        """For each output, columns that fall from a plateau about its centre; and the constant one, for the best."""
        distances = self.instance.distances
        positive = distances[(distances > 0) & np.isfinite(distances)]
        width = float(positive.min(initial=np.inf)) if len(positive) else 1.0
        centres = self.instance.centres[self.orbits.representatives]
        for plateau in _PLATEAUS:
            columns = np.exp(-np.maximum(distances[centres] - plateau * width, 0.0))
            columns /= columns.sum(axis=1, keepdims=True)
            self.master.add(list(columns), list(range(len(centres))))
        best = int(self.instance.costs[:, self.orbits.representatives].sum(axis=0).argmin())
        self.master.add([np.full(len(distances), 1 / len(distances))], [best])

    def _first_prices(self) -> Floats:
        """The prior, blurred by the metric, times the largest factor that is not too much for the first columns."""
        decay, blurred = self.geometry.decay, self.geometry.mass
        factor = min(
            float(self.instance.costs[:, z] @ decay[x] / (blurred @ decay[x]))
            for z, x in ((z, self.instance.centres[z]) for z in self.orbits.representatives)
        )
        return self._orbit_values(blurred) * max(factor, 1e-6)

    def _mass(self) -> Floats:
        """The prior, blurred by the metric, of mean one: prices are high where points are likely."""
        decay = np.exp(-self.instance.distances)
        blurred = decay @ self.instance.prior / decay.sum(axis=1)
        blurred = np.maximum(blurred, _LEAST_MASS * float(blurred.mean()))
        even: Floats = (self.orbits.sums(blurred) / self.orbits.sizes)[self.orbits.points] / blurred.mean()
        return even

    def _seed(self) -> bool:
        """Columns and prices from a coarser problem, and the outputs it has a use for; False where it has none."""
        orbits, decay = self.orbits, self.geometry.decay
        coarser = Coarser.of(self.instance, len(decay) // 4)
        search = ColumnSearch(coarser.instance, Orbits.none(*coarser.instance.costs.shape), self.watch)
        try:
            search.run(_COARSE_GAP)
        except ImpossibleError:  # only a start is lost
            return False
        if not search.asked_all:
            return False
        self.start = self._orbit_values(coarser.prices(search.prices, self.geometry.mass))
        self.idle = [_IDLE] * len(self.idle)
        for k in np.flatnonzero(search.weights).tolist():
            z = int(coarser.outputs[search.orbits.representatives[search.master.places[k]]])
            column = coarser.column(search.master.columns[k], decay)[orbits.carriers[z]]
            self.master.add([column], [int(orbits.outputs[z])])
            around = np.flatnonzero(coarser.groups[self.instance.centres] == coarser.groups[self.instance.centres[z]])
            for place in orbits.outputs[around].tolist():
                self.idle[place] = 0
        return True

    def _orbit_values(self, values: Floats) -> Floats:
        return self.orbits.sums(values) / self.master.sizes
