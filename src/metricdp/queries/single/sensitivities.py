"""How far the answer to a query can move, for each unit of distance between databases."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from metricdp.errors import KindError, UnsupportedMetricError
from metricdp.exact.outward import Bound
from metricdp.metrics import Metric
from metricdp.metrics.amounts import Exact, formula, plain
from metricdp.metrics.metric import as_metric
from metricdp.metrics.vectors import Absolute, Norm
from metricdp.queries.single.closed_forms import Form, closed_form
from metricdp.queries.single.counts import CellCounts
from metricdp.queries.single.finite_functions import FiniteFunction, Uniformity, rescaled, uniformity
from metricdp.queries.single.least_steps import Progress
from metricdp.queries.single.query import Query
from metricdp.queries.single.record_metrics import record_metric

__all__ = ["Sensitivity", "sensitivity"]

MOST_DATABASES = 512
"""The most databases that are compared pair by pair where there is no closed form."""


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """The least Δ for which ``d_out(f(x), f(x')) <= Δ d_in(x, x')`` for all databases x and x'.

    Attributes:
        value: Δ: a Fraction; a float rounded up, with its `enclosure`, where it is irrational; infinite where no number
            serves.
        uniform: whether any two answers are joined by a tight chain of steps for which this is an equality, so that
            noise on the answers is private for the databases only if it is private for the answers; None where that was
            not decided.
        theorem: what proves it.
        query: f.
        d_in: the metric on databases.
        d_out: the metric on answers.
        uniformity: the proof of both, pair by pair, where databases were compared one by one; None for a closed form.

    References:
        Paper 1, Definitions 4 and 5, Fact 5 and Theorem 6.
    """

    value: Exact | Bound
    uniform: bool | None
    theorem: str
    query: Query
    d_in: Metric
    d_out: Metric
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
            return f"{self.query} has no finite sensitivity for {self.d_in}: {self.theorem}."
        uniformly = {True: "uniformly ", False: "not uniformly ", None: ""}[self.uniform]
        return (
            f"{self.query} is {uniformly}{self._number()}-sensitive from {self.d_in} to {self.d_out} ({self.theorem})."
        )

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
            "d_in": str(self.d_in),
            "d_out": str(self.d_out),
        }


def sensitivity(query: Query, d_in: Metric, d_out: Metric, progress: Progress | None = None) -> Sensitivity:
    """The sensitivity of a query between two metrics, exactly.

    In closed form for `Sum`, `Average`, `Percentile`, `Count` and `CellCounts` where databases are compared record by
    record: by `hamming`, `add_remove`, `manhattan`, `normalized_manhattan`, `chebyshev`, and `records(d, p)` for any
    distance d between values, `nullable` ones included. Otherwise by comparing all databases, where they are few. No
    sensitivity depends on data: not on the number of records seen either.

    Args:
        query: f.
        d_in: between databases, with its level.
        d_out: between answers, such as ``absolute()``.
        progress: called with the number of databases done, and of all, where they are compared one by one.

    Raises:
        UnsupportedMetricError: no closed form is known, and the databases are too many to compare; or the metric does
            not measure these databases.
        NotAMetricError: the metric is none on the values of the query.

    References:
        Paper 1, Propositions 3 to 5 and Theorems 8 and 11 to 13.

    >>> import metricdp as mdp
    >>> from metricdp.queries import minimum
    >>> earliest = minimum(0, 5000)
    >>> sensitivity(earliest, mdp.metrics.hamming(), mdp.metrics.absolute())
    Sensitivity(5000, uniform=False, 'paper 1, Propositions 4 and 5')
    >>> d1 = mdp.metrics.records(mdp.metrics.nullable(mdp.metrics.absolute(), 5000))
    >>> sensitivity(earliest, d1, mdp.metrics.absolute())
    Sensitivity(1, uniform=True, 'paper 1, Theorems 11 and 12')
    """
    if not isinstance(query, Query):
        raise KindError(f"a query is wanted here, such as Sum or FiniteFunction, not {type(query).__name__}")
    inside, outside = levelled(as_metric(d_in)), as_metric(d_out)
    value, uniform, theorem, proof = unit_sensitivity(query, inside.unit, outside.unit, progress)
    return Sensitivity(rescaled(value, inside.level, outside.level), uniform, theorem, query, d_in, d_out, proof)


def levelled(d_in: Metric) -> Metric:
    """The same metric on databases, with the number before the distance of one record before the whole.

    >>> from metricdp.metrics import absolute, records
    >>> print(levelled(records(3 * absolute())))
    3·ℓ₁(|x − y|)
    """
    metric = record_metric(d_in)
    return d_in if metric is None else metric.metric


def unit_sensitivity(
    query: Query, d_in: Metric, d_out: Metric, progress: Progress | None = None
) -> tuple[Exact | Bound, bool | None, str, Uniformity | None]:
    """The fields of a `Sensitivity` for metrics without numbers before them."""
    if isinstance(query, FiniteFunction):
        return _pair_by_pair(query, d_in, d_out, progress)
    form, why = _form(query, d_in, d_out)
    if form is None:
        listed = FiniteFunction.of(query, MOST_DATABASES)
        if listed is None:
            raise UnsupportedMetricError(
                f"no closed form is known for the sensitivity of {query} {why}, and there are too many databases to "
                f"compare them all (more than {MOST_DATABASES}, or without end)"
            )
        return _pair_by_pair(listed, d_in, d_out, progress)
    uniform = form.uniform
    if uniform is None and not isinstance(form.value, Bound):
        listed = FiniteFunction.of(query, MOST_DATABASES)
        uniform = None if listed is None else uniformity(listed, d_in, d_out).holds
    return form.value, uniform, form.theorem, None


def _pair_by_pair(
    function: FiniteFunction, d_in: Metric, d_out: Metric, progress: Progress | None
) -> tuple[Exact | Bound, bool | None, str, Uniformity | None]:
    proof = uniformity(function, d_in, d_out, progress)
    return proof.sensitivity, proof.holds, "compared pair by pair", proof


def _form(query: Query, d_in: Metric, d_out: Metric) -> tuple[Form | None, str]:
    metric = record_metric(d_in)
    if metric is None:
        return None, f"for {d_in}, which does not compare databases record by record, as records(d) and hamming() do"
    if not isinstance(d_out, Norm) or (isinstance(query, CellCounts) and isinstance(d_out, Absolute)):
        return None, f"with answers compared by {d_out}"
    return closed_form(query, metric, d_out.p), f"from {d_in} to {d_out}"
