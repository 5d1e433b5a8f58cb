"""The distances of a universe as floats that are close, and as floats below and above, quickly for many pairs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channels.pairs import Pairs
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import float_above, float_below
from metricdp.metrics import Metric, discrete
from metricdp.metrics.finite import Discrete
from metricdp.metrics.records import Attributes, Hamming, Records

__all__ = ["Places", "UniversePairs"]

Places = NDArray[np.int64]
Bounds = tuple[Floats, Floats]

_ROUNDING = 2.0**-52


class UniversePairs(Pairs):
    """The pairs of a universe, with quick bounds for many of them."""

    def bounds(self, pairs: Places) -> Bounds:
        """Floats below and above the distances of some pairs, given as two rows of places."""
        below, above = self._known_bounds
        new = pairs[:, np.isnan(below[pairs[0], pairs[1]])]
        if new.size:
            below[new[0], new[1]], above[new[0], new[1]] = self.enclosed([(i, j) for i, j in new.T.tolist()])
        return below[pairs[0], pairs[1]], above[pairs[0], pairs[1]]

    @cached_property
    def _known_bounds(self) -> Bounds:
        """What is known of all pairs at once; NaN where each has to be asked for."""
        if isinstance(self.space.metric.unit, Discrete) and len(self) > 1:  # all alike
            below, above = self.enclosed([(0, 1)])
            return np.full(self.distances.shape, below[0]), np.full(self.distances.shape, above[0])
        return self._by_position() or (np.full(self.distances.shape, np.nan), np.full(self.distances.shape, np.nan))

    @cached_property
    def limited(self) -> NDArray[np.bool_]:
        """The pairs at a finite, positive distance, without those whose limits follow from other pairs'.

        Where a distance is a sum over positions and every combination of values is a cell, a pair that differs at two
        positions or more has a cell between: the two distances to it add up to the pair's own.
        """
        if not self._columns or len(self) < np.prod([float(len(values)) for _, values in self._columns]):
            return self.constrained
        differ = np.zeros(self.distances.shape, dtype=np.int64)
        for codes, _ in self._columns:
            differ += np.not_equal.outer(codes, codes)
        return np.asarray(self.constrained & (differ == 1))

    @cached_property
    def _columns(self) -> list[tuple[Places, list[Any]]]:
        """The positions of the cells, where distances are sums over them; else none."""
        cells = [self.space.points[place] for place in self.places]
        if not all(isinstance(cell, tuple) for cell in cells) or not _positions(self.space.metric.unit, 1):
            return []
        return [_codes(column) for column in zip(*cells, strict=True)]

    def _by_position(self) -> Bounds | None:
        """Where a distance is the sum over the positions of a record, and positions have few values: their sums."""
        columns = self._columns
        if not columns or sum(len(values) ** 2 for _, values in columns) > len(self) ** 2 // 8:
            return None
        metrics = _positions(self.space.metric.unit, len(columns))
        below, above = np.zeros(self.distances.shape), np.zeros(self.distances.shape)
        for metric, (codes, values) in zip(metrics, columns, strict=True):
            enclosed = [[metric.enclose(one, other).outward for other in values] for one in values]
            table = np.array(enclosed).reshape(len(values), len(values), 2)
            below += table[np.ix_(codes, codes)][..., 0]
            above += table[np.ix_(codes, codes)][..., 1]
        level = self.space.metric.level.enclose()
        slack = (len(metrics) + 2) * _ROUNDING
        return below * float_below(level.lower) * (1 - slack), above * float_above(level.upper) * (1 + slack)


def _positions(metric: Metric, length: int) -> list[Metric]:
    """The metric of each position of a record, where their distances are added up; else none."""
    if isinstance(metric, Attributes):
        return list(metric.parts)
    if isinstance(metric, Hamming):
        return [discrete()] * length
    return [metric.base] * length if isinstance(metric, Records) and metric.p == 1 else []


def _codes(column: tuple[Any, ...]) -> tuple[Places, list[Any]]:
    """A column as numbers of its different values; values of different types are different."""
    known: dict[tuple[type, Any], int] = {}
    codes = [known.setdefault((type(value), value), len(known)) for value in column]
    return np.array(codes), [value for _, value in known]
