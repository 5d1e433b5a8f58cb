"""Pairs of secrets and their exact distances, for the checks of a channel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, ImpossibleError, MetricDPError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, precision
from metricdp.metrics import Space
from metricdp.metrics.enclosures import VIEW_ERROR, Enclosures

__all__ = ["VIEW_ERROR", "Pairs"]

_MANY = 20_000
_BITS = 80
_MOST_BITS = 1 << 16

Pair = tuple[int, int]


@dataclass(frozen=True)
class Pairs:
    """The inputs of a channel as points of a space.

    Attributes:
        space: the points and the metric.
        places: where in it each input stands.
        within: only pairs at most this far apart, before the level, are constrained; None for all.
    """

    space: Space
    places: tuple[int, ...]
    within: Fraction | None = None

    @classmethod
    def of(cls, inputs: Sequence[Any], space: Space, within: Fraction | None = None) -> Pairs:
        """Finds every input in the space.

        Raises:
            ArgumentError: the space lacks one; names it.
        """
        places = []
        for row, point in enumerate(inputs):
            try:
                places.append(space.index(point))
            except MetricDPError:
                raise ArgumentError(
                    f"row {row}: the space has no point {point!r}, which is an input of the channel"
                ) from None
        return cls(space, tuple(places), within)

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def enclosures(self) -> Enclosures:
        """Floats below and above all distances, proved; see `Metric.enclosures`."""
        if len(self) * 2 < len(self.space):  # no need to ask for the distances of all the others
            return self.space.metric.enclosures([self.space.points[place] for place in self.places])
        if self.places == tuple(range(len(self.space))):
            return self.space.enclosures
        return self.space.enclosures[np.ix_(self.places, self.places)]

    @cached_property
    def distances(self) -> Floats:
        """All distances as floats: zero and infinite only where they are exactly so.

        But for the `extreme` ones they are within a relative `VIEW_ERROR`.
        """
        return self.enclosures.nearest

    @cached_property
    def extreme(self) -> NDArray[np.bool_]:
        """Pairs whose distance is positive and finite, but beyond what floats hold well."""
        return self.constrained & ~self.enclosures.held

    @cached_property
    def constrained(self) -> NDArray[np.bool_]:
        """Which pairs are at a finite, positive distance, or at one that is not proved to be zero or infinite."""
        if self.within is None:
            return self.enclosures.constrained
        unit = self.space.metric.unit.enclosures([self.space.points[place] for place in self.places])
        farther = np.array([[Fraction(low) > self.within for low in row] for row in np.nan_to_num(unit.lower).tolist()])
        return np.asarray(self.enclosures.constrained & ~farther, dtype=bool)

    @cached_property
    def twins(self) -> list[Pair]:
        """Pairs at distance exactly zero, which may not be told apart at all."""
        return [(i, j) for i, j in np.argwhere(self.enclosures.zero).tolist() if i < j]

    def points(self, i: int, j: int) -> tuple[Any, Any]:
        """The points of two inputs."""
        return self.space.points[self.places[i]], self.space.points[self.places[j]]

    def ball(self, i: int, j: int) -> arb:
        """Their distance as a ball at the working precision."""
        return self.space.ball(self.places[i], self.places[j])

    def enclosed(self, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
        """Floats below and above the distances of some pairs, as near as floats can be."""
        bounds = np.array([self._near(min(pair), max(pair)) for pair in pairs]).reshape(len(pairs), 2)
        return np.maximum(bounds[:, 0], 0), bounds[:, 1]

    def _near(self, i: int, j: int) -> tuple[float, float]:
        """The floats next to the distance; 0 and infinity among them where floats cannot hold it."""
        near = self._known.get((i, j))
        if near is None:
            near = self._known[i, j] = self._rounded(i, j)
        return near

    def _rounded(self, i: int, j: int) -> tuple[float, float]:
        bits = _BITS
        while bits <= _MOST_BITS:
            with precision(bits):
                distance = self.ball(i, j)
                if distance.rel_accuracy_bits() >= 60:
                    return Enclosure.of(distance).outward
            bits *= 2
        raise ImpossibleError(f"the distance between {self.points(i, j)} could not be enclosed closely")

    @cached_property
    def _known(self) -> dict[Pair, tuple[float, float]]:
        return {}

    def unit_distance(self, i: int, j: int) -> Fraction | float | None:
        """The distance before it is scaled, where that is rational or infinite."""
        return self.space.metric.unit.exactly(*self.points(i, j))

    def neighbours(self, pairs: list[Pair]) -> list[Pair]:
        """Where all inputs lie on a line, only the pairs of neighbours on it; else all pairs.

        A constraint between x and x' follows from those of a chain between them whose steps add up exactly to
        d(x, x'); and where one chain through all points is tight, so are all its parts (Section 2 of paper 1).
        """
        if len(pairs) <= 4 * len(self) or self._line is None:
            return pairs
        return [pair for pair in pairs if pair in self._line]

    def unimplied(self, pairs: list[Pair]) -> list[Pair]:
        """Without pairs that follow from others, as far as exact distances are at hand and there are many."""
        if len(pairs) <= _MANY or (whole := self._integers) is None:
            return pairs
        return [(i, j) for i, j in pairs if not _between(whole, i, j)]

    @cached_property
    def _line(self) -> set[Pair] | None:
        """The neighbours on the line that all inputs lie on, if they do."""
        if self.enclosures.infinite.any():
            return None
        order = np.argsort(self.distances[int(np.argmax(self.distances[0]))], kind="stable").tolist()
        steps = [self.unit_distance(i, j) for i, j in pairwise(order)]
        whole = self.unit_distance(order[0], order[-1])
        if whole is None or None in steps or sum(step for step in steps if step is not None) != whole:
            return None
        return {pair for i, j in pairwise(order) for pair in ((i, j), (j, i))}

    @cached_property
    def _integers(self) -> NDArray[np.int64] | None:
        """All unit distances times some number, as integers; infinities as one too large to be a sum."""
        exact: list[Fraction | float] = []
        for i, j in combinations(range(len(self)), 2):
            distance = self.unit_distance(i, j)
            if distance is None:
                return None
            exact.append(distance)
        finite = [value for value in exact if isinstance(value, Fraction)]
        scale = math.lcm(*{value.denominator for value in finite})
        if max(finite, default=0) * scale >= 1 << 61:
            return None
        whole = np.zeros((len(self), len(self)), dtype=np.int64)
        whole[np.triu_indices(len(self), 1)] = [
            int(value * scale) if isinstance(value, Fraction) else 1 << 62 for value in exact
        ]
        return whole + whole.T


def _between(whole: NDArray[np.int64], i: int, j: int) -> bool:
    through = (whole[i] + whole[j] == whole[i, j]) & (whole[i] > 0) & (whole[j] > 0)
    return bool(through.any())
