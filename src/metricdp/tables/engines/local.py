"""Sanitize on this machine: batches in parallel, in constant memory."""

from __future__ import annotations

import contextvars
import itertools
import json
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

import metricdp
from metricdp.errors import FileError
from metricdp.exact.bits import source as bits
from metricdp.exact.processors import processors
from metricdp.mechanisms.blocks import as_one_of_many
from metricdp.sources.file_kinds import STANDARD
from metricdp.sources.layout import laid_out
from metricdp.sources.sinks import open_sink
from metricdp.sources.table import OpenTable
from metricdp.sources.whole_files import scratch_folder
from metricdp.tables.release import Release
from metricdp.tables.report import Report
from metricdp.tables.sanitizer import Sanitizer
from metricdp.tables.shuffle import shuffled, shuffled_table
from metricdp.tables.units import NewKeys, rows_within_bound

__all__ = ["LocalRun"]

Progress = Callable[[int, int | None], object]


class LocalRun:
    """One table, read and released by this process; what waits on a disk meanwhile is sealed, and gone at the end.

    Args:
        opened: the table.
        plan: what is done to it.
        target: the file that will be made, if any; scratch files lie beside it.
        by: who makes the release, for what the file carries.
        twice: whether it is going to be read twice.
    """

    def __init__(
        self, opened: OpenTable, plan: Sanitizer, target: Path | None, by: str | None = None, twice: bool = False
    ) -> None:
        self._plan, self._target, self._by = plan, target, by
        self._rules = plan.policy
        self._opened = opened.only(plan.needed)
        self._kept = twice and (opened.once or (self._rules.person is not None and not opened.stable))
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self._kept:
            self._opened = self._opened.spooled(self._scratch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @cached_property
    def _scratch(self) -> Path:
        """A folder for what does not fit in memory."""
        aside = self._target is None or str(self._target) == STANDARD
        beside = Path(tempfile.gettempdir()) if aside or self._target is None else self._target.parent
        return self._stack.enter_context(scratch_folder(beside))

    def check(self, progress: Progress | None) -> None:
        """Release every row into nothing, so that whatever is refused is refused now.

        The draws are of their own, even where the run's noise comes from a seed.
        """

        def rehearsed() -> None:
            for _ in _in_parallel(self._plan, iter(_Counted(self._owned(), self._opened.rows, progress))):
                pass

        contextvars.Context().run(rehearsed)

    def release(self, overwrite: bool, progress: Progress | None) -> Release[Any]:
        """Draw the noise, and make the table or the file."""
        rules, plan, target = self._rules, self._plan, self._target
        rows = _Counted(self._owned(), self._opened.rows, progress)
        released = _in_parallel(plan, iter(rows))
        if target is None:
            table = pa.Table.from_batches(list(released), plan.schema_out)
            if rules.order == "secret":
                table = shuffled_table(table)
            report = Report.of(rules, table.num_rows, plan.declared, private=bits().private).with_origin(self._by)
            return Release(report, _carrying(self._opened.like, laid_out(table), report))
        if rules.order == "secret":
            released = _begun(shuffled(released, plan.schema_out, self._scratch), target)
        # How many rows were cut is nobody's business: the report has the number of those that are left.
        known = rows.done if rules.order == "secret" else None if rules.person is not None else self._opened.rows
        report = Report.of(rules, known, plan.declared, private=bits().private).with_origin(self._by)
        about, size = _metadata(report), rules.batch_rows
        with open_sink(target, plan.schema_out, about, plan.noise, overwrite, rules.dialect, size) as writer:
            for batch in released:
                writer.write_batch(batch)
                if rules.order == "secret":  # all rows have gone by: whoever watches can still stop it
                    rows.tell()
        return Release(replace(report, rows=rows.done), None, target)

    def _owned(self) -> Iterator[pa.RecordBatch]:
        """The rows, at most as many for each person as the policy allows, with new keys if it says so."""
        new_keys = NewKeys.of(self._rules)
        if self._rules.person is None:
            yield from map(new_keys, self._opened.batches())
        else:
            yield from map(new_keys, rows_within_bound(self._opened, self._rules.person, self._scratch))


def _begun(batches: Iterator[pa.RecordBatch], target: Path) -> Iterator[pa.RecordBatch]:
    """The same batches, the first of them read now; of rows that are shuffled, all have been read then."""
    try:
        first = next(batches, None)
    except FileError:
        raise
    except OSError as error:  # of the scratch files
        raise FileError(f"{target.name} could not be written: {error.strerror or 'the disk failed'}") from None
    return batches if first is None else itertools.chain([first], batches)


def _metadata(report: Report) -> dict[str, str]:
    return {"metricdp.version": metricdp.__version__, "metricdp.report": json.dumps(report.claim())}


def _carrying(like: Callable[[pa.Table], Any], table: pa.Table, report: Report) -> Any:
    """The table in the form of the source, with its guarantee where that form has a place for it."""
    frame = like(table)
    if isinstance(frame, pa.Table):
        return frame.replace_schema_metadata(_metadata(report))
    if isinstance(getattr(frame, "attrs", None), dict):
        frame.attrs["metricdp"] = {"guarantee": report.formula, "private": report.private, "report": report.claim()}
    return frame


class _Counted:
    """Batches that tell how many rows have gone by."""

    def __init__(self, batches: Iterator[pa.RecordBatch], total: int | None, progress: Progress | None) -> None:
        self._batches, self._total, self._progress = batches, total, progress
        self.done = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            yield batch
            self.done += batch.num_rows
            self.tell()

    def tell(self) -> None:
        """Say how far it is."""
        if self._progress is not None:
            self._progress(self.done, self._total)


def _in_parallel(plan: Sanitizer, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Release batches on all cores, in order, with no more of them in memory than there are workers."""
    workers = processors() if bits().private else 1  # a seeded stream has one order
    first_row = 0
    waiting: deque[Future[pa.RecordBatch]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for batch in batches:
                if not batch.num_rows:  # what is put together with nothing may be laid out in another way
                    continue
                context = contextvars.copy_context()  # so that a thread draws from the source in force here
                waiting.append(pool.submit(context.run, as_one_of_many, partial(plan.apply, batch, first_row)))
                first_row += batch.num_rows
                while len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
