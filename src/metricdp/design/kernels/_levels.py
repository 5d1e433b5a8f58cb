"""All sets of columns that make a kernel, one equation after the other.

Bases of the first k + 1 equations are the sets of k + 1 columns with positive weights a that meet them. The polytope is
made simple by moving the right-hand sides by ever larger infinitesimals: a height ``row · a`` that is zero then counts
as negative, and nothing else changes. In a simple polytope each basis T of one more equation contains exactly two of
the bases before, one above that equation and one below it, which differ in one column each. So all T are found, each
once, by matching bases above with bases below that share all columns but one. A kernel with fewer columns belongs to
several T and is counted once, by its columns of positive weight.

Symmetries of the space are not used, for a measured reason. The order of the equations and the infinitesimals break
them, so what would use them is a walk over orbits of bases, from each to its neighbours. The 29,213 kernels of the
3-bit cube are 922 orbits under its 48 symmetries, but they have 393,167 bases, so at least 8,191 orbits to walk, with
30 pivots each; the discrete space of 6 has 582 orbits of kernels under 720 symmetries, and 1,801,142 bases, so at least
2,502 orbits with 56 pivots each. To name the orbits of what the pivots find would take 0.6 s and 4.8 s, before any
pivot is computed. All kernels are found, without symmetries, in 0.9 s and 1.1 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.design.kernels._columns import Columns
from metricdp.exact.arrays import Floats, Places
from metricdp.exact.progress import Stopwatch

__all__ = ["Bases", "bases_of", "supports_of"]

_CHUNK = 1 << 18
_ERRORS = 2.0**-50

Ranks = NDArray[np.int64]


@dataclass(eq=False)
class Bases:
    """Bases of the first equations, a row for each.

    Attributes:
        subsets: their columns in ascending order.
        weights: what these are weighted by, up to a factor for each row.
        slack: the relative error of the weights.
    """

    subsets: Places
    weights: NDArray[Any]
    slack: Floats

    def __len__(self) -> int:
        return len(self.subsets)


def bases_of(columns: Columns, watch: Stopwatch | None = None) -> Bases | None:
    """All bases of all equations but the last; None where time runs out before."""
    weights, slack = columns.start()
    held = Bases(np.arange(len(columns.vertices), dtype=np.int64)[:, None], weights, slack)
    for row in range(1, columns.points - 1):
        parts = []
        for match in _matches(columns, held, row):
            if watch is not None and watch.over:
                return None
            parts.append(_merge(columns, match))
        if not parts:
            return Bases(np.empty((0, row + 1), dtype=np.int64), np.empty((0, row + 1)), np.empty(0))
        held = Bases(
            np.concatenate([part.subsets for part in parts]),
            np.concatenate([part.weights for part in parts]),
            np.concatenate([part.slack for part in parts]),
        )
    return held


def supports_of(columns: Columns, watch: Stopwatch | None = None) -> Iterator[Places]:
    """The columns of every kernel, by chunks: rows of places, those without weight as -1; a kernel may come again.

    Where time runs out, it ends before the last of them.
    """
    if columns.points == 1:
        yield np.arange(len(columns.vertices), dtype=np.int64)[:, None]
        return
    held = bases_of(columns, watch)
    if held is None:
        return
    for match in _matches(columns, held, columns.points - 1):
        if watch is not None and watch.over:
            return
        yield match.supports()


@dataclass(eq=False)
class _Match:
    """Pairs of bases, one below and one above the next equation, that share all columns but one.

    Attributes:
        shared: the columns they share, then the one of the basis below, then the one of the basis above.
        below, above: their weights in that order, zero where a basis has not the column.
        low, high: the heights of both, as what they are to be weighted by: that of the other.
        slack: the relative error of what comes out.
    """

    shared: Places
    below: NDArray[Any]
    above: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    slack: Floats

    def supports(self) -> Places:
        """The columns of positive weight in ascending order, -1 for the others; no weight is computed."""
        positive = ((self.below != 0) & (self.low != 0)[:, None]) | ((self.above != 0) & (self.high != 0)[:, None])
        places = np.where(positive, self.shared, -1)
        places.sort(axis=1)
        return places


def _merge(columns: Columns, match: _Match) -> Bases:
    weights = columns.combine(match.below, match.above, match.low, match.high)
    order = np.argsort(match.shared, axis=1)
    return Bases(
        np.take_along_axis(match.shared, order, axis=1), np.take_along_axis(weights, order, axis=1), match.slack
    )


def _matches(columns: Columns, held: Bases, row: int) -> Iterator[_Match]:
    if not len(held):
        return
    heights, weights, slack, errors = columns.heights(row, held.subsets, held.weights, held.slack)
    over = heights > 0
    up, down = np.flatnonzero(over), np.flatnonzero(~over)
    size = held.subsets.shape[1]
    ranks = _facet_ranks(held.subsets, len(columns.vertices))
    # Facets of the bases below, sorted, to be looked up.
    below_ranks = ranks[down].ravel()
    order = np.argsort(below_ranks, kind="stable")
    sorted_ranks = below_ranks[order]
    above_ranks = ranks[up].ravel()
    first = np.searchsorted(sorted_ranks, above_ranks, side="left")
    counts = np.searchsorted(sorted_ranks, above_ranks, side="right") - first
    hits = np.flatnonzero(counts)
    ends = np.cumsum(counts[hits])
    kept = np.array([[other for other in range(size) if other != drop] for drop in range(size)], dtype=np.int64)
    kept = kept.reshape(size, size - 1)
    start = 0
    while start < len(hits):
        offset = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, offset + _CHUNK, side="right")))
        chosen = hits[start:stop]
        times = counts[chosen]
        one = np.repeat(chosen, times)
        within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        two = order[np.repeat(first[chosen], times) + within]
        start = stop
        i, drop_i = up[one // size], one % size
        j, drop_j = down[two // size], two % size
        keep_i, keep_j = kept[drop_i], kept[drop_j]
        count = len(i)
        new_i, new_j = held.subsets[i, drop_i], held.subsets[j, drop_j]
        shared = np.concatenate(
            [np.take_along_axis(held.subsets[i], keep_i, axis=1), new_j[:, None], new_i[:, None]], axis=1
        )
        none = np.zeros((count, 1), dtype=weights.dtype)
        below = np.concatenate(
            [np.take_along_axis(weights[j], keep_j, axis=1), weights[j, drop_j][:, None], none], axis=1
        )
        above = np.concatenate(
            [np.take_along_axis(weights[i], keep_i, axis=1), none, weights[i, drop_i][:, None]], axis=1
        )
        errs = np.maximum(slack[i] + errors[j], slack[j] + errors[i])
        yield _Match(shared, below, above, heights[i], -heights[j], errs * (1 + errs) + _ERRORS)


def _facet_ranks(subsets: Places, count: int) -> Ranks:
    """For each basis and each column left out, a number that is the same for the same columns that stay."""
    size = subsets.shape[1]
    ranks = np.zeros(subsets.shape, dtype=np.int64)
    largest = 1
    for step in range(size - 1):
        digits = np.empty_like(ranks)
        for drop in range(size):
            digits[:, drop] = subsets[:, step if step < drop else step + 1]
        if largest * count >= 1 << 62:
            _, inverse = np.unique(ranks, return_inverse=True)
            ranks = inverse.reshape(subsets.shape).astype(np.int64)
            largest = int(ranks.max(initial=0)) + 1
        ranks = ranks * count + digits
        largest *= count
    return ranks
