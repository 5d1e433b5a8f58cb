"""Sanitize a table: one function for files and frames."""

from __future__ import annotations

import contextvars
import json
import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa

import metricdp
from metricdp.errors import KindError, LevelError
from metricdp.exact.bits import source as bits
from metricdp.tables.plan import Plan
from metricdp.tables.policy import Policy
from metricdp.tables.release import Release
from metricdp.tables.report import Report
from metricdp.tables.shuffle import shuffled, shuffled_table
from metricdp.tables.sinks import check_output, open_sink
from metricdp.tables.sources import Source, open_source
from metricdp.tables.units import Rekey, rows_within_bound
from metricdp.tables.whole_files import scratch_folder

__all__ = ["sanitize"]

Progress = Callable[[int, int | None], None]


def sanitize(
    source: Any,
    policy: Policy | str | Path,
    out: str | Path | None = None,
    engine: str | None = None,
    ledger: Any = None,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Release a table privately, as its policy says.

    Args:
        source: a path (Parquet, CSV, Arrow, a folder of Parquet parts), an Arrow table, a DuckDB relation, a pandas,
            Polars or Spark frame.
        policy: a Policy, or the path of one.
        out: the file to make; None keeps the result in memory, in the form of the source.
        engine: "local" or "spark"; by default what the source calls for.
        ledger: reserved for accounting.
        overwrite: replace ``out`` if it is there.
        dry_run: check everything that can be checked without reading rows, and stop.
        progress: called with the rows done, and the rows there are if that is known.

    Guarantee:
        ``policy.guarantee`` for each row, ``policy.person_guarantee`` for each person.

    References:
        Paper 2, Theorems 4 and 5.
    """
    rules = policy if isinstance(policy, Policy) else Policy.load(policy)
    if ledger is not None:
        raise LevelError("no ledger can be charged yet")
    if engine not in (None, "auto", "local", "spark"):
        raise KindError("engine is 'local' or 'spark'")
    if engine == "spark" or hasattr(source, "mapInArrow"):
        from metricdp.tables.spark import sanitize_with_spark

        return sanitize_with_spark(source, rules, out, overwrite=overwrite, dry_run=dry_run)
    opened = open_source(source, rules)
    plan = rules.bind(opened.schema)
    target = None if out is None else Path(out)
    if target is not None:
        check_output(target, opened.path, overwrite)
    if dry_run:
        return Release(Report.of(rules, opened.rows, opened.schema), None, None)
    with ExitStack() as stack:
        scratch = _scratch(stack, target, rules)
        rows = _Counted(_owned(opened, rules, scratch), opened.rows, progress)
        released = _in_parallel(plan, iter(rows))
        if target is None:
            table = pa.Table.from_batches(list(released), plan.schema_out)
            if rules.order == "secret":
                table = shuffled_table(table)
            report = Report.of(rules, table.num_rows, opened.schema, private=bits().private)
            return Release(report, opened.like(table), None)
        if rules.order == "secret":
            assert scratch is not None
            released = shuffled(released, plan.schema_out, scratch)
        # How many rows were cut is nobody's business, and the file knows how many it has.
        rows_before = None if rules.unit is not None else opened.rows
        report = Report.of(rules, rows_before, opened.schema, private=bits().private)
        metadata = {"metricdp.version": metricdp.__version__, "metricdp.report": json.dumps(report.claim())}
        plain = [column for item in rules.treatments if item.is_noise for column in item.columns]
        with open_sink(target, plan.schema_out, metadata, plain, overwrite) as writer:
            for batch in released:
                writer.write_batch(batch)
        return Release(Report.of(rules, rows.done, opened.schema, private=bits().private), None, target)


def _scratch(stack: ExitStack, target: Path | None, rules: Policy) -> Path | None:
    """A folder for what does not fit in memory, where anything may need one."""
    if rules.unit is None and (target is None or rules.order == "public"):
        return None
    if target is not None:
        return stack.enter_context(scratch_folder(target.parent))
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="metricdp-")))


def _owned(opened: Source, rules: Policy, scratch: Path | None) -> Iterator[pa.RecordBatch]:
    """The rows, at most as many for each person as the policy allows, with new keys if it says so."""
    unit = rules.unit
    if unit is None:
        yield from opened.batches()
        return
    assert scratch is not None
    rekey = Rekey()
    for batch in rows_within_bound(opened, unit, scratch):
        if unit.release == "drop":
            yield batch
        else:
            place = batch.schema.get_field_index(unit.column)
            yield batch.set_column(place, unit.column, rekey(batch.column(place)))


class _Counted:
    """Batches that tell how many rows have gone by."""

    def __init__(self, batches: Iterator[pa.RecordBatch], total: int | None, progress: Progress | None) -> None:
        self._batches, self._total, self._progress = batches, total, progress
        self.done = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            yield batch
            self.done += batch.num_rows
            if self._progress is not None:
                self._progress(self.done, self._total)


def _in_parallel(plan: Plan, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Release batches on all cores, in order, with no more of them in memory than there are workers."""
    workers = (os.cpu_count() or 1) if bits().private else 1  # a seeded stream has one order
    first_row = 0
    waiting: deque[Future[pa.RecordBatch]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for batch in batches:
                context = contextvars.copy_context()  # so that a thread draws from the source in force here
                waiting.append(pool.submit(context.run, plan.apply, batch, first_row))
                first_row += batch.num_rows
                while len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
