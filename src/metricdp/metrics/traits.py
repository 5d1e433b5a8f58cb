"""What a metric answers about itself, so that mechanisms, policies and queries need not know its class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricdp.metrics.amounts import Budget
    from metricdp.metrics.metric import Metric

__all__ = ["Traits"]


class Traits(ABC):
    """The questions. A metric with a number before it answers what the metric after the number does."""

    @property
    def unit(self) -> Metric:
        """The metric after the number; itself where there is none."""
        return self._metric

    @property
    @abstractmethod
    def _metric(self) -> Metric:
        """Itself."""

    @property
    def on_line(self) -> bool:
        """Whether it is a multiple of |x − y| between numbers or moments."""
        return self.unit is not self and self.unit.on_line

    @property
    def moments(self) -> bool:
        """Whether secrets are dates and times, counted in days, rather than numbers."""
        return self.unit is not self and self.unit.moments

    @property
    def on_globe(self) -> bool:
        """Whether secrets are places, (latitude, longitude) in degrees."""
        return self.unit is not self and self.unit.on_globe

    @property
    def all_alike(self) -> bool:
        """Whether any two different secrets are equally far apart."""
        return self.unit is not self and self.unit.all_alike

    @property
    def norm(self) -> float | None:
        """1, 2 or infinity, where it is a multiple of that norm of the difference of two vectors; else None."""
        return None if self.unit is self else self.unit.norm

    @property
    def dimension(self) -> int | None:
        """How many numbers a secret has, where every secret of this metric has as many; None elsewhere."""
        return None if self.unit is self else self.unit.dimension

    @property
    def listed_values(self) -> tuple[Any, ...] | None:
        """The secrets, where the metric lists them; None where it does not."""
        return None if self.unit is self else self.unit.listed_values

    @property
    def attribute_names(self) -> tuple[str, ...] | None:
        """The names of a record's attributes, where secrets are records with names; None elsewhere."""
        return None if self.unit is self else self.unit.attribute_names

    @property
    def adds_up(self) -> bool:
        """Whether the distance of two records is the sum of distances at their positions."""
        return self.unit is not self and self.unit.adds_up

    @property
    def distance_to_null(self) -> Budget | None:
        """How far None is from every value, with the level; None where it is no secret of this metric."""
        return None

    @property
    def capped_at(self) -> Budget | None:
        """The distance, with the level, at which the metric ends; None where it is not capped."""
        return None

    def without_null(self) -> Metric:
        """The same between values none of which is missing."""
        return self._metric

    def without_cap(self) -> Metric:
        """The same without a cap."""
        return self._metric

    def on_numbers(self) -> Metric:
        """The same between numbers: days are counted, and any norm of one number is its absolute value."""
        return self._metric

    @property
    def grows(self) -> bool:
        """Whether two numbers, or moments, that lie further apart are never nearer in this metric."""
        return self.on_line

    @property
    def leaves(self) -> tuple[Metric, ...]:
        """The metrics it is made of, down to those that measure values: what sums, scales, caps and nulls stand on."""
        return (self._metric,)

    @property
    def concave(self) -> bool:
        """Whether the distance of two different numbers is a concave function of their difference."""
        return self.on_line

    @property
    def pair_words(self) -> str:
        """Which two secrets the level speaks of, where no distance has to be named, as in "between any two values"."""
        return "" if self.unit is self else self.unit.pair_words

    @property
    def place_words(self) -> str:
        """Where distances are measured, where that has to be said, as in "in the taxonomy"."""
        return "" if self.unit is self else self.unit.place_words
