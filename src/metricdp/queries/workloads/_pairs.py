"""What a workload spends between pairs of cells: looked at in floats, decided exactly.

With noise of scale ``c[k] = 1 / r[k]`` on query k, the answers spend ``sum_k r[k] |Q[k, i] - Q[k, j]|`` between the
cells i and j, and may spend d(i, j). All pairs are looked at in floats, by blocks; those that rounding leaves in doubt
are decided in integers and balls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metricdp.channels.pairs import VIEW_ERROR
from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure
from metricdp.metrics.finite import Discrete
from metricdp.queries.workloads._distances import Places, UniversePairs
from metricdp.queries.workloads.workload import Workload

__all__ = ["PairBudgets", "Tightest"]

_BLOCK_ENTRIES = 1 << 16
_MOST_EXACT = 1 << 19  # pairs times queries
_ROUNDING = 2.0**-52
_BITS = 80

_ZERO = Fraction(0)

Pair = tuple[int, int]


class Tightest(NamedTuple):
    """The pair of cells that spends the largest part of its distance.

    Attributes:
        part: encloses the part spent, the largest of ``spent(i, j) / d(i, j)``; 0 where nothing is spent.
        pair: where; None where nothing is spent.
    """

    part: Enclosure
    pair: Pair | None


class Block(NamedTuple):
    """Some rows of the matrix of all pairs, from the diagonal's first column on."""

    rows: slice
    columns: slice
    loads: Floats


class PairBudgets:
    """All pairs of a workload's cells, their distances, and what queries spend between them.

    Args:
        workload: refused where a query tells two cells at distance zero apart.
    """

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.places = _places(workload)
        self.pairs = UniversePairs(workload.space, self.places)
        if bool(self.pairs.extreme.any()):
            raise ArgumentError("a distance lies beyond what floats hold well; scale the metric")
        self._own: tuple[Floats, list[Pair]] | None = None
        self._refuse_twins_told_apart()

    def _refuse_twins_told_apart(self) -> None:
        given, names = self.workload.given[:, self.places], self.workload.names
        for i, j in self.pairs.twins:
            differ = np.flatnonzero(given[:, i] != given[:, j])
            if len(differ):
                one, other = self.pairs.points(i, j)
                raise ImpossibleError(
                    f"query {names[int(differ[0])]!r} tells the cells {one!r} and {other!r} apart, which are at "
                    "distance 0: no noise hides that; give both the same coefficient, or a distance"
                )

    @cached_property
    def inverse(self) -> Floats:
        """One over each distance as floats; 0 for pairs at distance 0 or infinity, or whose limit others imply."""
        distances = self.pairs.distances
        inverse = np.zeros_like(distances)
        np.divide(1.0, distances, out=inverse, where=self.pairs.limited)
        return inverse

    @cached_property
    def shifted(self) -> Floats:
        """The queries as floats, each less a constant, so that differences lose nothing to a large common part."""
        matrix = self.workload.matrix[:, self.places]
        for query, row in enumerate(matrix):
            if float(np.abs(row).max()) > 4 * float(np.ptp(row)):
                integers, denominator = self.workload.integers(query)
                first = integers[self.places[0]]
                matrix[query] = [float(Fraction(integers[place] - first, denominator)) for place in self.places]
        return matrix

    @cached_property
    def noisy(self) -> NDArray[np.bool_]:
        """Which queries need noise, decided exactly: those that differ between two cells at a finite distance."""
        given = self.workload.given[:, self.places]
        first = np.isfinite(self.pairs.distances).argmax(axis=1)  # of all cells at a finite distance from each
        return np.array([bool((row != row[first]).any()) for row in given])

    # In floats

    def blocks(self, rates: Floats) -> Iterator[Block]:
        """What is spent between all pairs (i, j), j >= i, in blocks of rows; j < i occurs within a block."""
        scaled = self.shifted[rates > 0] * rates[rates > 0, np.newaxis]
        cells = scaled.shape[1]
        height = max(1, _BLOCK_ENTRIES // cells)
        for start in range(0, cells, height):
            rows, columns = slice(start, min(start + height, cells)), slice(start, cells)
            loads = np.zeros((rows.stop - start, cells - start))
            apart = np.empty_like(loads)
            for row in scaled:
                np.subtract(row[rows, np.newaxis], row[columns], out=apart)
                np.abs(apart, out=apart)
                loads += apart
            yield Block(rows, columns, loads)

    def parts(self, rates: Floats) -> Iterator[Block]:
        """The same, as parts of the distances."""
        for block in self.blocks(rates):
            yield Block(block.rows, block.columns, block.loads * self.inverse[block.rows, block.columns])

    def own_scales(self) -> tuple[Floats, list[Pair]]:
        """For each query alone, the least scale ``max |Q[k, i] - Q[k, j]| / d(i, j)`` and a pair that needs it."""
        if self._own is None:
            self._own = self._alone()
        return self._own

    def _alone(self) -> tuple[Floats, list[Pair]]:
        scales, pairs = [], []
        for query in range(len(self.workload)):
            most, where = 0.0, (0, 0)
            if np.ptp(self.shifted[query]):
                only = np.zeros(len(self.workload))
                only[query] = 1.0
                for block in self.parts(only):
                    place = int(block.loads.argmax())
                    if block.loads.flat[place] > most:
                        most, where = float(block.loads.flat[place]), block_pair(block, place)
            scales.append(most)
            pairs.append(where)
        return np.array(scales), pairs

    def rows_of(self, pairs: Sequence[Pair]) -> Floats:
        """``|Q[k, i] - Q[k, j]| / d(i, j)`` for some pairs, one row each."""
        i, j = (np.array(side) for side in zip(*pairs, strict=True))
        return np.asarray((np.abs(self.shifted[:, i] - self.shifted[:, j]) * self.inverse[i, j]).T)

    # Exactly

    def greatest_part(self, rates: Sequence[Fraction]) -> Tightest:
        """The largest part of a distance that is spent: enclosed, and exactly where distances are rational.

        Args:
            rates: ``1 / c`` for each query; 0 for one that is answered without noise or not at all.
        """
        key = tuple(rates)
        if key not in self._known:
            spends = any(rate and noisy for rate, noisy in zip(rates, self.noisy, strict=True))
            self._known[key] = self._greatest_part(rates) if spends else Tightest(Enclosure(_ZERO, _ZERO), None)
        return self._known[key]

    def _greatest_part(self, rates: Sequence[Fraction]) -> Tightest:
        floats = np.array([float(rate) for rate in rates])
        contenders = self._contenders(floats)
        lower, upper = self._bounds(floats, contenders)
        order = np.flatnonzero(upper >= lower.max())
        order = order[np.argsort(-upper[order], kind="stable")]
        places = contenders[:, order]
        if len(order) * np.count_nonzero(floats) > _MOST_EXACT:  # ties without end: what floats prove has to do
            enclosure = Enclosure(Fraction(lower.max()), Fraction(upper.max()))
            return Tightest(enclosure, (int(places[0, 0]), int(places[1, 0])))
        spent = self.spending(rates)
        least, most, where = _ZERO, _ZERO, (0, 0)
        for i, j in places.T.tolist():
            load, distance = spent.between((i, j)), self.distance((i, j))
            least = max(least, load / Fraction(distance.upper))
            if load / Fraction(distance.lower) > most:
                most, where = load / Fraction(distance.lower), (i, j)
        return Tightest(Enclosure(least, most), where)

    @cached_property
    def _known(self) -> dict[tuple[Fraction, ...], Tightest]:
        return {}

    def part(self, pair: Pair, rates: Sequence[Fraction]) -> Fraction:
        """The part of its distance that one pair spends; rounded up, if at all."""
        return self.spending(rates).between(pair) / Fraction(self.distance(pair).lower)

    def spending(self, rates: Sequence[Fraction]) -> Spending:
        """What these rates spend between two cells, exactly."""
        return Spending(self.workload, self.places, rates)

    def distance(self, pair: Pair) -> Enclosure:
        """The distance of two cells between two rationals, equal where it is one."""
        if pair not in self._distances:
            self._distances[pair] = self.workload.space.metric.enclose(*self.pairs.points(*pair), bits=_BITS)
        return self._distances[pair]

    @cached_property
    def _distances(self) -> dict[Pair, Enclosure]:
        return {}

    def _rounding(self, rates: Floats) -> tuple[float, float]:
        """Bounds on the error of what is spent in floats: an absolute and a relative one."""
        widths = np.abs(self.shifted).max(axis=1) * rates
        return 16 * _ROUNDING * float(widths.sum()), (len(rates) + 8) * _ROUNDING

    def _contenders(self, rates: Floats) -> Places:
        """The pairs that may spend the largest part, as far as the floats of the distances tell."""
        absolute, relative = self._rounding(rates)
        off = VIEW_ERROR + relative
        least = 0.0
        kept: list[tuple[Floats, Places]] = []
        for block in self.blocks(rates):
            inverse = self.inverse[block.rows, block.columns]
            low = (block.loads * (1 - off) - absolute) * inverse
            high = (block.loads * (1 + off) + absolute) * inverse
            least = max(least, float(low.max(initial=0.0)) * (1 - VIEW_ERROR))
            rows, columns = np.nonzero((high * (1 + VIEW_ERROR) >= least) & (inverse > 0))
            places = np.stack([rows + block.rows.start, columns + block.columns.start])
            kept.append((high[rows, columns] * (1 + VIEW_ERROR), places))
        pairs = np.concatenate([places[:, high >= least] for high, places in kept], axis=1)
        return pairs[:, pairs[0] < pairs[1]]

    def _bounds(self, rates: Floats, pairs: Places) -> tuple[Floats, Floats]:
        """Floats below and above the parts that some pairs spend."""
        absolute, relative = self._rounding(rates)
        loads = np.zeros(pairs.shape[1])
        for row, rate in zip(self.shifted, rates, strict=True):
            if rate:
                loads += rate * np.abs(row[pairs[0]] - row[pairs[1]])
        near, far = self.pairs.bounds(pairs)
        lower = np.maximum(loads * (1 - 2 * relative) - 2 * absolute, 0) / far * (1 - 4 * _ROUNDING)
        upper = (loads * (1 + 2 * relative) + 2 * absolute) / near * (1 + 4 * _ROUNDING)
        return lower, upper


class Spending:
    """What is spent between two cells, exactly: integers over one denominator for all queries."""

    def __init__(self, workload: Workload, places: Sequence[int], rates: Sequence[Fraction]) -> None:
        asked = [query for query, rate in enumerate(rates) if rate]
        rows = [workload.integers(query) for query in asked]
        factors = [rates[query] / denominator for query, (_, denominator) in zip(asked, rows, strict=True)]
        self.places = places
        self.denominator = math.lcm(*(factor.denominator for factor in factors))
        whole = [factor.numerator * (self.denominator // factor.denominator) for factor in factors]
        self.rows = [(row, number) for (row, _), number in zip(rows, whole, strict=True)]

    def between(self, pair: Pair) -> Fraction:
        """The sum over all queries of rate times difference."""
        i, j = self.places[pair[0]], self.places[pair[1]]
        total = sum(abs(row[i] - row[j]) * number for row, number in self.rows if row[i] != row[j])
        return Fraction(total, self.denominator)


def _places(workload: Workload) -> tuple[int, ...]:
    """The cells to look at: all, or where every two are equally far apart, one of each kind that queries tell apart."""
    cells = len(workload.space)
    if not isinstance(workload.space.metric.unit, Discrete) or workload.given.dtype == object:
        return tuple(range(cells))
    kinds: Places = np.unique(workload.given, axis=1, return_index=True)[1]
    return tuple(np.sort(kinds).tolist())


def block_pair(block: Block, place: int) -> Pair:
    """The pair at a place of a block, the smaller first."""
    row, column = divmod(place, block.loads.shape[1])
    i, j = row + block.rows.start, column + block.columns.start
    return min(i, j), max(i, j)
