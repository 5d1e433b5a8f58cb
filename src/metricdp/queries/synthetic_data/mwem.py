"""Multiplicative weights with the exponential mechanism: a synthetic histogram that answers a workload."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball, enclose, float_above
from metricdp.exact.bits import source
from metricdp.exact.level import rational
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.mechanisms import laplace
from metricdp.metrics import Guarantee, Space, absolute, records
from metricdp.queries.synthetic_data.choose import ExponentialChoice, read_probability
from metricdp.queries.synthetic_data.steepness import sensitivities
from metricdp.queries.synthetic_data.synthetic import ReleaseStep, Synthetic
from metricdp.queries.workloads.linear_queries import (
    LinearQueries,
    exact_answers,
    query_names,
    read_counts,
    read_queries,
)

__all__ = ["Weighted", "mwem", "mwem_bound"]

_FINE = 1 << 20
_CELLS = 1 << 48
_STILL = 1e-9
_MOST_POWERS = 50


class Measurement(NamedTuple):
    """A query that was measured.

    Attributes:
        query: its number.
        answer: the noisy answer.
        scale: of the noise.
    """

    query: int
    answer: float
    scale: float


@dataclass(frozen=True, eq=False, repr=False)
class Weighted(Synthetic):
    """What `mwem` makes.

    Attributes:
        measurements: the queries that were chosen, with their noisy answers and the scales of their noise.
        sensitivity: the largest of all queries, for each unit of ``space.metric.unit``.
        rounds: how many there were.
        passes: over all measurements after each round; 0 for the plain algorithm.
        choosing: the share of each round that went into the choice.
    """

    measurements: tuple[Measurement, ...] = ()
    sensitivity: Fraction = Fraction(0)
    rounds: int = 1
    passes: int = 0
    choosing: Fraction = Fraction(1, 2)

    def bound(self, beta: float | Fraction = Fraction(1, 20)) -> float:
        """What the paper promises of the plain algorithm's largest error; see `mwem_bound`. Computed without the data.

        With ``passes`` the error is lower in practice, and nothing is proved of it.
        """
        return mwem_bound(
            self.workload, self.total, self.rounds, beta=beta, choosing=self.choosing, sensitivity=self.sensitivity
        )


def mwem(
    workload: LinearQueries,
    counts: Any,
    rounds: int | None = None,
    *,
    together: Sequence[Sequence[int]] | None = None,
    passes: int = 10,
    choosing: Any = Fraction(1, 2),
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Weighted:
    """A synthetic histogram that answers a workload well: multiplicative weights, the exponential mechanism, Laplace.

    It starts from n records spread evenly. In each of T rounds it chooses, by the exponential mechanism, a query whose
    answer is far from the truth, ``u(x, k) = |q_k(y) - q_k(x)|``; measures it with Laplace noise of a scale of its own,
    ``2 T D_k`` with ``D_k = max |q_ki - q_kj| / d(i, j)``; and moves the weights towards the measurement m,
    ``y_i <- y_i exp(q_i (m - q(y)) / (2 n))``, with q shifted and scaled to [-1, 1] and m, clamped to what is possible,
    along with it. (The paper measures c q' and subtracts q': both sides need the same scale.)

    Use it for many queries that overlap, such as ranges and rectangles, of which a few say most of what all do. For the
    marginals of a table `synthesize` is better by far (`benchmarks/marginals.py`): it measures all of them at once, for
    the price of each attribute's share, and chooses nothing. Where marginals are many and only a few can be measured,
    give them as ``together``: a round then chooses and measures a whole marginal, for twice the noise of one count.

    Args:
        workload: with K queries and the metric d on single records.
        counts: the records in each cell; their number n is public. Where it is not, absence is a cell.
        rounds: T; those with the least `mwem_bound`, which no data are looked at for, where not given.
        together: groups of queries, by their numbers, that are chosen and measured as one, such as the counts of a
            marginal. A group is chosen by the sum of its errors, less the noise to expect in it. Each query by itself,
            where not given.
        passes: how often all measurements so far are gone through after each round. 0 is the algorithm as published,
            which uses each measurement once and returns the mean of the weights before each round.
        choosing: the share of a round's budget d / T that goes into the choice; the rest goes into the measurement.
        time_limit: seconds; then it is given up, and nothing is released.
        progress: told after each round.

    Guarantee:
        ``records(d)``, the sum of d over all records: T choices of ``choosing / T`` of it and T measurements of
        ``(1 - choosing) / T`` of it. All draws are exact, the true answers too; weights are floats, made from what was
        released already.

    References:
        Paper 4, Algorithm 2 and Theorems 7 and 8, corrected.

    Raises:
        ImpossibleError: a query tells apart cells at distance zero.

    >>> import metricdp as mdp
    >>> from metricdp.queries.workloads.workload import Workload
    >>> prefixes = np.tril(np.ones((8, 8)))
    >>> made = mwem(Workload(prefixes, mdp.Space.line(8, mdp.metrics.absolute())), [0, 0, 500, 0, 0, 500, 0, 0], 4)
    >>> made.total, len(made.steps), str(made.guarantee)
    (1000, 8, 'ℓ₁(|x − y|)-private')
    """
    matrix, held = read_queries(workload), read_counts(workload, counts)
    watch = Stopwatch(time_limit, progress)
    if isinstance(passes, bool) or not isinstance(passes, int) or passes < 0:
        raise ArgumentError("passes is 0 or more")
    steep = sensitivities(matrix, workload.space)
    truth, total = exact_answers(matrix, held), int(held.sum())
    groups = _groups(together, matrix, steep, query_names(workload))
    most = max(group.steep for group in groups)
    if rounds is None:
        rounds = _best_rounds(workload, total, choosing, most)
    budget = _Budget.of(workload.space, rounds, choosing)
    choice = ExponentialChoice([group.name for group in groups], budget.choosing.metric, 2 * most)
    weights, steps, measured = _Weights(matrix, total, passes), [], []
    for turn in range(rounds):
        guesses = [Fraction(value) for value in weights.answers().tolist()]
        off = [abs(guess - true) for guess, true in zip(guesses, truth, strict=True)]
        group = groups[choice.release_place([one.score(off, budget) for one in groups])]
        found = [_measure(truth[query], group.steep, budget, total * weights.largest) for query in group.queries]
        measured += [Measurement(query, *one) for query, one in zip(group.queries, found, strict=True)]
        weights.learn(measured, len(group.queries))
        steps += [
            ReleaseStep("choose a query" if together is None else "choose a group", budget.share, budget.choosing)
        ]
        steps += [ReleaseStep(f"measure {group.name}", budget.rest, budget.measuring)]
        watch.tell(turn + 1, rounds, unit="rounds")
        if turn + 1 < rounds:
            watch.check("for all rounds", turn + 1, rounds, "rounds")
    spent = sum((step.guarantee for step in steps[1:]), start=steps[0].guarantee)
    if spent != Guarantee(records(workload.space.metric)):
        raise ArithmeticError("internal error: the steps do not sum to the promise")
    return Weighted(
        workload, weights.result(), spent, tuple(steps), f"multiplicative weights, {rounds} rounds", source().private,
        tuple(measured), most, rounds, passes, budget.share * rounds,
    )  # fmt: skip


def mwem_bound(
    workload: LinearQueries,
    total: int,
    rounds: int,
    *,
    beta: float | Fraction = Fraction(1, 20),
    choosing: Any = Fraction(1, 2),
    sensitivity: Fraction | None = None,
) -> float:
    """What no error of the plain algorithm exceeds, but for probability beta; rounded up.

    ``2 n B sqrt(ln N / T) + 2 T D / s (ln K + ln(2 T / beta)) + T D / (1 - s) ln(2 T / beta)``, with B half the largest
    range of a query, D the largest sensitivity with respect to d and s = ``choosing``. For B = 1, s = 1/2 and
    beta = 2 T / K it is the paper's ``2 n sqrt(ln N / T) + 10 T D ln K``.

    References:
        Paper 4, Theorem 8.

    >>> from metricdp.metrics import Space, discrete
    >>> from metricdp.queries.workloads.workload import Workload
    >>> mwem_bound(Workload([[1, 0], [0, 1]], Space("ab", discrete())), 100, 2) > mwem_bound(
    ...     Workload([[1, 0], [0, 1]], Space("ab", 10 * discrete())), 100, 2
    ... )
    True
    """
    matrix, budget = read_queries(workload), _Budget.of(workload.space, rounds, choosing)
    fails = read_probability(beta)
    steep = max(sensitivities(matrix, workload.space)) if sensitivity is None else sensitivity
    half = Fraction(math.nextafter(float(np.ptp(matrix, axis=1).max()), math.inf)) / 2
    queries, cells = matrix.shape

    def value() -> Any:
        often = ball(Fraction(2 * rounds) / fails).log()
        noise = ball(steep) / budget.level.ball()
        far = 2 * ball(total * half) * (ball(cells).log() / rounds).sqrt()
        return far + noise * (2 * (ball(queries).log() + often) / ball(budget.share) + often / ball(budget.rest))

    return float_above(enclose(value).upper)


@dataclass(frozen=True)
class _Group:
    """Queries that are chosen and measured as one.

    Attributes:
        name: of the query, or of the first and the last.
        queries: their numbers.
        steep: what one record changes in all of them together at most, for each unit of distance.
    """

    name: Any
    queries: tuple[int, ...]
    steep: Fraction

    def score(self, off: Sequence[Fraction], budget: _Budget) -> Fraction:
        """The sum of the errors; of several queries, less the noise that a measurement would leave, about."""
        summed = sum((off[query] for query in self.queries), Fraction(0))
        if len(self.queries) == 1:
            return summed
        noise = self.steep / budget.rest / Fraction(float(budget.level))
        return max(summed - len(self.queries) * noise, Fraction(0))


def _groups(
    together: Sequence[Sequence[int]] | None, matrix: Floats, steep: Sequence[Fraction], names: Sequence[Any]
) -> list[_Group]:
    """The groups; counts of which a record is in one at most change by 2 together, and so by twice the steepest."""
    if together is None:
        return [_Group(name, (query,), steep[query]) for query, name in enumerate(names)]
    groups = []
    for chosen in together:
        queries = tuple(int(query) for query in chosen)
        if not queries or len(set(queries)) < len(queries) or not all(0 <= one < len(matrix) for one in queries):
            raise ArgumentError("together has groups of queries by their numbers, each once in a group")
        rows = matrix[list(queries)]
        counts = bool(np.isin(rows, (0.0, 1.0)).all()) and float(rows.sum(axis=0).max()) <= 1
        most = max(steep[query] for query in queries)
        joint = 2 * most if counts and len(queries) > 1 else sum((steep[query] for query in queries), Fraction(0))
        name = names[queries[0]] if len(queries) == 1 else f"{names[queries[0]]} .. {names[queries[-1]]}"
        groups.append(_Group(name, queries, joint))
    if not groups or len({group.name for group in groups}) < len(groups):
        raise ArgumentError("together has groups of queries by their numbers, no two of which begin and end alike")
    return groups


def _best_rounds(workload: LinearQueries, total: int, choosing: Any, steep: Fraction) -> int:
    """The number of rounds with the least bound, among those that grow by a tenth."""
    tried = sorted({math.ceil(1.1**power) for power in range(_MOST_POWERS)})
    if not steep or total <= 0:
        return 1
    return min(tried, key=lambda one: mwem_bound(workload, total, one, choosing=choosing, sensitivity=steep))


@dataclass(frozen=True)
class _Budget:
    """What a round may spend: ``share`` of the metric on the choice, ``rest`` on the measurement."""

    share: Fraction
    rest: Fraction
    choosing: Guarantee
    measuring: Guarantee
    level: Any

    @classmethod
    def of(cls, space: Space, rounds: int, choosing: Any) -> _Budget:
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
            raise ArgumentError("there is at least one round")
        part = rational(choosing, "share")
        if not 0 < part < 1:
            raise ArgumentError("the share of a round that goes into the choice lies between 0 and 1")
        whole, share, rest = records(space.metric), part / rounds, (1 - part) / rounds
        return cls(share, rest, Guarantee(share * whole), Guarantee(rest * whole), space.metric.level)


def _measure(true: Fraction, steep: Fraction, budget: _Budget, largest: float) -> tuple[float, float]:
    """A noisy answer and the scale of its noise; no answer is larger than ``largest``, whatever the data."""
    if not steep:
        return float(true), 0.0  # only cells that may be told apart freely, or nothing at all, move it
    rate = budget.level * (budget.rest / steep)
    scale = 1 / float(rate)
    finest = max(scale / _FINE, largest / _CELLS)
    resolution = Fraction(2) ** math.ceil(math.log2(finest))
    return float(laplace(rate * absolute(), resolution=resolution).release(true)), scale


class _Weights:
    """A distribution over the cells that learns from measurements."""

    def __init__(self, matrix: Floats, total: int, passes: int) -> None:
        self._matrix, self._total, self._passes = matrix, total, passes
        self._logs = np.zeros(matrix.shape[1])
        self._shares = np.full(matrix.shape[1], 1 / matrix.shape[1])
        self._sum = np.zeros(matrix.shape[1])
        self._rounds = 0
        self._rows: dict[int, tuple[Floats, float, float]] = {}
        self.largest = float(np.abs(matrix).max())

    def answers(self) -> Floats:
        """The answers of n times the distribution."""
        answers: Floats = self._matrix @ (self._shares * self._total)
        return answers

    def learn(self, measured: list[Measurement], newest: int = 1) -> None:
        """Move towards the newest measurements or, in passes, towards all, the newest first."""
        self._sum += self._shares
        self._rounds += 1
        if not self._passes:
            for measurement in measured[-newest:]:
                self._move(measurement)
        for _ in range(self._passes):
            if max([self._move(measurement) for measurement in reversed(measured)]) < _STILL:
                break

    def result(self) -> Floats:
        """Counts: n times the mean of the distributions before each round; with passes, n times the last one."""
        shares = self._shares if self._passes else self._sum / self._rounds
        return np.asarray(shares * (self._total / shares.sum()))

    def _move(self, measurement: Measurement) -> float:
        row, middle, half = self._centred(measurement.query)
        if not self._total or not half:
            return 0.0
        target = (measurement.answer / self._total - middle) / half  # in records, of which there is one in all
        step = (min(1.0, max(-1.0, target)) - float(row @ self._shares)) / 2
        self._logs += step * row
        self._logs -= self._logs.max()
        weights = np.exp(self._logs)
        self._shares = weights / weights.sum()
        return abs(step)

    def _centred(self, query: int) -> tuple[Floats, float, float]:
        """A query with its entries shifted and scaled to [-1, 1], and by what."""
        if query not in self._rows:
            row = self._matrix[query]
            low, high = float(row.min()), float(row.max())
            middle, half = (low + high) / 2, (high - low) / 2
            self._rows[query] = ((row - middle) / half if half else row * 0, middle, half)
        return self._rows[query]
