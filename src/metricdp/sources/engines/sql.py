"""Tables of engines that understand SQL: what their columns are, and what each engine writes in its own way.

Columns are described by `SqlType`, the same for each engine, so that one text of SQL serves all of them. What engines
write differently is a method of `SqlDialect`, which is DuckDB's; the others say where they differ.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from metricdp.errors import ColumnError, KindError, MetricDPError
from metricdp.sources.scrubbing import scrubbed

__all__ = ["UNREADABLE", "SqlDialect", "SqlTable", "SqlType", "check_names"]

UNREADABLE = "the engine could not read the table: there is none, it may not be read, or a part is damaged"

Kind = Literal["text", "bytes", "boolean", "integer", "float", "decimal", "date", "moment", "instant", "other"]


@dataclass(frozen=True)
class SqlType:
    """What a column of a database holds.

    Attributes:
        kind: of its values; a moment has no time zone, an instant is one moment everywhere.
        bounds: the least and the greatest integer.
        narrow: whether floats have 32 bits.
        precision: how many digits a decimal has; None where there is no limit.
        scale: how many of them stand after the point; None where there is no limit.
        fine: whether moments are finer than a microsecond.
    """

    kind: Kind
    bounds: tuple[int, int] = (0, 0)
    narrow: bool = False
    precision: int | None = None
    scale: int | None = None
    fine: bool = False

    @classmethod
    def integer(cls, bits: int, signed: bool = True) -> SqlType:
        """Integers of so many bits."""
        return cls("integer", (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1))

    @property
    def words(self) -> str:
        """What people call it."""
        return _WORDS[self.kind]


_WORDS: Mapping[str, str] = {
    "text": "text",
    "bytes": "bytes",
    "boolean": "booleans",
    "integer": "integers",
    "float": "floating-point numbers",
    "decimal": "decimals",
    "date": "dates",
    "moment": "moments",
    "instant": "moments with a time zone",
    "other": "values of another type",
}


class SqlDialect:
    """DuckDB, and what other engines write as it does.

    Comparisons of bytes are the same everywhere, where comparisons of text follow the collation of a column.
    """

    float64 = "double"

    def quoted(self, name: str) -> str:
        """A column or table by its name."""
        return '"' + name.replace('"', '""') + '"'

    def is_not_a_number(self, number: str) -> str:
        """Whether a float is NaN; not by a comparison, which DuckDB takes from a file's statistics, without NaN."""
        return f"isnan({number})"

    def text_bytes(self, text: str) -> str:
        """The bytes of text in UTF-8."""
        return f"encode(cast({text} as varchar))"

    def bytes_literal(self, value: bytes) -> str:
        """Bytes to compare with."""
        return f"unhex('{value.hex()}')"

    def rounded(self, number: str) -> str:
        """The float rounded to an integer, as a float, since no integer of 64 bits might hold it."""
        return f"floor({number})"

    def quotient(self, number: str, divisor: int) -> str:
        """An integer that is not negative, divided, without the remainder."""
        return f"(({number}) // {divisor})"

    def day(self, value: dt.date) -> str:
        """A day."""
        return f"cast('{value.isoformat()}' as date)"

    def days_after(self, day: str, low: dt.date) -> str:
        """How many days a day is after another."""
        return f"date_diff('day', {self.day(low)}, {day})"

    def moment(self, naive: dt.datetime) -> str:
        """A moment without a time zone."""
        return f"cast('{naive.isoformat(sep=' ')}' as timestamp)"

    def instant(self, utc: dt.datetime) -> str:
        """A moment of a known time zone."""
        return f"cast('{utc.isoformat(sep=' ')}' as timestamptz)"


@dataclass(frozen=True)
class SqlTable:
    """A table where it is, to be asked in SQL.

    Attributes:
        relation: what stands after FROM: its name, or a query in parentheses.
        columns: names and types, in order; a name may stand twice.
        run: what a query gives: for each of its columns, the values.
        dialect: what its engine writes in its own way.
        row: the column with the numbers of rows, where they have an order.
        owners: for a column of identifiers, whether one of them stands in more rows than so many, and whether a row
            has none; counted under digests. None where the engine counts them, which has them on its own disk anyway.
    """

    relation: str
    columns: tuple[tuple[str, SqlType], ...]
    run: Callable[[str], Mapping[str, Sequence[Any]]]
    dialect: SqlDialect = field(default_factory=SqlDialect)
    row: str | None = None
    owners: Callable[[str, int], tuple[bool, bool]] | None = None

    def type(self, name: str) -> SqlType:
        """What a column holds."""
        return dict(self.columns)[name]

    def read(self, query: str) -> Mapping[str, Sequence[Any]]:
        """What a query gives; an engine's error is told without the values in it."""
        try:
            return self.run(query)
        except MetricDPError:
            raise
        except Exception as error:  # of any engine: its message may hold a value
            raise scrubbed(error, UNREADABLE) from None


def check_names(known: Sequence[str], wanted: Iterable[str]) -> None:
    """Refuse a table without one of the columns that are wanted, or with two of the same name.

    Raises:
        ColumnError: the first that is not there once.
    """
    for name in wanted:
        if known.count(name) != 1:
            rule = "the table has no such column" if name not in known else "the table has two columns of this name"
            raise ColumnError(name, KindError(rule))
