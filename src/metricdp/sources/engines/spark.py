"""Spark: frames, and files that Spark reads; one session, one reader."""

from __future__ import annotations

import datetime as dt
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from metricdp.errors import ArgumentError, ColumnError, DataError, FileError, MetricDPError, MissingExtraError
from metricdp.sources.engines.sql import UNREADABLE, SqlDialect, SqlTable, SqlType
from metricdp.sources.scrubbing import scrubbed
from metricdp.sources.table import Declared, OpenTable
from metricdp.sources.typed_streams import TypedStream

__all__ = [
    "ENGINE",
    "Spark",
    "SparkDialect",
    "counted_by_one_task",
    "session",
    "spark_schema",
    "told_by_spark",
]

_PARQUET = (".parquet", ".pq")


class SparkDialect(SqlDialect):
    """What Spark writes in its own way."""

    def quoted(self, name: str) -> str:
        """A column or table by its name."""
        return "`" + name.replace("`", "``") + "`"

    def text_bytes(self, text: str) -> str:
        """The bytes of text in UTF-8."""
        return f"encode({text}, 'UTF-8')"

    def rounded(self, number: str) -> str:
        """By `rint`: its floor is an integer of 64 bits."""
        return f"rint({number})"

    def quotient(self, number: str, divisor: int) -> str:
        """Integers are divided by `div`."""
        return f"(({number}) div {divisor})"

    def days_after(self, day: str, low: dt.date) -> str:
        """How many days a day is after another."""
        return f"datediff({day}, {self.day(low)})"

    def moment(self, naive: dt.datetime) -> str:
        """A moment without a time zone."""
        return f"to_timestamp_ntz('{naive.isoformat(sep=' ')}')"

    def instant(self, utc: dt.datetime) -> str:
        """A moment of a known time zone."""
        return f"cast('{utc.isoformat(sep=' ')}' as timestamp)"


class Spark:
    """Frames of Spark, and files that it reads."""

    def owns(self, source: Any) -> bool:
        """Whether it is a frame of Spark."""
        return hasattr(source, "mapInArrow")

    def open(self, source: Any, declared: Declared) -> OpenTable:
        """Open a frame, Parquet files, or a file that one task reads as it is read without Spark."""
        if self.owns(source):
            return _of_frame(source)
        if not isinstance(source, str | Path):
            raise ArgumentError(f"Spark reads files and frames of its own, not {type(source).__name__}")
        path = Path(source)
        if not path.exists():
            raise FileError(f"there is no {path}")
        if path.is_dir() or path.suffix.lower() in _PARQUET:
            try:
                return _of_frame(session().read.parquet(_escaped(path)), path)
            except Exception as error:  # its message may hold what it found
                raise scrubbed(error, UNREADABLE) from None
        from metricdp.sources.opening import open_local

        return open_local(path.resolve(), declared)


ENGINE = Spark()


def _escaped(path: Path) -> str:
    """A path whose characters stand for themselves; Spark takes some of them for a pattern."""
    return "".join(f"\\{sign}" if sign in r"[]{}*?\\" else sign for sign in str(path))


def session() -> Any:
    """The session there is, or a new one that encrypts what it stores."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("pyspark", "spark") from None
    active = SparkSession.getActiveSession()
    if active is not None:  # its settings are its owner's
        return active
    builder = SparkSession.builder.appName("metricdp").config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.io.encryption.enabled", "true")  # for what Spark itself stores of the source
    builder = builder.config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    return builder.config("spark.ui.enabled", "false").getOrCreate()


@contextmanager
def counted_by_one_task(table: OpenTable, types: Mapping[str, pa.DataType]) -> Iterator[SqlTable]:
    """A file that one task reads: where a row of a CSV file ends knows only who read it from the beginning."""
    stream = TypedStream(table, types)
    frame = session().range(0, 1, 1, 1).mapInArrow(lambda batches: stream.batches(), spark_schema(stream.schema))
    with _counted(frame, list(types)) as found:
        yield found


def told_by_spark(text: str, names: Sequence[str]) -> MetricDPError | None:
    """What an error of Spark says of the place, without what it says of values; None where it says nothing of it.

    Args:
        text: of the error.
        names: of columns that it may name.
    """
    if "No space left on device" in text:
        return FileError("the disk is full: No space left on device")
    for name in names:
        found = re.search(rf"ColumnError: column {re.escape(repr(name))}(?:, row (\d+))?: (.*)", text)
        if found:
            rule = found[2].strip()
            if found[1] is None:
                return ColumnError(name, DataError(rule))
            rule += " (rows are counted within the part that Spark gave to a task)"
            return ColumnError(name, DataError(rule, int(found[1])))
    for kind in (DataError, FileError):
        found = re.search(rf"metricdp\.errors\.{kind.__name__}: (.*)", text)
        if found:
            return kind(found[1].strip())
    return None


def _of_frame(frame: Any, path: Path | None = None) -> OpenTable:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        quoted = SparkDialect().quoted
        chosen = frame if columns is None else frame.select(*map(quoted, columns))
        packed = chosen.mapInArrow(_packed, "content binary")
        for row in packed.toLocalIterator():
            with pa.ipc.open_stream(pa.py_buffer(row.content)) as reader:
                yield from reader

    return OpenTable(_arrow_schema(frame), None, read, path, stable=False, counted=lambda: _counted(frame), frame=frame)


def _packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch as one row of bytes, so that it comes whole."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.record_batch([[sink.getvalue().to_pybytes()]], names=["content"])


@contextmanager
def _counted(frame: Any, names: Sequence[str] = ()) -> Iterator[SqlTable]:
    view = f"metricdp_{os.getpid()}_{id(frame):x}"
    frame.createTempView(view)
    spark = frame.sparkSession

    def run(query: str) -> Mapping[str, Sequence[Any]]:
        try:
            found = spark.sql(query).toArrow()
        except Exception as error:
            raise told_by_spark(str(error), names) or scrubbed(error, UNREADABLE) from None
        return {name: found.column(name).to_pylist() for name in found.column_names}

    columns = tuple((field.name, _type(field.dataType)) for field in frame.schema.fields)
    try:
        yield SqlTable(view, columns, run, SparkDialect())
    finally:
        spark.catalog.dropTempView(view)


def _type(kind: Any) -> SqlType:
    """The type of a column of Spark."""
    name = kind.typeName()
    if name.startswith("decimal"):
        return SqlType("decimal", precision=kind.precision, scale=kind.scale)
    return _TYPES.get(name.partition("(")[0].partition(" ")[0], SqlType("other"))


_TYPES = {
    "string": SqlType("text"),
    "varchar": SqlType("text"),
    "char": SqlType("text"),
    "binary": SqlType("bytes"),
    "boolean": SqlType("boolean"),
    "byte": SqlType.integer(8),
    "short": SqlType.integer(16),
    "integer": SqlType.integer(32),
    "long": SqlType.integer(64),
    "float": SqlType("float", narrow=True),
    "double": SqlType("float"),
    "date": SqlType("date"),
    "timestamp": SqlType("instant"),
    "timestamp_ntz": SqlType("moment"),
}


def _arrow_schema(frame: Any) -> pa.Schema:
    """The schema of a frame in Arrow's types."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema)


def spark_schema(schema: pa.Schema) -> Any:
    """The schema of a frame of these types."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
