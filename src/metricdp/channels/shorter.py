"""A metric a little below another: what is private for it stays private for the other when it is rounded."""

from __future__ import annotations

import numpy as np

from metricdp.channels.pairs import Pairs
from metricdp.exact.arrays import Floats, Places, each_block, row_blocks

__all__ = ["SLACK", "merging_distance", "shorter_distances"]

SLACK = 1e-11
"""How far inside every constraint the columns are put, in logarithms: room for the rounding that follows."""

_MANY = 500
"""Of more points than these, distances are shortened by a formula instead of shortest paths."""

_MERGED = 3e-7
"""Of many points those are merged that are so near: nearer ones would take more off all distances than that does."""

_LEAST_BENT, _MOST_BENT = 1e-10, 1e-4
_WIDTHS = 4
"""So many times as wide as the bounds of a distance lie apart is what is taken off it."""

_FARTHEST = 30_000.0


def merging_distance(pairs: Pairs, slack: float = SLACK) -> float:
    """Points that are no farther apart are given equal rows, which is stricter, and so are chains of such points."""
    return max(4 * slack * len(pairs), _MERGED if len(pairs) > _MANY else 0.0)


def shorter_distances(pairs: Pairs, slack: float = SLACK, near: float | None = None) -> Floats:
    """A metric d' with ``d' <= d - slack`` between different points, and 0 between those within ``near``.

    Of few points the greatest one, by shortest paths. Columns in the cone of d' are that far inside every constraint,
    which leaves room for rounding. Distances beyond `_FARTHEST` are taken as that, which is stricter: nobody stores a
    number as small as exp(-10^400).
    """
    nearness = merging_distance(pairs, slack) if near is None else near
    if len(pairs) > _MANY and (bent := _bent(pairs, slack, nearness)) is not None:
        return bent
    distances = np.where(pairs.constrained, np.minimum(pairs.distances, _FARTHEST), pairs.distances)
    shorter = np.where(distances > nearness, distances - slack, 0.0)
    np.fill_diagonal(shorter, 0.0)
    for middle in range(len(shorter)):
        np.minimum(shorter, shorter[:, middle][:, None] + shorter[middle][None, :], out=shorter)
    return shorter


def _bent(pairs: Pairs, slack: float, near: float) -> Floats | None:
    """``d (1 - η (1 + d / max d))`` with the least η that takes off the slack; None where that were too much.

    A concave function of a metric is a metric, so no shortest paths are needed; and near pairs come out tightest. Of
    points that are joined by steps of at most ``near`` the first stands for all; η makes up for how far they are off.
    """
    bent = np.empty((len(pairs), len(pairs)))
    ends, widths, steps = [(np.inf, 0.0)], [0.0], list[Places]()
    blocks = list(row_blocks(bent.shape))

    @np.errstate(invalid="ignore")
    def read(rows: slice) -> None:
        some, known = bent[rows], pairs.enclosures[rows]
        some[...] = known.nearest
        if float(some.max()) > _FARTHEST:
            np.minimum(some, _FARTHEST, out=some, where=pairs.constrained[rows])
        most = float(some.max(initial=0.0, where=some < np.inf))
        apart = np.where(some > near, some, np.inf)
        ends.append((float(apart.min()), most))
        widths.append(float(np.nan_to_num((known.upper - known.lower) / apart).max()))
        close = np.argwhere(np.isinf(apart) & (some <= near))
        close[:, 0] += rows.start
        steps.append(close[close[:, 0] > close[:, 1]])

    each_block(read, blocks)
    first = _first_of_each(len(pairs), np.concatenate(steps))
    others = np.flatnonzero(first != np.arange(len(pairs)))
    off = float(pairs.enclosures.upper[others, first[others]].max(initial=0.0))
    least, most = min(low for low, _ in ends), max(high for _, high in ends)
    share = max((slack + 2 * off) / least, _LEAST_BENT, _WIDTHS * max(widths))
    if not (0 < most < np.inf and share <= _MOST_BENT):
        return None

    def shorten(rows: slice) -> None:
        some = bent[rows]
        kept = some * (-share / most)
        kept += 1 - share
        if float(some.max()) == np.inf:
            np.multiply(some, kept, out=some, where=some < np.inf)
        else:
            some *= kept

    each_block(shorten, blocks)
    bent[others] = bent[first[others]]
    bent[:, others] = bent[:, first[others]]
    return bent


def _first_of_each(count: int, steps: Places) -> Places:
    """For each of some points the first one that it is joined with by steps."""
    root = list(range(count))

    def find(point: int) -> int:
        while root[point] != point:
            root[point] = root[root[point]]
            point = root[point]
        return point

    for one, two in steps.tolist():
        low, high = sorted((find(one), find(two)))
        root[high] = low
    return np.array([find(point) for point in range(count)], dtype=np.int64)
