"""What the engines write differently: bytes of text, moments, and numbers rounded down."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import Any

from metricdp.errors import KindError, MissingExtraError

__all__ = ["Dialect", "dialect_of", "load_ibis"]


def load_ibis() -> Any:
    """The module ibis, or the error that says how to install it."""
    try:
        import ibis
    except ImportError:
        raise MissingExtraError("ibis-framework", "queries") from None
    return ibis


@cache
def _builtin(name: str, result: type, *arguments: type) -> Any:
    """A function of the engine's own, of one to three arguments, for expressions of ibis."""

    def of_one(one: Any) -> Any: ...

    def of_two(one: Any, two: Any) -> Any: ...

    def of_three(one: Any, two: Any, three: Any) -> Any: ...

    function: Any = (of_one, of_two, of_three)[len(arguments) - 1]
    return load_ibis().udf.scalar.builtin(function, name=name, signature=(arguments, result))


class Dialect:
    """DuckDB, and what other engines do as it does.

    Comparisons of bytes are the same everywhere, where comparisons of text follow the collation of a column.
    """

    name = "duckdb"

    def is_null(self, values: Any) -> Any:
        """Whether there is no value; NaN is one."""
        return values.isnull()

    def text_bytes(self, text: Any) -> Any:
        """The bytes of text in UTF-8."""
        return _builtin("encode", bytes, str)(text)

    def bytes_literal(self, value: bytes) -> Any:
        """Bytes to compare with."""
        return _builtin("unhex", bytes, str)(value.hex())

    def floor(self, number: Any) -> Any:
        """The number rounded down, not turned into an integer that might not hold it."""
        return _builtin("floor", float, float)(number)

    def days_after(self, day: Any, low: dt.date) -> Any:
        """How many days a day is after another."""
        return _builtin("date_diff", int, str, dt.date, dt.date)("day", load_ibis().literal(low), day)

    def moment(self, naive: dt.datetime) -> Any:
        """A moment without a time zone."""
        return load_ibis().literal(naive.isoformat(sep=" ")).cast("timestamp")

    def instant(self, utc: dt.datetime) -> Any:
        """A moment of a known time zone."""
        return load_ibis().literal(utc.isoformat(sep=" ")).cast("timestamp('UTC')")

    def is_zoned(self, table: Any, column: str) -> bool:
        """Whether the moments of a column have a time zone."""
        return table[column].type().timezone is not None


class _Postgres(Dialect):
    name = "postgres"

    def text_bytes(self, text: Any) -> Any:
        return _builtin("convert_to", bytes, str, str)(text, "UTF8")

    def bytes_literal(self, value: bytes) -> Any:
        return _builtin("decode", bytes, str, str)(value.hex(), "hex")

    def days_after(self, day: Any, low: dt.date) -> Any:
        return _builtin("date_mi", int, dt.date, dt.date)(day, load_ibis().literal(low))


class _Spark(Dialect):
    name = "pyspark"

    def is_null(self, values: Any) -> Any:
        """Here ibis takes NaN for null, which Spark does not."""
        return _builtin("isnull", bool, float)(values) if values.type().is_floating() else values.isnull()

    def text_bytes(self, text: Any) -> Any:
        return _builtin("encode", bytes, str, str)(text, "UTF-8")

    def days_after(self, day: Any, low: dt.date) -> Any:
        return _builtin("datediff", int, dt.date, dt.date)(day, load_ibis().literal(low))

    def moment(self, naive: dt.datetime) -> Any:
        return _builtin("to_timestamp_ntz", dt.datetime, str)(naive.isoformat(sep=" "))

    def instant(self, utc: dt.datetime) -> Any:
        return load_ibis().literal(utc.isoformat(sep=" ")).cast("timestamp")

    def is_zoned(self, table: Any, column: str) -> bool:
        """Spark's TIMESTAMP is an instant, which ibis does not tell from one without a time zone."""
        backend = table.get_backend()
        found = backend.raw_sql(backend.compile(table.select(column).limit(0))).schema[0]
        return bool(found.dataType.typeName() == "timestamp")


_DIALECTS = {dialect.name: dialect for dialect in (Dialect(), _Postgres(), _Spark())}


def dialect_of(table: Any) -> Dialect:
    """The dialect of the engine that holds a table."""
    name = table.get_backend().name
    if name not in _DIALECTS:
        raise KindError(f"tables are read in DuckDB, PostgreSQL and Spark, not in {name}")
    return _DIALECTS[name]
