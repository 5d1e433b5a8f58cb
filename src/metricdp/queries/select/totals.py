"""The part of a question that is linear: counts, sums and sums of products, by group, with noise of the least error.

What must be hidden is which record is which, so the noise follows from all pairs of records. `stand_ins` says which of
them stand for all.
"""

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

from metricdp.errors import ArgumentError, OutOfDomainError
from metricdp.exact.progress import Stopwatch
from metricdp.metrics import Metric, Space, attributes
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import CategoryCells, Cells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, NumberCells, OrderedCells
from metricdp.queries.select.amounts import Amount
from metricdp.queries.select.division import MOST_GROUPED, MOST_KINDS, Division, Shares, check_kinds, metric_of_cells
from metricdp.queries.select.stand_ins import StandIn, stand_ins
from metricdp.queries.select.value_line import by_day
from metricdp.queries.universes.engines.steps import ValueSteps
from metricdp.queries.universes.summing import Addend, AddendProduct, counts_and_totals
from metricdp.queries.universes.universe import Universe
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.allocation import Allocation
from metricdp.queries.workloads.by_group import GroupNoise, allocate_groups
from metricdp.queries.workloads.group_totals import Axis, GroupMeasure, GroupTotals
from metricdp.queries.workloads.workload import Workload
from metricdp.sources.opening import count_rows
from metricdp.sources.table import Declared

__all__ = ["LinearPart", "bounds_of", "check_numbers", "check_records", "holds_numbers", "why_shared"]

_MOST_ANSWERS_IN_MATRIX = 24
"""More answers than this are looked at by what is alike in their groups, not one by one."""

_MOST_SQUARED = 200
"""More kinds of records than this are not looked at pair by pair where squares are summed."""

_SQUARED_GAP = 0.04
"""The few values that stand for all squares ask for noise of a scale that is larger by 1 part in 64 at most."""

_PLACES = 6
"""Decimal places that numbers of a CSV file are read with."""


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
        numbers = list(itertools.product(*(range(len(axis)) for axis in axes.values())))
        metrics = {column.name: self._metric(column) for column in self.columns}
        metric: Metric | None = attributes(metrics) if metrics else None
        points: list[Any] = [tuple(part.point for part in kind) for kind in kinds]
        points += [] if self.policy.absent is None else [None]
        metric = self.policy.together(metric, self.shares.absent)
        assert metric is not None  # where nothing is secret, nothing is asked of this part
        cells = self._cells(kinds, list(axes))
        names = list(axes)
        rows = np.zeros((len(self.amounts), len(points)), dtype=object)
        for row, amount in zip(rows, self.amounts, strict=True):
            factors = [(names.index(name), values) for name, values in amount.factors(axes).items()]
            for place in np.flatnonzero(self.division.inside(amount.group, amount.only)[cells]).tolist():
                row[place] = _plain(math.prod((of[numbers[place][axis]] for axis, of in factors), start=Fraction(1)))
        space = Space(points, metric)
        return Workload(rows, space, [f"{place}: {amount}" for place, amount in enumerate(self.amounts)])

    @cached_property
    def _axes(self) -> dict[str, list[StandIn]]:
        """The values that stand for all of each column."""
        return {column.name: self._axis(column) for column in self.columns}

    @cached_property
    def by_group(self) -> GroupTotals | None:
        """The queries as totals by group, where there are so many that they are not written as a matrix; else None.

        Every query is one: a record is in one group at most, and adds 1 or its value to the totals of that group.
        """
        axes, names = self._axes, list(self._axes)
        kinds = math.prod(map(len, axes.values()))
        few = len(self.amounts) <= _MOST_ANSWERS_IN_MATRIX and kinds <= (_MOST_SQUARED if self.squared else MOST_KINDS)
        if not axes or few or any(amount.only is not None for amount in self.amounts):
            return None
        check_kinds([kinds], MOST_GROUPED)
        measures = {amount.measure: amount for amount in self.amounts}
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
            tuple(_measure(amount, axes, names) for amount in measures.values()),
            None if self.policy.absent is None else self.policy.absent * self.shares.absent,
            tuple((amount.group, places[amount.measure]) for amount in self.amounts),
            None if self.policy.apart is None else self.policy.apart * self.shares.absent,
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
        if isinstance(column, DateCells):
            return own.on_numbers()
        steps = _steps(self.policy, column.name)
        return own if steps is None or steps.rounds else own * steps.kept

    @cached_property
    def squared(self) -> frozenset[str]:
        """The columns of which squares are summed."""
        return frozenset(one.column for one in self.amounts if one.column is not None and one.column == one.second)

    def _axis(self, column: Cells) -> list[StandIn]:
        if column.name not in self.summed:
            weights = {one.weights for one in self.amounts if one.weights is not None}
            more = [one.values for one in weights if one.column == column.name]
            cells = self.division.told_apart(column.name, self.policy.metric(column.name), *more)
            return [StandIn(column.points[cell], cell, None if cell == column.missing_code else 1) for cell in cells]
        metric = self.policy.metric(column.name)
        return stand_ins(
            column,
            metric.on_numbers() if isinstance(column, DateCells) else metric,
            divided=column.name in self.division.names,
            squared=column.name in self.squared,
            crowded=any(one.kind == "product" and one.column != one.second for one in self.amounts),
        )

    # Truth

    def truth(self, source: Any, engine: Any) -> list[Fraction]:
        """The true answers, which are private; read from the table, cell by cell."""
        read = self._read(source, engine)
        answers = []
        for amount in self.amounts:
            inside = self.division.cells_of(amount.group, amount.only)

            def added(key: Any, amount: Amount = amount, inside: NDArray[np.int64] = inside) -> Fraction:
                return sum(map(Fraction, read.by_cell(key, amount.known)[inside].tolist()), Fraction(0))

            number = Fraction(int(read.by_cell(None, amount.known)[inside].sum()))
            if amount.kind == "count":
                answers.append(number)
            elif amount.weights is not None:
                by = self.division.spread(amount.weights.column, amount.weights.values)[inside]
                each = read.by_cell(amount.column, amount.known)[inside].tolist()
                found = sum((Fraction(one) * weight for one, weight in zip(each, by, strict=True)), Fraction(0))
                answers.append(found - (number * amount.centre if amount.column is None else 0))
            elif amount.kind == "sum":
                answers.append(added(amount.column) - number * amount.centre)
            else:
                one, two = amount.centre, amount.second_centre
                centred = (
                    added((amount.column, amount.second)) - two * added(amount.column) - one * added(amount.second)
                )
                answers.append(centred + number * (one * two - amount.shift))
        return answers

    @property
    def _read_columns(self) -> tuple[Cells, ...]:
        """The columns to read: first those that divide, in their cells, then the others, each in one cell."""
        extra = [column for column in self.columns if column.name not in self.division.names]
        return (*self.division.columns, *map(_whole, extra))

    @cached_property
    def addends(self) -> tuple[Addend, ...]:
        """The columns that are summed."""
        summed = {name for one in self.amounts if one.kind != "count" for name in (one.column, one.second) if name}
        days = {name for name in summed if isinstance(self.policy.column(name), DateCells)}
        return tuple(_addend(self.policy, name) for name in sorted(summed - days))

    @property
    def _products(self) -> tuple[AddendProduct, ...]:
        """The pairs of columns whose products are summed."""
        of = {addend.column: addend for addend in self.addends}
        pairs = dict.fromkeys((one.column, one.second) for one in self.amounts if one.kind == "product")
        return tuple(AddendProduct(of[str(one)], of[str(two)]) for one, two in pairs)

    @property
    def csv_types(self) -> dict[str, str]:
        """What the text of a CSV file is taken as, in each column to read."""
        read = {column.name: column.csv_type for column in self._read_columns}
        return read | {addend.column: addend.csv_type for addend in self.addends}

    def _read(self, source: Any, engine: Any) -> _Read:
        columns, dialect = self._read_columns, self.policy.policy.dialect
        if not columns:
            whole = count_rows(source, Declared(dialect=dialect), engine)
            check_records(whole, self.policy)
            return _Read((), 0, {None: np.array(whole)})
        universe = Universe(columns)
        added: list[Addend | AddendProduct] = [*self.addends, *self._products]
        found, totals = counts_and_totals(source, universe, added, engine, dialect=dialect)
        check_records(found.records, self.policy)
        sums = {key: np.array(one.sums, dtype=object).reshape(universe.shape) for key, one in totals.items()}
        counts, dividing = found.counts.reshape(universe.shape), len(self.division.shape)
        for axis, column in enumerate(columns[dividing:], dividing):
            if isinstance(column, DateCells):  # each cell is a day, and the first of them is 0
                days = np.arange(len(column)).reshape([-1] + [1] * (counts.ndim - axis - 1))
                sums[column.name] = (counts * days).astype(object)
        return _Read(columns, dividing, {None: counts} | sums)


@dataclass(frozen=True, eq=False)
class _Read:
    """What was read of a table, which is private.

    Attributes:
        columns: first those that divide, then the others.
        dividing: how many of them divide.
        arrays: by the columns' cells, the number of records (None), the sums of columns and those of products.
    """

    columns: tuple[Cells, ...]
    dividing: int
    arrays: dict[Any, NDArray[Any]]

    @cached_property
    def _found(self) -> dict[Any, NDArray[Any]]:
        return {}

    def by_cell(self, key: Any, known: tuple[str, ...]) -> NDArray[Any]:
        """For each cell of the division the number or the sum of the records that have values in some columns."""
        found = self._found.get((key, known))
        if found is None:
            kept = self.arrays[key]
            for axis, column in enumerate(self.columns):
                if column.name in known and column.missing_code is not None:
                    kept = kept.copy()
                    kept[(slice(None),) * axis + (column.missing_code,)] = 0
            beyond = tuple(range(self.dividing, kept.ndim))
            found = self._found[key, known] = np.asarray(kept.sum(axis=beyond), dtype=kept.dtype).reshape(-1)
        return found


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
    if holds_numbers(column) or (isinstance(column, DateCells) and column.other is None):
        return
    if column.other is not None:
        raise ArgumentError(
            f"column {column.name!r}: values outside are counted in the cell {column.other!r} and have no number; "
            'declare outside = "clamp" to ask for more than counts'
        )
    raise ArgumentError(f"column {column.name!r} holds no numbers to add up; count its values, or group by them")


def bounds_of(column: Cells) -> tuple[Any, Any]:
    """The least and the greatest value of a column of numbers; of days, counted from the first of them."""
    if isinstance(column, DateCells):
        return 0, (column.bounds[1] - column.bounds[0]).days
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
    return by_day(column) if isinstance(column, DateCells) else column


def _measure(amount: Amount, axes: dict[str, list[StandIn]], names: list[str]) -> GroupMeasure:
    """What a record adds to an amount."""
    return GroupMeasure(tuple((names.index(name), values) for name, values in amount.factors(axes).items()))


def _plain(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def why_shared(allocation: Allocation | GroupNoise, squared: bool = False) -> str:
    """What is known of noise that is shared among answers, or among the sums behind them where squares are summed."""
    assert allocation.gap is not None  # the best was looked for
    what, gap = ("the sums behind these answers", _SQUARED_GAP) if squared else ("these answers", 1e-9)
    return (
        f"no Laplace noise on {what} has a lower mean squared error, each beside the most that one record can add, up "
        f"to {max(allocation.gap, gap):.1g} of it; other noise may be better"
    )
