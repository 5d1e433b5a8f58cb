"""Spark, for tables that outgrow one machine: the same Arrow function, run where the rows are.

Rows are released in the first step, and from there on travel in sealed parcels (see `spark_steps`). What Spark keeps in
memory or on a disk between steps, its shuffles and whatever a killed run leaves behind, holds no row in the clear: this
does not hang on the session's settings. How the result is divided follows from the number of released rows alone.
"""

from __future__ import annotations

import importlib
import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import metricdp
from metricdp.errors import ArgumentError, DataError, FileError, MissingExtraError
from metricdp.exact.bits import source as bits
from metricdp.exact.sealing import Digests, Seal
from metricdp.policies.person import Person
from metricdp.policies.policy import Policy
from metricdp.sources.carried_claims import CLAIM_FILE
from metricdp.sources.engines.spark import SparkDialect, session, spark_schema, told_by_spark
from metricdp.sources.files import open_path
from metricdp.sources.layout import BATCH_ROWS
from metricdp.sources.sinks import write_file
from metricdp.sources.table import OpenTable
from metricdp.sources.whole_files import folder_sink
from metricdp.tables.engines import spark_steps as steps
from metricdp.tables.release import Release
from metricdp.tables.report import Report
from metricdp.tables.sanitizer import Sanitizer, declared_by
from metricdp.tables.units import NewKeys

__all__ = ["check_with_spark", "sanitize_with_spark"]

PART_ROWS = 1 << 20
"""Of a part of the released table, where rows are not wide: exactly, and on average where the order is secret."""

_ARROW_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_PARCELS = 64
"""How many parcels come to Python at a time."""

_LARGE = 1 << 18
"""Bytes of a plan that does not travel with the keys."""


_UNREADABLE = "Spark could not read the table to its end: a part is damaged, or a value is not of its type"


def sanitize_with_spark(
    opened: OpenTable,
    plan: Sanitizer,
    target: Path | None,
    *,
    overwrite: bool = False,
    check_first: bool = False,
    charge: Callable[[], None] | None = None,
    put_on_record: Callable[[bool, Path | None], None] | None = None,
) -> Release[Any]:
    """Release a Spark frame, or a file that one of Spark's tasks reads.

    The result is drawn once and stored: a lazy one would draw fresh noise at every action, and an average over actions
    would take the noise away. A task of the first step that is tried again draws again, but only one of its results is
    ever kept, and what is lost after that is an error, not a second draw.

    Args:
        opened: the table.
        plan: how it is released.
        target: the folder to make; None for a frame.
        overwrite: whether the folder may be there already.
        check_first: whether the whole table is read and checked before anything else.
        charge: called after the check, and before noise is drawn.
        put_on_record: called with whether the result is private, and its folder before that appears, or None.
    """
    with _named_errors(plan.policy):
        run = _Run(opened, plan)
        if check_first:
            run.check()
        if charge is not None:
            charge()
        parcels = run.released()
        if plan.policy.person is not None:
            parcels = run.within_bound(parcels, plan.policy.person)
        report = Report.of(plan.policy, parcels.rows, plan.declared, private=bits().private)
        if target is None:
            frame = run.frame(parcels)
            if put_on_record is not None:
                put_on_record(report.private, None)
            return Release(report, frame)
        with folder_sink(target, overwrite) as folder:
            run.write(parcels, folder)
            (folder / CLAIM_FILE).write_text(json.dumps(report.claim()), encoding="utf-8")
            if put_on_record is not None:
                put_on_record(report.private, folder)
        return Release(report, None, target)


def check_with_spark(opened: OpenTable, plan: Sanitizer) -> None:
    """Refuse a table that `sanitize_with_spark` would refuse; see `metricdp.tables.validate`."""
    with _named_errors(plan.policy):
        _Run(opened, plan).check()


class _Parcels:
    """Parcels that are stored, with the number of rows from each part of the source."""

    def __init__(self, frame: Any) -> None:
        self.frame = _stored(frame)
        self.counts: dict[int, int] = {}
        for hand, rows in self.frame.select("hand", "rows").collect():
            self.counts[hand] = self.counts.get(hand, 0) + rows

    @property
    def rows(self) -> int:
        return sum(self.counts.values())

    @property
    def starts(self) -> dict[int, int]:
        """The number of the first row from each part, where all parts follow one another."""
        parts = sorted(self.counts)
        ends = np.cumsum([self.counts[part] for part in parts]).tolist()
        return dict(zip(parts, [0, *ends], strict=False))


class _Run:
    """One release, from the first step to the last."""

    def __init__(self, opened: OpenTable, plan: Sanitizer) -> None:
        self._plan = plan
        self._policy = plan.policy
        self._read: Callable[[Sanitizer], Iterator[pa.RecordBatch]] | None = None
        if opened.frame is not None:
            self._frame = opened.frame.select(*map(SparkDialect().quoted, plan.needed))
        else:  # where a row of a CSV file ends knows only who has read it from the beginning: one task reads it
            self._frame, self._read = session().range(0, 1, 1, 1), _Reading(opened.path)
        self._session = self._frame.sparkSession
        self._seal = Seal()

    def check(self) -> None:
        """Release every row into nothing, and count those of each person, so that what is refused is refused now."""
        parcels = self.released(steps.DiscardRows)
        if self._policy.person is not None:
            self.within_bound(parcels, self._policy.person)

    def released(self, step: type[steps.ReleaseRows] = steps.ReleaseRows) -> _Parcels:
        """The noise is drawn here, once."""
        plan = _shared(self._session, self._plan)
        first = step(plan, self._seal, NewKeys.of(self._policy), Digests(), self._read)
        with _at_a_time(self._session, _rows_at_a_time(self._session, self._policy)):
            return _Parcels(_mapped(self._frame, first))

    def within_bound(self, parcels: _Parcels, unit: Person) -> _Parcels:
        """At most so many rows of each person, counted over the whole table."""
        with _at_a_time(self._session, _PARCELS):
            count = self._parts(parcels.rows)
            dealt = _mapped(parcels.frame, steps.DealRows(self._seal, np.arange(count), "owner"))
            cut = _mapped(dealt.repartition(count, "hand"), steps.CutRows(self._seal, unit))
            if self._policy.order == "public":
                cut = _mapped(cut.repartition(count, "hand"), steps.GatherRows(self._seal))
            return _Parcels(cut)

    def frame(self, parcels: _Parcels) -> Any:
        """The released rows as a frame."""
        step, dealt = self._dealt(parcels)
        with _at_a_time(self._session, _PARCELS):
            return _stored(dealt.mapInArrow(step(None), spark_schema(self._plan.schema_out)))

    def write(self, parcels: _Parcels, folder: Path) -> None:
        """The released rows as Parquet files in a folder that the executors see too."""
        metadata = {"metricdp.version": metricdp.__version__}
        step, dealt = self._dealt(parcels)
        work = folder / "_work"
        work.mkdir()
        with _at_a_time(self._session, _PARCELS):
            written = _mapped(dealt, step(work.resolve())).select("rows", "content").collect()
        names = {bytes(name).decode() for _, name in written}
        if sum(rows for rows, _ in written) != parcels.rows or not all((work / name).is_file() for name in names):
            raise FileError("parts are missing: the output has to be in a folder that Spark's executors share")
        for name in names:
            (work / name).rename(folder / name)
        for left in work.iterdir():  # by tasks that were given up
            left.unlink()
        work.rmdir()
        if not names:
            with write_file(folder / "part-00000.parquet", self._plan.schema_out, metadata, {}):
                pass

    @property
    def _part_rows(self) -> int:
        """Of a part of the result; fewer where rows are wide."""
        return max(1, PART_ROWS * self._policy.batch_rows // BATCH_ROWS)

    def _parts(self, rows: int) -> int:
        """Of how many parts a table of so many rows is made."""
        return max(1, -(-rows // self._part_rows))

    def _dealt(self, parcels: _Parcels) -> tuple[Callable[[Path | None], steps.FinishRows], Any]:
        """The parcels of each part of the result together, and the step that makes the part of them."""
        hands = _hands(self._session, self._parts(parcels.rows))
        by: Literal["key", "number"] = "key" if self._policy.order == "secret" else "number"
        with _at_a_time(self._session, _PARCELS):
            deal = steps.DealRows(self._seal, hands, by, parcels.starts, self._part_rows)
            dealt = _mapped(parcels.frame, deal).repartition(len(hands), "hand")
        metadata = (("metricdp.version", metricdp.__version__),)

        def step(folder: Path | None) -> steps.FinishRows:
            return steps.FinishRows(
                self._seal,
                self._plan.schema_out,
                self._policy.order,
                hands,
                self._policy.batch_rows,
                folder,
                metadata,
                self._plan.noise,
            )

        return step, dealt


def _hands(session: Any, count: int) -> NDArray[np.int64]:
    """For each part a word that Spark's own hash sends there, so that every part gets what is meant for it."""
    found: dict[int, int] = {}
    tried = 16 * count
    while len(found) < count:
        words = session.range(0, tried, 1, 1).selectExpr(f"pmod(hash(id), {count}) as part")
        found = {row.part: word for word, row in enumerate(words.collect())} if count > 1 else {0: 0}
        tried *= 4
    return np.array([found[part] for part in range(count)], dtype=np.int64)


def _mapped(frame: Any, step: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]) -> Any:
    return frame.mapInArrow(step, spark_schema(steps.PARCEL))


def _stored(frame: Any) -> Any:
    """The frame computed once and cut off from how it was: losing it is an error, not a second draw."""
    return frame.localCheckpoint(eager=True)


@contextmanager
def _at_a_time(session: Any, rows: int) -> Iterator[None]:
    """So many rows of a frame come to Python at a time, until the block ends."""
    before = session.conf.get(_ARROW_ROWS)
    session.conf.set(_ARROW_ROWS, str(rows))
    try:
        yield
    finally:
        session.conf.set(_ARROW_ROWS, before)


def _rows_at_a_time(session: Any, policy: Policy) -> int:
    """More than Spark's own number, where neither the user nor the table's width speaks against it."""
    before = int(session.conf.get(_ARROW_ROWS))
    return min(1 << 16 if before == 10_000 else before, policy.batch_rows)


def _shared(session: Any, plan: Sanitizer) -> Callable[[], Sanitizer]:
    """The plan for executors; a large one by itself, since Spark writes large functions to a disk, with their keys."""
    if len(pickle.dumps(plan)) < _LARGE:
        return _Given(plan)
    return _Given(session.sparkContext.broadcast(plan))


class _Given:
    def __init__(self, held: Any) -> None:
        self._held = held

    def __call__(self) -> Sanitizer:
        plan: Sanitizer = self._held if isinstance(self._held, Sanitizer) else self._held.value
        return plan


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
        names = [*(item.name for item in policy.columns), *([policy.person.column] if policy.person else [])]
        raise told_by_spark(str(error), names) or DataError(_UNREADABLE) from None


class _Reading:
    """Reads a file inside of a task."""

    def __init__(self, path: Path | None) -> None:
        if path is None:
            raise ArgumentError("Spark reads files and frames of its own; standard input is read without it")
        self._path = path

    def __call__(self, plan: Sanitizer) -> Iterator[pa.RecordBatch]:
        return open_path(self._path, declared_by(plan.policy)).only(plan.needed).batches()
