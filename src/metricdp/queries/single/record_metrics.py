"""Metrics on databases that compare them record by record, taken apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from metricdp.errors import KindError, LevelError, NotAMetricError, UnsupportedMetricError
from metricdp.exact.level import Level
from metricdp.metrics import Metric, absolute, discrete, nullable, records
from metricdp.metrics.algebra import Added
from metricdp.metrics.amounts import Exact
from metricdp.metrics.finite import Discrete
from metricdp.metrics.nullable import Nullable
from metricdp.metrics.records import AddRemove, Hamming, Records
from metricdp.metrics.vectors import Absolute, Norm
from metricdp.queries.single.aggregates import NumberQuery

__all__ = ["NumberDistances", "RecordMetric", "ratio", "record_metric", "shape_of"]

Shape = Literal["absolute", "discrete", "listed"]

MOST_LISTED = 512
"""The most values whose distances are compared one by one."""


@dataclass(frozen=True)
class RecordMetric:
    """``level · ‖(d(x_1, y_1), .., d(x_n, y_n))‖_p``: what two databases differ by, record by record.

    Attributes:
        level: the number before it.
        base: d, between two values of one record.
        p: the norm, 1, 2 or infinity.
    """

    level: Level
    base: Metric
    p: float

    @property
    def metric(self) -> Metric:
        """The same as a metric, with every number that can be before it before it."""
        return self.level * records(self.base, self.p)


def record_metric(metric: Metric) -> RecordMetric | None:
    """A metric on databases as a norm of distances between records; None where it is none.

    >>> from metricdp.metrics import chebyshev, hamming
    >>> record_metric(0.5 * hamming())
    RecordMetric(level=Level(coefficient=Fraction(1, 2), log_of=None), base=discrete(), p=1)
    >>> record_metric(chebyshev()).p
    inf
    """
    unit, level = metric.unit, metric.level
    if isinstance(unit, Hamming):
        return RecordMetric(level, discrete(), 1)
    if isinstance(unit, AddRemove):
        return RecordMetric(level, nullable(2 * discrete(), 1), 1)
    if isinstance(unit, Records):
        try:
            return RecordMetric(level * unit.base.level, unit.base.unit, unit.p)
        except LevelError:  # both are logarithms
            return RecordMetric(level, unit.base, unit.p)
    if isinstance(unit, Norm) and not isinstance(unit, Absolute):
        return RecordMetric(level, absolute(), unit.p)
    if isinstance(unit, Added):
        parts = [record_metric(term) for term in unit.terms]
        terms = [part.base * part.level for part in parts if part is not None and part.p == 1]
        if len(terms) == len(parts):  # sums over records of sums of distances
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            return RecordMetric(level * total.level, total.unit, 1)
    return None


def shape_of(base: Metric) -> tuple[Shape, Fraction]:
    """How a metric tells two values apart: by c times their difference, by c if at all, or as it lists.

    >>> shape_of(nullable(2 * absolute(), 100))
    ('absolute', Fraction(2, 1))
    """
    inner = base.base if isinstance(base, Nullable) else base
    if inner.level.log_of is None:
        if isinstance(inner.unit, Absolute):
            return "absolute", inner.level.coefficient
        if isinstance(inner.unit, Discrete):
            return "discrete", inner.level.coefficient
    return "listed", Fraction(1)


def exact_distance(base: Metric, v: Any, w: Any) -> Exact:
    """The distance between two values as a rational or infinity; refuses what is neither, or cannot be measured."""
    try:
        distance = base.exactly(v, w)
    except KindError:
        absent = v is None or w is None
        raise UnsupportedMetricError(
            f"{base} does not say how far an absent record is from one that is there; use records(nullable(d, "
            "distance)), hamming() or add_remove(), or make the number of records public and declare that none is "
            "absent"
            if absent
            else f"{base} is no distance between the values of a record"
        ) from None
    if distance is None:
        raise UnsupportedMetricError(
            f"{base} is irrational between the values of a record: put a logarithm before the whole metric, as in "
            "ln(2) * records(d)"
        )
    return distance


def ratio(change: Fraction, distance: Exact) -> Exact:
    """How much of a change there is for each unit of distance.

    >>> ratio(Fraction(3), Fraction(2)), ratio(Fraction(3), math.inf), ratio(Fraction(3), Fraction(0))
    (Fraction(3, 2), Fraction(0, 1), inf)
    """
    if change == 0 or distance == math.inf:
        return Fraction(0)
    return math.inf if distance == 0 else change / Fraction(distance)


@dataclass(frozen=True)
class NumberDistances:
    """The values that one record of a query may have, and how far apart they are.

    Attributes:
        query: whose values they are.
        base: the distance between two of them.

    Raises:
        NotAMetricError: the distance is none on these values.
        UnsupportedMetricError: it cannot be had exactly.
    """

    query: NumberQuery
    base: Metric

    def __post_init__(self) -> None:
        if self.shape == "listed":
            points = [*self.listed, *([None] if self.query.nulls else [])]
            exact_distance(self.base, points[-1], points[0])
            violation = self.base.violation(points)
            if violation is not None:
                raise NotAMetricError(str(violation), violation)
        elif self.query.nulls and self.null_distance * 2 < self.diameter:
            raise NotAMetricError(
                f"{self.base} is no metric on values from {self.query.low} to {self.query.high}: two of them are "
                "farther from each other than by way of an absent record; put that at least half their distance away"
            )

    @property
    def shape(self) -> Shape:
        """How the distance tells values apart."""
        return shape_of(self.base)[0]

    @property
    def _factor(self) -> Fraction:
        return shape_of(self.base)[1]

    @cached_property
    def listed(self) -> Sequence[Any]:
        """The values one by one, None left out."""
        values = self.query.universe
        if values is None or len(values) > MOST_LISTED:
            raise UnsupportedMetricError(
                f"no closed form is known for {self.base}, and there are too many values to compare them all (more "
                f"than {MOST_LISTED}, or no step between them)"
            )
        return [value for value in values if value is not None]

    @cached_property
    def diameter(self) -> Exact:
        """The greatest distance between two values."""
        if self.shape == "absolute":
            return self._factor * (self.query.high - self.query.low)
        if self.shape == "discrete":
            return self._factor
        return max(exact_distance(self.base, v, w) for v in self.listed for w in self.listed)

    @cached_property
    def null_distance(self) -> Exact:
        """The distance of every value from an absent one; refused where it is not the same for all."""
        if self.shape != "listed":
            return exact_distance(self.base, None, self.query.low)
        distances = {exact_distance(self.base, None, value) for value in self.listed}
        if len(distances) > 1:
            raise UnsupportedMetricError(f"no closed form is known for {self.base}, whose distances from None differ")
        return distances.pop()

    def steepest(self, change: Callable[[Fraction], Fraction]) -> Exact:
        """The most of ``change(|v - w|)`` for each unit of distance, over all pairs of values.

        The change is one that grows with the difference, never by more for each unit than at the first step.
        """
        whole = self.query.high - self.query.low
        if self.shape == "absolute":
            first = whole if self.query.step is None else self.query.step
            return ratio(change(first), self._factor * first)
        if self.shape == "discrete":
            return ratio(change(whole), self._factor)
        return max(
            ratio(change(Fraction(w) - Fraction(v)), exact_distance(self.base, v, w))
            for place, w in enumerate(self.listed)
            for v in self.listed[:place]
        )

    def steepest_null(self, change: Callable[[Fraction], Fraction]) -> Exact:
        """The most of ``change(v)`` for each unit of distance between a value v and an absent one."""
        if self.shape == "listed":
            return max(ratio(change(Fraction(v)), exact_distance(self.base, None, v)) for v in self.listed)
        return ratio(max(change(self.query.low), change(self.query.high)), self.null_distance)

    @cached_property
    def one_step(self) -> Exact | None:
        """The distance between two neighbouring values; None where it is not the same for all of them."""
        step = self.query.step
        if step is None:
            return None
        if self.shape == "discrete":
            return self._factor
        if self.shape == "absolute":
            return self._factor * step
        distances = {exact_distance(self.base, v, w) for v, w in zip(self.listed, self.listed[1:], strict=False)}
        return distances.pop() if len(distances) == 1 else None

    @property
    def ordered(self) -> bool:
        """Whether values farther apart are known to be no nearer in the metric."""
        return self.shape != "listed"
