"""Distances between sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from metricdp.errors import KindError, ShapeError
from metricdp.exact.arrays import Floats
from metricdp.metrics.amounts import Exact
from metricdp.metrics.coordinates import label
from metricdp.metrics.enclosures import Enclosures
from metricdp.metrics.metric import Metric

__all__ = ["SymmetricDifference", "symmetric_difference"]


@dataclass(frozen=True, repr=False)
class SymmetricDifference(Metric):
    """See `symmetric_difference`."""

    kind: ClassVar[str] = "symmetric_difference"
    symbol: ClassVar[str] = "|x △ y|"
    sound: ClassVar[bool] = True
    typical: ClassVar[tuple[int, ...]] = (1, 2, 5)
    _unit_name: ClassVar[str | None] = "elements"

    @property
    def pair_words(self) -> str:
        """One element more or less."""
        return "for each element"

    def _pairwise(self, points: Any, others: Any) -> Floats:
        left, right = _sets(points), _sets(others)
        elements = {element: place for place, element in enumerate(frozenset().union(*left, *right))}
        members, members_ = (_membership(side, elements) for side in (left, right))
        sizes, sizes_ = members.sum(axis=1), members_.sum(axis=1)
        distances: Floats = np.add.outer(sizes, sizes_) - 2 * (members @ members_.T)  # whole numbers, exact in floats
        return distances

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        return Enclosures.exact(self._pairwise(points, others))

    def _exactly(self, x: Any, y: Any) -> Exact:
        (left,), (right,) = _sets([x]), _sets([y])
        return Fraction(len(left ^ right))


def symmetric_difference() -> SymmetricDifference:
    """The number of elements that are in one of two sets but not in both.

    References:
        Paper 2, Example 1 and Section 2.

    >>> symmetric_difference()({"chess", "tennis"}, {"chess", "football", "opera"})
    3.0
    """
    return SymmetricDifference()


def _sets(points: Iterable[Any]) -> list[frozenset[Any]]:
    sets = []
    for row, point in enumerate(points):
        if not isinstance(point, (set, frozenset)):
            raise KindError(f"a set is expected, not {type(point).__name__}", row)
        sets.append(frozenset(label(element, row) for element in point))
    if not sets:
        raise ShapeError("there are no points")
    return sets


def _membership(sets: list[frozenset[Any]], elements: dict[Any, int]) -> Floats:
    members = np.zeros((len(sets), len(elements)))
    for row, present in enumerate(sets):
        members[row, [elements[element] for element in present]] = 1
    return members
