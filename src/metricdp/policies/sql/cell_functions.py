"""Functions of one column of a policy: of its own values, or what a public table has for them.

A record's cell decides what the function is, so that to group by it, to compare it or to add it up tells nothing that
the cell would not: the promise is the column's.
"""

from __future__ import annotations

import bisect
import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, TooLargeError
from metricdp.policies.cells.listed import BooleanCells, CategoryCells, Cells
from metricdp.policies.cells.ordered import MOST_CELLS, DateCells, IntegerCells, OrderedCells, decimal_text
from metricdp.policies.sql.predicates import OneColumn
from metricdp.policies.sql.row_functions import Value

__all__ = ["CellBand", "CellCondition", "CellFunction"]

_NONE = "(none)"


@dataclass(frozen=True)
class CellFunction:
    """A function of the values of one column.

    Attributes:
        text: as it was asked; two functions of one question that agree in it and in the column are the same.
        column: the column.
        cells: its cells, as the policy has them.
        found: what the function is for each of these cells. It is None for values outside of those declared, of which
            nothing is known, and for missing ones what the function makes of null.

    >>> age = IntegerCells("age", (0, 29), width=5)
    >>> decade = CellFunction.of("floor(age / 10)", age, lambda age: age // 10)
    >>> decade.found, decade.cuts
    ((0, 0, 1, 1, 2, 2), (10, 20))
    >>> decade.values(IntegerCells("age", (0, 29), edges=(10, 20)))
    (0, 1, 2)
    """

    text: str
    column: str
    cells: Cells = field(compare=False, repr=False)
    found: tuple[Value, ...] = field(compare=False, repr=False)

    @classmethod
    def of(cls, text: str, cells: Cells, function: Callable[[Value], Value]) -> CellFunction:
        """The function of a column, computed for each of its values.

        Raises:
            ArgumentError: a cell of several values for which the function differs; or a column of numbers.
        """
        found = [_of_cell(text, cells, values, function) for values in _values(text, cells)]
        found += [None] * (len(cells) - len(found))
        code = cells.missing_code
        if code is not None and code >= len(cells.declared) and not cells.mixes_missing:
            found[code] = function(None)
        return cls(text, cells.name, cells, tuple(found))

    @cached_property
    def cuts(self) -> tuple[Any, ...]:
        """Where it changes, among the values of a column in order."""
        if not isinstance(self.cells, OrderedCells):
            return ()
        starts = self.cells.starts
        return tuple(start for k, start in enumerate(starts) if k and self.found[k] != self.found[k - 1])

    def values(self, cells: Cells) -> tuple[Value, ...]:
        """What it is for the cells of the same column, some of which may have been made one."""
        if not isinstance(cells, OrderedCells) or len(cells) == len(self.cells):
            return self.found
        assert isinstance(self.cells, OrderedCells)
        starts = list(self.cells.starts)
        places = [bisect.bisect_right(starts, start) - 1 for start in cells.starts]
        return tuple(self.found[place] for place in (*places, *range(len(starts), len(self.cells))))


def _values(text: str, cells: Cells) -> list[Sequence[Value]]:
    """The values of each declared cell."""
    if isinstance(cells, CategoryCells):
        return [[value] for value in cells.values]
    if isinstance(cells, BooleanCells):
        return [[False], [True]]
    if isinstance(cells, IntegerCells):
        if cells.bounds[1] - cells.bounds[0] >= MOST_CELLS:
            raise TooLargeError(f"{text}: column {cells.name!r} has more than {MOST_CELLS:,} values to compute it for")
        return [range(one.first, one.last + 1) for one in cells.intervals]
    if isinstance(cells, DateCells):
        return [
            [one.first + dt.timedelta(days=k) for k in range((one.last - one.first).days + 1)]
            for one in cells.intervals
        ]
    raise ArgumentError(
        f"{text}: column {cells.name!r} holds numbers of any size, of which no functions are known: compare the column "
        "itself with numbers, or group by case when x < 10 then 'low' else 'high' end"
    )


def _of_cell(text: str, cells: Cells, values: Sequence[Value], function: Callable[[Value], Value]) -> Value:
    first = function(values[0])
    if any(function(value) != first for value in values[1:]):
        raise ArgumentError(
            f"{text}: the policy counts {cells.name!r} by cells of several values, in which this is not the same: ask "
            "for what is the same in each of them, or let the policy count it more finely (count_by)"
        )
    return first


@dataclass(frozen=True)
class CellCondition(OneColumn):
    """Whether a function of one column's values is true."""

    function: CellFunction

    def decide(self, column: Cells) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Where it is true and where it is false; elsewhere it is unknown."""
        found = self.function.values(column)
        if any(value is not None and not isinstance(value, bool) for value in found):
            raise ArgumentError(f"{self.function.text}: this is no condition: compare it with a value")
        return np.array([value is True for value in found]), np.array([value is False for value in found])

    def __repr__(self) -> str:
        return f"[{self.function.text}]"


@dataclass(frozen=True)
class CellBand:
    """A column to group by that is a function of one column of the policy.

    Attributes:
        name: what it is called.
        function: which it is.

    >>> age = IntegerCells("age", (0, 29), width=10)
    >>> band = CellBand("decade", CellFunction.of("floor(age / 10)", age, lambda age: age // 10))
    >>> band.labels, band.codes([age]).tolist()
    (('0', '1', '2'), [0, 1, 2])
    """

    name: str
    function: CellFunction

    @cached_property
    def _ranked(self) -> tuple[Value, ...]:
        there = {value for value in self.function.found if value is not None}
        in_order = sorted(
            there, key=lambda value: (type(value).__name__ if isinstance(value, str | dt.date) else "", value)
        )
        return (*in_order, *([None] if None in self.function.found else []))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Its groups, in the order of their values."""
        labels = tuple(self._label(value) for value in self._ranked)
        if len(set(labels)) < len(labels):
            raise ArgumentError(f"group by {self.function.text}: two groups would have one name")
        return labels

    def _label(self, value: Value) -> str:
        if value is None:
            return _NONE
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Fraction) and 10**60 % value.denominator:
            raise ArgumentError(
                f"group by {self.function.text}: this has no end of decimals: write floor(..) or round(..)"
            )
        return decimal_text(value) if isinstance(value, int | Fraction) else str(value)

    def codes(self, columns: Sequence[Cells]) -> NDArray[np.int64]:
        """The place of the label for each combination of the columns' cells."""
        shape = tuple(len(column) for column in columns)
        axis = next(place for place, column in enumerate(columns) if column.name == self.function.column)
        places = {value: place for place, value in enumerate(self._ranked)}
        along = [1] * len(shape)
        along[axis] = shape[axis]
        own = np.array([places[value] for value in self.function.values(columns[axis])], dtype=np.int64)
        return np.broadcast_to(own.reshape(along), shape).ravel()
