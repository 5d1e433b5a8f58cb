"""Two scores for a region of a map, one that is never too low on average and one that is never too high.

Let q(x) be 1 where a place x lies in the region, and 0 elsewhere. A score u of released places with
``E[u(Z) | x] >= q(x)`` for every x has, over any table, an average of at least the share of the rows that lie there,
and a score l with ``E[l(Z) | x] <= q(x)`` at most that. So the two averages, with the noise of each, are an interval
that holds for every table, and how wide it is hangs on the rows near the region's border alone. Both are found by a
linear program that knows the law of the noise and the number of rows, and nothing of the table: no choice follows the
data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.estimates.place_cells import PlaceCells, ReleasedPlaces
from metricdp.estimates.place_laws import Box, PlaceLaw
from metricdp.estimates.results import Truth
from metricdp.exact.arrays import Floats, Places
from metricdp.policies.types.place import Place
from metricdp.programs.linear import LinearProgram, Sparse

__all__ = ["MapScores", "ProductSums", "RegionScores"]

_CAPS = (0.5, 1.5, 4.0, 8.0)
"""How far scores may lie beyond 0 and 1: farther leaves less to the border, and more to noise."""

_ROUNDS = 6
_SMALL = 1e-4
_UNLIKE = 0.05
"""A score that is short by more than this is none to start from."""


@dataclass(frozen=True, eq=False)
class RegionScores:
    """The two scores of one region, for each output of the law around it.

    Attributes:
        cells: the outputs, cut around this region alone.
        upper: on average at least 1 for a place in the region, and 0 for any other.
        lower: on average at most 1 there, and 0 for any other.
        cap: how far beyond 0 and 1 they may lie.
    """

    cells: PlaceCells
    upper: Floats
    lower: Floats
    cap: float

    @classmethod
    def of(cls, column: Place, box: Box, rows: float, z: float, like: RegionScores | None = None) -> RegionScores:
        """The pair with the least interval for so many rows, if places were spread evenly around the region.

        Args:
            column: of places.
            box: the region.
            rows: of the table, which is public.
            z: how many standard deviations an interval reaches.
            like: of a region much like this one. Its scores are tried first, and mended where they are too low or too
                high here: cells of a map differ by little but where they lie.
        """
        law = PlaceLaw(column, {"region": box}, fine=True)
        inside = law.inside(box)
        areas = np.outer(np.gradient(law.north), np.gradient(law.east)).ravel()
        evenly = np.zeros(len(law.matrix))
        evenly[: len(areas)] = 0.9 * areas / areas.sum()
        evenly[len(areas)] = 0.1
        released = evenly @ law.matrix
        best, least = None, math.inf
        caps = _CAPS if like is None else (like.cap,)
        starts = (None, None) if like is None or len(like.upper) != len(released) else (like.upper, -like.lower)
        for cap in caps:
            upper = _least_above(law, inside.high, released, cap, starts[0])
            lower = -_least_above(law, -inside.low, released, cap, starts[1])
            spread = sum(math.sqrt(released @ score**2 - (released @ score) ** 2) for score in (upper, lower))
            wide = float(released @ (upper - lower)) + z * spread / math.sqrt(rows)
            if wide < least:
                best, least = cls(law.cells, upper, lower, cap), wide
        assert best is not None
        return best


def _least_above(law: PlaceLaw, question: Floats, released: Floats, cap: float, start: Floats | None = None) -> Floats:
    """The score, within about ``cap`` of what a question can be, that is nowhere below it and least on average.

    Between the points of the lattice the expected score bends, and may be short of the question by as much as it was
    seen to bend. What is short is asked for again, as a question of its own, whose score is added: it bends less. A
    score to start from is mended in the same way, where it is short by little.
    """
    if start is not None:
        short = _short(law, question, start)
        if short.max() <= _SMALL:
            return start + max(0.0, float(short.max()))
        if short.max() > _UNLIKE:
            start = None
    program = LinearProgram()
    columns = np.array(program.add_columns(released, float(question.min()) - cap, float(question.max()) + cap))
    entries = np.where(np.abs(law.matrix) < 1e-12, 0.0, law.matrix)
    rows = np.array(program.add_rows(question, np.inf, Sparse.of_dense(entries)))
    score = np.zeros(len(released)) if start is None else start
    if start is not None:
        _ask_again(program, columns, rows, _short(law, question, score))
    most = 0.0
    for _ in range(_ROUNDS):
        solved = program.solve()
        if not solved.optimal:
            raise ArgumentError(f"the solver ended without an answer: {solved.status}")
        score = score + np.asarray(solved.primal, dtype=np.float64)
        short = _short(law, question, score)
        most = max(0.0, float(short.max()))
        if most <= _SMALL:
            break
        _ask_again(program, columns, rows, short)
    return score + most


def _short(law: PlaceLaw, question: Floats, score: Floats) -> Floats:
    """For each secret, by how much the expected score around it may be below the question; below 0 where it is not."""
    return np.asarray(question + law.bends(score) - law.matrix @ score)


def _ask_again(program: LinearProgram, columns: Places, rows: Places, short: Floats) -> None:
    """Have the program look for what is short, within twice the most that it is."""
    program.change_column_bounds(columns, 0.0, 2 * float(short.max()))
    program.change_row_bounds(rows, np.maximum(short, 0.0), np.inf)


class MapScores:
    """The scores of all regions of a map, and of what lies in none of them, for one column.

    Args:
        column: of places.
        boxes: the regions.
        rows: of the table.
        z: how many standard deviations an interval reaches.
    """

    def __init__(self, column: Place, boxes: Sequence[Box], rows: float, z: float) -> None:
        tried = RegionScores.of(column, boxes[0], rows, z)  # the cells of a map are alike: what is best for one will do
        self._regions = [tried]
        for box in boxes[1:]:
            self._regions.append(RegionScores.of(column, box, rows, z, self._regions[-1]))
        whole = _rectangle(boxes)
        if whole is None:
            self._union = self._regions
        elif len(boxes) == 1:
            self._union = self._regions[:1]
        else:
            self._union = [RegionScores.of(column, whole, rows, z, tried)]

    @staticmethod
    @lru_cache(maxsize=16)
    def known(column: Place, boxes: tuple[Box, ...], rows: float, z: float) -> MapScores:
        """The same, found but once: they hang on the policy and the number of rows alone, not on what was released."""
        return MapScores(column, boxes, rows, z)

    @property
    def farthest(self) -> Floats:
        """For each region, and for what is elsewhere, how far from 0 a score can be."""
        wide = [max(float(np.abs(score).max()) for score in (one.upper, one.lower)) for one in self._regions]
        around = [max(float(np.abs(1 - score).max()) for score in (one.upper, one.lower)) for one in self._union]
        return np.array([*wide, max(around)])

    def of(self, places: ReleasedPlaces) -> tuple[Floats, Floats]:
        """For each released place (rows), the upper and the lower score of each region, and of elsewhere."""
        there = np.where(places.absent, 0.0, 1.0)
        scored = [self._pair(one, places) for one in self._regions]
        around = scored if self._union is self._regions else [self._pair(one, places) for one in self._union]
        upper = [pair[0] for pair in scored] + [there - sum(pair[1] for pair in around)]
        lower = [pair[1] for pair in scored] + [there - sum(pair[0] for pair in around)]
        return np.stack(upper, axis=1), np.stack(lower, axis=1)

    def _pair(self, one: RegionScores, places: ReleasedPlaces) -> tuple[Floats, Floats]:
        codes = np.where(places.absent, 0, one.cells.codes(places))
        pair = [np.where(places.absent, 0.0, score[codes]) for score in (one.upper, one.lower)]
        return pair[0], pair[1]


class ProductSums:
    """Sums of scores and of their squares over a table, for each region, or for each two of two columns.

    For two columns, ``u1 u2`` is an upper score of both at once, and ``l1 u2 + u1 l2 - u1 u2`` a lower one: with
    E[l] <= q <= E[u] and E[u] >= 0 for each column, what the first has too much is at most (u1 - l1) u2 + u1 (u2 - l2).
    """

    def __init__(self, scores: Sequence[MapScores]) -> None:
        self._scores = scores
        self._sums: list[Floats] | None = None
        self.rows = 0

    def add(self, released: Sequence[ReleasedPlaces]) -> None:
        """Add a batch: the places of each column."""
        pairs = [scores.of(places) for scores, places in zip(self._scores, released, strict=True)]
        upper, lower = pairs[0]
        if len(pairs) == 1:
            made = [part.sum(axis=0) for part in (upper, upper**2, lower, lower**2)]
        else:
            above, below = pairs[1]
            product, squares = upper.T @ above, (upper**2).T @ above**2
            mixed, crossed = (upper * lower).T, above * below
            lowers = lower.T @ above + upper.T @ below - product
            square = (lower**2).T @ above**2 + (upper**2).T @ below**2 + squares
            square += 2 * (mixed @ crossed - mixed @ above**2 - (upper**2).T @ crossed)
            made = [product, squares, lowers, square]
        self._sums = made if self._sums is None else [one + two for one, two in zip(self._sums, made, strict=True)]
        self.rows += len(upper)

    def ends(self, z: float, truth: Truth) -> tuple[Floats, Floats]:
        """The least and the most rows, flat: each wrong no more often than z standard deviations of a normal law.

        The variance is that of the rows' scores, and of one more row whose score lies farthest off, for where few rows
        were seen. About the table's own secrets, only what noise adds to it counts: from the sum of squares goes that
        of the squared averages. Where q is 1, ``E[u] >= 1``, so those of u come to the number of rows there at least;
        and from ``E[l]^2 >= 2 q E[l] - q`` those of l to twice the sum of l less that number.
        """
        assert self._sums is not None
        upper, squares, lower, lower_squares = self._sums
        far = self._scores[0].farthest
        if len(self._scores) == 2:
            far = np.outer(far, self._scores[1].farthest)
        low, high = lower_squares - lower**2 / self.rows, squares - upper**2 / self.rows
        if truth == "table":
            down, up = (z * np.sqrt(np.maximum(part, 0.0) + far**2) for part in (low, high))
            least, most = np.maximum(lower - down, 0.0), np.minimum(upper + up, float(self.rows))
            low, high = np.minimum(low, lower_squares - 2 * (lower - down) + most), np.minimum(high, squares - least)
        down, up = (z * np.sqrt(np.maximum(part, 0.0) + far**2) for part in (low, high))
        return (lower - down).ravel(), (upper + up).ravel()


def _rectangle(boxes: Sequence[Box]) -> Box | None:
    """The rectangle that regions without overlap fill together; None where they leave gaps."""
    edges: Any = np.array(boxes)
    south, west = edges[:, :2].min(axis=0)
    north, east = edges[:, 2:].max(axis=0)
    filled = ((edges[:, 2] - edges[:, 0]) * (edges[:, 3] - edges[:, 1])).sum()
    if not math.isclose(filled, (north - south) * (east - west), rel_tol=1e-9):
        return None
    return float(south), float(west), float(north), float(east)
