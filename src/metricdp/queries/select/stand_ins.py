"""Few values of a column that stand for all of them where noise is planned.

A record adds 1 to a count, its value to a sum, its square to a sum of squares, and to a sum of products the product of
two values. What must be hidden is which record it is, so the noise follows from all pairs of records. There are more
values than could be listed, but few of them decide.

**Sums and products.** For two records with the values v and w in cells of a column, what is spent is convex in (v, w),
and what may be spent is concave on either side of v = w. So the difference is largest at the ends, and the least and
the greatest value of each cell stand for all of them. A product is linear in each of its values, so the same holds for
one column after the other; that both change is two steps, or one by way of an absent record.

**Squares.** The points (v, v²) lie on a curve, and what is spent is convex in the two points. Between neighbours a, b
of a few values, the curve lies in the triangle of (a, a²), (b, b²) and the point where its tangents meet, which is at
(a + b) / 2 and lies ((b - a) / 2)² below the curve. So these points stand for all pairs of two triangles. Within one of
width w, a difference of t changes squares by ``f(t) = 2 b t - t²`` at most, if b is the end farther from the middle.
What may be spent is concave in t, and by the pairs of (b, b²) with the other two points it is enough for ``b w`` at
w / 2 and for f(w) at w. The lines from 0 to the one and from the one to the other lie above f.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.metrics import Metric
from metricdp.policies.cells.listed import CategoryCells, Cells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, Interval, NumberCells, OrderedCells

__all__ = ["StandIn", "stand_ins"]

_FEW = 64
"""A column of no more integers than this has all of them looked at."""

_SEGMENTS = 8
"""Into so many parts an interval is cut for its squares: the noise is larger by 1 part in 64 at most for that."""


@dataclass(frozen=True)
class StandIn:
    """One of the values that stand for all of a column.

    Attributes:
        point: as the metric sees it.
        cell: the place of its cell.
        value: what it adds to a sum; None where it is missing.
        below: how far the point that stands for its square lies below it.

    >>> StandIn(5, 0, 5).square(Fraction(3)), StandIn(5, 0, 5, Fraction(1)).square(Fraction(3))
    (Fraction(4, 1), Fraction(3, 1))
    """

    point: Any
    cell: int
    value: int | Fraction | None
    below: Fraction = Fraction(0)

    def square(self, centre: Fraction) -> Fraction:
        """What stands for the square of its distance from a centre."""
        assert self.value is not None  # it is not missing
        return (Fraction(self.value) - centre) ** 2 - self.below


def stand_ins(column: Cells, metric: Metric, *, divided: bool, squared: bool, crowded: bool) -> list[StandIn]:
    """The values that stand for all of a column of numbers.

    Args:
        column: what it can be.
        metric: how far apart two of its values are.
        divided: whether its cells are told apart, too.
        squared: whether squares of it are summed.
        crowded: whether products with another column are summed, so that fewer values are better.

    Raises:
        UnsupportedMetricError: no noise is known under the metric.
    """
    if isinstance(column, CategoryCells):
        found = [StandIn(column.declared[cell], cell, value) for cell, value in enumerate(column.values)]
    else:
        found = _of_intervals(column, metric, divided, squared, crowded)
    if column.missing_code is not None:
        found.append(StandIn(None, column.missing_code, None))
    return found


def _of_intervals(column: Cells, metric: Metric, divided: bool, squared: bool, crowded: bool) -> list[StandIn]:
    assert isinstance(column, OrderedCells)
    low, high = column.bounds
    if isinstance(column, DateCells):
        low, high = 0, (high - low).days
    if divided and isinstance(column, DateCells):
        raise ArgumentError(f"column {column.name!r} is averaged and also divides the records: ask for one of the two")
    if divided and isinstance(column, NumberCells):
        raise ArgumentError(
            f"column {column.name!r} is summed and also divides the records: its cells touch, so declare it as an "
            "integer, or ask for one of the two"
        )
    cells = list(enumerate(column.intervals)) if divided else [(0, Interval(low, high))]
    bent = _bends_outward(metric)
    every = isinstance(column, IntegerCells) and high - low < _FEW and not (crowded and bent)
    if not every and not bent:
        raise UnsupportedMetricError(
            f"column {column.name!r}: no noise for its sum is known under {metric}; use absolute or an ε"
        )
    if every:
        return [StandIn(v, code, v) for code, cell in cells for v in range(cell.first, cell.last + 1)]
    if squared:
        return [one for code, cell in cells for one in _tangents(cell, code)]
    return [StandIn(v, code, v) for code, cell in cells for v in dict.fromkeys((cell.first, cell.last))]


def _tangents(cell: Interval, code: int) -> list[StandIn]:
    """Values along an interval, and between any two neighbours the point where the tangents at both meet."""
    if cell.first == cell.last:
        return [StandIn(cell.first, code, cell.first)]
    width = (Fraction(cell.last) - cell.first) / _SEGMENTS
    on = [StandIn(v, code, v) for k in range(_SEGMENTS + 1) for v in [cell.first + k * width]]
    between = [
        StandIn(v, code, v, (width / 2) ** 2)
        for k in range(_SEGMENTS)
        for v in [cell.first + (k + Fraction(1, 2)) * width]
    ]
    return on + between


def _bends_outward(metric: Metric) -> bool:
    """Whether the distance of two numbers is a concave function of their difference, wherever they differ."""
    return metric.concave and not any(leaf.moments for leaf in metric.leaves)
