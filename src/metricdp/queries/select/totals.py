"""The part of a question that is linear: counts and sums, by group, with Laplace noise of the least mean squared error.

A record adds 1 to a count and its value to a sum. What must be hidden is which record it is, so the noise follows from
all pairs of records. A sum has more values than could be listed. But for two records with the values v and w in cells
of that column, what is spent is convex in (v, w), and what may be spent is concave on either side of v = w. So the
difference is largest at the ends, and the least and the greatest value of each cell stand for all of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, OutOfDomainError, UnsupportedMetricError
from metricdp.exact.progress import Stopwatch
from metricdp.metrics import Metric, Space, attributes
from metricdp.policies.askable import Askable, absent_at
from metricdp.policies.cells.listed import CategoryCells, Cells
from metricdp.policies.cells.ordered import IntegerCells, Interval, NumberCells, OrderedCells
from metricdp.queries.select.division import MOST_GROUPED, MOST_KINDS, Division, Shares, check_kinds, metric_of_cells
from metricdp.queries.universes.engines.steps import ValueSteps
from metricdp.queries.universes.summing import Addend, counts_and_totals
from metricdp.queries.universes.universe import Universe
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.allocation import Allocation
from metricdp.queries.workloads.by_group import GroupNoise, allocate_groups
from metricdp.queries.workloads.group_totals import Axis, GroupMeasure, GroupTotals
from metricdp.queries.workloads.workload import Workload
from metricdp.sources.opening import count_rows
from metricdp.sources.table import Declared

__all__ = ["Amount", "LinearPart", "bounds_of", "check_numbers", "check_records", "holds_numbers", "why_shared"]

_MOST_ANSWERS_IN_MATRIX = 24
"""More answers than this are looked at by what is alike in their groups, not one by one."""

_FEW = 64
_PLACES = 6
"""Decimal places that numbers of a CSV file are read with."""


@dataclass(frozen=True)
class Amount:
    """One linear query.

    Attributes:
        kind: a count of records, or of those that have a value, or a sum of values.
        column: of which; None for a count of all records.
        group: the place of the group.
        centre: what is taken from each value before it is added. Sums of smaller values need less noise.
        only: the condition of the aggregate, as text; None for all records of the group.
    """

    kind: Literal["count", "sum"]
    column: str | None
    group: int
    centre: Fraction = Fraction(0)
    only: str | None = None


@dataclass(frozen=True)
class _Kind:
    """One of the values that stand for all of a column: as the metric sees it, its cell, and what it adds to a sum."""

    point: Any
    cell: int
    value: int | Fraction | None


@dataclass(frozen=True, eq=False)
class LinearPart:
    """Counts and sums by group, and the noise for all of them together.

    Attributes:
        policy: the universe and its metric.
        division: the groups.
        amounts: the queries.
        summed: the columns whose values matter, or whether they are missing.
        shares: what of the metric may be spent.
    """

    policy: Askable
    division: Division
    amounts: tuple[Amount, ...]
    summed: tuple[str, ...]
    shares: Shares

    @property
    def columns(self) -> tuple[Cells, ...]:
        """All columns on which the answers depend."""
        known = {name: self.policy.column(name) for name in self.summed}
        known |= {column.name: column for column in self.division.columns}
        return tuple(known[name] for name in self.policy.names if name in known)

    # Noise

    @cached_property
    def workload(self) -> Workload:
        """The queries over all kinds of records that have to be told apart from each other."""
        axes = self._axes
        check_kinds(len(axis) for axis in axes.values())
        kinds = list(itertools.product(*axes.values()))
        metrics = {column.name: self._metric(column) for column in self.columns}
        metric: Metric | None = attributes(metrics) if metrics else None
        points: list[Any] = [tuple(part.point for part in kind) for kind in kinds]
        if self.policy.absent is not None:
            points, metric = [*points, None], absent_at(metric, self.policy.absent * self.shares.absent)
        assert metric is not None  # where nothing is secret, nothing is asked of this part
        cells = self._cells(kinds, list(axes))
        values = {name: [kind[place].value for kind in kinds] for place, name in enumerate(axes)}
        rows = np.zeros((len(self.amounts), len(points)), dtype=object)
        for row, amount in zip(rows, self.amounts, strict=True):
            for place in np.flatnonzero(self.division.inside(amount.group, amount.only)[cells]).tolist():
                value = 1 if amount.column is None else values[amount.column][place]
                row[place] = 0 if value is None else _plain(value - amount.centre) if amount.kind == "sum" else 1
        space = Space(points, metric)
        return Workload(rows, space, [f"{place}: {amount}" for place, amount in enumerate(self.amounts)])

    @cached_property
    def _axes(self) -> dict[str, list[_Kind]]:
        """The values that stand for all of each column."""
        return {column.name: self._axis(column) for column in self.columns}

    @cached_property
    def by_group(self) -> GroupTotals | None:
        """The queries as totals by group, where there are so many that they are not written as a matrix; else None.

        Every query is one: a record is in one group at most, and adds 1 or its value to the totals of that group.
        """
        axes, names = self._axes, list(self._axes)
        kinds = math.prod(map(len, axes.values()))
        few = len(self.amounts) <= _MOST_ANSWERS_IN_MATRIX and kinds <= MOST_KINDS
        if not axes or few or any(amount.only is not None for amount in self.amounts):
            return None
        check_kinds([kinds], MOST_GROUPED)
        measures = tuple(dict.fromkeys((amount.kind, amount.column, amount.centre) for amount in self.amounts))
        places = {measure: place for place, measure in enumerate(measures)}
        metrics = {column.name: self._metric(column) for column in self.columns}
        cells = np.ix_(*([kind.cell for kind in axis] for axis in axes.values()))
        across = [
            np.broadcast_to(cells[names.index(name)], [len(axis) for axis in axes.values()])
            for name in self.division.names
        ]
        group = self.division.group[np.ravel_multi_index(tuple(across), self.division.shape)] if across else None
        return GroupTotals(
            tuple(Axis([kind.point for kind in axes[name]], metrics[name]) for name in names),
            np.zeros([len(axis) for axis in axes.values()], dtype=np.int64) if group is None else group,
            tuple(_measure(*measure, axes, names) for measure in measures),
            None if self.policy.absent is None else self.policy.absent * self.shares.absent,
            tuple((amount.group, places[amount.kind, amount.column, amount.centre]) for amount in self.amounts),
        )

    def check(self) -> None:
        """Refuse what cannot be bounded, before any data are seen."""
        _ = self.workload if self.by_group is None else self.by_group.steps

    def allocate(self, watch: Stopwatch | None = None) -> Allocation | GroupNoise:
        """The noise: errors count beside the most that one record can add."""
        if self.by_group is not None:
            return allocate_groups(self.by_group, watch=watch)
        weights = [1 / Fraction(max(map(abs, row), default=0) or 1) ** 2 for row in self.workload.given.tolist()]
        limit = None if watch is None or watch.time_limit is None else max(watch.left, 1e-3)
        progress = None if watch is None else watch.progress
        return allocate(self.workload, weights=weights, time_limit=limit, progress=progress)

    def _cells(self, kinds: Sequence[Any], names: list[str]) -> NDArray[np.int64]:
        """The cell of the division of each kind of record."""
        across = [names.index(name) for name in self.division.names]
        if not across:
            return np.zeros(len(kinds), dtype=np.int64)
        cells = np.array([[kind[axis].cell for kind in kinds] for axis in across])
        return np.asarray(np.ravel_multi_index(tuple(cells), self.division.shape), dtype=np.int64)

    def _metric(self, column: Cells) -> Metric:
        own = self.shares.metric(self.policy, column.name)
        if column.name not in self.summed:
            return metric_of_cells(column, own)
        steps = _steps(self.policy, column.name)
        return own if steps is None or steps.rounds else own * steps.kept

    def _axis(self, column: Cells) -> list[_Kind]:
        if column.name not in self.summed:
            there = [None if cell == column.missing_code else 1 for cell in range(len(column))]
            return [_Kind(point, cell, there[cell]) for cell, point in enumerate(column.points)]
        axis = self._listed(column) if isinstance(column, CategoryCells) else self._ends(column)
        if column.missing_code is not None:
            axis.append(_Kind(None, column.missing_code, None))
        return axis

    def _listed(self, column: CategoryCells) -> list[_Kind]:
        return [_Kind(column.declared[cell], cell, value) for cell, value in enumerate(column.values)]

    def _ends(self, column: Cells) -> list[_Kind]:
        assert isinstance(column, OrderedCells)
        divided = column.name in self.division.names
        low, high = column.bounds
        if divided and isinstance(column, NumberCells):
            raise ArgumentError(
                f"column {column.name!r} is summed and also divides the records: its cells touch, so declare it as an "
                "integer, or ask for one of the two"
            )
        cells = list(enumerate(column.intervals)) if divided else [(0, Interval(low, high))]
        every = isinstance(column, IntegerCells) and high - low < _FEW
        if not every and not _bends_outward(self.policy.metric(column.name)):
            raise UnsupportedMetricError(
                f"column {column.name!r}: no noise for its sum is known under {self.policy.metric(column.name)}; use "
                "absolute or an ε"
            )
        return [_Kind(value, code, value) for code, cell in cells for value in _stand_ins(cell, every)]

    # Truth

    def truth(self, source: Any, engine: Any) -> list[Fraction]:
        """The true answers, which are private; read from the table, cell by cell."""
        cells, added = self._read(source, engine)
        answers = []
        for amount in self.amounts:
            inside = self.division.cells_of(amount.group, amount.only)
            number = int(cells[amount.column][inside].sum())
            if amount.kind == "sum":
                chosen = added[str(amount.column)][inside].tolist()
                answers.append(sum(map(Fraction, chosen), Fraction(0)) - number * amount.centre)
            else:
                answers.append(Fraction(number))
        return answers

    @property
    def _read_columns(self) -> tuple[Cells, ...]:
        """The columns to read: first those that divide, in their cells, then the others, each in one cell."""
        extra = [column for column in self.columns if column.name not in self.division.names]
        return (*self.division.columns, *map(_whole, extra))

    @cached_property
    def addends(self) -> tuple[Addend, ...]:
        """The columns that are summed."""
        names = sorted({amount.column for amount in self.amounts if amount.kind == "sum" and amount.column is not None})
        return tuple(_addend(self.policy, name) for name in names)

    @property
    def csv_types(self) -> dict[str, str]:
        """What the text of a CSV file is taken as, in each column to read."""
        read = {column.name: column.csv_type for column in self._read_columns}
        return read | {addend.column: addend.csv_type for addend in self.addends}

    def _read(self, source: Any, engine: Any) -> tuple[dict[str | None, NDArray[np.int64]], dict[str, NDArray[Any]]]:
        """For each cell of the division, how many records have a value in which column, and the sums of columns."""
        columns = self._read_columns
        if not columns:
            whole = count_rows(source, Declared(dialect=self.policy.policy.dialect), engine)
            check_records(whole, self.policy)
            return {None: np.array([whole], dtype=np.int64)}, {}
        universe = Universe(columns)
        dialect = self.policy.policy.dialect
        found, totals = counts_and_totals(source, universe, self.addends, engine, dialect=dialect)
        check_records(found.records, self.policy)
        counts = found.counts.reshape(universe.shape)
        beyond = tuple(range(len(self.division.shape), counts.ndim))

        def by_cell(kept: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(kept.sum(axis=beyond), dtype=kept.dtype).reshape(-1)

        counted: dict[str | None, NDArray[np.int64]] = {None: by_cell(counts)}
        for axis, column in enumerate(columns):
            kept = counts
            if column.missing_code is not None:
                kept = counts.copy()
                kept[(slice(None),) * axis + (column.missing_code,)] = 0
            counted[column.name] = by_cell(kept)
        sums = {name: np.array(one.sums, dtype=object).reshape(universe.shape) for name, one in totals.items()}
        return counted, {name: by_cell(one) for name, one in sums.items()}


def _steps(policy: Askable, name: str) -> ValueSteps | None:
    """What numbers of a column are counted in, where the policy says so; see `ValueSteps` for why some are rounded."""
    column, step = policy.column(name), getattr(policy.column_type(name), "resolution", None)
    if step is None or not isinstance(column, NumberCells):
        return None
    return ValueSteps.between(column, step, policy.metric(name).without_null().all_alike)


def _addend(policy: Askable, name: str) -> Addend:
    """A column as it is summed."""
    column = policy.column(name)
    return Addend(
        column.name,
        bounds_of(column),
        getattr(column, "outside", "refuse"),
        "refuse" if column.missing is None else "skip",
        _PLACES if isinstance(column, NumberCells) else 0,
        _steps(policy, name),
    )


def check_records(found: int, policy: Askable) -> None:
    """Refuse a table that has not as many records as the policy says; how many it has is not told."""
    if policy.records is not None and found != policy.records:
        raise OutOfDomainError(
            "the number of records in the table is not the one that the policy declares (records = ..)"
        )
    if policy.capacity is not None and found > policy.capacity:
        raise OutOfDomainError("the table has more records than the policy says there can be (capacity = ..)")


def holds_numbers(column: Cells) -> bool:
    """Whether its values are numbers, all of them within bounds."""
    listed = isinstance(column, CategoryCells) and isinstance(column.values[0], int)
    return column.other is None and (listed or isinstance(column, IntegerCells | NumberCells))


def check_numbers(column: Cells) -> None:
    """Refuse a column whose values cannot be added up."""
    if holds_numbers(column):
        return
    if column.other is not None:
        raise ArgumentError(
            f"column {column.name!r}: values outside are counted in the cell {column.other!r} and have no number; "
            'declare outside = "clamp" to ask for more than counts'
        )
    raise ArgumentError(f"column {column.name!r} holds no numbers to add up; count its values, or group by them")


def bounds_of(column: Cells) -> tuple[Any, Any]:
    """The least and the greatest value of a column of numbers."""
    if isinstance(column, OrderedCells):
        low, high = column.bounds
        return low, high
    assert isinstance(column, CategoryCells)
    return min(column.values), max(column.values)


def _whole(column: Cells) -> Cells:
    """The column with one cell for all its values, besides the one for missing ones."""
    if isinstance(column, IntegerCells):
        return IntegerCells(column.name, column.bounds, edges=(), outside=column.outside, missing=column.missing)
    if isinstance(column, NumberCells):
        return NumberCells(column.name, column.bounds, outside=column.outside, missing=column.missing)
    return column


def _measure(
    kind: str, column: str | None, centre: Fraction, axes: dict[str, list[_Kind]], names: list[str]
) -> GroupMeasure:
    """What a record adds to an amount: 1, or what its value of a column says."""
    if column is None:
        return GroupMeasure()
    values = [one.value for one in axes[column]]
    if kind == "count":
        return GroupMeasure(names.index(column), tuple(Fraction(int(value is not None)) for value in values))
    return GroupMeasure(names.index(column), tuple(Fraction(0 if v is None else v - centre) for v in values))


def _plain(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _stand_ins(cell: Interval, every: bool) -> list[Any]:
    if every:
        return list(range(cell.first, cell.last + 1))
    return [cell.first] if cell.first == cell.last else [cell.first, cell.last]


def _bends_outward(metric: Metric) -> bool:
    """Whether the distance of two numbers is a concave function of their difference, wherever they differ."""
    return metric.concave and not any(leaf.moments for leaf in metric.leaves)


def why_shared(allocation: Allocation | GroupNoise) -> str:
    """What is known of noise that is shared among answers."""
    assert allocation.gap is not None  # the best was looked for
    return (
        "no Laplace noise on these answers has a lower mean squared error, each beside the most that one record can "
        f"add, up to {max(allocation.gap, 1e-9):.1g} of it; other noise may be better"
    )
