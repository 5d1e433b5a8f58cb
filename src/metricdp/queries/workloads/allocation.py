"""Allocations: how much noise each query of a workload gets, proved, and the release with it."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball, enclose, float_above, float_below
from metricdp.exact.bits import source
from metricdp.exact.level import rational
from metricdp.mechanisms.containers import marked
from metricdp.mechanisms.laplace import laplace
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.metrics import Guarantee, Verdict, absolute, records
from metricdp.queries.workloads._pairs import PairBudgets
from metricdp.queries.workloads.answers import Answers
from metricdp.queries.workloads.workload import Workload, whole_counts

__all__ = ["Allocation", "Method", "ObjectiveName", "noise_for", "released", "verdict_of"]

Method = Literal["equal", "shared", "proportional", "exact", "biased", "marginal"]
ObjectiveName = Literal["mean", "absolute", "geometric", "worst"]

_CELLS = 1 << 50
_FINEST = 20
_BEYOND = "beyond both answers"


@dataclass(frozen=True, repr=False)
class Allocation:
    """Noise for the queries of a workload: query k is answered with Laplace noise of scale ``scales[k]``.

    What is released is ``A x + (Y_1, ..., Y_K)`` with Y_k of density ``exp(-|y| / c_k) / (2 c_k)``, where A is the
    matrix of `answered`. It is the workload's own Q, or near it where a bias is allowed.

    Attributes:
        workload: what was asked.
        answered: what is answered; the workload itself, unless ``method`` is "biased" or "marginal".
        scales: c_k, the mean absolute error of each noise; floats, meant as the exact numbers they are. 0 for a query
            that needs no noise, since it differs only between cells at an infinite distance or nowhere.
        method: how they were found.
        objective: what was minimised: "mean" squared error, "absolute" for the mean absolute one, "geometric" mean or
            "worst" of the scales.
        weights: of the queries in the objective.
        value: the objective, rounded up: the weighted mean of 2 c² or of c, the weighted geometric mean of c (over
            the queries with noise), or the largest of weight times c. With bias, the mean squared error includes it.
        bound: no scales that keep the promise without bias have an objective below this, proved; None where
            nobody looked.
        verdict: the proof that no pair of cells is spent beyond its distance, with the pair that is spent most.

    Guarantee:
        ``records(d)``: for all cells i, j, ``sum_k |A[k, i] - A[k, j]| / c_k <= d(i, j)``, decided exactly, so that
        replacing records costs the sum of their distances. The number of records is public.

    References:
        Paper 4, Theorems 1 and 2 and section 4.2.
    """

    workload: Workload
    answered: Workload
    scales: tuple[float, ...]
    method: Method
    objective: ObjectiveName
    weights: tuple[Fraction, ...]
    value: float
    bound: float | None
    verdict: Verdict

    @property
    def gap(self) -> float | None:
        """How far ``value`` is above ``bound`` at most, relatively and rounded up; None where there is no bound."""
        if self.bound is None:
            return None
        return float_above((Fraction(self.value) - Fraction(self.bound)) / Fraction(self.value)) if self.value else 0.0

    @property
    def guarantee(self) -> Guarantee:
        """The universe's metric, added up over the records of a database."""
        return Guarantee(records(self.workload.space.metric))

    @property
    def biased(self) -> bool:
        """Whether something else than the workload's own matrix is answered."""
        return self.answered is not self.workload

    @cached_property
    def bias(self) -> Floats:
        """``answered - asked``, K by N, as floats."""
        return np.asarray(self.answered.matrix - self.workload.matrix)

    # Release

    def release(self, counts: Any, confidence: float = 0.95) -> Answers:
        """Answer all queries privately on a histogram.

        Args:
            counts: whole numbers, one for each cell of the universe, or a histogram with such ``counts``. Their sum,
                the number of records, is public: it sets how finely answers are rounded.
            confidence: of the error bars.

        >>> import metricdp as mdp
        >>> from metricdp.queries.workloads.allocate import allocate
        >>> from metricdp.queries.workloads.workload import Workload
        >>> space = mdp.Space(["ill", "well"], 0.5 * mdp.metrics.discrete())
        >>> allocation = allocate(Workload([[1, 0], [1, 1]], space, names=["ill", "all"]))
        >>> allocation.scales
        (2.0, 0.0)
        >>> answers = allocation.release([30, 70])
        >>> answers["all"], answers.error_bars.round(2).tolist()
        (100.0, [5.99, 0.0])
        """
        if not 0 < confidence < 1:
            raise ArgumentError("a confidence lies between 0 and 1")
        whole = whole_counts(counts, len(self.workload.space))
        total = int(whole.sum())
        mechanisms = [self.mechanism(query, total) for query in range(len(self.workload))]
        drawn = released(mechanisms, self.answered.truth(whole))
        values, bars = [value for value, _ in drawn], []
        for query, (_, reach) in enumerate(drawn):
            away = Fraction(total) * self._greatest_bias(query)
            bars.append(float_above(Fraction((reach and reach(confidence)) or 0) + away))
        return Answers(
            self.workload.names,
            marked(_frozen(values)),
            _frozen(bars),
            self.scales,
            confidence,
            self.guarantee,
            total,
            source().private,
        )

    def mechanism(self, query: int, total: int) -> Mechanism | None:
        """The Laplace mechanism of one query, for ``total`` records; None where no noise is needed.

        It rounds to a power of two that is a millionth of the noise, or coarser where n times the largest coefficient
        asks for it: never by the counts themselves.
        """
        if not self.scales[query]:
            return None
        row, denominator = self.answered.integers(query)
        return noise_for(self.scales[query], Fraction(max(abs(value) for value in row) * max(total, 1), denominator))

    def _greatest_bias(self, query: int) -> Fraction:
        if not self.biased:
            return Fraction(0)
        asked, answered = self.workload.entries[query], self.answered.entries[query]
        return max(abs(one - other) for one, other in zip(asked, answered, strict=True))

    # Errors to expect

    def squared_error(self, total: int = 0) -> float:
        """No database of ``total`` records has a larger expected squared error, all queries together; rounded up.

        ``n² max_i |column i of (A - Q)|² + 2 |c|²``. The paper has the sum over all columns for the largest, and twice
        the whole; the noise has mean 0, so nothing is doubled.

        References:
            Paper 4, Theorem 2.1 and Theorem 11.1, sharpened.
        """
        largest = max(sum((value * value for value in column), Fraction(0)) for column in self._exact_bias())
        return float_above(total**2 * largest + 2 * sum(Fraction(scale) ** 2 for scale in self.scales))

    def absolute_error(self, total: int = 0) -> float:
        """The same for the expected sum of absolute errors: ``n max_i |column i of (A - Q)|_1 + |c|_1``.

        References:
            Paper 4, Theorem 2.2 with p = 1, sharpened.
        """
        largest = max(sum((abs(value) for value in column), Fraction(0)) for column in self._exact_bias())
        return float_above(total * largest + sum(Fraction(scale) for scale in self.scales))

    def largest_error(self, beta: float | Fraction, total: int = 0) -> float:
        """With probability ``1 - beta`` no answer is farther off: ``n max |A - Q| + ln(K / beta) max c``; rounded up.

        References:
            Paper 4, Theorem 2.3.
        """
        risk = rational(beta, "beta")
        if not 0 < risk <= 1:
            raise ArgumentError("beta, the chance that an answer is farther off, lies in (0, 1]")
        largest = max(abs(value) for column in self._exact_bias() for value in column)
        logarithm = Fraction(enclose(lambda: ball(len(self.scales) / risk).log()).upper)
        return float_above(total * largest + logarithm * Fraction(max(self.scales)))

    def _exact_bias(self) -> list[tuple[Fraction, ...]]:
        if not self.biased:
            return [(Fraction(0),)]
        rows = [
            [one - other for one, other in zip(answered, asked, strict=True)]
            for answered, asked in zip(self.answered.entries, self.workload.entries, strict=True)
        ]
        return list(zip(*rows, strict=True))

    # Words

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", within {max(self.gap, 1e-9):.1g} of the best"
        means = {
            "mean": "mean squared error",
            "absolute": "mean absolute error",
            "geometric": "geometric mean",
            "worst": "worst scale",
        }
        lines = [f"Allocation({self.method}; {means[self.objective]} {self.value:.6g}{gap}; {self.guarantee})"]
        width = max(len(name) for name in self.workload.names)
        lines += [
            f"  {name:<{width}}  {f'noise of scale {scale:.6g}' if scale else 'no noise'}"
            for name, scale in zip(self.workload.names, self.scales, strict=True)
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"

    def to_json(self) -> dict[str, Any]:
        """The allocation as plain values for JSON."""
        return {
            "queries": [
                {"query": name, "scale": scale} for name, scale in zip(self.workload.names, self.scales, strict=True)
            ],
            "method": self.method,
            "objective": self.objective,
            "value": self.value,
            "bound": self.bound,
            "gap": self.gap,
            "verdict": self.verdict.to_json(),
            "guarantee": self.guarantee.to_json(),
        }


def noise_for(scale: float, largest: Fraction) -> Mechanism | None:
    """Laplace noise of a scale on numbers that are at most so large, rounded as `Allocation.mechanism` says.

    >>> noise_for(2.0, Fraction(1000)) is noise_for(2.0, Fraction(1001))
    True
    """
    if not scale:
        return None
    finest = math.floor(math.log2(scale)) - _FINEST
    coarse = math.ceil(math.log2(largest / _CELLS)) if largest else finest
    return _noise(scale, max(finest, coarse))


@lru_cache(maxsize=256)
def _noise(scale: float, finest: int) -> Mechanism:
    return laplace(absolute() * (1 / Fraction(scale)), resolution=Fraction(2) ** finest)


def released(
    mechanisms: Sequence[Mechanism | None], truths: Sequence[Fraction]
) -> list[tuple[float, Callable[[float], float | None] | None]]:
    """True answers with their noise, those of one mechanism drawn together, and how far each is off at most.

    Args:
        mechanisms: one for each answer, the same object where they are the same; None where there is no noise.
        truths: private.
    """
    found: list[tuple[float, Callable[[float], float | None] | None]] = [(0.0, None)] * len(truths)
    places: dict[int, list[int]] = {}
    for place, mechanism in enumerate(mechanisms):
        places.setdefault(id(mechanism), []).append(place)
    for chosen in places.values():
        mechanism = mechanisms[chosen[0]]
        if mechanism is None:
            drawn, reach = [float(truths[place]) for place in chosen], None
        else:
            drawn = [float(value) for value in mechanism.release([truths[place] for place in chosen])]
            reach = lru_cache(maxsize=8)(mechanism.radius)
        for place, value in zip(chosen, drawn, strict=True):
            found[place] = value, reach
    return found


def verdict_of(budgets: PairBudgets, scales: tuple[float, ...]) -> Verdict:
    """Whether these scales spend no pair beyond its distance, and the pair that is spent most."""
    rates = [1 / Fraction(scale) if scale else Fraction(0) for scale in scales]
    tightest = budgets.greatest_part(rates)
    holds = tightest.part.upper <= 1 and all(
        rate or not noisy for rate, noisy in zip(rates, budgets.noisy, strict=True)
    )
    witness = None if tightest.pair is None else (*budgets.pairs.points(*tightest.pair), _BEYOND)
    scale = float_above(tightest.part.upper) if holds or tightest.part.upper > 1 else math.inf
    return Verdict(holds, scale, float_below(tightest.part.lower), witness, budgets.workload.space.metric)


def _frozen(values: list[float]) -> Floats:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
