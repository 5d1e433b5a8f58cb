"""How much a query may change for each unit of distance: the Lipschitz constants of linear queries, proved.

A linear query q changes by ``|q_i - q_j|`` when a record moves from cell i to cell j, which may cost ``d(i, j)``. The
largest ratio over all pairs of cells is its sensitivity with respect to d (paper 4, Definition 3 and Example 1). There
are N^2 / 2 pairs, and few of them matter:

- where every shortest way from i to j goes through other cells (a line, a network, a full product of attributes), a
  ratio is at most the largest among its steps, so steps suffice;
- where cells are all equally far apart, the largest and the least entry suffice;
- elsewhere near pairs are looked at first, and a query leaves when its range over the distance of all pairs that are
  left is below what it has already.

Ratios are found in floats whose error is bounded, and those that may be the largest are computed anew in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channels.pairs import VIEW_ERROR, Pairs
from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.exact.arrays import Floats
from metricdp.metrics import Space
from metricdp.queries.synthetic_data.steps import CellPairs, Clique, steps_of

__all__ = ["sensitivities", "spread"]

Progress = Callable[[float], None]

_MARGIN = 4 * VIEW_ERROR
_MOST_CONTENDERS = 500_000
_MOST_DISTANCES = 20_000
_SPREAD_WORK = 200_000_000
_SHELLS = (0.001, 0.01, 0.1)  # shares of all pairs, the nearest first
_SAMPLED_ROWS = 100


def sensitivities(matrix: Floats, space: Space, progress: Progress | None = None) -> tuple[Fraction, ...]:
    """For each row q of a matrix, ``max |q_i - q_j| / u(i, j)`` with u = ``space.metric.unit``, rounded up.

    The rounding is at most one part in 10^15, and none where distances are rational and differences of entries are
    floats, such as those of integers; only where hundreds of thousands of pairs are tied, it is one part in 10^6.

    Raises:
        ImpossibleError: a query tells apart two cells at distance zero; names it and them.

    >>> import metricdp as mdp
    >>> line = mdp.Space.line(4, 0.5 * mdp.metrics.absolute())
    >>> sensitivities(np.array([[0.0, 1.0, 4.0, 4.0], [1.0, 1.0, 1.0, 1.0]]), line)
    (Fraction(3, 1), Fraction(0, 1))
    """
    steps = steps_of(space)
    if steps is None:
        return _Scan(matrix, space, progress).largest()
    exact = _differences_are_floats(matrix)
    greatest = np.zeros(len(matrix))
    found: list[list[tuple[float, Fraction]]] = [[] for _ in matrix]
    for place, step in enumerate(steps):
        if step.distance == math.inf:
            continue
        change = _largest_change(matrix, step)
        if step.distance == 0:
            _refuse_told_apart(matrix, step, change)
            continue
        with np.errstate(over="ignore"):
            ratio = change / float(step.distance)
        for row in np.flatnonzero((change > 0) & (ratio >= greatest * (1 - 1e-12))).tolist():
            found[row].append((float(change[row]), Fraction(step.distance)))
        greatest = np.maximum(greatest, ratio)
        if progress is not None:
            progress((place + 1) / len(steps))
    return tuple(
        max((Fraction(_above(change, exact)) / distance for change, distance in ratios), default=Fraction(0))
        for ratios in found
    )


def spread(matrix: Floats, space: Space) -> Fraction:
    """How far the changes of any two rows are apart: ``max over i, j of range_k(q_ki - q_kj) / u(i, j)``, rounded up.

    It is at most twice the largest of `sensitivities`, and at most that one where all rows change the same way.

    >>> import metricdp as mdp
    >>> ends = mdp.Space(["yes", "no"], mdp.metrics.discrete())
    >>> spread(np.array([[1.0, 0.0], [0.0, 1.0]]), ends), spread(np.array([[1.0, 0.0], [3.0, 0.0]]), ends)
    (Fraction(2, 1), Fraction(2, 1))
    """
    rows, cells = matrix.shape
    double = 2 * max(sensitivities(matrix, space))
    steps = steps_of(space)
    pairs = cells * cells // 2 if steps is None else sum(_pair_count(step) for step in steps)
    if rows * pairs > _SPREAD_WORK:
        return double
    if steps is None:
        return min(double, *_Scan(matrix, space, None, together=True).largest())
    exact, largest = _differences_are_floats(matrix), Fraction(0)
    for step in steps:
        if step.distance not in (0, math.inf):
            for left, right in _pairs(step):
                changes = matrix[:, left] - matrix[:, right]
                apart = float((changes.max(axis=0) - changes.min(axis=0)).max())
                # Two roundings of changes and one of their difference, each of them half a unit in the last place.
                slack = 0 if exact or not apart else 2 * math.ulp(float(np.abs(changes).max()))
                largest = max(largest, (Fraction(apart) + Fraction(slack)) / Fraction(step.distance))
    return min(double, largest)


def _largest_change(matrix: Floats, step: CellPairs | Clique) -> Floats:
    """For each row the largest difference over the pairs of a step, to the nearest float."""
    if isinstance(step, CellPairs):
        change: Floats = np.abs(matrix[:, step.left] - matrix[:, step.right]).max(axis=1)
        return change
    largest = np.zeros(len(matrix))
    for group in step.groups:
        part = matrix[:, group]
        np.maximum(largest, part.max(axis=1) - part.min(axis=1), out=largest)
    return largest


def _pairs(step: CellPairs | Clique) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    if isinstance(step, CellPairs):
        return [(step.left, step.right)]
    first, second = np.triu_indices(step.groups.shape[1], 1)
    return [(group[first], group[second]) for group in step.groups]


def _pair_count(step: CellPairs | Clique) -> int:
    if isinstance(step, CellPairs):
        return len(step.left)
    return len(step.groups) * math.comb(step.groups.shape[1], 2)


def _differences_are_floats(matrix: Floats) -> bool:
    """Whether all entries are small multiples of 2^-20, so that no difference of two is rounded."""
    scaled = matrix * 2.0**20
    return bool((np.abs(scaled) < 2.0**51).all()) and bool((scaled == np.rint(scaled)).all())


def _above(change: float, exact: bool) -> float:
    return change if exact else math.nextafter(change, math.inf)


def _refuse_told_apart(matrix: Floats, step: CellPairs | Clique, change: Floats) -> None:
    if change.any():
        row = int(np.argmax(change > 0))
        raise ImpossibleError(
            f"query {row} tells apart cells at distance zero, which no noise can hide; give them one entry"
        ) from None


class _Scan:
    """All pairs of a space without structure, near ones first.

    Attributes:
        together: whether one number for all rows is wanted, the range of their changes, instead of one for each.
    """

    def __init__(self, matrix: Floats, space: Space, progress: Progress | None, together: bool = False) -> None:
        self._matrix, self._space, self._together = matrix, space, together
        self._progress = progress or (lambda share: None)
        self._pairs = Pairs(space, tuple(range(len(space))))
        self._distances = self._pairs.distances
        for i, j in self._pairs.twins:
            if (matrix[:, i] != matrix[:, j]).any():
                row = int(np.argmax(matrix[:, i] != matrix[:, j]))
                points = f"{space.points[i]!r} and {space.points[j]!r}"
                raise ImpossibleError(f"query {row} tells apart {points}, at distance zero: no noise can hide that")
        self._range = matrix.max(axis=1) - matrix.min(axis=1)
        if together:
            self._range = np.array([2 * self._range.max()])
        self._best = np.zeros(len(self._range))
        self._kept: list[tuple[int, NDArray[np.int64], NDArray[np.int64], Floats]] = []
        self._count = 0

    def largest(self) -> tuple[Fraction, ...]:
        """The largest ratio of each row, in the unit of the metric, rounded up."""
        extreme = [(i, j) for i, j in np.argwhere(np.triu(self._pairs.extreme, 1)).tolist()]
        bounds = self._shells()
        for below, beyond in zip([0.0, *bounds], [*bounds, math.inf], strict=True):
            with np.errstate(over="ignore"):
                reach = self._range / (below * (1 - _MARGIN)) if below else np.full(len(self._best), math.inf)
            active = np.flatnonzero((self._range > 0) & (reach >= self._best * (1 - _MARGIN)))
            if len(active):
                self._shell(active, below, beyond)
        return self._decided(extreme)

    def _shells(self) -> list[float]:
        step = max(1, len(self._space) // _SAMPLED_ROWS)
        some = self._distances[::step]
        held = some[np.isfinite(some) & (some > 0)]
        return sorted({float(bound) for bound in np.quantile(held, _SHELLS)}) if len(held) else []

    def _shell(self, active: NDArray[np.int64], below: float, beyond: float) -> None:
        """Pairs with ``below < d <= beyond``: keep those that come near the largest ratio of their row so far."""
        cells = len(self._space)
        part = self._matrix if self._together else self._matrix[active]
        for i in range(cells - 1):
            row = self._distances[i, i + 1 :]
            others = np.flatnonzero(
                (row > below) & (row <= beyond) & np.isfinite(row) & ~self._pairs.extreme[i, i + 1 :]
            )
            if not len(others):
                continue
            changes = part[:, others + i + 1] - part[:, i : i + 1]
            if self._together:
                changes = (changes.max(axis=0) - changes.min(axis=0))[np.newaxis]
            ratios = np.abs(changes, out=changes) / row[others]
            self._best[active] = np.maximum(self._best[active], ratios.max(axis=1))
            near, place = np.nonzero(ratios >= (self._best[active] * (1 - _MARGIN))[:, np.newaxis])
            held = ratios[near, place] > 0
            near, place = near[held], place[held]
            if len(near) and self._count <= _MOST_CONTENDERS:
                self._kept.append((i, active[near], others[place] + i + 1, ratios[near, place]))
                self._count += len(near)
            self._progress((i + 1) / cells)

    def _decided(self, extreme: Sequence[tuple[int, int]]) -> tuple[Fraction, ...]:
        rows, left, right = self._contenders()
        pairs = sorted({*zip(left.tolist(), right.tolist(), strict=True), *extreme})
        if self._count > _MOST_CONTENDERS or len(pairs) > _MOST_DISTANCES:
            if extreme:
                raise ArgumentError("a distance lies beyond what floats hold well; scale the metric")
            # Too many ties to look at each: round up by more than the floats can be off.
            level = self._space.metric.level.enclose().upper
            return tuple(Fraction(best * (1 + _MARGIN)) * Fraction(level) for best in self._best.tolist())
        below = {pair: self._distance_below(*pair) for pair in pairs}
        largest = [Fraction(0)] * len(self._best)
        for row, i, j in zip(rows.tolist(), left.tolist(), right.tolist(), strict=True):
            largest[row] = max(largest[row], self._change(row, i, j) / below[i, j])
        for i, j in extreme:
            for row in range(len(largest)):
                largest[row] = max(largest[row], self._change(row, i, j) / below[i, j])
        return tuple(largest)

    def _contenders(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Rows and pairs that may be the largest; of pairs alike in change and distance as floats, all are kept."""
        if not self._kept:
            return (np.zeros(0, dtype=np.int64),) * 3
        left = np.concatenate([np.full(len(rows), i) for i, rows, _, _ in self._kept])
        rows = np.concatenate([rows for _, rows, _, _ in self._kept])
        right = np.concatenate([others for _, _, others, _ in self._kept])
        ratios = np.concatenate([ratios for _, _, _, ratios in self._kept])
        near = ratios >= self._best[rows] * (1 - _MARGIN)
        return rows[near], left[near], right[near]

    def _change(self, row: int, i: int, j: int) -> Fraction:
        if not self._together:
            return abs(Fraction(self._matrix[row, i]) - Fraction(self._matrix[row, j]))
        changes = [Fraction(a) - Fraction(b) for a, b in zip(self._matrix[:, i], self._matrix[:, j], strict=True)]
        return max(changes) - min(changes)

    def _distance_below(self, i: int, j: int) -> Fraction:
        points: tuple[Any, Any] = (self._space.points[i], self._space.points[j])
        return Fraction(self._space.metric.unit.enclose(*points).lower)
