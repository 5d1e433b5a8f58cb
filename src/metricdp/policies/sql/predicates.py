"""Predicates on columns, decided exactly for every cell, or refused where a cell is cut in two."""

from __future__ import annotations

import datetime as dt
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, PolicyError
from metricdp.exact.level import rational
from metricdp.policies.cells.listed import BooleanCells, CategoryCells, Cells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, Interval, JustAfter, NumberCells, OrderedCells

__all__ = ["NamedColumn", "OneColumn", "Predicate", "any_of", "col", "compared_values", "true_cells"]

Mask = NDArray[np.bool_]
Comparison = Literal["==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class CellTruth:
    """Where a predicate holds and where it does not; where neither, it is unknown, as NULL makes it in SQL."""

    holds: Mask
    fails: Mask


class Predicate(ABC):
    """A condition on a record: made by `col`, combined with ``&``, ``|`` and ``~``.

    A comparison with a missing value is unknown, as in SQL, and so is one with a value outside the declared cells,
    where nothing is known of it. What is unknown is not counted, nor is its negation.
    """

    @abstractmethod
    def truth(self, columns: Sequence[Cells]) -> CellTruth:
        """Where it holds among all combinations of the columns' cells, the last column's changing fastest."""

    def __and__(self, other: Predicate) -> Predicate:
        return _Both(self, _predicate(other))

    def __or__(self, other: Predicate) -> Predicate:
        return ~_Both(~self, ~_predicate(other))

    def __invert__(self) -> Predicate:
        return _Not(self)

    def __bool__(self) -> bool:
        raise ArgumentError(
            "conditions are combined with &, | and ~, each in parentheses; not with and, or, not, a < b < c"
        )


def true_cells(columns: Sequence[Cells], predicate: Predicate | None) -> Mask:
    """The combinations of the columns' cells where a predicate holds; all of them, where there is none.

    >>> from metricdp.policies.cells.ordered import IntegerCells
    >>> age = IntegerCells("age", (0, 59), width=20)
    >>> true_cells([age], col("age") >= 20).tolist()
    [False, True, True]
    >>> true_cells([age], col("age") >= 30)
    Traceback (most recent call last):
    metricdp.errors.ArgumentError: column 'age': age >= 30 cuts the cell 20..39, of which only the whole is counted; ...
    """
    if predicate is None:
        return np.ones(math.prod(len(column) for column in columns), dtype=np.bool_)
    return _predicate(predicate).truth(columns).holds


def compared_values(predicate: Predicate | None) -> dict[str, list[Any]]:
    """What each column is compared with, anywhere in a predicate.

    >>> compared_values((col("age") >= 18) & ~((col("age") < 65) | (col("sex") == "F")))
    {'age': [18, 65], 'sex': ['F']}
    """
    found: dict[str, list[Any]] = {}
    if isinstance(predicate, _Not):
        return compared_values(predicate.inner)
    if isinstance(predicate, _Both | _Any):
        for part in (predicate.one, predicate.two) if isinstance(predicate, _Both) else predicate.parts:
            for name, values in compared_values(part).items():
                found.setdefault(name, []).extend(values)
    elif isinstance(predicate, OneColumn):
        found[predicate.name] = [predicate.value] if isinstance(predicate, _Compared) else []
    return found


@dataclass(frozen=True)
class _Not(Predicate):
    inner: Predicate

    def truth(self, columns: Sequence[Cells]) -> CellTruth:
        inner = self.inner.truth(columns)
        return CellTruth(inner.fails, inner.holds)

    def __repr__(self) -> str:
        if isinstance(self.inner, _Both) and isinstance(self.inner.one, _Not) and isinstance(self.inner.two, _Not):
            return f"({self.inner.one.inner!r} | {self.inner.two.inner!r})"
        return repr(self.inner.inner) if isinstance(self.inner, _Not) else f"~({self.inner!r})"


@dataclass(frozen=True)
class _Both(Predicate):
    one: Predicate
    two: Predicate

    def truth(self, columns: Sequence[Cells]) -> CellTruth:
        one, two = self.one.truth(columns), self.two.truth(columns)
        return CellTruth(one.holds & two.holds, one.fails | two.fails)

    def __repr__(self) -> str:
        return f"({self.one!r} & {self.two!r})"


@dataclass(frozen=True)
class _Any(Predicate):
    """At least one of many holds; as long a list as you like."""

    parts: tuple[Predicate, ...]

    def truth(self, columns: Sequence[Cells]) -> CellTruth:
        found = self.parts[0].truth(columns)
        holds, fails = found.holds.copy(), found.fails.copy()
        for part in self.parts[1:]:
            more = part.truth(columns)
            holds |= more.holds
            fails &= more.fails
        return CellTruth(holds, fails)

    def __repr__(self) -> str:
        return f"({' | '.join(map(repr, self.parts))})"


def any_of(parts: Sequence[Predicate]) -> Predicate:
    """Whether at least one of the conditions holds.

    >>> any_of([col("age") < 18, col("age") > 65])
    (age < 18 | age > 65)
    """
    return parts[0] if len(parts) == 1 else _Any(tuple(parts))


@dataclass(frozen=True)
class OneColumn(Predicate):
    """A condition on one column, decided for its cells and spread over the universe's."""

    name: str

    @abstractmethod
    def decide(self, column: Cells) -> tuple[Mask, Mask]:
        """Where it holds and fails among the column's cells."""

    def truth(self, columns: Sequence[Cells]) -> CellTruth:
        """Where it holds among all combinations of the columns' cells."""
        axis = next((place for place, column in enumerate(columns) if column.name == self.name), None)
        if axis is None:
            known = ", ".join(column.name for column in columns)
            raise ArgumentError(f"there is no column {self.name!r} here; there are {known}")
        column, shape = columns[axis], tuple(len(column) for column in columns)
        along = [1] * len(shape)
        along[axis] = shape[axis]
        holds, fails = (np.broadcast_to(mask.reshape(along), shape).ravel() for mask in self.decide(column))
        return CellTruth(holds, fails)


@dataclass(frozen=True)
class _Compared(OneColumn):
    sign: Comparison
    value: Any

    def decide(self, column: Cells) -> tuple[Mask, Mask]:
        if isinstance(column, OrderedCells):
            return self._in_order(column)
        if self.sign not in ("==", "!="):
            raise ArgumentError(f"column {self.name!r} has no order: compare with =, <> or a list of values (in, isin)")
        place = _place(column, self.value)
        equal = np.zeros(len(column), dtype=np.bool_)
        equal[place] = True
        known = _known(column, outside=True)
        holds, fails = equal & known, ~equal & known
        return (holds, fails) if self.sign == "==" else (fails, holds)

    def _in_order(self, column: OrderedCells) -> tuple[Mask, Mask]:
        value = _asked(column, self.value)
        sign, turned = _OPPOSITE.get(self.sign, (self.sign, False))
        holds, fails = np.zeros(len(column), dtype=np.bool_), np.zeros(len(column), dtype=np.bool_)
        never = sign == "==" and isinstance(column, IntegerCells) and value.denominator != 1
        for place, cell in enumerate(column.intervals):
            answer = False if never else _answers(sign, cell, value)
            if answer is None:
                raise ArgumentError(
                    f"column {self.name!r}: {self!r} cuts the cell {column.labels[place]}, of which only the whole is "
                    f"counted; ask at an edge, or declare one there{_by_distance(column)}"
                )
            (holds if answer != turned else fails)[place] = True
        return holds, fails

    def __repr__(self) -> str:
        if isinstance(self.value, JustAfter):
            return f"{self.name} > {self.value.of}"
        value = repr(self.value)
        if isinstance(self.value, dt.date | Decimal):
            value = self.value.isoformat() if isinstance(self.value, dt.date) else str(self.value)
        return f"{self.name} {self.sign} {value}"


@dataclass(frozen=True)
class _Special(OneColumn):
    which: Literal["missing", "other"]

    def decide(self, column: Cells) -> tuple[Mask, Mask]:
        place = column.missing_code if self.which == "missing" else column.other_code
        holds = np.zeros(len(column), dtype=np.bool_)
        if place is not None:
            if place < len(column.declared) or column.mixes_missing:
                raise ArgumentError(f"column {self.name!r}: the cell {column.labels[place]!r} holds others too")
            holds[place] = True
        return holds, ~holds

    def __repr__(self) -> str:
        return f"{self.name} is {self.which}"


@dataclass(frozen=True, eq=False)
class NamedColumn:
    """A column in a predicate; see `col`.

    Attributes:
        name: the column's name.
    """

    name: str

    def __eq__(self, value: object) -> Predicate:  # type: ignore[override]
        return self._compared("==", value)

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override]
        return self._compared("!=", value)

    def __lt__(self, value: Any) -> Predicate:
        return self._compared("<", value)

    def __le__(self, value: Any) -> Predicate:
        return self._compared("<=", value)

    def __gt__(self, value: Any) -> Predicate:
        return self._compared(">", value)

    def __ge__(self, value: Any) -> Predicate:
        return self._compared(">=", value)

    __hash__ = None  # type: ignore[assignment]

    def between(self, least: Any, greatest: Any) -> Predicate:
        """From the least to the greatest, both included."""
        return self._compared(">=", least) & self._compared("<=", greatest)

    def isin(self, values: Iterable[Any]) -> Predicate:
        """Any of the values."""
        listed = [self._compared("==", value) for value in values]
        if not listed:
            raise ArgumentError("isin takes at least one value")
        return any_of(listed)

    def is_missing(self) -> Predicate:
        """Whether there is no value."""
        return _Special(self.name, "missing")

    def is_other(self) -> Predicate:
        """Whether the value lies outside the declared cells."""
        return _Special(self.name, "other")

    def _compared(self, sign: Comparison, value: Any) -> Predicate:
        if value is None:
            raise ArgumentError(f"nothing equals a missing value: use col({self.name!r}).is_missing()")
        if isinstance(value, NamedColumn | Predicate):
            raise ArgumentError("a column is compared with a value, not with another column")
        return _Compared(self.name, sign, value)


def col(name: str) -> NamedColumn:
    """A column, to compare with values: ``col("age") >= 40``, ``(col("sex") == "F") & ~col("native").is_missing()``.

    >>> (col("sex") == "F") & (col("age") < 40)
    (sex == 'F' & age < 40)
    """
    if not isinstance(name, str):
        raise ArgumentError(f"a column's name is text, not {type(name).__name__}")
    return NamedColumn(name)


_OPPOSITE: dict[Comparison, tuple[Comparison, bool]] = {"<": (">=", True), "<=": (">", True), "!=": ("==", True)}


def _answers(sign: Comparison, cell: Interval, value: Any) -> bool | None:
    """Whether all values of a cell compare so, or none does; None where some do."""
    before = cell.last < value or (cell.last == value and not cell.closed)  # all values below the one asked
    if sign == ">=":
        return True if cell.first >= value else False if before else None
    if sign == ">":
        return True if cell.first > value else False if cell.last <= value else None
    if cell.first > value or before:
        return False
    return True if cell.first == cell.last else None


def _by_distance(column: OrderedCells) -> str:
    if not isinstance(column, NumberCells) or column.edges:
        return ""
    return (
        "; numbers that are protected by distance are not cut: ask for percentiles, sums and averages, or declare "
        'metric = "1 discrete", or integers'
    )


def _asked(column: OrderedCells, value: Any) -> Any:
    """The value of a question: a day, or a number exactly as written, which need not be one of the column's."""
    if isinstance(column, DateCells):
        try:
            return column.value(value)
        except PolicyError:
            raise ArgumentError(f"column {column.name!r} is compared with days, such as 2024-01-31") from None
    if isinstance(value, bool) or (not isinstance(value, int | float | str) and not hasattr(value, "as_integer_ratio")):
        raise ArgumentError(f"column {column.name!r} is compared with numbers, not with {type(value).__name__}")
    try:
        return rational(repr(value) if type(value) is float else value, "value")
    except ValueError:
        raise ArgumentError(f"column {column.name!r} is compared with finite numbers, such as 12 or 0.5") from None


def _place(column: Cells, value: Any) -> int:
    if isinstance(column, BooleanCells):
        if isinstance(value, bool | np.bool_):
            return int(value)
        raise ArgumentError(f"column {column.name!r} is compared with True or False")
    assert isinstance(column, CategoryCells)
    plain = value.item() if isinstance(value, np.generic) else value
    if type(plain) is not type(column.values[0]) or plain not in column.values:
        listed = ", ".join(map(repr, column.values[:10])) + (", .." if len(column.values) > 10 else "")
        raise ArgumentError(f"column {column.name!r}: {value!r} is none of its values, which are {listed}")
    return column.values.index(plain)


def _known(column: Cells, outside: bool) -> Mask:
    """The cells of which something is known: all but the missing, and but those outside where that is not enough."""
    known = np.ones(len(column), dtype=np.bool_)
    for place, known_there in ((column.missing_code, False), (column.other_code, outside)):
        if place is not None and place >= len(column.declared) and not known_there:
            known[place] = False
    return known


def _predicate(value: Any) -> Predicate:
    if not isinstance(value, Predicate):
        raise ArgumentError(f"a condition such as col('age') >= 40 is wanted, not {type(value).__name__}")
    return value
