"""The mechanism of least expected loss, by column generation, certified."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from metricdp.channels.certifying import certify
from metricdp.design.coarsening import Instance
from metricdp.design.column_search import ColumnSearch
from metricdp.design.dual_bound import Flow, mended, proven_bound
from metricdp.design.optimal_channel import Optimal
from metricdp.design.orbits import Orbits
from metricdp.design.problem import Problem
from metricdp.design.worst_case import WorstCase, WorstCaseSearch
from metricdp.errors import LevelError
from metricdp.metrics import Space

__all__ = ["optimal"]

Progress = Callable[[int, float, float, float], object]

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
        prior: see `metricdp.adversaries.as_prior`; or "worst", for users who fear the worst: then the largest expected
            loss of an input is minimised, ``max_x Σ_z K(x)(z) loss(z, x)``.
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
    >>> round(optimal(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()), prior="worst").loss, 6)
    0.571429
    """
    if not gap > 0:
        raise LevelError("a gap is positive")
    if time_limit is not None and not time_limit > 0:
        raise LevelError("a time limit is positive")
    # The cores are for the pricing problems: threads of a matrix product of this size wait longer than they work.
    with threadpool_limits(1, "blas"):
        if isinstance(prior, str) and prior == "worst":
            worst = WorstCase.of(space, "uniform", loss, outputs)
            return _WorstCaseSynthesis(worst, gap, time_limit, progress, symmetry).run()
        problem = Problem.of(space, prior, loss, outputs)
        return _Synthesis(problem, gap, time_limit, progress, symmetry).run()


class _Synthesis:
    """A problem, the search for its columns, and the proof of what they are worth."""

    _search: type[ColumnSearch] = ColumnSearch

    def __init__(
        self, problem: Problem, gap: float, time_limit: float | None, progress: Progress | None, symmetry: bool
    ) -> None:
        self.problem = problem
        self.gap = gap
        self.progress = progress
        points, outputs = problem.costs.shape
        self.orbits = Orbits.of(problem.shorter, problem.costs) if symmetry else Orbits.none(points, outputs)
        constant = float(problem.costs.sum(axis=0).min())
        self.unit = constant / points if constant > 0 else float(problem.costs.max()) or 1.0
        self.costs = problem.costs / self.unit
        instance = Instance(
            problem.shorter,
            self.costs,
            problem.centres,
            problem.prior,
            problem.offset / self.unit,
            self._negligible() / self.unit,
        )
        deadline = None if time_limit is None else time.monotonic() + time_limit
        self.search = self._search(instance, self.orbits, deadline, None if progress is None else self._tell)

    def run(self) -> Optimal:
        target = 0.7 * self.gap
        while True:
            try:
                going = self.search.run(target)
            except KeyboardInterrupt:
                going = False
                self.search.weigh()
            answer = self._certified()
            target /= 2
            if answer.finished or not going or target < _STRICTEST * self.gap:
                return answer
            # What is proved counts.
            self.search.bound = min(self.search.bound, (answer.bound - self.problem.offset) / self.unit)

    def _enough(self, loss: float, bound: float) -> bool:
        return loss - bound <= max(self.gap * abs(loss), self._negligible())

    def _negligible(self) -> float:
        return _NEGLIGIBLE * float(np.abs(self.problem.losses).max()) + 1e-280

    def _tell(self, search: ColumnSearch) -> None:
        if self.progress is not None:
            loss, bound = (value * self.unit + self.problem.offset for value in (search.loss, search.bound))
            self.progress(search.rounds, loss, bound, (loss - bound) / abs(loss) if loss else 0.0)

    def _certified(self) -> Optimal:
        problem, points = self.problem, self.problem.space.points
        master = self.search.master
        matrix = master.assembled(master.even(self.search.weights))
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
            self.search.rounds,
            tuple(tuple(points[x] for x in group) for group in problem.merged),
            self._enough(loss, bound),
        )

    def _proven(self) -> float:
        """The bound, shown for every output by the flow of its representative, carried to it."""
        problem, orbits, search = self.problem, self.orbits, self.search
        count, outputs = self.costs.shape
        nothing: Flow = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        flows, prices = [nothing] * outputs, np.zeros(count)
        if search.flows is not None:
            prices = search.prices
            settled = [
                mended(self.costs[:, z] - prices, flow, search.pricings[place].away, search.geometry.decay)
                for place, (z, flow) in enumerate(zip(orbits.representatives.tolist(), search.flows, strict=True))
            ]
            for z in range(outputs):
                first, second, amount = settled[orbits.outputs[z]]
                flows[z] = (orbits.carriers[z][first], orbits.carriers[z][second], amount)
        bound = proven_bound(self.costs, prices, flows, problem.pairs.distances, 2.0**-48)
        shown = max(bound, 0.0) * self.unit * (1 - 2.0**-50) + problem.offset - problem.error
        return max(shown, 0.0) if (problem.losses >= 0).all() else shown


class _WorstCaseSynthesis(_Synthesis):
    """The same for the largest loss; what is best for any one prior bounds it from below."""

    search: WorstCaseSearch
    _search = WorstCaseSearch

    def _proven(self) -> float:
        problem, search = self.problem, self.search
        losses = np.ascontiguousarray(problem.losses.T)
        prior = search.prior / search.prior.sum()
        left = None if search.deadline is None else max(search.deadline - time.monotonic(), 1.0)
        return optimal(problem.space, prior, losses, problem.outputs, self.gap / 8, left).bound
