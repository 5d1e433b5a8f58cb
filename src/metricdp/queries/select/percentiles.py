"""The part of a question that is a percentile of a column, for each group: minimum, median, maximum and others."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.exact.level import Level
from metricdp.metrics import Metric, Space, absolute, attributes, nullable, records
from metricdp.policies.askable import Askable, absent_at
from metricdp.policies.cells.listed import Cells
from metricdp.policies.cells.ordered import DateCells, IntegerCells
from metricdp.queries.select.division import Division, Shares, metric_of_cells
from metricdp.queries.select.totals import check_records
from metricdp.queries.single.aggregates import Percentile
from metricdp.queries.single.plan import AnswerPlan, plan
from metricdp.queries.single.sensitivity import sensitivity
from metricdp.queries.universes.counting import histogram
from metricdp.queries.universes.universe import Universe
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.workload import Workload

__all__ = ["GroupPercentiles", "percentile_of_counts"]


@dataclass(frozen=True, eq=False)
class GroupPercentiles:
    """A percentile of one column, for each group.

    Where all records are in one group for certain, and all have values, it is `Percentile` under the policy's metric
    (paper 1, Theorems 11 to 13). Else a record can also leave its group, and with it the percentile moves from one end
    to the other at worst. One record that changes moves the percentile of its group by no more than Δ for each unit of
    distance, or it moves to another group, and then both by ``hi - lo``. Noise that hides the greatest of these on each
    group spends the metric once, for all groups together.

    Attributes:
        policy: the universe and its metric.
        division: the groups.
        name: the column.
        p: which percentile, from 0 to 100.
        shares: what of the metric may be spent.

    References:
        Paper 1, Section 5 and Lemma 3.
    """

    policy: Askable
    division: Division
    name: str
    p: Fraction
    shares: Shares

    @cached_property
    def column(self) -> Cells:
        """Its values one by one, whatever cells the policy has them counted in."""
        found = self.policy.column(self.name)
        if found.other is not None:
            raise ArgumentError(
                f"column {found.name!r}: values outside are counted in the cell {found.other!r} and have no number; "
                'declare outside = "clamp" to ask for a percentile'
            )
        if isinstance(found, IntegerCells):
            single: Cells = IntegerCells(found.name, found.bounds, outside=found.outside, missing=found.missing)
        elif isinstance(found, DateCells):
            single = DateCells(found.name, found.bounds, zone=found.zone, outside=found.outside, missing=found.missing)
        else:
            raise ArgumentError(f"column {found.name!r}: percentiles are answered for columns of integers and of dates")
        if len(single.declared) < 2:
            raise ArgumentError(f"column {found.name!r} has one value only, which is its percentile")
        return single

    @cached_property
    def query(self) -> Percentile:
        """The percentile of records none of which is absent."""
        low, high = self._line(self.column.declared[0]), self._line(self.column.declared[-1])
        return Percentile(self.p, (low, high), records=self.policy.most, nulls=False)

    @cached_property
    def of_all(self) -> AnswerPlan | None:
        """The noise where no record can leave the one group there is; None where one can."""
        certain = len(self.division.labels) == 1 and not bool((self.division.group < 0).any())
        if not certain or self.policy.absent is not None or self.column.missing is not None:
            return None
        own = _between_values(self.shares.metric(self.policy, self.name).on_numbers(), self.query)
        if own.capped_at is not None:
            return None  # it is no metric that paper 1 has a closed form for
        return plan(self.query, records(own))

    @cached_property
    def plan(self) -> AnswerPlan:
        """The noise for each group, decided before any data are seen."""
        if self.of_all is not None:
            return self.of_all
        own = self.shares.metric(self.policy, self.name).on_numbers()
        low, high = self.query.bounds
        slope = max(_steepest(self.query, own), (high - low) * max(self._leaving(), self._missing(own)))
        return plan(
            Percentile(self.p, (low, high), records=self.policy.most, nulls=True),
            records(nullable(absolute(), high - low)) * (1 / slope),
        )

    def _leaving(self) -> Fraction:
        """The most groups that a record can leave or enter, for each unit of distance; rounded up."""
        columns = self.division.columns
        points: list[Any] = list(itertools.product(*(column.points for column in columns)))
        parts = {
            column.name: metric_of_cells(column, self.shares.metric(self.policy, column.name)) for column in columns
        }
        metric: Metric | None = attributes(parts) if parts else None
        group = self.division.group
        if self.policy.absent is not None:
            metric = absent_at(metric, self.policy.absent * self.shares.absent)
            points, group = [*points, None], np.append(group, -1)
        if metric is None:
            return Fraction(0)
        rows = [(group == place).astype(np.int64) for place in range(len(self.division.labels))]
        return max(map(Fraction, allocate(Workload(np.array(rows), Space(points, metric)), "shared").scales))

    def _missing(self, own: Metric) -> Fraction:
        """The same for a value that becomes missing."""
        if self.column.missing is None:
            return Fraction(0)
        if own.distance_to_null is None and not own.all_alike:
            raise UnsupportedMetricError(f"column {self.name!r}: no percentile is known under {own}")
        distance = own.enclose(self._line(self.column.declared[0]), None)
        return Fraction(0) if distance.lower == math.inf else 1 / Fraction(distance.lower)

    def _line(self, value: Any) -> int:
        """A value as a number: days are counted from the first."""
        return (value - self.column.declared[0]).days if isinstance(value, dt.date) else int(value)

    def truth(self, source: Any, engine: Any) -> list[Fraction]:
        """The true percentile of each group, which is private."""
        others = [column for column in self.division.columns if column.name != self.name]
        universe = Universe([*others, self.column])
        found = histogram(source, universe, engine, dialect=self.policy.policy.dialect)
        check_records(found.records, self.policy)
        values = [self._line(value) for value in self.column.declared]
        by_value = found.counts.reshape(-1, len(self.column))[:, : len(values)]
        query = self.plan.query
        assert isinstance(query, Percentile)
        return [
            percentile_of_counts(query, values, np.where(inside, by_value, 0).sum(axis=0))
            for inside in self._inside(others)
        ]

    def _inside(self, others: Sequence[Cells]) -> list[NDArray[np.bool_]]:
        """For each group, which of the other columns' cells are in it, for each value of this column."""
        group = self.division.group.reshape(self.division.shape)
        names = self.division.names
        values = len(self.column.declared)
        if self.name in names:
            declared = self.division.columns[names.index(self.name)]
            cells = _cells_of(declared, self.column.declared)
            group = np.moveaxis(group, names.index(self.name), -1)[..., cells].reshape(-1, values)
        else:
            group = np.repeat(group.reshape(-1, 1), values, axis=1)
        return [group == place for place in range(len(self.division.labels))]

    def shown(self, value: int) -> int | dt.date:
        """An answer as the column has it."""
        first = self.column.declared[0]
        return first + dt.timedelta(days=value) if isinstance(first, dt.date) else value


def percentile_of_counts(query: Percentile, values: Sequence[int], counts: NDArray[np.int64]) -> Fraction:
    """The percentile where each of these values, in order, occurs so many times.

    >>> percentile_of_counts(Percentile(50, (0, 3)), [0, 1, 2, 3], np.array([1, 1, 1, 0]))
    Fraction(1, 1)
    """
    upto = np.cumsum(counts)
    total = int(upto[-1])
    if not total:
        return query.middle
    before = min(math.floor(query.percent * total / 100), total - 1)
    return Fraction(values[int(np.searchsorted(upto, before, side="right"))])


def _between_values(metric: Metric, query: Percentile) -> Metric:
    """The same metric where no value is missing, and without a cap that none of them reaches."""
    between = metric.without_null()
    cap, base = between.unit.capped_at, between.unit.without_cap()
    if isinstance(cap, Level) and base.on_line and base.level * (query.high - query.low) <= cap:
        return base * between.level
    return between


def _steepest(query: Percentile, metric: Metric) -> Fraction:
    """The most that it moves for each unit of distance while no record comes or goes; rounded up."""
    unit = metric.unit
    if unit.distance_to_null is None and unit.capped_at is None:
        return sensitivity(query, records(metric), absolute()).above
    (base,) = unit.parts
    within = _steepest(query, base)
    if isinstance(unit.capped_at, Level):
        within = max(within, (query.high - query.low) / Fraction(unit.capped_at.enclose().lower))
    return within / Fraction(metric.level.enclose().lower)


def _cells_of(column: Cells, values: Sequence[Any]) -> list[int]:
    """The place of the cell of each value."""
    assert isinstance(column, IntegerCells | DateCells)
    starts = list(column.starts)
    places, place = [], 0
    for value in values:
        while place + 1 < len(starts) and starts[place + 1] <= value:
            place += 1
        places.append(place)
    return places
