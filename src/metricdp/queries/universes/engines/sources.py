"""Where a table is: a file, a frame, or an engine that ibis reaches."""

from __future__ import annotations

import glob
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metricdp.errors import ColumnError, InputError, KindError, MetricDPError, MissingExtraError, OutOfDomainError
from metricdp.queries.universes.engines.dialects import Dialect, dialect_of, load_ibis

__all__ = ["Opened", "opened"]

ROW = "__metricdp_row"
_MEMORY = "256MB"


@dataclass(frozen=True)
class Opened:
    """A table where it is.

    Attributes:
        table: the table as an expression of ibis.
        dialect: how its engine writes things.
        header: the names of its columns, where an error may name one by its number.
        numbered: whether its rows have an order, and their numbers stand in the column `ROW`.
    """

    table: Any
    dialect: Dialect
    header: tuple[str, ...] = ()
    numbered: bool = False

    def read(self, expression: Any) -> Any:
        """What an expression comes to, as an Arrow table; an engine's error is told without the values in it."""
        try:
            return expression.to_pyarrow()
        except MetricDPError:
            raise
        except Exception as error:  # of any engine: its message may hold a value
            raise _unreadable(error, self.header) from None


@contextmanager
def opened(source: Any, types: dict[str, str], engine: Any = None) -> Iterator[Opened]:
    """Open a path, a frame, an expression of ibis or a Spark frame.

    Args:
        source: the table; with an ibis connection as engine, its name there.
        types: the columns that are needed, with the types that a CSV file has no place for.
        engine: None for where it is (files and frames: DuckDB), "duckdb", "spark", or a connection of ibis.
    """
    ibis = load_ibis()
    if not (engine is None or engine in ("duckdb", "spark") or hasattr(engine, "compile")):
        raise KindError("the engine is 'duckdb', 'spark' or a connection of ibis")
    if hasattr(engine, "compile") and not isinstance(engine, str):
        if not isinstance(source, str):
            raise KindError("with a connection of ibis, the source is the name of a table there")
        yield _held(_in_engine(engine.table, source), types)
    elif isinstance(source, ibis.expr.types.Table):
        yield _held(source, types)
    elif hasattr(source, "mapInArrow"):
        with _spark_table(source) as table:
            yield _held(table, types)
    elif engine == "spark":
        with _spark_table(_read_by_spark(source, types)) as table:
            yield _held(table, types)
    elif isinstance(source, str | Path):
        with _duckdb() as (backend, raw):
            yield _file(Path(source), types, backend, raw)
    else:
        with _duckdb() as (backend, raw):
            yield _frame(source, types, backend, raw)


def _held(table: Any, types: dict[str, str]) -> Opened:
    _check_names(list(table.schema().names), types)
    return Opened(table, dialect_of(table))


def _check_names(names: Sequence[str], types: dict[str, str]) -> None:
    for name in types:
        if list(names).count(name) != 1:
            rule = "the table has no such column" if name not in names else "the table has two columns of this name"
            raise ColumnError(name, KindError(rule))


def _in_engine(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except Exception as error:
        raise _unreadable(error, ()) from None


@contextmanager
def _duckdb() -> Iterator[tuple[Any, Any]]:
    """An empty database whose memory is bounded."""
    ibis = load_ibis()
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "queries") from None
    with tempfile.TemporaryDirectory(prefix="metricdp-") as scratch:
        settings: dict[str, Any] = {
            "memory_limit": _MEMORY,
            "temp_directory": scratch,
            "preserve_insertion_order": False,
        }
        raw = duckdb.connect(config=settings)
        try:
            yield ibis.duckdb.from_connection(raw), raw
        finally:
            raw.close()


def _file(path: Path, types: dict[str, str], backend: Any, raw: Any) -> Opened:
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    suffix, header = path.suffix.lower(), ()
    name = glob.escape(str(path))
    if path.is_dir():
        table = _in_engine(lambda: backend.read_parquet(f"{name}/**/*.parquet", hive_partitioning=True))
    elif suffix in (".parquet", ".pq"):
        table = _in_engine(lambda: backend.read_parquet(name))
    elif suffix in (".csv", ".tsv"):
        dataset = _csv(path, types)
        raw.register("source", dataset)
        table, header = backend.table("source"), tuple(dataset.schema.names)
    else:
        raise KindError(f"{path.name}: a .parquet or .csv file, or a folder of Parquet parts, is wanted")
    _check_names(list(table.schema().names), types)
    return Opened(table, dialect_of(table), header)


def _csv(path: Path, types: dict[str, str]) -> Any:
    """CSV has no types: those of the universe are read, so that what a column is never depends on its values."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.dataset as pa_dataset

    parse = pa_csv.ParseOptions(delimiter="\t" if path.suffix.lower() == ".tsv" else ",", newlines_in_values=True)
    try:
        with pa_csv.open_csv(path, parse_options=parse) as reader:
            names = reader.schema.names
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise InputError(f"{path.name} cannot be read as CSV: it is damaged, or something else") from None
    _check_names(names, types)
    if len(set(names)) < len(names):
        raise InputError(f"{path.name}: two columns have one name")
    schema = pa.schema([(name, _arrow_type(types.get(name, "string"))) for name in names])
    convert = pa_csv.ConvertOptions(
        column_types=dict(zip(names, schema.types, strict=True)), strings_can_be_null=True, null_values=[""]
    )
    form = pa_dataset.CsvFileFormat(parse_options=parse, convert_options=convert)
    return pa_dataset.dataset(path, format=form, schema=schema)


def _arrow_type(name: str) -> Any:
    """The Arrow type of that name; "decimal 2" is a decimal of two places."""
    import pyarrow as pa

    kind, _, places = name.partition(" ")
    return pa.decimal128(38, int(places)) if kind == "decimal" else pa.type_for_alias(name)


def _frame(source: Any, types: dict[str, str], backend: Any, raw: Any) -> Opened:
    import numpy as np
    import pyarrow as pa

    table = _plain_types(_arrow(source, types), types)
    numbered = table.append_column(ROW, pa.array(np.arange(table.num_rows)))
    raw.register("source", numbered)
    held = backend.table("source")
    return Opened(held, dialect_of(held), numbered=True)


def _arrow(source: Any, types: dict[str, str]) -> Any:
    """The needed columns of a frame, as an Arrow table."""
    import pyarrow as pa

    names = list(types)
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        _check_names(source.column_names, types)
        return source.select(names)
    if hasattr(source, "collect_schema"):  # polars
        _check_names(source.collect_schema().names(), types)
        chosen = source.select(names)
        return (chosen.collect() if hasattr(chosen, "collect") else chosen).to_arrow()
    if hasattr(source, "iloc"):  # pandas
        _check_names([str(name) for name in source.columns], types)
        try:
            return pa.Table.from_pandas(source[names], preserve_index=False)
        except (pa.ArrowException, ValueError, TypeError, KeyError):
            raise KindError("a column of the frame holds values of several types") from None
    raise KindError(
        f"a path, a pandas, Polars, Arrow or Spark frame or an ibis table is wanted, not {type(source).__name__}"
    )


def _plain_types(table: Any, types: dict[str, str]) -> Any:
    """Without types that only frames have: dictionaries, nanoseconds, columns without a single value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = []
    for field in table.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_null(kind):
            kind = _arrow_type(types[field.name])
        elif pa.types.is_float16(kind):
            raise ColumnError(field.name, KindError("floats of 16 bits are not read; cast them to more"))
        elif pa.types.is_string_view(kind):
            kind = pa.large_string()
        elif pa.types.is_decimal256(kind):
            kind = pa.decimal128(38, kind.scale)
        elif pa.types.is_timestamp(kind) and kind.unit == "ns":
            place = table.schema.get_field_index(field.name)
            table = table.set_column(place, field.name, pc.floor_temporal(table[field.name], 1, "microsecond"))
            kind = pa.timestamp("us", kind.tz)
        fields.append((field.name, kind))
    try:
        return table.cast(pa.schema(fields))
    except pa.ArrowException:
        raise InputError("a column of the frame holds numbers of more than 38 digits") from None


@contextmanager
def _spark_table(frame: Any) -> Iterator[Any]:
    """A Spark frame as an expression of ibis; the session keeps its time zone."""
    ibis = load_ibis()
    session, zone = frame.sparkSession, frame.sparkSession.conf.get("spark.sql.session.timeZone")
    backend = ibis.pyspark.from_connection(session)
    session.conf.set("spark.sql.session.timeZone", zone)
    view = f"metricdp_{os.getpid()}_{id(frame):x}"
    frame.createTempView(view)
    try:
        yield backend.table(view)
    finally:
        session.catalog.dropTempView(view)


def _read_by_spark(source: Any, types: dict[str, str]) -> Any:
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    try:
        from pyspark.sql import SparkSession
        from pyspark.sql.pandas.types import from_arrow_schema
    except ImportError:
        raise MissingExtraError("pyspark", "spark") from None
    builder = SparkSession.builder.appName("metricdp").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
        return _in_engine(session.read.parquet, str(path))
    if path.suffix.lower() in (".csv", ".tsv"):
        schema = from_arrow_schema(_csv(path, types).schema)
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        return session.read.csv(str(path), schema=schema, header=True, sep=separator, mode="FAILFAST", escape='"')
    raise KindError("Spark reads Parquet and CSV files, and folders of Parquet parts")


def _unreadable(error: Exception, header: Sequence[str]) -> InputError:
    """What an engine's error says of the place, without what it says of the value."""
    text = str(error)
    column, row = re.search(r"column #(\d+)", text), re.search(r"[Rr]ow #(\d+)", text)
    number = int(row[1]) - 2 if row else None  # the header is line 1, and rows count from 0
    if column and int(column[1]) < len(header):
        rule = "a value is not of the type that the universe declares"
        return ColumnError(header[int(column[1])], OutOfDomainError(rule, number))
    if "UTF8" in text or "utf-8" in text.lower():
        return InputError("the table holds bytes that are not text in UTF-8")
    if "CSV" in text:
        return InputError("a row has another number of fields than the header, or a quote is not closed", number)
    return InputError("the engine could not read the table: there is none, it may not be read, or a part is damaged")
