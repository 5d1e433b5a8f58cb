"""How far the answer to a query can move, for each unit of distance between databases."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.exact.outward import Bound
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.metrics import Metric
from metricdp.metrics.amounts import Exact, formula, plain
from metricdp.metrics.metric import as_metric
from metricdp.metrics.vectors import Absolute, Norm
from metricdp.queries.single.closed_forms import Form, closed_form
from metricdp.queries.single.counts import CellCounts
from metricdp.queries.single.finite_functions import FiniteFunction, Uniformity, decided, rescaled
from metricdp.queries.single.query import Query
from metricdp.queries.single.record_metrics import record_metric

__all__ = ["Sensitivity", "sensitivity"]

MOST_DATABASES = 512
"""The most databases that are compared pair by pair where there is no closed form."""


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """The least Δ for which ``answer_metric(f(x), f(x')) <= Δ database_metric(x, x')`` for all databases x and x'.

    Attributes:
        value: Δ: a Fraction; a float rounded up, with its `enclosure`, where it is irrational; infinite where no number
            serves.
        uniform: whether any two answers are joined by a tight chain of steps for which this is an equality, so that
            noise on the answers is private for the databases only if it is private for the answers; None where that was
            not decided.
        theorem: what proves it.
        query: f.
        database_metric: the metric on databases.
        answer_metric: the metric on answers.
        uniformity: the proof of both, pair by pair, where databases were compared one by one; None for a closed form.

    References:
        Paper 1, Definitions 4 and 5, Fact 5 and Theorem 6.
    """

    value: Exact | Bound
    uniform: bool | None
    theorem: str
    query: Query
    database_metric: Metric
    answer_metric: Metric
    uniformity: Uniformity | None = field(default=None, compare=False)

    @property
    def above(self) -> Fraction:
        """A rational that is not below the value; the value itself where it is rational."""
        return Fraction(self.value.enclosure.upper if isinstance(self.value, Bound) else self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return f"Sensitivity({self._number()}, uniform={self.uniform}, {self.theorem!r})"

    def __str__(self) -> str:
        if self.value == math.inf:
            return f"{self.query} has no finite sensitivity for {self.database_metric}: {self.theorem}."
        whole = {
            True: " Between any two answers there is a chain of databases where it is that far at every step.",
            False: " Some answers are nearer to each other than that, whichever databases they belong to.",
            None: "",
        }[self.uniform]
        return (
            f"{self.query}: where two databases are 1 apart by {self.database_metric}, their answers are at most "
            f"{self._number()} apart by {self.answer_metric} ({self.theorem}).{whole}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"

    def _number(self) -> str:
        return f"{self.value:.6g}" if isinstance(self.value, Bound) else formula(self.value)

    def to_json(self) -> dict[str, Any]:
        """The sensitivity as plain values for JSON."""
        return {
            "value": float(self.value) if isinstance(self.value, Bound) else plain(self.value),
            "exact": not isinstance(self.value, Bound),
            "uniform": self.uniform,
            "theorem": self.theorem,
            "query": repr(self.query),
            "database_metric": str(self.database_metric),
            "answer_metric": str(self.answer_metric),
        }


def sensitivity(
    query: Query,
    database_metric: Metric,
    answer_metric: Metric,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """The sensitivity of a query between two metrics, exactly.

    In closed form for `Sum`, `Average`, `Percentile`, `Count` and `CellCounts` where databases are compared record by
    record: by `hamming`, `add_remove`, `manhattan`, `normalized_manhattan`, `chebyshev`, and `records(d, p)` for any
    distance d between values, `nullable` ones included. Otherwise by comparing all databases, where they are few. No
    sensitivity depends on data: not on the number of records seen either.

    Args:
        query: f.
        database_metric: between databases, with its level.
        answer_metric: between answers, such as ``absolute()``.
        time_limit: seconds, where databases are compared one by one; then it is given up, with an estimate.
        progress: told now and then how many databases are done.

    Raises:
        UnsupportedMetricError: no closed form is known, and the databases are too many to compare; or the metric does
            not measure these databases.
        NotAMetricError: the metric is none on the values of the query.

    References:
        Paper 1, Propositions 3 to 5 and Theorems 8 and 11 to 13.

    >>> import metricdp as mdp
    >>> from metricdp.queries import minimum
    >>> earliest = minimum((0, 5000))
    >>> sensitivity(earliest, mdp.metrics.hamming(), mdp.metrics.absolute())
    Sensitivity(5000, uniform=False, 'paper 1, Propositions 4 and 5')
    >>> d1 = mdp.metrics.records(mdp.metrics.nullable(mdp.metrics.absolute(), 5000))
    >>> sensitivity(earliest, d1, mdp.metrics.absolute())
    Sensitivity(1, uniform=True, 'paper 1, Theorems 11 and 12')
    """
    if not isinstance(query, Query):
        raise ArgumentError(f"a query is wanted here, such as Sum or FiniteFunction, not {type(query).__name__}")
    inside, outside = levelled(as_metric(database_metric)), as_metric(answer_metric)
    value, uniform, theorem, proof = unit_sensitivity(query, inside.unit, outside.unit, Stopwatch(time_limit, progress))
    return Sensitivity(
        rescaled(value, inside.level, outside.level), uniform, theorem, query, database_metric, answer_metric, proof
    )


def levelled(database_metric: Metric) -> Metric:
    """The same metric on databases, with the number before the distance of one record before the whole.

    >>> from metricdp.metrics import absolute, records
    >>> print(levelled(records(3 * absolute())))
    3·ℓ₁(|x − y|)
    """
    metric = record_metric(database_metric)
    return database_metric if metric is None else metric.metric


def unit_sensitivity(
    query: Query, database_metric: Metric, answer_metric: Metric, watch: Stopwatch | None = None
) -> tuple[Exact | Bound, bool | None, str, Uniformity | None]:
    """The fields of a `Sensitivity` for metrics without numbers before them."""
    if isinstance(query, FiniteFunction):
        return _pair_by_pair(query, database_metric, answer_metric, watch)
    form, why = _form(query, database_metric, answer_metric)
    if form is None:
        listed = FiniteFunction.of(query, MOST_DATABASES)
        if listed is None:
            raise UnsupportedMetricError(
                f"no closed form is known for the sensitivity of {query} {why}, and there are too many databases to "
                f"compare them all (more than {MOST_DATABASES}, or without end)"
            )
        return _pair_by_pair(listed, database_metric, answer_metric, watch)
    uniform = form.uniform
    if uniform is None and not isinstance(form.value, Bound):
        listed = FiniteFunction.of(query, MOST_DATABASES)
        clock = watch or Stopwatch()
        uniform = None if listed is None else decided(listed, database_metric, answer_metric, clock).holds
    return form.value, uniform, form.theorem, None


def _pair_by_pair(
    function: FiniteFunction, database_metric: Metric, answer_metric: Metric, watch: Stopwatch | None
) -> tuple[Exact | Bound, bool | None, str, Uniformity | None]:
    proof = decided(function, database_metric, answer_metric, watch or Stopwatch())
    return proof.sensitivity, proof.holds, "compared pair by pair", proof


def _form(query: Query, database_metric: Metric, answer_metric: Metric) -> tuple[Form | None, str]:
    metric = record_metric(database_metric)
    if metric is None:
        return (
            None,
            f"for {database_metric}, which does not compare databases record by record, as records(d) and hamming() do",
        )
    if not isinstance(answer_metric, Norm) or (isinstance(query, CellCounts) and isinstance(answer_metric, Absolute)):
        return None, f"with answers compared by {answer_metric}"
    return closed_form(query, metric, answer_metric.p), f"from {database_metric} to {answer_metric}"
