"""Guarantees: what a release promises about the secret, and what that means in plain words."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, LevelError, UnsupportedMetricError
from metricdp.exact.balls import ball, enclose, float_above
from metricdp.exact.level import Level, rational
from metricdp.metrics.amounts import formula, plain
from metricdp.metrics.axioms import Distances
from metricdp.metrics.explain import explain
from metricdp.metrics.finite import Discrete
from metricdp.metrics.metric import Metric
from metricdp.metrics.order import nowhere_above
from metricdp.metrics.records import Hamming
from metricdp.metrics.toml import to_tree

__all__ = ["Guarantee"]

_LARGEST_EXPONENT = 710  # beyond it, exp is beyond the floats
_LARGEST_POWER = 1024


@dataclass(frozen=True, order=False)
class Guarantee:
    """The promise ``K(x)(Z) <= exp(d(x, x')) K(x')(Z) + delta`` for all secrets x, x' and all sets Z of outputs.

    Attributes:
        metric: d; distances at which the adversary may tell more are larger.
        delta: an exact number in [0, 1).

    References:
        Paper 1, Definition 1 and Theorems 3 and 4. Paper 2, Section 2, for delta.

    >>> from metricdp.metrics import great_circle
    >>> guarantee = Guarantee(great_circle().within(200))
    >>> print(guarantee)
    ln 2/200·great-circle(m)-private
    >>> guarantee.odds(400)
    4.0
    """

    metric: Metric
    delta: Fraction = Fraction(0)

    def __init__(self, metric: Metric, delta: int | float | str | Fraction | Decimal = 0) -> None:
        if not isinstance(metric, Metric):
            raise ArgumentError(f"a metric is needed here, not {type(metric).__name__}")
        exact = rational(delta, "delta")
        if not 0 <= exact < 1:
            raise LevelError(f"a delta is at least 0 and below 1, and {delta} is not")
        object.__setattr__(self, "metric", metric)
        object.__setattr__(self, "delta", exact)

    def __add__(self, other: Guarantee) -> Guarantee:
        """What two releases promise together: metrics and deltas add up."""
        if not isinstance(other, Guarantee):
            return NotImplemented
        return Guarantee(self.metric + other.metric, self.delta + other.delta)

    def __le__(self, other: Guarantee) -> bool:
        """Whether this is at least as strong, for all secrets, by a theorem; False also where none is known."""
        if not isinstance(other, Guarantee):
            return NotImplemented
        return self.delta <= other.delta and nowhere_above(self.metric, other.metric)

    def __ge__(self, other: Guarantee) -> bool:
        return other <= self if isinstance(other, Guarantee) else NotImplemented

    def __lt__(self, other: Guarantee) -> bool:
        return self <= other and not other <= self if isinstance(other, Guarantee) else NotImplemented

    def __gt__(self, other: Guarantee) -> bool:
        return other < self if isinstance(other, Guarantee) else NotImplemented

    def implies(self, other: Guarantee, points: Sequence[Any]) -> bool:
        """Whether every mechanism on these secrets that keeps this promise keeps the other one too.

        True is proven. Where this delta is 0, it is so just when the closure of this metric is nowhere above the other
        metric, and False is proven too, unless two irrational distances cannot be told apart in 1024 bits and no
        theorem says that they are equal. With a delta, closures say nothing, and False may be too cautious.

        >>> from metricdp.metrics import absolute, discrete
        >>> Guarantee(discrete()).implies(Guarantee(absolute()), range(5))
        True
        """
        if self.delta > other.delta:
            return False
        if nowhere_above(self.metric, other.metric):
            return True
        metric, bound = _without_common_logarithm(self.metric, other.metric)
        metric = metric if self.delta or metric.proven else metric.closure(points)
        mine, theirs = Distances(metric, list(points)), Distances(bound, list(points))
        close_calls = np.argwhere(~(mine.enclosures.upper <= theirs.enclosures.lower)).tolist()
        return all(mine.at_most((i, j), theirs) for i, j in close_calls)

    def odds(self, distance: int | float | Fraction) -> float:
        """The factor by which an adversary's odds between two secrets can move, rounded up.

        The secrets are ``distance`` apart in ``metric.unit``; the factor is exp(level · distance) (Theorem 4).

        >>> from metricdp.metrics import hamming
        >>> Guarantee(0.5 * hamming()).odds(2)
        2.7182818284590455
        """
        if distance == math.inf:
            return math.inf
        apart = rational(distance, "distance")
        if apart < 0:
            raise ArgumentError(f"a distance is not negative, and {distance} is")
        return float_above(_exponential(self.metric.level, apart))

    def group(self, size: int) -> Guarantee:
        """The promise for ``size`` secrets taken as one, such as a family of so many individuals.

        Without delta it is size·d. With delta it is known only for multiples of the discrete and the Hamming metric,
        and delta becomes delta (e^{size ε} − 1)/(e^ε − 1), rounded up.

        >>> from metricdp.metrics import hamming
        >>> print(Guarantee(0.5 * hamming()).group(3))
        1.5·dₕ-private
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ArgumentError(f"a group has 1 member or more, as an integer, not {size!r}")
        if not self.delta or size == 1:
            return Guarantee(self.metric * size, self.delta)
        if not isinstance(self.metric.unit, (Discrete, Hamming)):
            raise UnsupportedMetricError("a delta is known for groups only with the discrete or the Hamming metric")
        level = self.metric.level
        ratio = enclose(lambda: (level.ball() * size).expm1() / level.ball().expm1()).upper
        return Guarantee(self.metric * size, min(self.delta * Fraction(ratio), Fraction(1)))

    def explain(self, distances: Sequence[int | float | Fraction] | int | float | Fraction | None = None) -> str:
        """The promise in plain words, at one or several distances.

        >>> from metricdp.metrics import great_circle
        >>> print(Guarantee(great_circle().within(200)).explain([200]))
        This release is ln 2/200·great-circle(m)-private.
        Two secrets 200 m apart: an adversary's odds between them can move by at most a factor 2.00
        (from even odds, to between 33.3% and 66.7%).
        Had the secret been replaced by one at most 200 m away before the release, an adversary's
        conclusions, whatever they know besides, would differ by a factor 4.00 at most.
        """
        return explain(self, distances)

    def to_json(self) -> dict[str, Any]:
        """The promise as plain values for JSON; dates become text, and a metric on points without a form is None."""
        try:
            metric = json.loads(json.dumps(to_tree(self.metric), default=str))
        except ArgumentError:
            metric = None
        return {"metric": metric, "delta": plain(self.delta), "formula": str(self)}

    def __repr__(self) -> str:
        delta = f", {formula(self.delta)!r}" if self.delta else ""
        return f"Guarantee({self.metric!r}{delta})"

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self.explain().splitlines()[1:])
        return f"<b>{html.escape(str(self))}</b><ul>{lines}</ul>"

    def __str__(self) -> str:
        if self.delta:
            return f"({self.metric}, {formula(self.delta)})-private"
        return f"{self.metric.bracketed}-private"


def _without_common_logarithm(one: Metric, two: Metric) -> tuple[Metric, Metric]:
    """Two metrics divided by the logarithm before both, if there is one: what is left may be rational."""
    if one.level.log_of is None or one.level.log_of != two.level.log_of:
        return one, two
    return one.unit * one.level.coefficient, two.unit * two.level.coefficient


def _exponential(level: Level, distance: Fraction) -> Fraction | float:
    """exp(level · distance), rounded up; exactly where it is a power of a rational."""
    power = level.coefficient * distance
    if level.log_of is not None and power.denominator == 1 and power < _LARGEST_POWER:
        return level.log_of**power.numerator
    if level.enclose().lower * distance > _LARGEST_EXPONENT:
        return math.inf
    return enclose(lambda: (level.ball() * ball(distance)).exp()).upper
