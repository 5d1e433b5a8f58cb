"""Points that see the same distances, taken together: equations of many unknowns become equations of few.

A partition of the points is equitable where every point of a class sees as many points of each class at each distance
as the others of its class do. Then ``Φ = exp(-d)`` maps vectors that are constant on the classes to such vectors, and,
being symmetric, commutes with averaging over the classes. So ``Φ a = 1`` has a solution ``a >= 0`` if and only if it
has one that is constant on the classes: one unknown for each class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.exact.arrays import Places
from metricdp.metrics import Space

__all__ = ["DistanceClasses"]


@dataclass(frozen=True, eq=False)
class DistanceClasses:
    """The distances of a space by their different values, and its coarsest equitable partition.

    Attributes:
        space: the points and the metric.
        places: one point for each class at distance zero.
        codes: for each two of these, which of the different distances is theirs.
        pairs: for each different distance, one pair of points that has it.
        values: the distances in the metric's unit, where all are rational or infinite; else None, and every pair
            counts as different.

    >>> from metricdp.metrics import chebyshev
    >>> found = DistanceClasses.of(Space.grid(3, 3, chebyshev()))
    >>> found.values, found.labels.tolist()
    ((Fraction(0, 1), Fraction(1, 1), Fraction(2, 1)), [0, 1, 0, 1, 2, 1, 0, 1, 0])
    """

    space: Space
    places: tuple[int, ...]
    codes: Places
    pairs: tuple[tuple[int, int], ...]
    values: tuple[Fraction | float, ...] | None

    @classmethod
    def of(cls, space: Space) -> DistanceClasses:
        """Looks at every pair once."""
        first = constraints_matrix(space).representatives
        return cls._of(space, tuple(place for place in range(len(space)) if first[place] == place))

    @classmethod
    def _of(cls, space: Space, places: tuple[int, ...]) -> DistanceClasses:
        count, points, unit = len(places), space.points, space.metric.unit
        whole = unit.integers([points[place] for place in places])
        if whole is not None and (whole + np.eye(count, dtype=np.int64)).all():
            return cls._of_integers(space, places, whole)
        codes = np.zeros((count, count), dtype=np.int64)
        known: dict[Fraction | float, int] = {Fraction(0): 0}
        pairs = [(places[0], places[0])]
        for i in range(count):
            for j in range(i):
                distance = unit.exactly(points[places[i]], points[places[j]])
                if distance is None:
                    return cls._all_different(space, places)
                if distance == 0:  # which floats did not see
                    return cls._of(space, places[:i] + places[i + 1 :])
                if distance not in known:
                    known[distance] = len(pairs)
                    pairs.append((places[i], places[j]))
                codes[i, j] = codes[j, i] = known[distance]
        return cls(space, places, codes, tuple(pairs), tuple(known))

    @classmethod
    def _of_integers(cls, space: Space, places: tuple[int, ...], whole: Places) -> DistanceClasses:
        """The same without a look at each pair: distances numbered as they first appear below the diagonal."""
        below = np.tril_indices(len(places), -1)
        found, first, codes = np.unique(whole[below], return_index=True, return_inverse=True)
        order = np.argsort(first)
        numbers = np.empty(len(found), dtype=np.int64)
        numbers[order] = np.arange(1, len(found) + 1)
        table = np.zeros(whole.shape, dtype=np.int64)
        table[below] = numbers[codes.ravel()]
        pairs = [(places[below[0][k]], places[below[1][k]]) for k in first[order].tolist()]
        values = [Fraction(value) for value in found[order].tolist()]
        return cls(space, places, table + table.T, ((places[0], places[0]), *pairs), (Fraction(0), *values))

    @classmethod
    def _all_different(cls, space: Space, places: tuple[int, ...]) -> DistanceClasses:
        count = len(places)
        codes = np.zeros((count, count), dtype=np.int64)
        below = np.tril_indices(count, -1)
        codes[below] = np.arange(1, len(below[0]) + 1)
        pairs = [(places[0], places[0]), *((places[i], places[j]) for i, j in zip(*below, strict=True))]
        return cls(space, places, codes + codes.T, tuple(pairs), None)

    @cached_property
    def labels(self) -> Places:
        """The class of each of the ``places``, numbered as they first appear."""
        labels = np.zeros(len(self.places), dtype=np.int64)
        count = 1
        while self.values is not None:
            seen = np.sort(self.codes * count + labels[None, :], axis=1)
            _, found = np.unique(np.column_stack([labels, seen]), axis=0, return_inverse=True)
            refined = int(found.max()) + 1
            labels = _numbered(found.ravel())
            if refined == count:
                return labels
            count = refined
        return np.arange(len(self.places))

    @cached_property
    def leaders(self) -> Places:
        """The first point of each class, as a row of ``codes``."""
        return np.unique(self.labels, return_index=True)[1].astype(np.int64)

    @cached_property
    def sizes(self) -> Places:
        """How many points each class has."""
        return np.bincount(self.labels).astype(np.int64)

    @property
    def reduced(self) -> bool:
        """Whether there are fewer classes than points."""
        return len(self.leaders) < len(self.places)

    def quotient(self, entries: Callable[[int], Any], zero: Any) -> list[list[Any]]:
        """The matrix with a row and a column for each class: sums of ``entries(code)`` over the points of a class."""
        held = [entries(code) for code in range(len(self.pairs))]
        rows = []
        for leader in self.leaders.tolist():
            row = [zero] * len(self.leaders)
            for (label, code), times in self._counted(leader).items():
                row[label] += times * held[code]
            rows.append(row)
        return rows

    def _counted(self, row: int) -> dict[tuple[int, int], int]:
        keys, times = np.unique(self.labels * len(self.pairs) + self.codes[row], return_counts=True)
        return {divmod(key, len(self.pairs)): count for key, count in zip(keys.tolist(), times.tolist(), strict=True)}

    def spread(self, by_class: Any, otherwise: Any) -> list[Any]:
        """One value for each point of the space; ``otherwise`` for points at distance zero from an earlier one."""
        values = [otherwise] * len(self.space)
        for place, label in zip(self.places, self.labels.tolist(), strict=True):
            values[place] = by_class[label]
        return values

    @cached_property
    def integers(self) -> tuple[Fraction, tuple[int | None, ...]] | None:
        """A unit u and the integers m with distances ``m u`` (None for infinity), where distances are rational."""
        if self.values is None:
            return None
        finite = [value for value in self.values if isinstance(value, Fraction)]
        denominator = math.lcm(*(value.denominator for value in finite))
        whole = [int(value * denominator) for value in finite]
        common = math.gcd(*whole) or 1
        numbers = iter(whole)
        found = tuple(next(numbers) // common if isinstance(value, Fraction) else None for value in self.values)
        return Fraction(common, denominator), found


def _numbered(labels: Places) -> Places:
    """The same classes, numbered as they first appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.ravel()]
