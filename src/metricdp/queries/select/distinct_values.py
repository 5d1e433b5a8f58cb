"""The part of a question that is a number of distinct values: how many cells of a column have a record, by group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.mechanisms import Mechanism, truncated_geometric
from metricdp.metrics import absolute
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import Cells
from metricdp.policies.cells.ordered import OrderedCells
from metricdp.queries.select.amounts import Amount
from metricdp.queries.select.averages import CONFIDENCE
from metricdp.queries.select.division import Division, Shares, metric_of_cells
from metricdp.queries.select.table_answers import Part, TableAnswer
from metricdp.queries.select.totals import LinearPart, check_records
from metricdp.queries.universes.counting import histogram
from metricdp.queries.universes.universe import Universe
from metricdp.queries.workloads.group_totals import Axis

__all__ = ["DistinctValues"]


@dataclass(frozen=True, eq=False)
class DistinctValues:
    """How many of a column's cells have at least one record, for each group.

    One record that comes, goes or moves to another cell changes the number of its group by 1 at most. If it moves to
    another group, both numbers change by 1 at most, as the numbers of records do. So the noise that hides how many
    records each group has hides that, too; and it has to hide a move between the two nearest cells of the column.

    Attributes:
        policy: the universe and its metric.
        division: the groups.
        name: the column.
        shares: what of the metric may be spent.
    """

    policy: Askable
    division: Division
    name: str
    shares: Shares

    @cached_property
    def cells(self) -> Cells:
        """The cells that are counted.

        Raises:
            ArgumentError: there is one only, or missing values share one with others.
        """
        cells = self.policy.column(self.name)
        if cells.mixes_missing:
            raise ArgumentError(
                f"column {self.name!r}: missing values share a cell with others, and nobody can tell which are there; "
                "give them a cell of their own (missing = ..)"
            )
        if self.most < 2:
            raise ArgumentError(
                f"column {self.name!r}: distinct values are counted by the policy's cells, and it has one only: "
                "declare count_by = .., such as a width"
            )
        return cells

    @property
    def most(self) -> int:
        """The greatest number there can be."""
        cells = self.policy.column(self.name)
        return len(cells) - (cells.missing_code is not None)

    # Noise

    @cached_property
    def nearest(self) -> Fraction | None:
        """The least distance of two cells, rounded down; None where nothing hides which it is.

        Raises:
            ImpossibleError: two cells are at distance zero.
        """
        axis = Axis(self.cells.points, metric_of_cells(self.cells, self.shares.metric(self.policy, self.name)))
        distances = [distance.lower for _, distance in axis.steps(range(len(self.cells)))]
        least = min(distances, default=math.inf)
        if least == math.inf:
            return None
        if not least > 0:
            raise ImpossibleError(f"two cells of column {self.name!r} are at distance 0: no noise hides that")
        return Fraction(least)

    @cached_property
    def scales(self) -> tuple[Fraction, ...]:
        """The scale of each group's noise; 0 where none is needed."""
        groups = len(self.division.labels)
        own = Fraction(0) if self.nearest is None else 1 / self.nearest
        if not self.division.columns and self.policy.absent is None:
            return (own,) * groups
        counts = tuple(Amount("count", None, group) for group in range(groups))
        moved = LinearPart(self.policy, self.division, counts, (), self.shares).allocate().scales
        return tuple(max(own, Fraction(scale)) for scale in moved)

    def noise(self, group: int) -> Mechanism | None:
        """The noise of a group; None where none is needed."""
        scale = self.scales[group]
        return None if not scale else _noise(scale, self.most, self._made)

    @cached_property
    def _made(self) -> dict[Fraction, Mechanism]:
        return {}

    def bar(self, group: int, confidence: float = float(CONFIDENCE)) -> float:
        """How far the answer of a group is off at most, with a confidence."""
        noise = self.noise(group)
        return 0.0 if noise is None else min(noise.radius(confidence), float(self.most))

    @property
    def error_bar(self) -> float:
        """The widest error bar of all groups."""
        return max(self.bar(group) for group in dict(zip(self.scales, range(len(self.scales)), strict=True)).values())

    # Answers

    @property
    def read(self) -> tuple[Cells, ...]:
        """The columns that are read: those of the division, and its own in all its cells, which is the last."""
        return (*(column for column in self.division.columns if column.name != self.name), self.cells)

    def truth(self, source: Any, engine: Any) -> list[int]:
        """The true number of each group, which is private."""
        universe = Universe(self.read)
        found = histogram(source, universe, engine, dialect=self.policy.policy.dialect)
        check_records(found.records, self.policy)
        there = np.flatnonzero(found.counts)
        group, cell = self._groups(universe)[there], there % len(self.cells)
        counted = (group >= 0) & (cell != self.cells.missing_code)
        pairs = np.unique(group[counted] * len(self.cells) + cell[counted])
        numbers = np.bincount(pairs // len(self.cells), minlength=len(self.division.labels))
        return [int(number) for number in numbers]

    def _groups(self, universe: Universe) -> NDArray[np.int64]:
        """The group of each cell of what is read."""
        group, names = self.division.group.reshape(self.division.shape), self.division.names
        if self.name in names:
            axis = names.index(self.name)
            group = np.moveaxis(group, axis, -1)[..., _codes(self.division.columns[axis], self.cells)]
        else:
            group = np.broadcast_to(group[..., np.newaxis], universe.shape)
        return np.ascontiguousarray(group).reshape(-1)

    def answers(self, source: Any, engine: Any) -> list[TableAnswer]:
        """Private answers, one for each group, with their error bars."""
        found = []
        for group, truth in enumerate(self.truth(source, engine)):
            noise, bar = self.noise(group), self.bar(group)
            value = truth if noise is None else int(noise.release([truth])[0])
            found.append(TableAnswer(value, bar, 2 * bar < self.most))
        return found

    def part(self, name: str) -> Part:
        """What is said of the answers of that name."""
        noise = "no noise" if not any(self.scales) else "truncated geometric noise"
        why = (
            f"one record changes the number of a group's cells of {self.name} by 1 at most, so the noise is that of a "
            "count; nothing is known to be the best"
        )
        return Part((name,), self.shares.columns, noise, False, why)


def _noise(scale: Fraction, most: int, made: dict[Fraction, Mechanism]) -> Mechanism:
    if scale not in made:
        made[scale] = truncated_geometric(absolute() * (1 / scale), most)
    return made[scale]


def _codes(divided: Cells, cells: Cells) -> NDArray[np.int64]:
    """For each cell of a column its place among the fewer cells that a condition tells apart."""
    if not isinstance(divided, OrderedCells) or len(divided) == len(cells):
        return np.arange(len(cells))
    assert isinstance(cells, OrderedCells)
    starts = list(divided.starts)
    inside = [max(k for k, start in enumerate(starts) if start <= one) for one in cells.starts]
    return np.array(inside + [divided.labels.index(label) for label in cells.labels[len(cells.starts) :]])
