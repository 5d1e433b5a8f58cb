"""The place of a value's cell as an expression that the engine computes, exactly the same in each.

Text is compared by its bytes, decimals and integers with literals of their own type, floats with the nearest float, and
moments with the first moment of a day. NaN, which engines take for the largest number, lies outside every cell. Cells
of one width are found by division of integers, others by bisection: a thousand of them take ten comparisons. A long
list of values is compared with each different value of the table once.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import zoneinfo
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import ColumnError, KindError
from metricdp.queries.universes.columns import Boolean, Category, Column
from metricdp.queries.universes.engines.dialects import Dialect, load_ibis
from metricdp.queries.universes.intervals import Date, Integer, Ordered, decimal_text

__all__ = ["MISSING", "OUTSIDE", "cell_code", "looked_up", "numbers"]

OUTSIDE = -1
"""In place of a cell: a value outside, where no cell was declared for it."""

MISSING = -2
"""In place of a cell: a missing value, where no cell was declared for it."""

_FLOAT_INTEGERS = 1 << 53

_SHORT_LIST = 16
"""Values that every row is compared with. Engines that work on vectors of rows take long over more branches."""


def looked_up(columns: Sequence[Column], table: Any, dialect: Dialect) -> Any:
    """The table with the places of values of long lists beside them, each found once for all rows that have it."""
    for column in columns:
        if isinstance(column, Category) and len(column.values) > _SHORT_LIST:
            key, found = _beside(column, "key"), _beside(column, "code")
            order = _order(column, table, dialect)
            table = table.mutate(**{key: order.values})
            keys = table.select(key).distinct()
            outside = OUTSIDE if column.other_code is None else column.other_code
            order = _order(column, keys, dialect, values=keys[key])
            places = keys.select(**{f"{key}_2": keys[key], found: _listed(column, order, outside)})
            table = table.left_join(places, table[key] == places[f"{key}_2"])
    return table


def _beside(column: Column, what: str) -> str:
    return f"__metricdp_{what}_{column.name}"


def cell_code(column: Column, table: Any, dialect: Dialect) -> Any:
    """The place of the cell of a column's value, as an expression on the table's rows."""
    ibis = load_ibis()
    values = table[column.name]
    outside = OUTSIDE if column.other_code is None else column.other_code
    missing = MISSING if column.missing_code is None else column.missing_code
    if isinstance(column, Boolean):
        if not values.type().is_boolean():
            raise _wrong_type(column.name, values, "booleans")
        found = ibis.cases((values, 1), else_=0)
    elif isinstance(column, Category):
        if len(column.values) > _SHORT_LIST:
            found = ibis.coalesce(table[_beside(column, "code")], outside)  # NaN may equal nothing, not even itself
        else:
            found = _listed(column, _order(column, table, dialect), outside)
    else:
        assert isinstance(column, Ordered)
        found = _in_bounds(column, _order(column, table, dialect), outside)
    return ibis.cases((dialect.is_null(values), missing), else_=found).cast("int32")


def _listed(column: Category, order: _Order, outside: int) -> Any:
    """The place of the value that is equal to one of the list, found by bisection of the sorted list."""
    ibis = load_ibis()
    keys = [value.encode() if isinstance(value, str) else value for value in column.values]
    places = sorted(range(len(keys)), key=keys.__getitem__)

    def leaf(rank: int) -> Any:
        place = places[rank]
        return ibis.cases((order.equals(keys[place]), place), else_=outside)

    return _bisected([keys[place] for place in places], order.at_least, leaf)


def _in_bounds(column: Ordered, order: _Order, outside: int) -> Any:
    """The place of the last cell that begins at or before the value, which is known to be a number or a day."""
    ibis = load_ibis()
    low, high = column.bounds
    width = _width(column)
    after = None if width is None else order.after(low)
    if after is not None:
        inside = after if width == 1 else ((after - after % width) / width).cast("int64")  # exact, below 2^53
    else:
        inside = _bisected(column.starts, order.at_least, ibis.literal)
    if isinstance(column, Integer):
        whole = order.is_whole()
        inside = inside if whole is None else ibis.cases((whole, inside), else_=outside)
    cases = [(order.at_least(low) & order.at_most(high), inside)]
    if column.outside == "clamp":
        cases += [(~order.at_least(low), 0), (order.is_number(), len(column.starts) - 1)]
    return ibis.cases(*cases, else_=outside)


def _bisected(starts: Sequence[Any], at_least: Callable[[Any], Any], leaf: Callable[[int], Any]) -> Any:
    ibis = load_ibis()

    def between(first: int, last: int) -> Any:
        if first == last:
            return leaf(first)
        middle = (first + last + 1) // 2
        return ibis.cases((at_least(starts[middle]), between(middle, last)), else_=between(first, middle - 1))

    return between(0, len(starts) - 1)


def _width(column: Ordered) -> int | None:
    """The common width of cells of integers or days; None where there is none, or too few of them to matter."""
    high = column.bounds[1]
    if not isinstance(column, Integer | Date) or len(column.starts) < 2:
        return None
    firsts = [start.toordinal() if isinstance(start, dt.date) else start for start in column.starts]
    widths = {two - one for one, two in itertools.pairwise(firsts)}
    last = high.toordinal() if isinstance(high, dt.date) else high
    fits = len(widths) == 1 and last - firsts[-1] < min(widths) and last - firsts[0] < _FLOAT_INTEGERS
    return widths.pop() if fits else None


class _Order(ABC):
    """How the values of a column compare with those that the universe declares."""

    @abstractmethod
    def at_least(self, value: Any) -> Any:
        """Whether a row's value is this one or above."""

    @abstractmethod
    def at_most(self, value: Any) -> Any:
        """Whether a row's value is this one or below."""

    def equals(self, value: Any) -> Any:
        """Whether a row's value is this one."""
        return self.at_least(value) & self.at_most(value)

    def is_number(self) -> Any:
        """Whether it is anything but NaN."""
        return load_ibis().literal(True)

    def is_whole(self) -> Any:
        """Whether it is an integer; None where it cannot be anything else."""
        return None

    def after(self, low: Any) -> Any:
        """How many integers or days a value is after the lower bound; None where that takes more than a difference."""
        return None


def _order(column: Column, table: Any, dialect: Dialect, values: Any = None) -> Any:
    """How a column's values compare; or those given, which are its values or their bytes."""
    values = table[column.name] if values is None else values
    if isinstance(column, Category) and isinstance(column.values[0], str):
        if values.type().is_binary():
            return _Bytes(values, dialect)
        if not values.type().is_string():
            raise _wrong_type(column.name, values, "text")
        return _Bytes(dialect.text_bytes(values), dialect)
    if isinstance(column, Date):
        return _days(column, table, dialect)
    wanted = "numbers" if isinstance(column, Ordered) and not isinstance(column, Integer) else "integers"
    order = numbers(column.name, values, dialect, wanted)
    if isinstance(order, _Floats) and wanted == "integers":
        listed = column.values if isinstance(column, Category) else column.declared
        if max(map(abs, (*listed, *getattr(column, "bounds", ())))) > order.integers:
            bits = 24 if order.narrow else 53
            rule = f"its floats do not hold all integers beyond 2^{bits}: make it a column of integers or decimals"
            raise ColumnError(column.name, KindError(rule))
    return order


def numbers(name: str, values: Any, dialect: Dialect, wanted: str) -> _Numbers:
    """How numbers of the column's type compare with exact ones."""
    kind = values.type()
    if kind.is_integer():
        return _Integers(values, dialect)
    if kind.is_floating():
        return _Floats(values, dialect)
    if kind.is_decimal():
        return _Decimals(values, dialect)
    raise _wrong_type(name, values, wanted)


class _Bytes(_Order):
    def __init__(self, values: Any, dialect: Dialect) -> None:
        self.values, self.dialect = values, dialect

    def at_least(self, value: bytes) -> Any:
        return self.values >= self.dialect.bytes_literal(value)

    def at_most(self, value: bytes) -> Any:
        return self.values <= self.dialect.bytes_literal(value)

    def equals(self, value: bytes) -> Any:
        return self.values == self.dialect.bytes_literal(value)


class _Numbers(_Order):
    def __init__(self, values: Any, dialect: Dialect) -> None:
        self.values, self.dialect = values, dialect

    def as_integer(self) -> Any:
        """The value as an integer, where it is one of 64 bits."""
        return self.values.cast("int64")

    def after(self, low: int) -> Any:
        return self.as_integer() - low


class _Integers(_Numbers):
    def at_least(self, value: int | Fraction) -> Any:
        ibis, least, limits = load_ibis(), math.ceil(value), self.values.type().bounds
        if least > limits.upper:
            return ibis.literal(False)
        return ibis.literal(True) if least <= limits.lower else self.values >= least

    def at_most(self, value: int | Fraction) -> Any:
        ibis, greatest, limits = load_ibis(), math.floor(value), self.values.type().bounds
        if greatest < limits.lower:
            return ibis.literal(False)
        return ibis.literal(True) if greatest >= limits.upper else self.values <= greatest


class _Floats(_Numbers):
    """Compared with the nearest floats of the column's own width, all as floats of 64 bits."""

    def __init__(self, values: Any, dialect: Dialect) -> None:
        super().__init__(values.cast("float64"), dialect)
        self.narrow = values.type().nbytes < 8
        self.integers = 1 << (24 if self.narrow else 53)

    def _literal(self, value: Any) -> Any:
        nearest = float(np.float32(float(value)) if self.narrow else float(value))
        return load_ibis().literal(repr(nearest)).cast("float64")  # each engine reads text to the nearest float

    def at_least(self, value: int | Fraction) -> Any:
        return self.values >= self._literal(value)

    def at_most(self, value: int | Fraction) -> Any:
        return self.values <= self._literal(value)

    def is_number(self) -> Any:
        return self.values <= load_ibis().literal("Infinity").cast("float64")

    def is_whole(self) -> Any:
        return self.values == self.dialect.floor(self.values)


class _Decimals(_Numbers):
    """Compared with decimals of the column's own places, rounded to the side that changes nothing."""

    def __init__(self, values: Any, dialect: Dialect) -> None:
        super().__init__(values, dialect)
        self.kind = values.type()

    def _compared(self, value: int | Fraction, round_up: bool) -> Any:
        """The literal, or the answer for all values where the column's type does not hold it."""
        ibis = load_ibis()
        if self.kind.scale is None:
            return ibis.literal(decimal_text(value)).cast(self.kind), None
        unit = 10**self.kind.scale
        steps = (math.ceil if round_up else math.floor)(Fraction(value) * unit)
        if self.kind.precision is not None and abs(steps) >= 10**self.kind.precision:
            return None, ibis.literal((steps < 0) == round_up)
        return ibis.literal(decimal_text(Fraction(steps, unit))).cast(self.kind), None

    def at_least(self, value: int | Fraction) -> Any:
        literal, answer = self._compared(value, round_up=True)
        return self.values >= literal if answer is None else answer

    def at_most(self, value: int | Fraction) -> Any:
        literal, answer = self._compared(value, round_up=False)
        return (self.values <= literal if answer is None else answer) & self.is_number()

    def is_number(self) -> Any:
        if self.kind.scale is None or self.kind.precision is None:  # PostgreSQL's, which may be NaN
            return self.values < load_ibis().literal("NaN").cast(self.kind)
        largest = Fraction(10**self.kind.precision - 1, 10**self.kind.scale)
        return self.values <= load_ibis().literal(decimal_text(largest)).cast(self.kind)

    def is_whole(self) -> Any:
        return None if self.kind.scale == 0 else self.values == self.values.floor()


def _days(column: Date, table: Any, dialect: Dialect) -> _Order:
    values = table[column.name]
    if values.type().is_date():
        return _Days(values, dialect)
    if not values.type().is_timestamp():
        raise _wrong_type(column.name, values, "dates or moments")
    if not dialect.is_zoned(table, column.name):
        moments = _Moments(values, lambda day: dialect.moment(dt.datetime.combine(day, dt.time())))
        if (values.type().scale or 0) <= 6:  # DuckDB rounds nanoseconds before 1970 up, to the next day
            moments.days = _Days(values.cast("date"), dialect)
        return moments
    if column.zone is None:
        rule = "its moments have a time zone: declare zone = 'Europe/Paris', or whose days are meant"
        raise ColumnError(column.name, KindError(rule))
    zone = zoneinfo.ZoneInfo(column.zone)
    return _Moments(values, lambda day: dialect.instant(dt.datetime.combine(day, dt.time(), zone).astimezone(dt.UTC)))


class _Days(_Order):
    def __init__(self, values: Any, dialect: Dialect) -> None:
        self.values, self.dialect = values, dialect

    def after(self, low: dt.date) -> Any:
        return self.dialect.days_after(self.values, low)

    def at_least(self, value: dt.date) -> Any:
        return self.values >= load_ibis().literal(value)

    def at_most(self, value: dt.date) -> Any:
        return self.values <= load_ibis().literal(value)


class _Moments(_Order):
    """Moments, each of which belongs to the day whose first moment is the last before it."""

    days: _Days | None = None  # where they have no time zone

    def __init__(self, values: Any, midnight: Callable[[dt.date], Any]) -> None:
        self.values, self.midnight = values, midnight

    def at_least(self, value: dt.date) -> Any:
        return self.values >= self.midnight(value)

    def at_most(self, value: dt.date) -> Any:
        return self.values < self.midnight(value + dt.timedelta(days=1))

    def after(self, low: dt.date) -> Any:
        return None if self.days is None else self.days.after(low)


def _wrong_type(name: str, values: Any, wanted: str) -> ColumnError:
    return ColumnError(name, KindError(f"the table has {values.type()} here, where the universe declares {wanted}"))
