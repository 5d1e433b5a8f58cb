"""PostgreSQL: tables by the address of their database, read and counted over one connection, in one snapshot."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa

from metricdp.errors import ArgumentError, FileError, MissingExtraError
from metricdp.sources.databases import DatabaseTable, database_table
from metricdp.sources.dialect import Untyped
from metricdp.sources.engines.sql import UNREADABLE, SqlDialect, SqlTable, SqlType
from metricdp.sources.scrubbing import scrubbed
from metricdp.sources.table import Declared, OpenTable

__all__ = ["ENGINE", "Postgres", "of_query"]

_SCHEMES = ("postgres", "postgresql")


class PostgresDialect(SqlDialect):
    """What PostgreSQL writes in its own way."""

    float64 = "double precision"

    def is_not_a_number(self, number: str) -> str:
        """NaN equals itself here."""
        return f"({number}) = cast('NaN' as double precision)"

    def text_bytes(self, text: str) -> str:
        """The bytes of text in UTF-8."""
        return f"convert_to({text}, 'UTF8')"

    def bytes_literal(self, value: bytes) -> str:
        """Bytes to compare with."""
        return f"decode('{value.hex()}', 'hex')"

    def quotient(self, number: str, divisor: int) -> str:
        """Integers are divided without the remainder."""
        return f"(({number}) / {divisor})"

    def days_after(self, day: str, low: dt.date) -> str:
        """Days are subtracted as numbers are."""
        return f"({day} - {self.day(low)})"


class Postgres:
    """Tables of PostgreSQL."""

    def owns(self, source: Any) -> bool:
        """Whether it is a table at an address of PostgreSQL."""
        found = database_table(source)
        return found is not None and found.scheme in _SCHEMES

    def open(self, source: Any, declared: Declared) -> OpenTable:
        """Connect, read only, and open the table; everything is read in one snapshot."""
        found = database_table(source)
        if found is None or found.scheme not in _SCHEMES:
            raise ArgumentError("PostgreSQL reads tables by an address: postgresql://host/name#table")
        connection = _connected(found)
        try:
            name = ".".join(map(PostgresDialect().quoted, found.table.split(".")))
            return replace(of_query(connection, f"select * from {name}", declared), release=connection.close)
        except BaseException:
            connection.close()
            raise


ENGINE = Postgres()


def _connected(found: DatabaseTable) -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("psycopg", "postgres") from None
    try:
        connection = psycopg.connect(found.database)
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        return connection
    except psycopg.Error:  # its message may hold the address, and with it a password
        raise FileError("the database could not be reached: look at its address, and whether you may read it") from None


def of_query(connection: Any, query: str, declared: Declared) -> OpenTable:
    """A query over a connection of psycopg as a table."""
    columns = tuple(_described(connection, query))
    fields = [pa.field(name, _arrow(kind)) for name, kind in columns]
    dialect = PostgresDialect()
    untyped = frozenset(name for name, kind in columns if _arrow(kind) == pa.string() and kind.kind != "text")

    def read(chosen: list[str] | None) -> Iterator[pa.RecordBatch]:
        kinds = dict(columns)
        names = [name for name, _ in columns] if chosen is None else chosen
        wanted = ", ".join(_selected(dialect.quoted(name), kinds[name]) for name in names) or "1"
        with connection.transaction(), connection.cursor(name="metricdp_rows") as cursor:
            cursor.execute(f"select {wanted} from ({query}) as source")
            while rows := cursor.fetchmany(declared.batch_rows):
                parts = zip(*rows, strict=True)
                arrays = [pa.array(part, _arrow(kinds[name])) for name, part in zip(names, parts, strict=False)]
                yield pa.record_batch(arrays, names=names)

    @contextmanager
    def counted() -> Iterator[SqlTable]:
        def run(text: str) -> Mapping[str, Sequence[Any]]:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute(text)
                rows = cursor.fetchall()
                names = [column.name for column in cursor.description]
            return dict(zip(names, zip(*rows, strict=True) if rows else [()] * len(names), strict=True))

        yield SqlTable(f"({query})", columns, run, dialect)

    return OpenTable(pa.schema(fields), None, read, stable=False, untyped=Untyped(untyped), counted=counted)


def _selected(column: str, kind: SqlType) -> str:
    """A column as it is read: padded text without its padding, and what has no type here as text."""
    return f"cast({column} as text) as {column}" if _arrow(kind) == pa.string() else column


def _described(connection: Any, query: str) -> Iterator[tuple[str, SqlType]]:
    try:
        with connection.cursor() as cursor:  # begins the transaction in which everything is read
            cursor.execute(f"select * from ({query}) as source limit 0")
            described = cursor.description
    except Exception as error:  # its message may hold what it found
        raise scrubbed(error, UNREADABLE) from None
    for column in described:
        yield column.name, _type(column.type_display)


def _type(written: str) -> SqlType:
    """The type that PostgreSQL calls so."""
    if decimal := re.fullmatch(r"numeric\((\d+),\s*(-?\d+)\)", written):
        return SqlType("decimal", precision=int(decimal[1]), scale=int(decimal[2]))
    return _TYPES.get(written.partition("(")[0], SqlType("other"))


_TYPES = {
    "text": SqlType("text"),
    "varchar": SqlType("text"),
    "bpchar": SqlType("text"),
    "name": SqlType("text"),
    "bytea": SqlType("bytes"),
    "bool": SqlType("boolean"),
    "int2": SqlType.integer(16),
    "int4": SqlType.integer(32),
    "int8": SqlType.integer(64),
    "float4": SqlType("float", narrow=True),
    "float8": SqlType("float"),
    "numeric": SqlType("decimal"),
    "date": SqlType("date"),
    "timestamp": SqlType("moment"),
    "timestamptz": SqlType("instant"),
}


def _arrow(kind: SqlType) -> pa.DataType:
    """What such a column is read as: text where it has no fixed type here, so that the policy declares one."""
    if kind.kind == "integer":
        return {15: pa.int16(), 31: pa.int32(), 63: pa.int64()}[kind.bounds[1].bit_length()]
    if kind.kind == "decimal":
        fixed = kind.precision is not None and kind.scale is not None and 0 <= kind.scale <= kind.precision <= 38
        return pa.decimal128(kind.precision, kind.scale) if fixed else pa.string()
    if kind.kind == "float":
        return pa.float32() if kind.narrow else pa.float64()
    return _ARROW[kind.kind]


_ARROW: Mapping[str, pa.DataType] = {
    "text": pa.string(),
    "bytes": pa.binary(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "moment": pa.timestamp("us"),
    "instant": pa.timestamp("us", "UTC"),
    "other": pa.string(),
}
