"""A number times a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb

from metricdp.errors import LevelError
from metricdp.exact.arrays import Floats
from metricdp.exact.level import Level
from metricdp.metrics import amounts
from metricdp.metrics.amounts import Budget, Exact
from metricdp.metrics.enclosures import EnclosedRows, Enclosures, amount_bounds
from metricdp.metrics.metric import Metric, operations
from metricdp.metrics.norms import Root
from metricdp.metrics.trees import Hierarchy

__all__ = ["Scaled"]


@dataclass(frozen=True, repr=False)
class Scaled(Metric):
    """``level · unit``: made by ``2 * d``, ``ln(2) * d``, ``d / 3``. Scales of scales become one.

    Attributes:
        factor: the number before the metric, also called `level`.
        base: the metric after it, also called `unit`; not scaled itself.
    """

    factor: Level
    base: Metric
    kind: ClassVar[str] = "scaled"
    sound: ClassVar[bool] = True
    _keeps_geodesics: ClassVar[bool] = True

    @property
    def level(self) -> Level:
        """The number before the metric."""
        return self.factor

    @property
    def unit(self) -> Metric:
        """The metric after the number."""
        return self.base

    def _pairwise(self, points: Any, others: Any) -> Floats:
        distances = self.unit.pairwise(points, others)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            return np.where((distances > 0) & np.isfinite(distances), float(self.level) * distances, distances)

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        return self.unit._enclosures(points, others).times(amount_bounds(self.level))

    def _by_rows(self, points: Any, others: Any) -> EnclosedRows:
        unit, bounds = self.unit._by_rows(points, others), amount_bounds(self.level)
        return EnclosedRows(lambda rows: unit.quickly(rows).times(bounds), unit.at_once)

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        distance = self.unit.exactly(x, y)
        if distance is None or (self.level.log_of is not None and distance not in (0, math.inf)):
            return None
        return distance * self.level.coefficient if isinstance(distance, Fraction) else distance

    def _irrational(self, x: Any, y: Any) -> arb:
        return self.level.ball() * self.unit.ball(x, y)

    def _square(self, x: Any, y: Any) -> Fraction | None:
        square = self.unit.square(x, y)
        return None if square is None or self.level.log_of is not None else self.level.coefficient**2 * square

    def _exponential(self, x: Any, y: Any) -> Root | None:
        distance = self.unit.exactly(x, y)
        if isinstance(distance, Fraction):
            return Root.of(self.level * distance)
        unit = self.unit.exponential(x, y)
        return None if unit is None or self.level.log_of is not None else unit.to_the(self.level.coefficient)

    def hierarchy(self, points: Sequence[Any]) -> Hierarchy | None:
        """That of the unit, with this level before it."""
        unit = self.unit.hierarchy(points)
        try:
            return None if unit is None else unit.scaled(self.level)
        except LevelError:  # both are logarithms
            return None

    def farthest(self, points: Sequence[Any]) -> tuple[Any, Any]:
        """Those of the unit."""
        return self.unit.farthest(points)

    @property
    def greatest(self) -> Budget:
        """The level times the greatest distance of the unit."""
        bound = self.unit.greatest
        try:
            return self.level * bound if isinstance(bound, Level) else bound
        except LevelError:  # both are logarithms
            return math.inf

    @property
    def distance_to_null(self) -> Budget | None:
        """The level times that of the unit."""
        return self._levelled(self.unit.distance_to_null)

    @property
    def capped_at(self) -> Budget | None:
        """The level times that of the unit."""
        return self._levelled(self.unit.capped_at)

    def _levelled(self, amount: Budget | None) -> Budget | None:
        return self.level * amount if isinstance(amount, Level) else amount

    def without_null(self) -> Metric:
        """The level times that of the unit."""
        return self.unit.without_null() * self.level

    def without_cap(self) -> Metric:
        """The level times that of the unit."""
        return self.unit.without_cap() * self.level

    def on_numbers(self) -> Metric:
        """The level times that of the unit."""
        return self.unit.on_numbers() * self.level

    @property
    def grows(self) -> bool:
        """Whether the unit does."""
        return self.unit.grows

    @property
    def leaves(self) -> tuple[Metric, ...]:
        """Those of the unit."""
        return self.unit.leaves

    @property
    def concave(self) -> bool:
        """Whether the unit is."""
        return self.unit.concave

    def _formula(self) -> str:
        return amounts.scaled_formula(self.level, self.unit.bracketed)

    def _arguments(self) -> dict[str, Any]:
        return {"level": self.level, "unit": self.unit}

    def __repr__(self) -> str:
        return f"{amounts.code(self.level)} * {self.unit!r}"


operations.scaled = Scaled
