"""Secrets that may be absent: a metric extended to None."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb

from metricdp.errors import ShapeError
from metricdp.exact.arrays import Floats
from metricdp.exact.level import Level, LevelLike
from metricdp.metrics.amounts import Budget, Exact, budget, exact_ball, exact_value, formula
from metricdp.metrics.enclosures import Enclosures, amount_bounds
from metricdp.metrics.metric import Metric, as_metric
from metricdp.metrics.norms import Root
from metricdp.metrics.trees import Hierarchy

__all__ = ["Nullable", "nullable"]


@dataclass(frozen=True, repr=False)
class Nullable(Metric):
    """See `nullable`.

    Attributes:
        base: the distance between two values.
        null_distance: the distance between a value and None.
    """

    base: Metric
    null_distance: Budget
    kind: ClassVar[str] = "nullable"
    _compound: ClassVar[bool] = True

    @property
    def proven(self) -> bool:
        """Whether no two values can be more than twice as far apart as they are from None."""
        # d(v, w) <= d(v, None) + d(None, w) is the one inequality that the base does not give.
        if not self.base.proven or self.null_distance == math.inf:
            return self.base.proven
        return self.base.greatest != math.inf and self.base.greatest <= self.null_distance * 2

    def _pairwise(self, points: Any, others: Any) -> Floats:
        left, right = list(points), list(others)
        if not left or not right:
            raise ShapeError("there are no points")
        present, present_ = ([row for row, value in enumerate(side) if value is not None] for side in (left, right))
        distances = np.full((len(left), len(right)), float(self.null_distance))
        absent, absent_ = (np.array([value is None for value in side]) for side in (left, right))
        distances[np.ix_(absent, absent_)] = 0.0
        if present and present_:
            values = [left[row] for row in present], [right[row] for row in present_]
            distances[np.ix_(present, present_)] = self.base.pairwise(*values)
        return distances

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        known = Enclosures.constant((len(points), len(others)), amount_bounds(self.null_distance))
        absent, absent_ = (np.array([value is None for value in side], dtype=bool) for side in (points, others))
        present, present_ = np.flatnonzero(~absent), np.flatnonzero(~absent_)
        known.lower[np.ix_(absent, absent_)] = known.upper[np.ix_(absent, absent_)] = 0.0
        if len(present) and len(present_):
            values = [points[row] for row in present], [others[row] for row in present_]
            base = self.base._enclosures(*values)
            known.lower[np.ix_(present, present_)] = base.lower
            known.upper[np.ix_(present, present_)] = base.upper
        return known

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        if x is None or y is None:
            return Fraction(0) if x is y else exact_value(self.null_distance)
        return self.base.exactly(x, y)

    def _irrational(self, x: Any, y: Any) -> arb:
        return exact_ball(self.null_distance) if x is None or y is None else self.base.ball(x, y)

    def _exponential(self, x: Any, y: Any) -> Root | None:
        if x is None or y is None:
            return Root.of(self.null_distance) if isinstance(self.null_distance, Level) else None
        return self.base.exponential(x, y)

    def hierarchy(self, points: Sequence[Any]) -> Hierarchy | None:
        """That of the base, with None beside it; only where the base has no number before it."""
        absent = [point is None for point in points]
        present = [point for point in points if point is not None]
        base = self.base.hierarchy(present) if present and self.base.unit is self.base else None
        return None if base is None else base.with_null(absent, self.null_distance)

    @property
    def greatest(self) -> Budget:
        """The greatest distance of the base or the distance from None, whichever is more."""
        bounds = self.base.greatest, self.null_distance
        return math.inf if math.inf in bounds else max(bound for bound in bounds if isinstance(bound, Level))

    @property
    def distance_to_null(self) -> Budget:
        """``null_distance``."""
        return self.null_distance

    def without_null(self) -> Metric:
        """``base``."""
        return self.base.without_null()

    def on_numbers(self) -> Metric:
        """The same with the base on numbers."""
        return Nullable(self.base.on_numbers(), self.null_distance)

    @property
    def grows(self) -> bool:
        """Whether the base does; nothing lies further apart than a value and None."""
        return self.base.grows

    @property
    def leaves(self) -> tuple[Metric, ...]:
        """Those of the base."""
        return self.base.leaves

    @property
    def concave(self) -> bool:
        """Whether the base is."""
        return self.base.concave

    @property
    def pair_words(self) -> str:
        """That of the base."""
        return self.base.pair_words

    @property
    def place_words(self) -> str:
        """That of the base."""
        return self.base.place_words

    def _arguments(self) -> dict[str, Any]:
        return {"base": self.base, "diameter": self.null_distance}

    def _formula(self) -> str:
        return f"{self.base.bracketed} with ∅ at {formula(self.null_distance)}"


def nullable(base: Metric, diameter: LevelLike) -> Nullable:
    """The metric extended to None, which is ``diameter`` away from every value.

    It is a metric where no two values are more than twice the diameter apart; ``violation(points)`` tells, and
    ``nullable(capped(base, 2 * diameter), diameter)`` always is one.

    References:
        Paper 1, Section 5.

    >>> from metricdp.metrics import absolute
    >>> d = nullable(absolute(), 100)
    >>> d(20, 30), d(20, None), d(None, None)
    (10.0, 100.0, 0.0)
    """
    return Nullable(as_metric(base), budget(diameter))
