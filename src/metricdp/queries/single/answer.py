"""Answer one query privately."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from metricdp.errors import ArgumentError
from metricdp.exact.bits import source
from metricdp.mechanisms import Mechanism
from metricdp.metrics import Guarantee, Metric, Released, records
from metricdp.queries.single.plan import plan
from metricdp.queries.single.query import Query
from metricdp.queries.single.sensitivity import Sensitivity

if TYPE_CHECKING:
    from metricdp.queries.workloads.answers import Answers
    from metricdp.queries.workloads.workload import Workload

__all__ = ["Answer", "answer"]


@dataclass(frozen=True, repr=False)
class Answer(Released):
    """What was released: a noisy value, never the truth.

    Attributes:
        query: what was asked.
        value: the answer; for `CellCounts` a tuple of them, in the order of the query's ``names``.
        error_bar: half the width of an interval around the value that holds the truth with probability ``confidence``,
            rounded up (for `CellCounts`, that of each count by itself). It is the truth of the query as it was asked:
            rounded, of clamped values. None where answers are not numbers.
        confidence: of the error bar.
        guarantee: what the answer promises: the metric between databases.
        mechanism: the noise; None where none was needed.
        sensitivity: of the query; None where answers are not numbers.
        optimal: whether no other noise on the true answer that keeps the promise is better for anybody.
        why: the theorem that proves it, or what is missing.
        private: False where the noise came from a seeded source.
    """

    query: Query
    value: Any
    error_bar: float | None
    confidence: float
    guarantee: Guarantee
    mechanism: Mechanism | None = field(compare=False)
    sensitivity: Sensitivity | None = field(compare=False)
    optimal: bool
    why: str
    private: bool = True

    def __repr__(self) -> str:
        best = (
            ", universally optimal among noise on the true answer"
            if self.optimal and self.mechanism is not None
            else ""
        )
        return f"Answer({self._amount()}, {self.promise}, {self.noise}{best})"

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.query}: {self._amount()}",
                f"{self.promise}; {self.noise}",
                f"{self.why[0].upper()}{self.why[1:]}.",
            ]
        )

    @property
    def noise(self) -> str:
        """The mechanism in words."""
        if self.mechanism is None:
            return "no noise"
        return self.mechanism.name

    def _amount(self) -> str:
        names = getattr(self.query, "names", None)
        if names is not None and isinstance(self.value, tuple):
            value = ", ".join(f"{name}: {count}" for name, count in zip(names, self.value, strict=True))
            value = f"{value}, each"
        else:
            value = f"{self.value:.6g}" if isinstance(self.value, float) else str(self.value)
        return value if self.error_bar is None else f"{value} ± {self.error_bar:.4g} ({100 * self.confidence:.4g}%)"

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values for JSON."""
        names, value = getattr(self.query, "names", None), self.value
        if names is not None and isinstance(value, tuple):
            value = [{"cell": name, "count": count} for name, count in zip(names, value, strict=True)]
        document = {
            "query": repr(self.query),
            "value": value,
            "error_bar": self.error_bar,
            "confidence": self.confidence,
            "guarantee": self.guarantee.to_json(),
            "mechanism": self.noise,
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_json(),
            "optimal": self.optimal,
            "why": self.why,
            "private": self.private,
        }
        plain: dict[str, Any] = json.loads(json.dumps(document, default=str))
        return plain


@overload
def answer(query: Query, data: Any, metric: Metric, confidence: float = 0.95) -> Answer: ...
@overload
def answer(query: Workload, data: Any, metric: Metric | None = None, confidence: float = 0.95) -> Answers: ...


def answer(query: Any, data: Any, metric: Metric | None = None, confidence: float = 0.95) -> Any:
    """Answer a query privately.

    The truncated geometric mechanism on the grid of the answers, where these have a grid and two ends; geometric noise
    where an end is missing; Laplace noise where there is no grid. Its scale is the sensitivity divided by the level.
    Where paper 1 proves that nothing else is better for anybody, the answer says so.

    Args:
        query: `Sum`, `Average`, `Percentile`, `Count`, `CellCounts` or a `FiniteFunction`; or a `Workload`, whose
            noise is then allocated by ``allocate(query)``.
        data: the records, one value each: a list, an array, a Series or a column; None, NaN and NA are absent. For a
            `FiniteFunction` one of its databases, for a `Workload` a histogram.
        metric: the metric between databases, with its level, such as ``0.5 * hamming()``. A workload has its own.
        confidence: of the error bar.

    Guarantee:
        ``metric``, between any two databases of the declared number of records; neither bounds nor noise come from the
        data. A record that breaks a rule is refused with its row, to the curator who runs this: only that, and never a
        value, is in the error.

    References:
        Paper 1, Fact 5, Fig. 2 and Theorems 8 to 13.

    >>> import metricdp as mdp
    >>> from metricdp.queries import Sum
    >>> d = 0.5 * mdp.metrics.manhattan()
    >>> spent = answer(Sum((0, 100), records=4), [20, 35, 50, 80], d)
    >>> spent.error_bar, spent.optimal, print(spent.guarantee)
    0.5·d₁-private
    (6.0, True, None)
    >>> abs(spent.value - 185) < 100
    True
    """
    from metricdp.queries.workloads.workload import Workload

    if isinstance(query, Workload):
        from metricdp.queries.workloads.allocate import allocate

        if metric is not None and metric not in (query.space.metric, records(query.space.metric)):
            raise ArgumentError(
                "a workload has its own metric, that of its space; leave metric= out, or give the workload another"
            )
        return allocate(query).release(data, confidence)
    if metric is None:
        raise ArgumentError("give the metric between databases, with its level, such as 0.5 * hamming()")
    if not isinstance(query, Query):
        raise ArgumentError(f"a query is wanted here, such as Sum, Count or a Workload, not {type(query).__name__}")
    planned = plan(query, metric)
    bar = planned.error_bar(confidence)
    value = planned.draw(query.evaluate(data))
    return Answer(
        query,
        value,
        bar,
        confidence,
        planned.guarantee,
        planned.mechanism,
        planned.sensitivity,
        planned.optimal,
        planned.why,
        source().private,
    )
