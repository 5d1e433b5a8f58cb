"""What a question divides the records into: its groups, and who is left out; from the policy alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, TooLargeError
from metricdp.metrics import Metric
from metricdp.policies.askable import Askable
from metricdp.policies.cells.cell_metrics import metric_on_cells
from metricdp.policies.cells.listed import Cells
from metricdp.policies.sql.predicates import true_cells
from metricdp.policies.sql.statements import Select
from metricdp.queries.universes.universe import Universe

__all__ = ["MOST_GROUPED", "MOST_KINDS", "Division", "Shares", "check_kinds", "metric_of_cells"]

MOST_KINDS = 4_000
"""More kinds of records than this are not told apart by one question: all pairs of them are looked at."""

MOST_GROUPED = 1_000_000
"""More kinds of records than this are not told apart even where answers are totals by group."""


@dataclass(frozen=True)
class Shares:
    """What part of the policy's metric one part of a question may spend.

    Attributes:
        columns: the part of each column's metric.
        absent: the part of the distance of an absent record.
    """

    columns: dict[str, Fraction]
    absent: Fraction

    def metric(self, policy: Askable, name: str) -> Metric:
        """The part of a column's metric."""
        share = self.columns[name]
        return policy.metric(name) if share == 1 else policy.metric(name) * share


@dataclass(frozen=True, eq=False)
class Division:
    """The records by the columns of the condition and of the groups.

    Attributes:
        columns: those of the condition and of the groups, in the order of the policy; those of the condition alone
            have no more cells than it tells apart.
        labels: of the groups that the condition leaves, in the order of the policy's cells; one without names where
            there are no columns to group by.
        group: for each cell of these columns the place of its group, or -1 where the condition leaves it out.
        only: for conditions of single aggregates, by their text, the cells where they hold.
    """

    columns: tuple[Cells, ...]
    labels: tuple[tuple[str, ...], ...]
    group: NDArray[np.int64]
    only: dict[str, NDArray[np.bool_]]

    @classmethod
    def of(cls, select: Select, policy: Askable) -> Division:
        """The division that a question makes."""
        known = {column.name: column for column in select.conditions}
        plain = [name for name in select.groups if name not in select.bands]
        known |= {name: policy.column(name) for name in plain}
        columns = tuple(known[name] for name in policy.names if name in known)
        if not columns:
            return cls((), ((),), np.zeros(1, dtype=np.int64), {})
        check_kinds((len(column) for column in columns), MOST_GROUPED)
        universe = Universe(columns)
        inside = true_cells(columns, select.where)
        places = np.indices(universe.shape).reshape(len(columns), -1)
        place = np.zeros(len(universe), dtype=np.int64)
        names: list[tuple[str, ...]] = []
        for name in select.groups:
            band = select.bands.get(name)
            own = policy.column(name).labels if band is None else band.labels
            codes = places[columns.index(known[name])] if band is None else band.codes(columns)
            place = place * len(own) + codes
            names.append(own)
        labels = list(itertools.product(*names))
        left = np.unique(place[inside]).tolist()
        if not left:
            raise ArgumentError("no record can satisfy the condition, so there is nothing to ask")
        renumbered = np.full(len(labels), -1, dtype=np.int64)
        renumbered[left] = np.arange(len(left))
        only = {repr(one.only): true_cells(columns, one.only) for one in select.aggregates if one.only is not None}
        return cls(columns, tuple(labels[old] for old in left), np.where(inside, renumbered[place], -1), only)

    def inside(self, group: int, only: str | None = None) -> NDArray[np.bool_]:
        """The cells of a group, or of those of it that a condition of an aggregate leaves."""
        cells: NDArray[np.bool_] = self.group == group
        return cells if only is None else cells & self.only[only]

    def spread(self, name: str, values: Sequence[Any]) -> NDArray[Any]:
        """Something that one column's cells have, for each cell of all of them."""
        axis, along = self.names.index(name), [1] * len(self.shape)
        along[axis] = self.shape[axis]
        own = np.empty(len(values), dtype=object)
        own[:] = values
        return np.broadcast_to(own.reshape(along), self.shape).ravel()

    def told_apart(self, name: str, metric: Metric, *more: Sequence[Any]) -> list[int]:
        """Cells of a column that stand for all of it, where noise is planned.

        Where any two values are equally far apart, cells that are in the same groups and conditions, whatever the other
        columns are, stand for each other: two records that differ in these alone have the same answers, and one of them
        is as far from any other record as the other is. Missing values and those outside stand for themselves.

        Args:
            name: the column.
            metric: how far apart two of its values are.
            more: what else is told of each of its cells, such as what it adds to a sum.
        """
        axis = self.names.index(name)
        column = self.columns[axis]
        if not metric.without_null().all_alike:
            return list(range(len(column)))
        known = [self.group, *self.only.values()]
        rows = [np.moveaxis(one.reshape(self.shape), axis, 0).reshape(len(column), -1) for one in known]
        rows += [np.unique(np.array(values, dtype=object), return_inverse=True)[1].reshape(-1, 1) for values in more]
        itself = np.where(np.arange(len(column)) < len(column.declared), -1, np.arange(len(column)))
        for code in (column.missing_code, column.other_code):  # also where they share the cell of a declared value
            if code is not None:
                itself[code] = code
        _, first = np.unique(np.hstack([*rows, itself.reshape(-1, 1)]).astype(np.int64), axis=0, return_index=True)
        return sorted(first.tolist())

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells of each column."""
        return tuple(len(column) for column in self.columns)

    def cells_of(self, group: int, only: str | None = None) -> NDArray[np.int64]:
        """The places of the cells of a group, or of those of it that a condition of an aggregate leaves."""
        order, ends = self._by_group
        cells = order[ends[group] : ends[group + 1]]
        return cells if only is None else cells[self.only[only][cells]]

    @cached_property
    def _by_group(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.group, kind="stable")
        return order, np.searchsorted(self.group[order], np.arange(len(self.labels) + 1))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)


def check_kinds(lengths: Iterable[int], most: int = MOST_KINDS) -> None:
    """Refuse a question that tells too many kinds of records apart."""
    kinds = math.prod(lengths)
    if kinds > most:
        raise TooLargeError(
            f"this question tells {kinds:,} kinds of records apart, and {most:,} is the most: ask about fewer "
            "columns at once, or declare wider cells (edges or width)"
        )


def metric_of_cells(column: Cells, metric: Metric) -> Metric:
    """The metric between a column's cells: as far apart as their nearest values."""
    return metric_on_cells([column], metric, "values")
