"""The mechanism of least expected loss, by column generation, certified."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from metricdp.channels.certifying import certify
from metricdp.design.dual_bound import Flow, mended, proven_bound
from metricdp.design.master import Master
from metricdp.design.optimal_channel import Optimal
from metricdp.design.orbits import Orbits
from metricdp.design.pricing import Geometry, Priced, Pricing
from metricdp.design.problem import Problem
from metricdp.design.stabilising import near_prices
from metricdp.errors import LevelError
from metricdp.exact.refine import Floats
from metricdp.metrics import Space

__all__ = ["optimal"]

Progress = Callable[[int, float, float, float], object]

_PLATEAUS = (0, 1, 2, 3, 5)
_LEVEL = 0.7
_MOST_ROUNDS = 2000
_USEFUL = 1e-10
_IDLE = 2
"""After so many rounds of no use an output is left out for a while."""

_WHOLE = 6
"""In every so many rounds all outputs are asked."""
_NEGLIGIBLE = 1e-11
_STRICTEST = 1e-2


def optimal(
    space: Space,
    prior: Any = "uniform",
    loss: Any = "distance",
    outputs: Iterable[Any] | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
    progress: Progress | None = None,
    symmetry: bool = True,
) -> Optimal:
    """The d-private channel of least expected loss ``Σ_x prior(x) Σ_z K(x)(z) loss(z, x)``, certified.

    A channel's columns lie in the cone ``v_x <= exp(d(x, x')) v_x'`` and add up to one. Columns are generated: a master
    problem weighs those found so far, its duals are prices of the points, and for each output the best column at these
    prices is sought. Inputs of prior zero constrain as others do; points at an infinite distance do not. Points too
    near to be told apart (`merged`) get equal rows.

    Args:
        space: the points and d.
        prior: see `metricdp.adversaries.as_prior`.
        loss: see `metricdp.adversaries.as_loss`; irrational losses are taken as their floats. "distance" is measured in
            ``space.metric.unit``.
        outputs: labels of the outputs; by default those that the loss speaks of, for "distance" the points.
        gap: when to stop: the part of the loss by which the best channel may at most be better.
        time_limit: seconds after which the best channel so far is returned, certified; so it is after Ctrl-C.
        progress: called after each round with its number, the loss, the bound and the gap, as floats that prove nothing
            yet.
        symmetry: whether to search for symmetries of the space and the losses, and to use them.

    Returns:
        A channel with its `loss`, a `bound` that no private channel can pass, and the `gap` between them.

    Guarantee:
        ``space.metric``, verified.

    Raises:
        LevelError: a gap or a time limit that is not positive.

    References:
        Paper 3, section 5; paper 5, sections III and IV.

    >>> import metricdp as mdp
    >>> K = optimal(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()))
    >>> round(K.loss, 6), K.gap < 1e-4
    (0.555556, True)
    """
    if not gap > 0:
        raise LevelError("a gap is positive")
    if time_limit is not None and not time_limit > 0:
        raise LevelError("a time limit is positive")
    problem = Problem.of(space, prior, loss, outputs)
    return _Search(problem, gap, time_limit, progress, symmetry).run()


class _Search:
    """The state of one search: columns, prices, and the best bound with the flows that show it."""

    def __init__(
        self, problem: Problem, gap: float, time_limit: float | None, progress: Progress | None, symmetry: bool
    ) -> None:
        self.problem = problem
        self.gap = gap
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.progress = progress
        self.rounds = 0
        points, outputs = problem.costs.shape
        self.orbits = Orbits.of(problem.shorter, problem.costs) if symmetry else Orbits.none(points, outputs)
        constant = float(problem.costs.sum(axis=0).min())
        self.unit = constant / points if constant > 0 else 1.0
        self.costs = problem.costs / self.unit
        self.geometry = Geometry.of(problem.shorter, np.ones(points))
        self.master = Master(self.orbits, self.costs)
        self.pricings: dict[int, Pricing] = {}
        self.idle = [0] * len(self.orbits.representatives)
        self.loss, self.weights, self.duals = np.inf, np.empty(0), np.empty(0)
        self.bound = 0.0  # costs are not negative
        self.prices: Floats = np.zeros(points)
        self.flows: list[Flow] | None = None
        self._add_first_columns()

    # The search

    def run(self) -> Optimal:
        target = 0.7 * self.gap
        while True:
            try:
                going = self._search(target)
            except KeyboardInterrupt:
                going = False
                self._weigh()
            answer = self._certified()
            target /= 2
            if answer.finished or not going or target < _STRICTEST * self.gap:
                return answer
            self.bound = min(self.bound, (answer.bound - self.problem.offset) / self.unit)  # what is proved counts

    def _enough(self, loss: float, bound: float) -> bool:
        return loss - bound <= max(self.gap * abs(loss), self._negligible())

    def _negligible(self) -> float:
        return _NEGLIGIBLE * float(np.abs(self.problem.losses).max()) + 1e-280

    def _search(self, target: float) -> bool:
        """Rounds until the gap, in floats, is small; False where time ran out before."""
        sizes, first = self.master.sizes, self._first_prices()
        spread = np.maximum(first / max(float(first.mean()), 1e-300), 1e-3)
        centre = first if self.flows is None else self._orbit_values(self.prices)
        step, guess, stuck = 1.0, self.bound, False
        while True:
            self._weigh()
            if self._close(self.bound, target):
                return True
            if self.rounds >= _MOST_ROUNDS or self._late():
                return False
            whole = self.flows is None or self.rounds % _WHOLE == 0 or self._close(guess, target)
            if self.flows is None:
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
                return False
            stuck = not stuck and len(self.master.columns) == before and bound <= guess + 1e-9 * abs(guess)
            if bound >= guess:
                centre, guess = trial, bound
            if whole and guess > self.bound:  # it was too hopeful
                centre, guess = self._orbit_values(self.prices), self.bound
            step *= float(np.clip(_LEVEL * (self.loss - guess) / max(promised, 1e-12), 0.4, 4.0))
            self.rounds += 1
            self._tell()

    def _weigh(self) -> None:
        self.loss, self.weights, self.duals = self.master.solve()

    def _price(self, trial: Floats, whole: bool) -> float | None:
        """The best column of each output at these prices; returns the bound they show, None where time ran out.

        Outputs that were of no use lately are left out unless all are asked for; then the bound is only a guess.
        """
        prices = trial[self.orbits.points]
        tolerance = 0.02 * (self.loss - self.bound) / len(prices)
        attempts = 2 if self.flows is None else 3
        found: list[tuple[int, Priced]] = []
        late = False
        for place, z in enumerate(self.orbits.representatives.tolist()):
            if not whole and self.idle[place] >= _IDLE:
                continue
            late = self._late()
            if late:
                break
            pricing = self.pricings.get(place)
            if pricing is None:
                pricing = self.pricings[place] = Pricing(self.geometry, int(self.problem.centres[z]))
            priced = pricing.solve(self.costs[:, z] - prices, tolerance, attempts)
            self.idle[place] = 0 if priced.reduced < -_USEFUL else self.idle[place] + 1
            found.append((place, priced))
        useful = [(place, priced) for place, priced in found if priced.reduced < -_USEFUL]
        self.master.add([priced.column for _, priced in useful], [place for place, _ in useful])
        if late:
            self._weigh()
            return None
        worst = min([0.0, *(priced.value for _, priced in found)])
        bound = float(prices.sum()) + len(prices) * worst
        if len(found) == len(self.idle) and (bound >= self.bound or self.flows is None):
            self.bound = max(bound, 0.0)
            self.prices = prices + worst if np.isfinite(worst) else np.zeros(len(prices))
            self.flows = [self._flow(place, priced) for place, priced in found]
        return bound

    def _flow(self, place: int, priced: Priced) -> Flow:
        first, second = self.pricings[place].pairs
        number = len(priced.flow)
        return first[:number], second[:number], priced.flow / self.pricings[place].scale[second[:number]]

    def _close(self, bound: float, target: float) -> bool:
        return (self.loss - bound) * self.unit <= max(
            target * abs(self.loss * self.unit + self.problem.offset), 0.5 * self._negligible()
        )

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def _tell(self) -> None:
        if self.progress is not None:
            loss, bound = (value * self.unit + self.problem.offset for value in (self.loss, self.bound))
            self.progress(self.rounds, loss, bound, (loss - bound) / abs(loss) if loss else 0.0)

    # Where it begins

    def _add_first_columns(self) -> None:
        """For each output, columns that fall from a plateau about its centre; and the constant one, for the best."""
        distances = self.problem.shorter
        positive = distances[(distances > 0) & np.isfinite(distances)]
        width = float(positive.min(initial=np.inf)) if len(positive) else 1.0
        centres = self.problem.centres[self.orbits.representatives]
        for plateau in _PLATEAUS:
            columns = np.exp(-np.maximum(distances[centres] - plateau * width, 0.0))
            columns /= columns.sum(axis=1, keepdims=True)
            self.master.add(list(columns), list(range(len(centres))))
        best = int(self.costs[:, self.orbits.representatives].sum(axis=0).argmin())
        self.master.add([np.full(len(distances), 1 / len(distances))], [best])

    def _first_prices(self) -> Floats:
        """The prior, blurred by the metric, times the largest factor that is not too much for the first columns."""
        decay = self.geometry.decay
        blurred = decay @ self.problem.prior / decay.sum(axis=1)
        blurred = np.maximum(blurred, 1e-6 * float(blurred.mean()))
        blurred = self._orbit_values(blurred)[self.orbits.points]
        factor = min(
            float(self.costs[:, z] @ decay[x] / (blurred @ decay[x]))
            for z, x in ((z, self.problem.centres[z]) for z in self.orbits.representatives)
        )
        return self._orbit_values(blurred) * max(factor, 1e-6)

    def _orbit_values(self, values: Floats) -> Floats:
        return self.orbits.sums(values) / self.master.sizes

    # What it ends with

    def _certified(self) -> Optimal:
        problem, points = self.problem, self.problem.space.points
        matrix = self.master.assembled(self.master.even(self.weights))
        for group in problem.merged:
            matrix[list(group)] = matrix[group[0]]
        channel = certify(matrix, problem.space, problem.outputs)
        loss, bound = problem.loss_of(channel.matrix), self._proven()
        return Optimal(
            channel.inputs,
            channel.outputs,
            channel.weights,
            channel.total,
            channel.promise,
            channel.moved,
            channel.cost,
            loss,
            bound,
            self.rounds,
            tuple(tuple(points[x] for x in group) for group in problem.merged),
            self._enough(loss, bound),
        )

    def _proven(self) -> float:
        """The bound, shown for every output by the flow of its representative, carried to it."""
        problem, orbits = self.problem, self.orbits
        count, outputs = self.costs.shape
        nothing: Flow = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        flows, prices = [nothing] * outputs, np.zeros(count)
        if self.flows is not None:
            prices = self.prices
            settled = [
                mended(self.costs[:, z] - prices, flow, self.pricings[place].away, self.geometry.decay)
                for place, (z, flow) in enumerate(zip(orbits.representatives.tolist(), self.flows, strict=True))
            ]
            for z in range(outputs):
                first, second, amount = settled[orbits.outputs[z]]
                flows[z] = (orbits.carriers[z][first], orbits.carriers[z][second], amount)
        bound = proven_bound(self.costs, prices, flows, problem.pairs.distances, 2.0**-48)
        return max(bound, 0.0) * self.unit * (1 - 2.0**-50) + problem.offset - problem.error
