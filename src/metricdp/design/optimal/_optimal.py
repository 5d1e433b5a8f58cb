"""The mechanism of least expected loss, by column generation, certified."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from metricdp.channels.certified import Certified
from metricdp.channels.certify import certify, nearest_private
from metricdp.channels.proved import Proved
from metricdp.design.arguments import check_gap, check_space
from metricdp.design.optimal._between import kept_between
from metricdp.design.optimal._closed_forms import constant_channel, improved, tight_with_remap
from metricdp.design.optimal._coarsening import Instance
from metricdp.design.optimal._column_search import TIME, ColumnSearch
from metricdp.design.optimal._dual_bound import Flow, mended, proven_bound
from metricdp.design.optimal._exact_bound import ExactBound, exact_bound
from metricdp.design.optimal._orbits import Orbits
from metricdp.design.optimal._problem import FARTHEST, Problem
from metricdp.design.optimal._result import INTERRUPTED, Optimal
from metricdp.design.optimal._wide_search import WideSearch
from metricdp.design.optimal._worst_case import WorstCase, WorstCaseSearch
from metricdp.errors import ImpossibleError
from metricdp.exact.arrays import Floats, each_block, row_blocks
from metricdp.exact.balls import float_below
from metricdp.exact.lists import as_list
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.metrics import Space

__all__ = ["optimal"]

_NEGLIGIBLE = 1e-11
_STRICTEST = 1e-2
_WIDE = 60
"""From so many points on, without symmetry, the search is the one for many points."""

_MOST_NARROW = 300
"""For so many points at most another search goes on where that one ends."""

_MOST_SYMMETRIC = 6000
"""Of more points no symmetries are looked for."""

_CERTIFIED = 1e-6
"""By what share of itself a loss may rise when the channel of many points is certified."""

_SPARE = 1e-3
"""What share of the gap may be spent so that integers are short."""

_COST_ERROR = 2.0**-48
_MOST_COST = 1e200
"""What nobody pays where there is something to be had for about 1."""

_TINY = 1e-8
"""Of the largest loss: below it the tolerances of a solver show."""


def optimal(
    space: Space,
    prior: Any = "uniform",
    loss: Any = "distance",
    outputs: Iterable[Any] | None = None,
    *,
    gap: float = 1e-4,
    time_limit: float | None = None,
    progress: Progress | None = None,
    symmetry: bool = True,
    between: bool = False,
) -> Optimal:
    """The d-private channel of least expected loss ``Σ_x prior(x) Σ_z K(x)(z) loss(z, x)``, certified.

    A channel's columns lie in the cone ``v_x <= exp(d(x, x')) v_x'`` and add up to one. Columns are generated: a master
    problem weighs those found so far, its duals are prices of the points, and for each output the best column at these
    prices is sought. Inputs of prior zero constrain as others do; points at an infinite distance do not. Points too
    near to be told apart (`merged`) get equal rows.

    Args:
        space: the points and d.
        prior: how likely each point is: "uniform", a `Prior`, a dictionary from points to probabilities, or a list of
            probabilities in the order of the points. "worst" stands for no prior: then the largest expected loss of
            an input is minimised, ``max_x Σ_z K(x)(z) loss(z, x)``.
        loss: what an output costs: "distance" (in ``space.metric.unit``), "squared", "binary" (1 for an output that is
            not the input), a `Loss`, a matrix of outputs by points, or a function of an output and a point. Irrational
            losses are taken as their floats.
        outputs: labels of the outputs; by default those of the loss, for "distance", "squared" and a function the
            points.
        gap: stop when no private channel can be better by more than this share of the loss.
        time_limit: seconds after which the best channel so far is returned, certified. Ctrl-C does the same.
        progress: called after each round with an `Update` (rounds, loss, bound); ``print`` will do. Its numbers are
            floats and prove nothing yet.
        symmetry: whether to look for symmetries of the space and the losses, and to use them.
        between: whether the channel's `extended` mechanism, on every point between those of the space, is to keep the
            space's metric too. Then the channel is the best at the highest level for which that is proved, and its
            bound is that of channels on the points alone, so the gap is what the points between cost at most.

    Returns:
        A channel with its `loss`, a `bound` below which no private channel can be, and the `gap` between them. It is
        `finished` if the gap that was asked for is proved; otherwise `reason` says what stopped the search.

    Guarantee:
        ``space.metric``, verified.

    Raises:
        ArgumentError: if the gap or the time limit is not positive, or the prior, the loss or the outputs do not fit
            the space.

    References:
        Paper 3, section 5; paper 5, sections III and IV.

    >>> import metricdp as mdp
    >>> K = optimal(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()))
    >>> round(K.loss, 6), K.gap < 1e-4
    (0.555556, True)
    >>> round(optimal(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()), prior="worst").loss, 6)
    0.571429
    """
    share, watch = check_gap(gap), Stopwatch(time_limit, progress)
    check_space(space, "optimal")
    names = None if outputs is None else as_list(outputs, "outputs")  # what can be gone through but once
    belief = list(prior) if isinstance(prior, Iterator) else prior

    def at(some: Space, hurry: bool) -> Optimal:
        left = 0.1 if hurry else None if math.isinf(watch.left) else max(watch.left, 0.1)
        return optimal(some, belief, loss, names, gap=gap, time_limit=left, progress=progress, symmetry=symmetry)

    if between:
        return kept_between(space, at)
    # The cores are for the pricing problems: threads of a matrix product of this size wait longer than they work.
    with threadpool_limits(1, "blas"):
        if isinstance(prior, str) and prior == "worst":
            worst = WorstCase.of(space, "uniform", loss, names)
            return _WorstCaseSynthesis(worst, share, watch, symmetry).run()
        problem = Problem.of(space, belief, loss, names)
        return _Synthesis(problem, share, watch, symmetry).run()


class _Synthesis:
    """A problem, the search for its columns, and the proof of what they are worth."""

    _search: type[ColumnSearch] = ColumnSearch

    def __init__(self, problem: Problem, gap: float, watch: Stopwatch, symmetry: bool) -> None:
        self.problem = problem
        self.gap = gap
        self.stopped = ""
        self.watch = watch
        points, outputs = problem.costs.shape
        symmetry = symmetry and points <= _MOST_SYMMETRIC
        self.orbits = Orbits.of(problem.shorter, problem.costs) if symmetry else Orbits.none(points, outputs)
        constant = float(problem.costs.sum(axis=0).min())
        self.unit = constant / points if constant > 0 else float(problem.costs.max()) or 1.0
        many = points > _MOST_NARROW
        costs = problem.handed_over() if many else problem.costs
        self.costs = costs if many else costs.copy()

        @np.errstate(over="ignore")
        def count(rows: slice) -> None:
            self.costs[rows] /= self.unit
            np.minimum(self.costs[rows], _MOST_COST, out=self.costs[rows])  # smaller costs prove a smaller bound

        each_block(count, list(row_blocks(costs.shape)))
        self.instance = Instance(
            problem.shorter,
            self.costs,
            problem.centres,
            problem.prior,
            problem.offset / self.unit,
            self._negligible() / self.unit,
        )
        self.known: list[Certified] = []
        self.proved = -math.inf
        self.rounds = 0

    @cached_property
    def search(self) -> ColumnSearch:
        return self._search(self.instance, self.orbits, self.watch, self._tell)

    def run(self) -> Optimal:
        if self._search is ColumnSearch and self.orbits.trivial and len(self.costs) >= _WIDE:
            answer, going = self._run_wide()
            if answer.finished or not going or len(self.problem.losses) > _MOST_NARROW:
                return answer
            self.known, self.proved = [answer], answer.bound
        target = 0.7 * self.gap
        while True:
            reason = ""
            try:
                going = self.search.run(target)
            except KeyboardInterrupt:
                going, reason = False, INTERRUPTED
            except ImpossibleError as error:  # the solver's; what is in closed form stays
                going, reason = False, str(error)
            target /= 2
            answer = self._certified(reason)
            if answer.finished or not going or target < _STRICTEST * self.gap:
                return answer if answer.finished or self._hurried(answer.loss) else self._best_of_all(answer)
            # What is proved counts.
            self.search.bound = min(self.search.bound, (answer.bound - self.problem.offset) / self.unit)

    def _run_wide(self) -> tuple[Optimal, bool]:
        """The search for many points, and whether it may go on in another way."""
        problem, target, reason = self.problem, 0.95 * self.gap, ""
        above = problem.pairs.enclosures.upper
        wide = WideSearch(self.instance, above, _COST_ERROR, self.watch, self._tell)
        while True:
            try:
                going = wide.run(target)
            except KeyboardInterrupt:
                going, reason = False, INTERRUPTED
            self.rounds, self.stopped = wide.rounds, reason or wide.stopped
            matrix, shown = None if math.isinf(wide.loss) else wide.matrix(), self._shown(wide.proven)
            loss = wide.loss * self.unit + problem.offset
            many = len(problem.losses) > _MOST_NARROW
            last = not going or (many and self._enough(loss + _CERTIFIED * abs(loss), shown))
            if last:
                del wide  # its memory is needed
                if many:
                    del self.instance, self.costs
                    problem.forget_search()
            candidates = [constant_channel(problem)] if matrix is None else self._candidates(matrix, loss)
            answer = self._answer(candidates, shown, self.stopped)
            target /= 2
            if answer.finished or last or target < _STRICTEST * self.gap:
                return answer, not (reason or self.watch.over)

    def _candidates(self, matrix: Floats, loss: float = 0.0) -> list[Certified]:
        """A matrix, about whose loss is known, as a channel that is private, or a constant one if that is better."""
        problem = self.problem
        largest = max(problem.largest, 1e-300)
        spare = _SPARE * self.gap * abs(loss) / largest
        matrix = matrix.copy() if problem.merged else matrix
        for group in problem.merged:
            matrix[list(group)] = matrix[group[0]]
        with np.errstate(over="ignore"):
            if len(matrix) <= _MOST_NARROW:
                candidates = [certify(matrix, problem.space, problem.outputs)]
            else:
                candidates = [nearest_private(matrix, problem.pairs, problem.outputs, inside=True, spare=spare)]
        if problem.about_constant <= problem.loss_of(candidates[0]):
            candidates.append(constant_channel(problem))
        return candidates

    def _shown(self, bound: float) -> float:
        """A bound on the costs as one on the loss."""
        problem = self.problem
        shown = max(bound, 0.0) * self.unit * (1 - 2.0**-50) + problem.offset - problem.error
        return max(shown, 0.0) if (problem.losses >= 0).all() else shown

    def _enough(self, loss: float, bound: float) -> bool:
        """Whether the gap that was asked for is proved; compared exactly."""
        return Fraction(loss) - Fraction(bound) <= Fraction(self.gap) * abs(Fraction(loss))

    def _negligible(self) -> float:
        return _NEGLIGIBLE * self.problem.largest + 1e-280

    def _tell(self, search: ColumnSearch | WideSearch) -> None:
        loss, bound = (value * self.unit + self.problem.offset for value in (search.loss, search.bound))
        self.watch.tell(search.rounds, unit="rounds", best=loss, bound=bound)

    def _certified(self, reason: str) -> Optimal:
        """The channel of the search, or a constant one if that is better, with what is proved of it."""
        candidates = list(self.known)
        try:
            self.search.settle()
            master = self.search.master
            candidates += self._candidates(master.assembled(master.even(self.search.weights)))
        except ImpossibleError as error:
            reason = reason or str(error)
        if not candidates:
            candidates.append(constant_channel(self.problem))
        self.rounds, self.stopped = self.search.rounds, reason or self.search.stopped
        return self._answer(candidates, max(self._proven(), self.proved), self.stopped)

    def _hurried(self, loss: float) -> bool:
        """Whether there is no time for closed forms in exact arithmetic, of which only tiny losses have any use."""
        largest = self.problem.largest
        return self.stopped in (TIME, INTERRUPTED) and abs(loss) >= _TINY * largest

    def _best_of_all(self, answer: Optimal) -> Optimal:
        """The same, or what is known in closed form, where that is better or proves more."""
        candidates: list[Certified | None] = [answer]
        try:
            candidates.append(tight_with_remap(self.problem, answer.loss, self.watch.left))
            found = self._exactly()
            if found is not None and found.matrix is not None:
                candidates.append(improved(self.problem, found.matrix, answer.loss))
        except KeyboardInterrupt:
            return answer
        bound = -math.inf if found is None else float_below(found.bound)
        return self._answer([one for one in candidates if one is not None], max(answer.bound, bound), self.stopped)

    def _exactly(self) -> ExactBound | None:
        return exact_bound(self.problem)

    def _answer(self, candidates: list[Certified], bound: float, reason: str) -> Optimal:
        """The candidate of least loss, and whether it is proved to be good enough."""
        problem, points = self.problem, self.problem.space.points
        losses = [problem.loss_of(channel) for channel in candidates]
        loss, channel = min(zip(losses, candidates, strict=True), key=lambda pair: pair[0])
        finished = self._enough(loss, bound)
        return Optimal(
            channel.inputs,
            channel.outputs,
            channel.stored,
            channel.total,
            Proved.of(channel.promise),
            channel.moved,
            channel.cost,
            loss,
            bound,
            self.rounds,
            tuple(tuple(points[x] for x in group) for group in problem.merged),
            finished,
            "" if finished else self._why(reason, loss),
        )

    def _why(self, reason: str, loss: float) -> str:
        """What stopped the search, and what made the problem hard, if that is known."""
        problem = self.problem
        facts = [reason]
        largest = problem.largest
        if abs(loss) < _TINY * largest:
            facts.append(f"a loss of {loss:.3g} is tiny beside the largest one, {largest:.3g}")
        if problem.capped:
            facts.append(f"distances above {FARTHEST:.0f} were taken as {FARTHEST:.0f}, which is stricter")
        if problem.merged:
            facts.append("points too near to be told apart were given equal rows, which is stricter")
        return "; ".join(facts)

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
                flows[z] = self._carried(settled[orbits.outputs[z]], z)
        bound = proven_bound(self.costs, prices, flows, problem.pairs.distances, _COST_ERROR)
        if search.first is not None:
            flows = [self._carried(search.first.flows[orbits.outputs[z]], z) for z in range(outputs)]
            other = proven_bound(self.costs, search.first.prices, flows, problem.pairs.distances, _COST_ERROR)
            bound = max(bound, other)
        return self._shown(bound)

    def _carried(self, flow: Flow, z: int) -> Flow:
        """The flow of a representative, carried to another output of its orbit."""
        first, second, amount = flow
        return self.orbits.carriers[z][first], self.orbits.carriers[z][second], amount


class _WorstCaseSynthesis(_Synthesis):
    """The same for the largest loss; what is best for any one prior bounds it from below."""

    search: WorstCaseSearch
    _search = WorstCaseSearch

    def _proven(self) -> float:
        problem, search = self.problem, self.search
        losses = np.ascontiguousarray(problem.losses.T)
        prior = search.prior / search.prior.sum()
        left = None if math.isinf(self.watch.left) else max(self.watch.left, 1.0)
        left = 1.0 if self.stopped == INTERRUPTED else left
        return optimal(problem.space, prior, losses, problem.outputs, gap=self.gap / 8, time_limit=left).bound

    def _exactly(self) -> ExactBound | None:
        """That is of a prior, as `_proven` has it."""
        return None
