"""Spark, for tables that outgrow one machine: the same Arrow function, run where the rows are."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from metricdp.errors import (
    ColumnError,
    InputError,
    KindError,
    MetricDPError,
    MissingExtraError,
    OutOfDomainError,
    OutputError,
)
from metricdp.exact.bits import source as bits
from metricdp.tables.plan import Plan
from metricdp.tables.policy import Policy, Unit
from metricdp.tables.release import Release
from metricdp.tables.report import Report
from metricdp.tables.units import Rekey

__all__ = ["REPORT_FILE", "sanitize_with_spark"]

REPORT_FILE = "_metricdp.json"
"""Beside the parts of a released folder; Spark and pyarrow pass over names that begin with an underscore."""

_KEY = "__metricdp_key"
_PLACE = "__metricdp_place"


def sanitize_with_spark(
    source: Any, policy: Policy, out: str | Path | None, *, overwrite: bool = False, dry_run: bool = False
) -> Release:
    """Release a Spark frame, or a file that Spark reads.

    The result is materialised once: a lazy one would draw fresh noise at every action, and an average over actions
    would take the noise away. A task that is tried again draws again, but only one of its results is ever kept.
    """
    with _named_errors(policy):
        return _sanitize(source, policy, None if out is None else Path(out), overwrite, dry_run)


def _sanitize(source: Any, policy: Policy, target: Path | None, overwrite: bool, dry_run: bool) -> Release:
    frame = source if hasattr(source, "mapInArrow") else _read(source, policy)
    schema = _arrow_schema(frame)
    if any(name.lower() in (_KEY, _PLACE) for name in schema.names):
        raise KindError(f"a column is called {_KEY} or {_PLACE}, names that are needed here; rename it")
    plan = policy.bind(schema)
    if target is not None and not hasattr(source, "mapInArrow"):
        if target.resolve() == Path(source).resolve():
            raise OutputError(f"{target.name} is the input: the output must be another file")
        if Path(source).resolve() in target.resolve().parents:
            raise OutputError(f"{target.name} lies in the folder that is the input: the output must be elsewhere")
    if target is not None and target.exists() and not overwrite:
        raise OutputError(f"{target.name} exists already; choose another name, or --overwrite")
    if dry_run:
        return Release(Report.of(policy, None, schema), None, None)
    if policy.unit is not None:
        frame = _within_bound(frame, policy.unit)
    released = _materialised(frame.mapInArrow(_releasing(plan), _spark_schema(_keyed(plan.schema_out))))
    if policy.order == "secret":
        released = _materialised(released.orderBy(_KEY))
    released = released.drop(_KEY)
    report = Report.of(policy, released.count(), schema, private=bits().private)
    if target is None:
        return Release(report, released, None)
    _write(released, target, report, overwrite)
    return Release(report, None, target)


@contextmanager
def _named_errors(policy: Policy) -> Iterator[None]:
    """Say what Spark's errors say of the place, without what they say of values."""
    try:
        from pyspark.errors import PySparkException

        bridge: Any = importlib.import_module("py4j.protocol")
    except ImportError:
        raise MissingExtraError("pyspark", "spark") from None
    try:
        yield
    except (bridge.Py4JError, PySparkException) as error:
        raise _named(str(error), policy) from None


def _named(text: str, policy: Policy) -> MetricDPError:
    if "No space left on device" in text:
        return OutputError("the output could not be written: No space left on device")
    for item in policy.treatments:
        found = re.search(rf"ColumnError: column {re.escape(repr(item.name))}, row (\d+): (.*)", text)
        if found:
            rule = f"{found[2].strip()} (rows are counted within the part that Spark gave to a task)"
            return ColumnError(item.name, OutOfDomainError(rule, int(found[1])))
    return InputError("Spark could not read the table to its end: a part is damaged, or a value is not of its type")


def _releasing(plan: Plan) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What an executor runs: the plan, with noise and keys from the executor's own secure bits."""
    rekey = Rekey()

    def release(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        keyed = _keyed(plan.schema_out)
        first_row = 0
        for batch in batches:
            unit = plan.policy.unit
            if unit is not None and unit.release == "rekey":
                place = batch.schema.get_field_index(unit.column)
                batch = batch.set_column(place, unit.column, rekey(batch.column(place)))
            made = plan.apply(batch.cast(plan.schema), first_row)
            first_row += batch.num_rows
            yield pa.record_batch([*made.columns, _keys(batch.num_rows)], schema=keyed)

    return release


def _keys(count: int) -> pa.Array:
    return pa.array(bits().words(count).view("int64"))


def _keyed(schema: pa.Schema) -> pa.Schema:
    return schema.append(pa.field(_KEY, pa.int64()))


def _within_bound(frame: Any, unit: Unit) -> Any:
    """At most so many rows of each person, counted over the whole table."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    owner = sql.col("`" + unit.column.replace("`", "``") + "`")
    if frame.filter(owner.isNull()).limit(1).count():
        raise ColumnError(unit.column, OutOfDomainError("nobody's row: the unit is missing"))
    if not frame.groupBy(owner).count().filter(sql.col("count") > unit.rows).limit(1).count():
        return frame
    if unit.excess == "refuse":
        rule = f'somebody has more than {unit.rows} rows; declare more, or excess = "cut"'
        raise ColumnError(unit.column, OutOfDomainError(rule))

    def add_keys(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch([*batch.columns, _keys(batch.num_rows)], names=[*batch.schema.names, _KEY])

    keyed = _materialised(frame.mapInArrow(add_keys, _spark_schema(_keyed(_arrow_schema(frame)))))
    place = sql.row_number().over(Window.partitionBy(owner).orderBy(_KEY))
    return keyed.withColumn(_PLACE, place).filter(sql.col(_PLACE) <= unit.rows).drop(_PLACE, _KEY)


def _materialised(frame: Any) -> Any:
    """The frame computed once and cut off from how it was: losing it is an error, not a second draw."""
    return frame.localCheckpoint(eager=True)


def _read(source: Any, policy: Policy) -> Any:
    path = Path(source)
    session = _session()
    if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
        return session.read.parquet(str(path))
    if path.suffix.lower() == ".csv":
        from metricdp.tables.sources import open_source

        schema = _spark_schema(open_source(path, policy).schema)
        return session.read.csv(str(path), schema=schema, header=True, mode="FAILFAST")
    raise KindError("Spark reads Parquet and CSV files, and folders of Parquet parts")


def _session() -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("pyspark", "spark") from None
    builder = SparkSession.builder.appName("metricdp").config("spark.sql.session.timeZone", "UTC")
    return builder.config("spark.ui.enabled", "false").getOrCreate()


def _arrow_schema(frame: Any) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema)


def _spark_schema(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _write(released: Any, target: Path, report: Report, overwrite: bool) -> None:
    """A folder of Parquet parts that appears whole, with the report beside them."""
    from metricdp.tables.whole_files import folder_sink

    with folder_sink(target, overwrite) as temporary:
        released.write.parquet(str(temporary / "parts"))
        for part in (temporary / "parts").iterdir():
            part.rename(temporary / part.name)
        (temporary / "parts").rmdir()
        (temporary / REPORT_FILE).write_text(json.dumps(report.claim()), encoding="utf-8")
