"""Totals by group: cells as a product of attributes, groups of them, and the limits on their noise, merged."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError
from metricdp.exact.balls import Enclosure
from metricdp.exact.level import Level
from metricdp.metrics import Metric
from metricdp.metrics.nullable import Nullable
from metricdp.queries.synthetic_data.steps import steps_along
from metricdp.queries.workloads._limits import Limits, Places

__all__ = ["Axis", "GroupMeasure", "GroupTotals"]

_MOST_STEPS = 4_000_000
_WHOLE = 1 << 50


@dataclass(frozen=True)
class Axis:
    """One attribute of a record.

    Attributes:
        points: what it can be.
        metric: how far apart two of them are.
    """

    points: Sequence[Any]
    metric: Metric

    @cached_property
    def alike(self) -> bool:
        """Whether any two points are equally far apart."""
        return bool(self.metric.all_alike)

    def steps(self, places: Sequence[int]) -> list[tuple[Places, Enclosure]]:
        """Steps that all ways between some of the points are made of, by their distances.

        Where the metric is a line or a graph, these are the steps between neighbours; else all pairs.
        """
        points = [self.points[place] for place in places]
        known = [] if self.alike or len(places) < len(self.points) else _neighbours(points, self.metric.unit)
        if known:
            return [(pairs, self.metric.enclose(points[pairs[0, 0]], points[pairs[0, 1]])) for pairs in known]
        i, j = np.triu_indices(len(points), 1)
        if not len(i):
            return []
        if self.alike:
            return [(np.stack([i, j], axis=1), self.metric.enclose(points[0], points[1]))]
        bounds = self.metric.enclosures(points)
        both = np.stack([bounds.lower[i, j], bounds.upper[i, j]], axis=1)
        different, which = np.unique(both, axis=0, return_inverse=True)
        pairs = np.stack([i, j], axis=1)
        found = []
        for place, (lower, upper) in enumerate(different.tolist()):
            ends = (lower, upper) if math.isinf(lower) else (Fraction(lower), Fraction(upper))
            found.append((pairs[which.ravel() == place], Enclosure(*ends)))
        return found


def _neighbours(points: Sequence[Any], unit: Metric) -> list[Places]:
    """Steps between neighbours, those of one length together; none where nothing is known of neighbours.

    Where a value can be missing, that is one step from each: None is equally far from all.
    """
    base = unit.base.unit if isinstance(unit, Nullable) else unit
    there = np.array([place for place, point in enumerate(points) if point is not None], dtype=np.int64)
    known = steps_along([points[place] for place in there.tolist()], base)
    if not known:
        return []
    steps = [there[_all_pairs(places) if kind == "clique" else places] for kind, places in known]
    missing = [place for place, point in enumerate(points) if point is None]
    return steps + [np.stack([there, np.full(len(there), place)], axis=1) for place in missing]


def _all_pairs(groups: Places) -> Places:
    """Any two of the members of each group."""
    i, j = np.triu_indices(groups.shape[1], 1)
    return np.stack([groups[:, i].ravel(), groups[:, j].ravel()], axis=1)


@dataclass(frozen=True)
class GroupMeasure:
    """What a record adds to a total of its group: a product of numbers, each of which depends on one attribute.

    Attributes:
        factors: the places of those attributes, each with a number for each of its points; where there are none, every
            record adds 1.
    """

    factors: tuple[tuple[int, tuple[Fraction, ...]], ...] = ()


@dataclass(frozen=True, eq=False)
class GroupTotals:
    """Totals by group: a record is in one group at most, and adds to each total of its group and to no other.

    Attributes:
        axes: the attributes; every combination of their points is a cell, and two cells are apart by the sum of the
            distances of their attributes.
        group: for each cell, an array with a dimension for each attribute, the number of its group; -1 for none.
        measures: the totals of each group.
        absent: how far an absent record is from any other, where records can be absent; distances of cells are then
            at most twice that.
        asked: which totals are answered, by group and measure; all of them, group by group, where not given.
        apart: how far any two cells are apart at most, where that is less than the sum over their attributes.

    >>> import metricdp as mdp
    >>> codes, sexes = Axis(range(1000), 0.5 * mdp.metrics.discrete()), Axis("FM", 1 * mdp.metrics.discrete())
    >>> totals = GroupTotals((codes, sexes), np.arange(2000).reshape(1000, 2), (GroupMeasure(),))
    >>> totals.groups, len(set(totals.kinds_of_groups.tolist())), len(totals.steps.limits())
    (2000, 1, 2)
    """

    axes: tuple[Axis, ...]
    group: NDArray[np.int64]
    measures: tuple[GroupMeasure, ...]
    absent: Level | None = None
    asked: tuple[tuple[int, int], ...] = ()
    apart: Level | None = None

    def __post_init__(self) -> None:
        if self.group.shape != tuple(len(axis.points) for axis in self.axes):
            raise ArgumentError("groups are given for every combination of the attributes' points")
        if not self.asked:
            every = itertools.product(range(self.groups), range(len(self.measures)))
            object.__setattr__(self, "asked", tuple(every))

    @cached_property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max(initial=-1)) + 1

    @cached_property
    def _whole(self) -> list[tuple[list[tuple[int, Places]], int]]:
        """The factors of each measure, along their attributes, as integers; and one denominator for their product."""
        found = []
        for measure in self.measures:
            factors, below, most = [], 1, 1
            for axis, values in measure.factors:
                exact = [Fraction(value) for value in values]
                denominator = math.lcm(*(value.denominator for value in exact))
                numbers = [int(value * denominator) for value in exact]
                below, most = below * denominator, most * max(1, *map(abs, numbers))
                if most >= _WHOLE or below >= _WHOLE:
                    raise TooLargeError("the values of a total need more digits than are looked at here")
                factors.append((axis, np.array(numbers, dtype=np.int64)))
            found.append((factors, below))
        return found

    def added(self, measure: int, places: Sequence[Places] | None = None) -> Places:
        """What the records of each cell add, of all cells or of those at some places along each attribute."""
        chosen = places or [np.arange(size) for size in self.group.shape]
        added = np.ones([1] * len(chosen), dtype=np.int64)
        for axis, numbers in self._whole[measure][0]:
            shape = [1] * len(chosen)
            shape[axis] = len(chosen[axis])
            added = added * numbers[chosen[axis]].reshape(shape)
        return np.broadcast_to(added, [len(along) for along in chosen])

    def largest(self, measure: int) -> list[Fraction]:
        """The most that one record adds to the total of each group, without its sign."""
        inside = self.group >= 0
        most = np.zeros(self.groups, dtype=np.int64)
        np.maximum.at(most, self.group[inside], np.abs(self.added(measure)[inside]))
        return [Fraction(int(number), self._whole[measure][1]) for number in most]

    # Cells that are alike

    def alike(self, axis: int) -> Places:
        """For each point of an attribute the first one that can be exchanged with it.

        Two points can be exchanged where all points of the attribute are equally far apart, and exchanging them in all
        cells maps groups onto groups, each with the same totals. Scales may then be the same, too: the average of the
        best scales over all exchanges keeps the limits, which are linear in 1/c, and has no larger error, which is
        convex in it.
        """
        size = self.group.shape[axis]
        if not self.axes[axis].alike:
            return np.arange(size)
        slices = np.moveaxis(self.group, axis, 0).reshape(size, -1)
        apart = _within_one(slices, self.groups)
        numbers = _by_first_cell(slices) if apart else slices
        values = [numbers for factors, _ in self._whole for along, numbers in factors if along == axis]
        first: dict[Any, int] = {}
        keys = [(row.tobytes(), *(int(whole[place]) for whole in values)) for place, row in enumerate(numbers)]
        return np.array([first.setdefault(key, place) for place, key in enumerate(keys)], dtype=np.int64)

    @cached_property
    def _first(self) -> list[Places]:
        return [self.alike(axis) for axis in range(len(self.axes))]

    @cached_property
    def kinds_of_groups(self) -> Places:
        """For each group the number of its kind: groups of one kind can be exchanged, and have the same scales."""
        cells = np.ravel_multi_index(np.ix_(*self._first), self.group.shape)
        inside = self.group >= 0
        least = np.full(self.groups, self.group.size, dtype=np.int64)
        np.minimum.at(least, self.group[inside], np.broadcast_to(cells, self.group.shape)[inside])
        return np.unique(least, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def steps(self) -> Steps:
        """All limits on the scales of the kinds of groups, and for each a pair of cells that needs it.

        A step between two cells changes one attribute. The others may be exchanged for points that are like them, so
        two points of each kind along each attribute show all steps there are.
        """
        chosen = [_two_of_each(first) for first in self._first]
        group = self.group[np.ix_(*chosen)]
        added = [self.added(measure, chosen) for measure in range(len(self.measures))]
        found = Steps(self, chosen)
        for axis, along in enumerate(chosen):
            lines = np.moveaxis(np.arange(group.size).reshape(group.shape), axis, 0).reshape(len(along), -1)
            for pairs, distance in self.axes[axis].steps(along.tolist()):
                ends = lines[pairs[:, 0]].ravel(), lines[pairs[:, 1]].ravel()
                found.add(_rows(self.kinds_of_groups, group.ravel(), added, *ends), ends, distance)
        if self.apart is not None:
            if group.size**2 > 2 * _MOST_STEPS:
                raise TooLargeError("so many kinds of records are not looked at pair by pair: ask about fewer columns")
            ends = np.triu_indices(group.size, 1)
            found.add(_rows(self.kinds_of_groups, group.ravel(), added, *ends), ends, self.apart.enclose())
        if self.absent is not None:
            cells = np.arange(group.size)
            nobody = np.full(group.size + 1, -1, dtype=np.int64)
            nobody[:-1] = group.ravel()
            nothing = [np.append(numbers.ravel(), 0) for numbers in added]
            ends = cells, np.full(len(cells), group.size)
            found.add(_rows(self.kinds_of_groups, nobody, nothing, *ends), ends, self.absent.enclose())
        return found


def _within_one(slices: Places, groups: int) -> bool:
    """Whether every group lies within one slice."""
    lowest, highest = np.full(groups, len(slices)), np.full(groups, -1)
    inside = slices >= 0
    number = np.broadcast_to(np.arange(len(slices))[:, np.newaxis], slices.shape)[inside]
    np.minimum.at(lowest, slices[inside], number)
    np.maximum.at(highest, slices[inside], number)
    return bool((lowest >= highest).all())


def _by_first_cell(slices: Places) -> Places:
    """Groups numbered, within each slice, by their first cells; each group lies within one slice."""
    _, first, which = np.unique(slices, return_index=True, return_inverse=True)
    return np.where(slices < 0, -1, (first % slices.shape[1])[which.reshape(slices.shape)])


def _two_of_each(first: Places) -> Places:
    """Two places of each kind, in order."""
    order = np.argsort(first, kind="stable")
    ranks = np.arange(len(first)) - np.searchsorted(first[order], first[order])
    return np.sort(order[ranks < 2])


def _rows(kinds: Places, group: Places, added: Sequence[Places], left: Places, right: Places) -> Places:
    """What steps between cells change: a row of kind, amounts, kind, amounts, the greater side first."""
    numbers = np.stack([values.ravel() for values in added], axis=1)
    sides = []
    for cells in (left, right):
        amounts = np.where(group[cells, np.newaxis] >= 0, np.abs(numbers[cells]), 0)
        of_kind = np.where(amounts.any(axis=1), kinds[group[cells]], -1)
        sides.append(np.column_stack([of_kind, amounts]))
    one, two = sides
    same = (group[left] == group[right]) & (group[left] >= 0)
    apart = np.abs(numbers[left] - numbers[right])
    one[same, 1:], two[same, 1:] = apart[same], 0
    one[same, 0], two[same, 0] = np.where(apart[same].any(axis=1), kinds[group[left][same]], -1), -1
    differs = one != two
    where = differs.argmax(axis=1)
    here = np.arange(len(one))
    swap = differs.any(axis=1) & (one[here, where] < two[here, where])
    one[swap], two[swap] = two[swap], one[swap].copy()
    return np.concatenate([one, two], axis=1)


class Steps:
    """Limits as they are found, each kind once, with a pair of cells that needs it."""

    def __init__(self, totals: GroupTotals, chosen: Sequence[Places]) -> None:
        self.totals, self.chosen = totals, chosen
        self.keys: list[Places] = []
        self.pairs: list[tuple[int, int]] = []
        self.distances: list[Enclosure] = []
        self.seen = 0

    def add(self, rows: Places, ends: tuple[Places, Places], distance: Enclosure) -> None:
        self.seen += len(rows)
        if self.seen > _MOST_STEPS:
            raise TooLargeError(
                f"so many cells have more than {_MOST_STEPS:,} steps between them that are not alike: group by fewer "
                "columns, or declare wider cells (edges or width)"
            )
        changed = rows[:, 0] >= 0
        rows, ends = rows[changed], (ends[0][changed], ends[1][changed])
        if distance.lower == math.inf or not len(rows):
            return
        known, example = np.unique(rows, axis=0, return_index=True)
        self.pairs += list(zip(ends[0][example].tolist(), ends[1][example].tolist(), strict=True))
        if distance.upper == 0:
            one, other = self.pair(len(self.pairs) - 1)
            raise ImpossibleError(
                f"the groups tell {one!r} and {other!r} apart, which are at distance 0: no noise hides that; leave "
                "them in one group, or give them a distance"
            )
        self.keys.append(known)
        self.distances.append(distance)

    def pair(self, limit: int) -> tuple[Any, Any]:
        one, other = self.pairs[limit]
        return self._cell(one), self._cell(other)

    def _cell(self, place: int) -> Any:
        shape = tuple(len(along) for along in self.chosen)
        if place >= math.prod(shape):
            return None
        places = np.unravel_index(place, shape)
        axes = zip(self.totals.axes, self.chosen, places, strict=True)
        return tuple(axis.points[int(along[number])] for axis, along, number in axes)

    def limits(self) -> Limits:
        measures = len(self.totals.measures)
        width = 1 + measures
        keys = np.concatenate(self.keys) if self.keys else np.zeros((0, 2 * width), dtype=np.int64)
        kinds = np.repeat(np.arange(len(self.keys)), [len(part) for part in self.keys])
        rows, variables, amounts = [], [], []
        for side in (0, width):
            for measure in range(measures):
                there = np.flatnonzero(keys[:, side + 1 + measure])
                rows.append(there)
                variables.append(keys[there, side] * measures + measure)
                amounts.append(keys[there, side + 1 + measure])
        groups = int(self.totals.kinds_of_groups.max(initial=-1)) + 1
        denominators = tuple(denominator for _ in range(groups) for _, denominator in self.totals._whole)
        return Limits.of(
            np.concatenate(rows), np.concatenate(variables), np.concatenate(amounts), denominators,
            tuple(self.distances), kinds,
        )  # fmt: skip
