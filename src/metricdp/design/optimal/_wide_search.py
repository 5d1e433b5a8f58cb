"""The search for many points without symmetry: prices repaired output by output, columns weighed by interior points.

Each round asks all outputs at trial prices (`Covering`), which gives a bound that is proved and the columns that were
missing. Trial prices are, in turn, those of a level step near the best prices, which raise the bound, and those half
way to the prices of the weighed columns, which find columns where the best prices hide them and so lower the loss. No
solver's basis is kept, and no program has more rows than there are points.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from metricdp.design.optimal._coarsening import Instance
from metricdp.design.optimal._covering import Covering, nearest_points
from metricdp.design.optimal._dual_bound import all_to_one, sum_below
from metricdp.design.optimal._lifted import Lifted
from metricdp.design.optimal._master import TIME
from metricdp.design.optimal._sparse_master import SparseMaster
from metricdp.design.optimal._stabilising import interior_point, met
from metricdp.design.optimal._start import blurred_prices, closed_channels, closed_prices
from metricdp.design.optimal._wide_start import Ground, closed_form, falling, start_prices
from metricdp.exact.arrays import Floats, Places
from metricdp.exact.processors import processors
from metricdp.exact.progress import Stopwatch

__all__ = ["WideSearch"]

_PLATEAUS = (1, 2, 4)
_MOST_COLUMNS = 6
"""For each point, when columns are left out, down to two thirds of them; `_FEWEST` in any case."""

_FEWEST = 5000

_LEVEL = 0.4
_MOST_ROUNDS = 60
_PATIENCE = 6
_USEFUL = 1e-10
_LARGE = 800
_LARGER = 350.0
"""By how much a system of eight times as many equations takes longer."""

_AT_ONCE = 250
"""So many columns are priced at a time."""

_TRIALS = 5
_GRACE = 0.5
"""Seconds over the limit that a step may take which the search cannot do without."""

_MANY = 1500
"""From so many points on, columns are priced in short floats."""
_SPARSE = 3000
"""From so many points on, columns are weighed by a sparse program."""

_NEARNESS = (0.1, 0.5, 0.2, 0.8)
"""How near to the prices of the weighed columns the trial prices are, in turn."""

_LOOSE = 1e-6
"""How strongly the prices of weighed columns are drawn to the best ones: next to nothing."""

STILL = "the search found no better prices and no better columns"


class WideSearch:
    """The state of one search.

    Args:
        instance: what is to be minimised.
        above: floats that are at least d, for what is proved.
        error: relative, of the costs.
        watch: says when to stop.
        tell: called after each round.
    """

    def __init__(
        self,
        instance: Instance,
        above: Floats,
        error: float,
        watch: Stopwatch,
        tell: Callable[[WideSearch], object],
    ) -> None:
        self.instance, self.watch, self.tell = instance, watch, tell
        self.rounds, self.stopped = 0, STILL
        self.decay: Floats = falling(instance.distances)
        self.covering = Covering(instance.distances, self.decay, above, instance.costs, instance.centres, error)
        first = (instance.distances <= 0).argmax(axis=1)
        self._kept, self._group = np.unique(first, return_inverse=True)  # points at distance zero have one row
        self.bound, self.prices = 0.0, np.zeros(len(self.decay))
        self.loss = np.inf
        self._best: Callable[[], Floats] = partial(np.zeros, instance.costs.shape)
        self.columns: Floats = np.empty((0, len(self.decay)))
        self.outputs: Places = np.empty(0, dtype=np.int64)
        self.costs: Floats = np.empty(0)
        self._step, self._loose_prices = 1.0, self.prices
        self._master: SparseMaster | None = None
        self._lifted: list[Lifted] = []  # columns that it is to be given
        self._cube = 0.0  # seconds for a system of equations of all points; 0 where that is no matter

    def run(self, target: float) -> bool:
        """Rounds until the gap is at most ``target``; False where it cannot be reached, or not in time."""
        still = 0
        while True:
            if self.rounds == 0:
                self._begin()
            else:
                before = self.loss, self.bound
                self._round(self.rounds % 2 == 0)
                moved = self.loss < before[0] * (1 - 1e-6) or self.bound > before[1] * (1 + 1e-6)
                still = 0 if moved else still + 1
            self.rounds += 1
            self.tell(self)
            goal = target * abs(self.loss + self.instance.offset)
            if self.loss - self.bound <= max(goal, 0.5 * self.instance.negligible):
                return True
            if self.watch.over or self.rounds >= self._most_rounds or still >= _PATIENCE:
                self.stopped = TIME if self.watch.over else STILL
                return False

    @property
    def _most_rounds(self) -> int:
        return _MOST_ROUNDS if self._master is None else 10 * _MOST_ROUNDS

    @property
    def proven(self) -> float:
        """The bound; prices are lowered outward, so it is a proof."""
        return sum_below(self.prices, np.zeros(0)) if self.bound > 0 else 0.0

    def matrix(self) -> Floats:
        """The best channel so far, points by outputs: its columns lie in the cone, its rows sum to one."""
        return self._best()

    # Rounds

    def _begin(self) -> None:
        """Channels and prices in closed form."""
        costs, distances = self.instance.costs, self.instance.distances
        self._prove(all_to_one(costs, self.covering.above, self.instance.prior, self.covering.error))
        sums = costs.sum(axis=0)
        self._know(lambda: _constant(costs.shape, int(sums.argmin())), float(sums.min()))
        self._add(np.full((1, len(distances)), 1 / len(distances)))
        guesses = self._begin_with_many() if len(self._kept) >= _LARGE else self._begin_with_few()
        if self.watch.over or self._master is not None:
            return
        self._gauge()
        finite = np.isfinite(distances) & (distances > 0)
        nearest = np.where(finite, distances, np.inf).min(axis=1)
        width = float(np.median(nearest[np.isfinite(nearest)])) if np.isfinite(nearest).any() else 1.0
        centres = np.unique(self.instance.centres)
        for plateau in _PLATEAUS:
            columns = np.exp(-np.maximum(distances[centres] - plateau * width, 0.0))
            self._add(
                columns / columns.sum(axis=1, keepdims=True),
                guesses[self._group[centres]] if len(distances) >= _LARGE else None,
            )

    def _begin_with_few(self) -> Places:
        """All channels in closed form; the best output for each column of the tight-constraints mechanism."""
        costs, kept, group = self.instance.costs, self._kept, self._group
        falls = self.decay if len(kept) == len(group) else self.decay[np.ix_(kept, kept)]
        worth = (self.decay if falls is self.decay else self.decay[kept]) @ costs
        guesses: Places = worth.argmin(axis=1)
        solved = closed_prices(falls, worth.min(axis=1))
        for tight, channel in closed_channels(falls, None if solved is None else solved[0]):
            matrix = channel if len(kept) == len(group) else channel[group]
            best = guesses if tight else (matrix.T @ costs).argmin(axis=1)
            merged = _merged(matrix, best, costs.shape[1])
            self._know(merged.copy, float((merged * costs).sum()))
            if (tight or len(self.costs) == 1) and not self.watch.over:
                sums = matrix.sum(axis=0)
                self._add((matrix[:, sums > 0] / sums[sums > 0]).T, best[sums > 0])
        self._visit(blurred_prices(self.instance, self.decay) if solved is None else self._spread(solved[1]))
        return guesses

    def _begin_with_many(self) -> Places:
        """The same with the best of them alone, by what takes no cubes."""
        ground, whole = self._ground(), len(self._kept) == len(self._group)
        guesses = ground.best_outputs(ground.decay)
        worth = ground.worth(ground.decay, None, guesses)
        solved = start_prices(ground, worth)
        form = closed_form(ground, None if solved is None else solved[0], guesses, worth)
        self._know(lambda: form.matrix() if whole else form.matrix()[self._group], form.loss)
        if whole and solved is not None and len(guesses) >= _SPARSE:
            self._master = SparseMaster(ground, solved[0], guesses, worth)
            self._lifted = [Lifted(np.arange(len(guesses)), column) for column in self.columns]
            self.columns = self.columns[:0]
        self._visit(blurred_prices(self.instance, self.decay) if solved is None else self._spread(solved[1]))
        if self._master is None and not self.watch.over:
            columns, best = form.columns()
            self._add(columns if whole else _whole_columns(columns, self._group), best)
        return guesses

    def _ground(self) -> Ground:
        """One point of each group, with the costs of all of them."""
        instance, kept, group = self.instance, self._kept, self._group
        if len(kept) == len(group):
            return Ground(instance.distances, self.decay, instance.costs, instance.centres, self.covering.nearest)
        costs = np.zeros((len(kept), instance.costs.shape[1]))
        np.add.at(costs, group, instance.costs)
        apart = instance.distances[np.ix_(kept, kept)]
        return Ground(apart, falling(apart), costs, group[instance.centres], nearest_points(apart))

    def _gauge(self) -> None:
        """How long a system of equations of an eighth of the points takes at best: the others follow from it."""
        if len(self._kept) < _LARGE or np.isinf(self.watch.left):
            return
        some = self._kept[: len(self._kept) // 8]
        few, taken = self.decay[np.ix_(some, some)], np.inf
        for _ in range(_TRIALS):  # others may use the machine for longer than one takes
            begun = self.watch.seconds
            with suppress(np.linalg.LinAlgError):
                np.linalg.solve(few, np.ones(len(few)))
            taken = min(taken, self.watch.seconds - begun)
        self._cube = taken * _LARGER

    def _late(self) -> Callable[[], bool]:
        """Says before each step of interior points whether it would end too late: the longest before it tells."""
        step = 3 * len(self.costs) / max(len(self._kept), 1) + 3
        begun, longest = [self.watch.seconds], [step * self._cube]

        def late() -> bool:
            longest[0] = max(longest[0] if len(begun) == 1 else 0.0, self.watch.seconds - begun[-1])
            begun.append(self.watch.seconds)
            return self.watch.over or longest[0] > self.watch.left + _GRACE

        return late

    def _round(self, far: bool) -> None:
        """One step of the prices, one visit of all outputs."""
        if self._master is not None:
            self._sparse_round(self._master)
            return
        if far:
            self._weigh()
            trial = (self.prices + self._loose_prices) / 2
        else:
            spread = np.maximum(self.prices / max(float(self.prices.mean()), 1e-300), 1e-2)
            tolerance = 1e-3 * max(self.loss - self.bound, 1e-9 * self.loss)
            trial = self._priced(self.prices, 1 / (self._step * spread), tolerance)[1]
        if self.watch.over:
            return
        promised = float(trial.sum()) - self.bound
        self._visit(trial)
        if not far:
            self._step *= float(np.clip(_LEVEL * (self.loss - self.bound) / max(promised, 1e-12), 0.4, 4.0))
            self._step = float(np.clip(self._step, 1e-9, 1e9))

    def _sparse_round(self, master: SparseMaster) -> None:
        """The same where columns are weighed by a sparse program."""
        with _threads(len(self.prices)):
            master.add(self._lifted, self.outputs, self.costs, lambda: self.watch.over)
        self._lifted, self.outputs, self.costs = [], self.outputs[:0], self.costs[:0]
        found = None if self.watch.over else master.solve(self.watch.left)
        if found is None:
            return
        self._know(lambda: master.channel(found), master.loss(found))
        share = _NEARNESS[self.rounds % len(_NEARNESS)]
        self._visit((1 - share) * self.prices + share * found.prices)

    def _weigh(self) -> None:
        """The best use of the columns there are."""
        pull, tolerance = np.full(len(self.prices), _LOOSE), 2e-4 * max(self.loss, 1e-300)
        weights, prices, solved = self._priced(self.prices, pull, tolerance)
        if not solved:
            return
        self._loose_prices = prices
        with _threads(len(self.prices)):
            even = met(self._rows(), weights, np.ones(len(self._kept)), self._late())
        if even is None:
            return
        loss = float(even @ self.costs)
        if loss < self.loss:
            matrix = np.zeros(self.instance.costs.shape)
            for z in np.unique(self.outputs).tolist():
                used = self.outputs == z
                matrix[:, z] = even[used] @ self.columns[used]
            self._know(matrix.copy, loss)
        self._trim(even)

    def _priced(self, centre: Floats, pull: Floats, tolerance: float) -> tuple[Floats, Floats, bool]:
        """Weights of the columns and prices near others, by interior points; points with one row have one price."""
        right, late = np.ones(len(self._kept)), self._late()
        start, pulled = np.bincount(self._group, weights=centre).astype(np.float64), pull[self._kept]
        with _threads(len(right)):
            weights, prices, solved = interior_point(self._rows(), self.costs, right, start, pulled, tolerance, late)
        return weights, self._spread(prices), solved

    def _rows(self) -> Floats:
        """The columns at one point of each group."""
        return (
            self.columns if len(self._kept) == len(self._group) else np.ascontiguousarray(self.columns[:, self._kept])
        )

    def _spread(self, prices: Floats) -> Floats:
        """Prices of groups, dealt out to their points by how likely these are."""
        shares = self.instance.prior + 1e-12
        spread: Floats = prices[self._group] * shares / np.bincount(self._group, weights=shares)[self._group]
        return prices if len(prices) == len(spread) else spread

    def _visit(self, trial: Floats) -> None:
        """Repair the prices, keep them where they prove more, and add the columns that are worth it."""
        order = np.argsort(np.sin(np.arange(self.instance.costs.shape[1]) * (self.rounds + 1.0)), kind="stable")
        found = self.covering.visit(trial, order, lambda: self.watch.over)
        self._prove(found.prices)
        if found.interrupted:
            raise KeyboardInterrupt
        self._take(found.columns, trial)

    def _prove(self, prices: Floats) -> None:
        """Keep prices that are proved where they prove more."""
        bound = float(prices.sum())
        if bound > self.bound:
            self.bound, self.prices = bound, prices

    def _take(self, lifted: list[Lifted], trial: Floats) -> None:
        """Add the columns that cost less at trial prices than they are worth, as long as there is time."""
        costs, scale = self.instance.costs, 1.0
        if lifted and len(costs) > _MANY:  # in short floats: the outputs to choose from are near enough then
            scale = 1 / max(float(costs.max()), 1e-300)
            costs = np.multiply(costs, scale, dtype=np.float32, casting="same_kind")
        for start in range(0, len(lifted), _AT_ONCE):
            if self.watch.over and start:
                return
            some = lifted[start : start + _AT_ONCE]
            columns = np.array([one.column(self.decay) for one in some])
            with _threads(len(trial)):
                values = (columns.astype(costs.dtype, copy=False) @ costs).astype(np.float64, copy=False) / scale
            useful = np.flatnonzero(values.min(axis=1) - columns @ trial < -_USEFUL / len(trial))
            outputs = values[useful].argmin(axis=1)
            if self._master is not None:
                self._lifted += [some[place] for place in useful.tolist()]
                self._note(columns[useful], outputs)
            else:
                self._add(columns[useful], outputs)

    def _know(self, made: Callable[[], Floats], loss: float) -> None:
        """A channel of this loss; it is made where it is asked for."""
        if loss < self.loss:
            self.loss, self._best = loss, made

    def _add(self, columns: Floats, outputs: Places | None = None) -> None:
        """More columns, each used for its output, or for that with which it costs least."""
        if not len(columns):
            return
        if outputs is None:
            outputs = (columns @ self.instance.costs).argmin(axis=1)
        self.columns = np.concatenate([self.columns, columns])
        self._note(columns, outputs)

    def _note(self, columns: Floats, outputs: Places) -> None:
        """What columns are used for, and what they cost."""
        costs = np.array([column @ self.instance.costs[:, z] for column, z in zip(columns, outputs, strict=True)])
        self.outputs = np.concatenate([self.outputs, outputs])
        self.costs = np.concatenate([self.costs, costs])

    def _trim(self, weights: Floats) -> None:
        """Leave out the columns that are farthest from being of use, where there are very many."""
        most = max(_FEWEST, _MOST_COLUMNS * len(self.prices))
        if len(self.costs) <= most:
            return
        reduced = self.costs - self.columns @ self._loose_prices
        reduced[weights > 1e-6 * float(weights.max())] = -np.inf
        kept = np.sort(np.argsort(reduced, kind="stable")[: 2 * most // 3])
        self.columns, self.outputs, self.costs = self.columns[kept], self.outputs[kept], self.costs[kept]


def _merged(matrix: Floats, outputs: Places, count: int) -> Floats:
    """The columns that are used for the same output, added up."""
    order = np.argsort(outputs, kind="stable")
    used, starts = np.unique(outputs[order], return_index=True)
    merged = np.zeros((len(matrix), count))
    merged[:, used] = np.add.reduceat(matrix[:, order], starts, axis=1)
    return merged


def _constant(shape: tuple[int, ...], output: int) -> Floats:
    """The channel that has but one output."""
    matrix = np.zeros(shape)
    matrix[:, output] = 1.0
    return matrix


def _whole_columns(columns: Floats, group: Places) -> Floats:
    """Columns of groups as columns of points."""
    spread: Floats = columns[:, group]
    spread /= spread.sum(axis=1, keepdims=True)
    return spread


def _threads(points: int) -> Any:
    """Both cores for the matrices of many points; of few, threads wait longer than they work."""
    return threadpool_limits(processors() if points >= _LARGE else 1, "blas")
