"""Choosing one of several candidates privately: the exponential mechanism for any score."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from metricdp.errors import ArgumentError
from metricdp.exact.balls import ball, enclose, float_above
from metricdp.exact.bits import source
from metricdp.exact.choice import Thresholds, uniform_below
from metricdp.exact.level import Level, rational
from metricdp.exact.refine import Integers
from metricdp.metrics import Guarantee, Metric, Records, Released, records
from metricdp.metrics.coordinates import number
from metricdp.metrics.metric import as_metric
from metricdp.queries.synthetic_data.steepness import spread as spread_of_rows
from metricdp.queries.workloads.linear_queries import (
    LinearQueries,
    exact_answers,
    query_names,
    read_counts,
    read_queries,
)

__all__ = ["Chosen", "ExponentialChoice", "choose"]

Score = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class ExponentialChoice:
    """Candidates drawn with probability proportional to ``exp(e q(x, r) / s)``.

    With e = ``level``, ``metric`` = e u and s = ``spread``, where for all databases x, x' and candidates r, r'

    ``[q(x, r) - q(x', r)] - [q(x, r') - q(x', r')] <= s u(x, x')``.

    If no score changes by more than D u(x, x'), then s = 2 D serves: that is the exponential mechanism of the papers.
    If besides all scores change the same way (none falls where another rises), s = D serves. The proof: let b be the
    least change ``q(x, r') - q(x', r')``. The normalising constants differ by a factor ``exp(e b / s)`` at least, so
    that the probabilities of r differ by ``exp(e [q(x, r) - q(x', r) - b] / s) <= exp(e u(x, x'))`` at most.

    Attributes:
        candidates: what is chosen from; public.
        metric: how far apart two databases are.
        spread: s, for each unit of u. Zero where the scores' order is no secret. In ``0.5 * hamming()`` and in
            ``records(0.5 * discrete())`` alike, a unit is one record changed.

    Guarantee:
        ``metric``, with no delta; draws are exact.

    References:
        Paper 4, Definition 9 and Theorems 3 and 4 (c there is s / (2 e)).

    >>> import metricdp as mdp
    >>> choice = ExponentialChoice(("tea", "coffee"), mdp.ln(4) * mdp.metrics.hamming(), Fraction(2))
    >>> choice.release([3, 3]) in ("tea", "coffee")
    True
    >>> round(choice.shortfall(0.05), 2)  # a candidate that scores 5.33 less is chosen once in 20 times at most
    5.32
    """

    candidates: Sequence[Any]
    metric: Metric
    spread: Fraction

    def __post_init__(self) -> None:
        as_metric(self.metric)
        _ = self.level
        if not len(self.candidates):
            raise ArgumentError("there is at least one candidate")
        if self.spread < 0:
            raise ArgumentError("a spread is not negative")

    @cached_property
    def level(self) -> Level:
        """The number e before the metric, and before the metric of its records."""
        return _level_before(self.metric)

    @property
    def guarantee(self) -> Guarantee:
        """``metric``."""
        return Guarantee(self.metric)

    def release(self, scores: Any) -> Any:
        """One candidate, given the scores of all on the data at hand; the higher the better."""
        return self.candidates[self.release_place(scores)]

    def release_place(self, scores: Any, unit: Fraction = Fraction(1)) -> int:
        """The same by its place; scores count in multiples of ``unit``.

        A score is drawn first, and then one of the candidates that have it.
        """
        different, places = self._read(scores)
        members = np.bincount(places, minlength=len(different)).tolist()
        drawn = int(Thresholds(lambda: self._cumulative(different, members, unit)).draw(1)[0]) if self.spread else -1
        holders = np.flatnonzero(places == (drawn if drawn >= 0 else len(different) - 1))
        return int(holders[int(uniform_below(len(holders), 1)[0])])

    def probabilities(self, scores: Any) -> list[arb]:
        """The probabilities of all candidates, as balls at the working precision."""
        different, places = self._read(scores)
        members = np.bincount(places, minlength=len(different)).tolist()
        if not self.spread:
            return [ball(Fraction(int(place == len(different) - 1), members[-1])) for place in places.tolist()]
        weights = self._weights(different, Fraction(1))
        total = sum((weight * count for weight, count in zip(weights, members, strict=True)), start=arb(0))
        return [weights[place] / total for place in places.tolist()]

    def shortfall(self, beta: float | Fraction = Fraction(1, 20)) -> float:
        """How much less than the best candidate the chosen one scores at most, but for probability beta; rounded up.

        ``s / e * (ln |R| + ln(1 / beta))``. Scores other than those that were drawn by, but never more than t away from
        them, take 2 t more: the paper's Theorem 4 adds its slack where it is to be subtracted.
        """
        share = read_probability(beta)
        return float_above(enclose(lambda: self._shortfall(share)).upper)

    def _shortfall(self, share: Fraction) -> arb:
        return ball(self.spread) / self.level.ball() * (ball(Fraction(len(self.candidates)) / share)).log()

    def _read(self, scores: Any) -> tuple[list[Fraction], Integers]:
        """The different scores, rising, and for each candidate which of them it has."""
        if len(scores) != len(self.candidates):
            raise ArgumentError(f"{len(self.candidates)} candidates have {len(scores)} scores")
        if isinstance(scores, np.ndarray) and scores.dtype == np.int64:
            values, places = np.unique(scores, return_inverse=True)
            return [Fraction(int(value)) for value in values], places
        exact = [number(score, row) for row, score in enumerate(scores)]
        different = sorted(set(exact))
        at = {score: place for place, score in enumerate(different)}
        return different, np.array([at[score] for score in exact], dtype=np.int64)

    def _weights(self, different: Sequence[Fraction], unit: Fraction) -> list[arb]:
        rate, best = self.level.ball() * ball(unit / self.spread), different[-1]
        return [(rate * ball(score - best)).exp() for score in different]

    def _cumulative(self, different: Sequence[Fraction], members: Sequence[int], unit: Fraction) -> list[arb]:
        weights = self._weights(different, unit)
        sums = list(itertools.accumulate(weight * count for weight, count in zip(weights, members, strict=True)))
        return [value / sums[-1] for value in sums[:-1]]


@dataclass(frozen=True)
class Chosen(Released):
    """What `choose` chose.

    Attributes:
        candidate: the choice.
        choice: the mechanism that made it.
        private: False where it was drawn from a seeded source.

    Guarantee:
        That of the mechanism.
    """

    candidate: Any
    choice: ExponentialChoice
    private: bool = True

    @property
    def guarantee(self) -> Guarantee:
        """What is promised of the data."""
        return self.choice.guarantee

    def shortfall(self, beta: float | Fraction = Fraction(1, 20)) -> float:
        """See `ExponentialChoice.shortfall`."""
        return self.choice.shortfall(beta)

    def __repr__(self) -> str:
        return f"Chosen({self.candidate!r} of {len(self.choice.candidates)}, {self.promise})"

    def to_json(self) -> dict[str, Any]:
        """The choice as plain values for JSON."""
        return {
            "candidate": _plain(self.candidate),
            "candidates": len(self.choice.candidates),
            "shortfall_95": self.shortfall(),
            "guarantee": self.guarantee.to_json(),
            "private": self.private,
        }


def choose(
    scores: LinearQueries | Score | Sequence[Any],
    candidates: Sequence[Any] | None = None,
    data: Any = None,
    *,
    metric: Metric | None = None,
    sensitivity: Any = None,
    spread: Any = None,
) -> Chosen:
    """One of the candidates, likely one of high score: the exponential mechanism.

    Args:
        scores: a workload, whose queries are linear scores over a histogram; a function ``q(data, candidate)``; or the
            scores of all candidates on the data at hand. Numbers are taken as the exact rationals they are.
        candidates: public; the names of the queries where scores are a workload.
        data: what the function takes first; the counts of all cells where scores are a workload.
        metric: on databases, such as ``0.5 * metrics.hamming()``; for a workload, the sum over all records of the
            metric of its space.
        sensitivity: the most that a score changes for each unit of distance, whatever number stands before the metric:
            one for a count and ``0.5 * hamming()``.
        spread: in its place, how far the changes of two scores may be apart (see `ExponentialChoice`); twice the
            sensitivity is always enough. Computed, and proved, for a workload.

    Guarantee:
        ``metric``; the sensitivity of a function is the caller's word.

    References:
        Paper 4, Definition 9 and Theorem 3. Paper 2, Example 3, asks for the most common hobbies.

    >>> from itertools import combinations
    >>> import metricdp as mdp
    >>> hobbies = ["chess", "football", "music", "tennis"]
    >>> people = [{"music", "chess"}, {"music", "football"}, {"music", "chess"}] * 100
    >>> pairs = [set(pair) for pair in combinations(hobbies, 2)]
    >>> chosen = choose(
    ...     lambda data, pair: sum(len(pair & own) for own in data),
    ...     pairs,
    ...     people,
    ...     metric=mdp.metrics.hamming(),
    ...     sensitivity=2,
    ... )
    >>> sorted(chosen.candidate), str(chosen.guarantee)
    (['chess', 'music'], 'dₕ-private')
    """
    if hasattr(scores, "matrix") and not callable(scores):
        return _choose_query(scores, candidates, data, metric, sensitivity, spread)  # type: ignore[arg-type]
    if metric is None:
        raise ArgumentError("choose needs the metric on databases, such as 0.5 * metrics.hamming()")
    if (sensitivity is None) == (spread is None):
        raise ArgumentError("choose needs the sensitivity of the scores or their spread, and one of the two only")
    if callable(scores):
        if candidates is None:
            raise ArgumentError("choose needs the candidates")
        values: Any = [scores(data, candidate) for candidate in candidates]
    else:
        values = scores
        candidates = range(len(values)) if candidates is None else candidates
    apart = 2 * _not_negative(sensitivity, "sensitivity") if spread is None else _not_negative(spread, "spread")
    choice = ExponentialChoice(tuple(candidates), as_metric(metric), apart)
    return Chosen(choice.release(values), choice, source().private)


def _choose_query(
    workload: LinearQueries, candidates: Sequence[Any] | None, data: Any, metric: Any, sensitivity: Any, spread: Any
) -> Chosen:
    if metric is not None or sensitivity is not None or spread is not None:
        raise ArgumentError("a workload brings its metric, and its sensitivity is computed: give neither")
    matrix, counts = read_queries(workload), read_counts(workload, data)
    names = query_names(workload) if candidates is None else tuple(candidates)
    choice = ExponentialChoice(names, records(workload.space.metric), spread_of_rows(matrix, workload.space))
    return Chosen(choice.release(exact_answers(matrix, counts)), choice, source().private)


def _level_before(metric: Metric) -> Level:
    """A number that scales the metric of records scales that of databases."""
    unit = metric.unit
    return metric.level * _level_before(unit.base) if isinstance(unit, Records) else metric.level


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, frozenset | set):
        return sorted((_plain(part) for part in value), key=repr)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def read_probability(beta: Any) -> Fraction:
    """A probability of failure, between 0 and 1."""
    share = rational(beta, "probability")
    if not 0 < share < 1:
        raise ArgumentError("a probability of failure lies between 0 and 1")
    return share


def _not_negative(value: Any, what: str) -> Fraction:
    exact = rational(value, what)
    if exact < 0:
        raise ArgumentError(f"a {what} is not negative")
    return exact
