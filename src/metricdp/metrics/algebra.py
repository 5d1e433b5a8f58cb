"""Sums of metrics, the largest of several, and a metric that ends at a bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import decide_sign
from metricdp.exact.level import Level, LevelLike
from metricdp.metrics.amounts import Budget, Exact, exact_value, formula, sum_of_budgets, sum_of_levels
from metricdp.metrics.enclosures import Enclosures, amount_bounds
from metricdp.metrics.metric import Metric, as_metric, operations
from metricdp.metrics.norms import Root, ball_norm, exact_norm, exact_sum, root_norm

__all__ = ["Added", "Capped", "Maximum", "add", "capped", "maximum"]


@dataclass(frozen=True, repr=False)
class Added(Metric):
    """``d + e + ...``: what two releases together reveal of the same secret. Made by ``d + e``.

    It is never nested and never scaled: a scale goes to the terms.

    Attributes:
        terms: the metrics that are added, with different units or with levels that cannot be added exactly.
    """

    terms: tuple[Metric, ...]
    kind: ClassVar[str] = "sum"
    sound: ClassVar[bool] = True
    _compound: ClassVar[bool] = True

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The terms."""
        return self.terms

    @property
    def leaves(self) -> tuple[Metric, ...]:
        """Those of the terms."""
        return tuple(leaf for term in self.terms for leaf in term.leaves)

    @property
    def grows(self) -> bool:
        """Whether all terms do."""
        return all(term.grows for term in self.terms)

    def _pairwise(self, points: Any, others: Any) -> Floats:
        total = self.terms[0].pairwise(points, others)
        for term in self.terms[1:]:
            total = total + term.pairwise(points, others)
        return total

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        total, *rest = (term._enclosures(points, others) for term in self.terms)
        for term in rest:
            total = total + term
        return total

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        return exact_sum([term.exactly(x, y) for term in self.terms])

    def _irrational(self, x: Any, y: Any) -> arb:
        return ball_norm([term.ball(x, y) for term in self.terms], 1)

    def _exponential(self, x: Any, y: Any) -> Root | None:
        return root_norm([term.exponential(x, y) for term in self.terms], 1)

    @property
    def greatest(self) -> Budget:
        """The sum of the terms' greatest distances."""
        return sum_of_budgets(term.greatest for term in self.terms)

    def _times(self, factor: Level) -> Metric:
        return add(*(term * factor for term in self.terms))

    def _formula(self) -> str:
        return " + ".join(str(term) for term in self.terms)

    def __repr__(self) -> str:
        return " + ".join(repr(term) for term in self.terms)


@dataclass(frozen=True, repr=False)
class Maximum(Metric):
    """See `maximum`.

    Attributes:
        metrics: at least two, all different, none itself a maximum.
    """

    metrics: tuple[Metric, ...]
    kind: ClassVar[str] = "maximum"
    sound: ClassVar[bool] = True

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics."""
        return self.metrics

    @property
    def leaves(self) -> tuple[Metric, ...]:
        """Those of the metrics."""
        return tuple(leaf for metric in self.metrics for leaf in metric.leaves)

    @property
    def grows(self) -> bool:
        """Whether all of them do."""
        return all(metric.grows for metric in self.metrics)

    def _pairwise(self, points: Any, others: Any) -> Floats:
        largest = self.metrics[0].pairwise(points, others)
        for metric in self.metrics[1:]:
            largest = np.maximum(largest, metric.pairwise(points, others))
        return largest

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        largest, *rest = (metric._enclosures(points, others) for metric in self.metrics)
        for metric in rest:
            largest = largest.maximum(metric)
        return largest

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        return exact_norm([metric.exactly(x, y) for metric in self.metrics], math.inf)

    def _square(self, x: Any, y: Any) -> Fraction | None:
        squares = [metric.square(x, y) for metric in self.metrics]
        return max((square for square in squares if square is not None), default=None) if None not in squares else None

    def _irrational(self, x: Any, y: Any) -> arb:
        return ball_norm([metric.ball(x, y) for metric in self.metrics], math.inf)

    def _exponential(self, x: Any, y: Any) -> Root | None:
        return root_norm([metric.exponential(x, y) for metric in self.metrics], math.inf)

    @property
    def greatest(self) -> Budget:
        """The largest of their greatest distances."""
        bounds = [metric.greatest for metric in self.metrics]
        return math.inf if math.inf in bounds else max(bound for bound in bounds if isinstance(bound, Level))

    def _formula(self) -> str:
        return f"max({', '.join(map(str, self.metrics))})"

    def __repr__(self) -> str:
        return f"maximum({', '.join(map(repr, self.metrics))})"


@dataclass(frozen=True, repr=False)
class Capped(Metric):
    """See `capped`.

    Attributes:
        base: the metric below the cap.
        cap: the largest distance there is.
    """

    base: Metric
    cap: Level
    kind: ClassVar[str] = "capped"
    sound: ClassVar[bool] = True

    def _pairwise(self, points: Any, others: Any) -> Floats:
        return np.minimum(self.base.pairwise(points, others), float(self.cap))

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        base = self.base._enclosures(points, others)
        return base.minimum(Enclosures.constant(base.lower.shape, amount_bounds(self.cap)))

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        distance, cap = self.base.exactly(x, y), exact_value(self.cap)
        if distance == 0:
            return distance
        if cap is None:
            return None
        if distance is not None:
            return min(distance, cap)
        return cap if decide_sign(lambda: self.base.ball(x, y) - self.cap.ball()) > 0 else None

    def _irrational(self, x: Any, y: Any) -> arb:
        return self.base.ball(x, y).min(self.cap.ball())

    def _exponential(self, x: Any, y: Any) -> Root | None:
        side = decide_sign(lambda: self.base.ball(x, y) - self.cap.ball())
        cap, base = Root.of(self.cap), self.base.exponential(x, y)
        if side == 0:  # equal, as far as balls can tell
            return cap if cap == base else None
        return cap if side > 0 else base

    @property
    def greatest(self) -> Budget:
        """The cap."""
        return self.cap

    @property
    def capped_at(self) -> Budget:
        """``cap``."""
        return self.cap

    def without_cap(self) -> Metric:
        """``base``."""
        return self.base.without_cap()

    def without_null(self) -> Metric:
        """The same with the base between values none of which is missing."""
        return Capped(self.base.without_null(), self.cap)

    def on_numbers(self) -> Metric:
        """The same with the base on numbers."""
        return Capped(self.base.on_numbers(), self.cap)

    @property
    def grows(self) -> bool:
        """Whether the base does."""
        return self.base.grows

    @property
    def leaves(self) -> tuple[Metric, ...]:
        """Those of the base."""
        return self.base.leaves

    @property
    def concave(self) -> bool:
        """Whether the base is: the lesser of a concave function and a number is one."""
        return self.base.concave

    def _formula(self) -> str:
        return f"min({self.base}, {formula(self.cap)})"


def maximum(*metrics: Metric) -> Metric:
    """The largest of the distances, pair by pair: again a metric.

    >>> from metricdp.metrics import absolute, discrete
    >>> near_or_far = maximum(discrete(), absolute() / 10)
    >>> near_or_far(3, 4), near_or_far(3, 43)
    (1.0, 4.0)
    """
    flat = [
        part
        for metric in map(as_metric, metrics)
        for part in (metric.metrics if isinstance(metric, Maximum) else (metric,))
    ]
    different = tuple(dict.fromkeys(flat))
    if not different:
        raise ArgumentError("at least one metric is needed")
    return different[0] if len(different) == 1 else Maximum(different)


def capped(base: Metric, cap: LevelLike) -> Capped:
    """The distance, but never more than ``cap``: again a metric, for min(d, cap) grows ever more slowly.

    >>> from metricdp.metrics import absolute
    >>> capped(absolute(), 10)(0, 3), capped(absolute(), 10)(0, 30)
    (3.0, 10.0)
    """
    return Capped(as_metric(base), Level.of(cap))


def add(*metrics: Metric) -> Metric:
    """The sum of metrics, where multiples of one metric become one: ``d + 2 * d`` is ``3 * d``.

    >>> from metricdp.metrics import absolute, discrete
    >>> print(add(absolute(), discrete(), 2 * absolute()))
    3·|x − y| + [x ≠ y]
    """
    terms: list[Metric] = []
    for metric in map(as_metric, metrics):
        for term in metric.terms if isinstance(metric, Added) else (metric,):
            for place, other in enumerate(terms):
                level = sum_of_levels(other.level, term.level) if other.unit == term.unit else None
                if level is not None:
                    terms[place] = term.unit * level
                    break
            else:
                terms.append(term)
    if not terms:
        raise ArgumentError("a sum has at least one metric")
    return terms[0] if len(terms) == 1 else Added(tuple(terms))


operations.add = add
