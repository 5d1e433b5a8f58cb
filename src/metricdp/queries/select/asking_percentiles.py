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

from metricdp.errors import KindError, UnsupportedMetricError
from metricdp.exact.level import Level
from metricdp.metrics import Metric, Space, absolute, attributes, capped, nullable, records
from metricdp.queries.select.asking_groups import Division, Shares, metric_of_cells
from metricdp.queries.select.asking_totals import check_records
from metricdp.queries.select.query_policy import QueryPolicy, absent_at
from metricdp.queries.single.aggregates import Percentile
from metricdp.queries.single.answer_plans import Plan, plan
from metricdp.queries.single.sensitivities import sensitivity
from metricdp.queries.universes.columns import Column
from metricdp.queries.universes.counting import histogram
from metricdp.queries.universes.intervals import Date, Integer
from metricdp.queries.universes.universe import Universe
from metricdp.queries.workloads.allocating import allocate
from metricdp.queries.workloads.workload import Workload

__all__ = ["GroupPercentiles", "percentile_of_counts"]

_ON_THE_LINE = ("absolute", "dates", "euclidean", "manhattan", "chebyshev")


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

    policy: QueryPolicy
    division: Division
    name: str
    p: Fraction
    shares: Shares

    @cached_property
    def column(self) -> Column:
        """Its values one by one, whatever cells the policy has them counted in."""
        found = self.policy.column(self.name)
        if found.other is not None:
            raise KindError(
                f"column {found.name!r}: values outside are counted in the cell {found.other!r} and have no number; "
                'declare outside = "clamp" to ask for a percentile'
            )
        if isinstance(found, Integer):
            single: Column = Integer(found.name, found.bounds, outside=found.outside, missing=found.missing)
        elif isinstance(found, Date):
            single = Date(found.name, found.bounds, zone=found.zone, outside=found.outside, missing=found.missing)
        else:
            raise KindError(f"column {found.name!r}: percentiles are answered for columns of integers and of dates")
        if len(single.declared) < 2:
            raise KindError(f"column {found.name!r} has one value only, which is its percentile")
        return single

    @cached_property
    def query(self) -> Percentile:
        """The percentile of records none of which is absent."""
        low, high = self._line(self.column.declared[0]), self._line(self.column.declared[-1])
        return Percentile(self.p, low, high, n=self.policy.most, nulls=False)

    @cached_property
    def of_all(self) -> Plan | None:
        """The noise where no record can leave the one group there is; None where one can."""
        certain = len(self.division.labels) == 1 and not bool((self.division.group < 0).any())
        if not certain or self.policy.absent is not None or self.column.missing is not None:
            return None
        own = _between_values(_as_numbers(self.shares.metric(self.policy, self.name)), self.query)
        if own.unit.kind == "capped":
            return None  # it is no metric that paper 1 has a closed form for
        return plan(self.query, records(own))

    @cached_property
    def plan(self) -> Plan:
        """The noise for each group, decided before any data are seen."""
        if self.of_all is not None:
            return self.of_all
        own = _as_numbers(self.shares.metric(self.policy, self.name))
        low, high = self.query.lo, self.query.hi
        slope = max(_steepest(self.query, own), (high - low) * max(self._leaving(), self._missing(own)))
        return plan(
            Percentile(self.p, low, high, n=self.policy.most, nulls=True),
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
        if own.unit.kind not in ("nullable", "discrete", "unprotected"):
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
        found = histogram(source, universe, engine)
        check_records(found, self.policy)
        values = [self._line(value) for value in self.column.declared]
        by_value = found.counts.reshape(-1, len(self.column))[:, : len(values)]
        query = self.plan.query
        assert isinstance(query, Percentile)
        return [
            percentile_of_counts(query, values, np.where(inside, by_value, 0).sum(axis=0))
            for inside in self._inside(others)
        ]

    def _inside(self, others: Sequence[Column]) -> list[NDArray[np.bool_]]:
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

    >>> percentile_of_counts(Percentile(50, 0, 3), [0, 1, 2, 3], np.array([1, 1, 1, 0]))
    Fraction(1, 1)
    """
    upto = np.cumsum(counts)
    total = int(upto[-1])
    if not total:
        return query.middle
    before = min(math.floor(query.p * total / 100), total - 1)
    return Fraction(values[int(np.searchsorted(upto, before, side="right"))])


def _between_values(metric: Metric, query: Percentile) -> Metric:
    """The same metric where no value is missing, and without a cap that none of them reaches."""
    unit = metric.unit
    if unit.kind == "nullable":
        return _between_values(unit.arguments["base"] * metric.level, query)
    if unit.kind == "capped" and unit.arguments["base"].unit.kind == "absolute":
        base: Metric = unit.arguments["base"]
        cap: Level = unit.arguments["cap"]
        if base.level * (query.hi - query.lo) <= cap:
            return base * metric.level
    return metric


def _steepest(query: Percentile, metric: Metric) -> Fraction:
    """The most that it moves for each unit of distance while no record comes or goes; rounded up."""
    unit = metric.unit
    if unit.kind not in ("nullable", "capped"):
        return sensitivity(query, records(metric), absolute()).above
    within = _steepest(query, unit.arguments["base"])
    if unit.kind == "capped":
        within = max(within, (query.hi - query.lo) / Fraction(unit.arguments["cap"].enclose().lower))
    return within / Fraction(metric.level.enclose().lower)


def _cells_of(column: Column, values: Sequence[Any]) -> list[int]:
    """The place of the cell of each value."""
    assert isinstance(column, Integer | Date)
    starts = list(column.starts)
    places, place = [], 0
    for value in values:
        while place + 1 < len(starts) and starts[place + 1] <= value:
            place += 1
        places.append(place)
    return places


def _as_numbers(metric: Metric) -> Metric:
    """The same metric on numbers, where it is one on a line; days are numbers too."""
    unit = metric.unit
    if unit.kind in _ON_THE_LINE:
        return absolute() * metric.level
    if unit.kind == "nullable":
        return nullable(_as_numbers(unit.arguments["base"]), unit.arguments["diameter"]) * metric.level
    if unit.kind == "capped":
        return capped(_as_numbers(unit.arguments["base"]), unit.arguments["cap"]) * metric.level
    return metric
