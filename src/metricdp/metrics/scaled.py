"""A number times a metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb

from metricdp.errors import LevelError
from metricdp.exact.level import Level
from metricdp.metrics import amounts
from metricdp.metrics.amounts import Budget, Exact
from metricdp.metrics.coordinates import Floats
from metricdp.metrics.metric import Metric
from metricdp.metrics.norms import Root

__all__ = ["Scaled"]

_LEAST_LEVEL, _LARGEST_LEVEL = 1e-290, 1e15
"""Where the floats of a scaled metric are as close as those of its unit: a distance that is large enough for floats may
hide one of the unit that is not, where the level is larger."""

_ROUNDED = 2.0**-50


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

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        distance = self.unit.exactly(x, y)
        if distance is None or (self.level.log_of is not None and distance not in (0, math.inf)):
            return None
        return distance * self.level.coefficient if isinstance(distance, Fraction) else distance

    def _irrational(self, x: Any, y: Any) -> arb:
        return self.level.ball() * self.unit.ball(x, y)

    def _exponential(self, x: Any, y: Any) -> Root | None:
        distance = self.unit.exactly(x, y)
        if isinstance(distance, Fraction):
            return Root.of(self.level * distance)
        unit = self.unit.exponential(x, y)
        return None if unit is None or self.level.log_of is not None else unit.to_the(self.level.coefficient)

    @property
    def close_view(self) -> bool:
        """Whether the unit's is, and floats hold the level well."""
        return _LEAST_LEVEL < float(self.level) < _LARGEST_LEVEL and self.unit.close_view

    def view_error(self, dimension: int = 1) -> float:
        """The unit's, the rounding of the level and of the product."""
        return self.unit.view_error(dimension) + _ROUNDED if self.close_view else math.inf

    @property
    def greatest(self) -> Budget:
        """The level times the greatest distance of the unit."""
        bound = self.unit.greatest
        try:
            return self.level * bound if isinstance(bound, Level) else bound
        except LevelError:  # both are logarithms
            return math.inf

    def _formula(self) -> str:
        return amounts.scaled_formula(self.level, self.unit.bracketed)

    def _arguments(self) -> dict[str, Any]:
        return {"level": self.level, "unit": self.unit}

    def __repr__(self) -> str:
        return f"{amounts.code(self.level)} * {self.unit!r}"
