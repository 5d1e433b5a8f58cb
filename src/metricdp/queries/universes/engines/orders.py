"""How values of a table compare with those that the cells declare, in SQL, exactly the same in each engine.

Text is compared by its bytes, decimals and integers with literals of their own type, floats with the nearest float, and
moments with the first moment of a day.
"""

from __future__ import annotations

import datetime as dt
import math
import zoneinfo
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import ColumnError, KindError
from metricdp.policies.cells.listed import CategoryCells, Cells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, OrderedCells, decimal_text
from metricdp.sources.engines.sql import SqlDialect, SqlTable, SqlType

__all__ = ["Decimals", "Floats", "Numbers", "Order", "cases", "column_of", "numbers", "order_of", "wrong_type"]


def column_of(table: SqlTable, name: str) -> str:
    """A column of the table, which queries call ``source``."""
    return f"source.{table.dialect.quoted(name)}"


def cases(*branches: tuple[str, Any], otherwise: Any) -> str:
    """The value of the first condition that is true."""
    written = " ".join(f"when {condition} then {value}" for condition, value in branches)
    return f"case {written} else {otherwise} end"


class Order(ABC):
    """How the values of a column compare with those that its cells declare.

    Args:
        values: the column, as an expression.
        kind: what it holds.
        dialect: of its engine.
    """

    def __init__(self, values: str, kind: SqlType, dialect: SqlDialect) -> None:
        self.values, self.kind, self.dialect = values, kind, dialect

    @abstractmethod
    def at_least(self, value: Any) -> str:
        """Whether a row's value is this one or above."""

    @abstractmethod
    def at_most(self, value: Any) -> str:
        """Whether a row's value is this one or below."""

    def equals(self, value: Any) -> str:
        """Whether a row's value is this one."""
        return f"({self.at_least(value)} and {self.at_most(value)})"

    def is_number(self) -> str | None:
        """Whether it is anything but NaN; None where it cannot be NaN."""
        return None

    def is_whole(self) -> str | None:
        """Whether it is an integer; None where it cannot be anything else."""
        return None

    def after(self, low: Any) -> str | None:
        """How many integers or days a value is after the lower bound; None where that takes more than a difference."""
        return None


def order_of(column: Cells, table: SqlTable, values: str | None = None) -> Order:
    """How a column's values compare; or those given, which are its values or their bytes."""
    kind, name = table.type(column.name), column_of(table, column.name)
    if isinstance(column, CategoryCells) and isinstance(column.values[0], str):
        if kind.kind != "text":
            raise wrong_type(column.name, kind, "text")
        return _Bytes(table.dialect.text_bytes(name) if values is None else values, kind, table.dialect)
    if isinstance(column, DateCells):
        return _days(column, name, kind, table.dialect)
    wanted = "numbers" if isinstance(column, OrderedCells) and not isinstance(column, IntegerCells) else "integers"
    order = numbers(column.name, name if values is None else values, kind, table.dialect, wanted)
    if isinstance(order, Floats) and wanted == "integers":
        listed = column.values if isinstance(column, CategoryCells) else column.declared
        if max(map(abs, (*listed, *getattr(column, "bounds", ())))) > order.integers:
            bits = 24 if kind.narrow else 53
            rule = f"its floats do not hold all integers beyond 2^{bits}: make it a column of integers or decimals"
            raise ColumnError(column.name, KindError(rule))
    return order


def numbers(name: str, values: str, kind: SqlType, dialect: SqlDialect, wanted: str) -> Numbers:
    """How numbers of the column's type compare with exact ones."""
    orders: dict[str, type[Numbers]] = {"integer": _Integers, "float": Floats, "decimal": Decimals}
    if kind.kind not in orders:
        raise wrong_type(name, kind, wanted)
    return orders[kind.kind](values, kind, dialect)


def wrong_type(name: str, kind: SqlType, wanted: str) -> ColumnError:
    """What is said of a column of another type."""
    fitting = _FITTING.get(kind.kind)
    cure = "" if fitting is None else f': type = "{fitting}" would fit'
    return ColumnError(name, KindError(f"the table has {kind.words} here, where the policy declares {wanted}{cure}"))


_FITTING = {
    "text": "category",
    "boolean": "boolean",
    "integer": "integer",
    "float": "number",
    "decimal": "number",
    "date": "date",
    "moment": "date",
    "instant": "date",
}
"""The type of a policy for what a column holds."""


class _Bytes(Order):
    def at_least(self, value: bytes) -> str:
        return f"{self.values} >= {self.dialect.bytes_literal(value)}"

    def at_most(self, value: bytes) -> str:
        return f"{self.values} <= {self.dialect.bytes_literal(value)}"

    def equals(self, value: bytes) -> str:
        return f"{self.values} = {self.dialect.bytes_literal(value)}"


class Numbers(Order):
    """Numbers, of which some are integers of 64 bits."""

    integers = 1 << 63
    """Up to here, all integers are held."""

    def as_integer(self) -> str:
        """The value as an integer, where it is one of 64 bits."""
        return f"cast({self.values} as bigint)"

    def after(self, low: int) -> str | None:
        """A difference."""
        return f"({self.as_integer()} - ({low}))"


class _Integers(Numbers):
    def at_least(self, value: int | Fraction) -> str:
        least, (lower, upper) = math.ceil(value), self.kind.bounds
        if least > upper:
            return "false"
        return "true" if least <= lower else f"{self.values} >= {least}"

    def at_most(self, value: int | Fraction) -> str:
        greatest, (lower, upper) = math.floor(value), self.kind.bounds
        if greatest < lower:
            return "false"
        return "true" if greatest >= upper else f"{self.values} <= {greatest}"


class Floats(Numbers):
    """Compared with the nearest floats of the column's own width, all as floats of 64 bits."""

    def __init__(self, values: str, kind: SqlType, dialect: SqlDialect) -> None:
        super().__init__(f"cast({values} as {dialect.float64})", kind, dialect)
        self.integers = 1 << (24 if kind.narrow else 53)

    def _literal(self, value: Any) -> str:
        nearest = float(np.float32(float(value)) if self.kind.narrow else float(value))
        return f"cast('{nearest!r}' as {self.dialect.float64})"  # each engine reads text to the nearest float

    def at_least(self, value: int | Fraction) -> str:
        """Whether a row's value is this one or above."""
        return f"{self.values} >= {self._literal(value)}"

    def at_most(self, value: int | Fraction) -> str:
        """Whether a row's value is this one or below."""
        return f"{self.values} <= {self._literal(value)}"

    def is_number(self) -> str:
        """Whether it is anything but NaN."""
        return f"not {self.dialect.is_not_a_number(self.values)}"

    def is_whole(self) -> str:
        """Whether it is an integer."""
        return f"{self.values} = {self.dialect.rounded(self.values)}"


class Decimals(Numbers):
    """Compared with decimals of the column's own places, rounded to the side that changes nothing."""

    @property
    def _type(self) -> str:
        fixed = self.kind.precision is not None and self.kind.scale is not None
        return f"decimal({self.kind.precision}, {self.kind.scale})" if fixed else "decimal"

    def _literal(self, number: int | Fraction) -> str:
        return f"cast('{decimal_text(number)}' as {self._type})"

    def _compared(self, value: int | Fraction, sign: str) -> str:
        """The comparison, or the answer for all values where the column's type does not hold the literal."""
        if self.kind.scale is None:
            return f"{self.values} {sign} {self._literal(value)}"
        unit, up = 10**self.kind.scale, sign == ">="
        steps = (math.ceil if up else math.floor)(Fraction(value) * unit)
        if self.kind.precision is not None and abs(steps) >= 10**self.kind.precision:
            return "true" if (steps < 0) == up else "false"
        return f"{self.values} {sign} {self._literal(Fraction(steps, unit))}"

    def at_least(self, value: int | Fraction) -> str:
        """Whether a row's value is this one or above."""
        return self._compared(value, ">=")

    def at_most(self, value: int | Fraction) -> str:
        """Whether a row's value is this one or below."""
        return f"({self._compared(value, '<=')} and {self.is_number()})"

    def is_number(self) -> str:
        """Whether it is anything but NaN, which PostgreSQL's decimals may be, and take for the greatest number."""
        if self.kind.scale is None or self.kind.precision is None:
            return f"{self.values} < cast('NaN' as decimal)"
        return f"{self.values} <= {self._literal(Fraction(10**self.kind.precision - 1, 10**self.kind.scale))}"

    def is_whole(self) -> str | None:
        """Whether it is an integer; its size, rounded down, stays within its type."""
        if self.kind.scale == 0:
            return None
        return f"abs({self.values}) = cast(floor(abs({self.values})) as {self._type})"


def _days(column: DateCells, values: str, kind: SqlType, dialect: SqlDialect) -> Order:
    if kind.kind == "date":
        return _Days(values, kind, dialect)
    if kind.kind == "moment":
        days = None if kind.fine else _Days(f"cast({values} as date)", kind, dialect)  # DuckDB rounds nanoseconds
        return _Moments(values, kind, dialect, lambda day: dialect.moment(dt.datetime.combine(day, dt.time())), days)
    if kind.kind != "instant":
        raise wrong_type(column.name, kind, "dates or moments")
    if column.zone is None:
        rule = "its moments have a time zone: declare zone = 'Europe/Paris', or whose days are meant"
        raise ColumnError(column.name, KindError(rule))
    zone = zoneinfo.ZoneInfo(column.zone)

    def midnight(day: dt.date) -> str:
        return dialect.instant(dt.datetime.combine(day, dt.time(), zone).astimezone(dt.UTC))

    return _Moments(values, kind, dialect, midnight, None)


class _Days(Order):
    def after(self, low: dt.date) -> str:
        return self.dialect.days_after(self.values, low)

    def at_least(self, value: dt.date) -> str:
        return f"{self.values} >= {self.dialect.day(value)}"

    def at_most(self, value: dt.date) -> str:
        return f"{self.values} <= {self.dialect.day(value)}"


class _Moments(Order):
    """Moments, each of which belongs to the day whose first moment is the last before it."""

    def __init__(
        self, values: str, kind: SqlType, dialect: SqlDialect, midnight: Callable[[dt.date], str], days: _Days | None
    ) -> None:
        super().__init__(values, kind, dialect)
        self.midnight, self.days = midnight, days

    def at_least(self, value: dt.date) -> str:
        return f"{self.values} >= {self.midnight(value)}"

    def at_most(self, value: dt.date) -> str:
        return f"{self.values} < {self.midnight(value + dt.timedelta(days=1))}"

    def after(self, low: dt.date) -> str | None:
        return None if self.days is None else self.days.after(low)
