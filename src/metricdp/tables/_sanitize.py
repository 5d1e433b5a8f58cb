"""Sanitize a table: one function for files, frames and databases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

import pyarrow as pa

from metricdp.policies.policy import Policy
from metricdp.sources.databases import DatabaseTable, database_table
from metricdp.sources.file_kinds import STANDARD, as_path
from metricdp.sources.opening import open_table
from metricdp.sources.sinks import check_table_output
from metricdp.sources.table import OpenTable
from metricdp.sources.whole_files import check_output
from metricdp.tables.charged import Debit, charged, charged_on_spark
from metricdp.tables.engines.local import LocalRun
from metricdp.tables.output_types import check_types
from metricdp.tables.release import Release
from metricdp.tables.report import Report
from metricdp.tables.sanitizer import Sanitizer, declared_by

__all__ = ["sanitize", "validate"]

Frame = TypeVar("Frame")
Progress = Callable[[int, int | None], object]
PolicyLike = Policy | str | Path | Mapping[str, Any]


class _Options(TypedDict, total=False):
    """What may be said by name in each form of the call; `sanitize` says what each is."""

    overwrite: bool
    check_first: bool
    by: str | None
    source_digest: bool
    account: str | None
    key: str | None
    progress: Progress | None


@overload
def sanitize(
    source: str | Path,
    policy: PolicyLike,
    out: None = None,
    engine: Any = None,
    ledger: Any = None,
    *,
    dry_run: Literal[False] = False,
    **options: Unpack[_Options],
) -> Release[pa.Table]: ...


@overload
def sanitize(
    source: Frame,
    policy: PolicyLike,
    out: None = None,
    engine: Any = None,
    ledger: Any = None,
    *,
    dry_run: Literal[False] = False,
    **options: Unpack[_Options],
) -> Release[Frame]: ...


@overload
def sanitize(
    source: Any,
    policy: PolicyLike,
    out: str | Path | None = None,
    engine: Any = None,
    ledger: Any = None,
    *,
    dry_run: bool = False,
    **options: Unpack[_Options],
) -> Release[Any]: ...


def sanitize(
    source: Any,
    policy: PolicyLike,
    out: str | Path | None = None,
    engine: Any = None,
    ledger: Any = None,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
    check_first: bool = False,
    by: str | None = None,
    source_digest: bool = False,
    account: str | None = None,
    key: str | None = None,
    progress: Progress | None = None,
) -> Release[Any]:
    """Release a table privately, as its policy says.

    Args:
        source: a path (Parquet, CSV, Arrow, a folder of Parquet parts; ``"-"`` is standard input), an Arrow table or
            reader, a pandas, Polars or Spark frame, a DuckDB relation, or a table of a database; see
            `metricdp.sources.open_table`.
        policy: a Policy, the path of one, or a dict of what its file would hold.
        out: the file to make, ``"-"`` for standard output; None keeps the result in memory, in the form of the source.
        engine: "local", "spark" or another of `metricdp.sources`; by default what the source calls for.
        ledger: a `Ledger` or its address. The whole table is checked first; then ``account`` is charged, and the digest
            of the result is in the ledger before a file appears or a table is handed out.
        overwrite: replace ``out`` if it is there.
        dry_run: check the policy against the table, and stop. Where the table declares no types, as CSV does not, or
            with ``check_first``, its rows are read as a release would read them; otherwise no row is read.
        check_first: read the whole table once before any noise is drawn that is released, and refuse it there; see
            `validate`.
        by: who makes the release, for its report.
        source_digest: put the SHA-256 of the source's file into the report: whoever guesses the whole table can then
            confirm the guess.
        account: which account of the ledger is charged; the only one, where there is one.
        key: of the request: a charge under it that came to no result is taken up again, and not charged twice.
        progress: called with the rows done, and the rows there are if that is known; with ``check_first``, from the
            beginning twice.

    Raises:
        BudgetError: the account cannot bear it; nothing was charged or released.

    Guarantee:
        ``policy.guarantee`` for each row, ``policy.person_guarantee`` for each person.

    References:
        Paper 2, Theorems 4 and 5.

    >>> rules = {"format": 2, "columns": {"age": {"type": "integer", "within": "5 years"}, "name": "drop"}}
    >>> release = sanitize(pa.table({"name": ["Ann", "Bob"], "age": [31, 47]}), rules)
    >>> release.table.column_names, release.table.num_rows, str(release.guarantee)
    (['age'], 2, '(ln 2/5·|x − y| (age))-private')
    """
    rules, target = _policy(policy), None if out is None else as_path(out)
    with open_table(source, declared_by(rules), engine) as opened:
        plan = Sanitizer.of(rules, opened.schema, opened.untyped)
        opened.check_readable(plan.needed)
        on_spark = _runs_on_spark(opened, engine)
        if target is not None and on_spark:
            check_output(target, overwrite, opened.path, folder=True)
        elif target is not None:
            check_table_output(target, opened.path, overwrite)
            check_types(plan, target)
        if dry_run:
            rows = check_first or bool(opened.untyped.columns)
            if rows:
                _check_rows(opened, plan, on_spark, progress)
            return Release(Report.of(rules, opened.rows, plan.declared), None, checked="rows" if rows else "types")
        rules.refuse_without_ledger(ledger is not None)
        if ledger is not None:
            debit = Debit.of(ledger, account, rules, source_name(source, opened), key, by)
            if on_spark:
                release = charged_on_spark(opened, plan, target, debit, overwrite=overwrite)
            else:
                release = charged(opened, plan, target, debit, by=by, overwrite=overwrite, progress=progress)
        elif on_spark:
            from metricdp.tables.engines.spark import sanitize_with_spark

            release = sanitize_with_spark(opened, plan, target, overwrite=overwrite, check_first=check_first)
        else:
            with LocalRun(opened, plan, target, by, twice=check_first) as run:
                if check_first:
                    run.check(progress)
                release = run.release(overwrite, progress)
        return _with_origin(release, source, opened, by, source_digest)


def validate(source: Any, policy: PolicyLike, engine: Any = None, *, progress: Progress | None = None) -> None:
    """Read a whole table, and refuse it where `sanitize` would, before anything is released or charged.

    Every row is read, turned into what its column declares, and released into nothing, so that whatever a release
    refuses is refused here: with the column and the row, and never a value.

    Args:
        source: see `sanitize`.
        policy: a Policy, the path of one, or a dict of what its file would hold.
        engine: see `sanitize`.
        progress: called with the rows done, and the rows there are if that is known.

    Raises:
        PolicyError: the policy does not fit the table's columns.
        DataError: a row breaks a rule of the policy.

    >>> rules = {"format": 2, "columns": {"age": {"type": "integer", "within": "5 years", "missing": "refuse"}}}
    >>> validate(pa.table({"age": [31, None]}), rules)
    Traceback (most recent call last):
    metricdp.errors.ColumnError: column 'age', row 1: a value is missing; declare missing = ...
    """
    rules = _policy(policy)
    with open_table(source, declared_by(rules), engine) as opened:
        plan = Sanitizer.of(rules, opened.schema, opened.untyped)
        _check_rows(opened, plan, _runs_on_spark(opened, engine), progress)


def _check_rows(opened: OpenTable, plan: Sanitizer, on_spark: bool, progress: Progress | None) -> None:
    """Release every row into nothing, so that whatever a release refuses is refused now."""
    if on_spark:
        from metricdp.tables.engines.spark import check_with_spark

        check_with_spark(opened, plan)
        return
    with LocalRun(opened, plan, None) as run:
        run.check(progress)


def _with_origin(
    release: Release[Any], source: Any, opened: OpenTable, by: str | None, source_digest: bool
) -> Release[Any]:
    """The release with its origin: when, by whom and of what it was made."""
    name = source_name(source, opened)
    written = release.path if release.path is not None and str(release.path) != STANDARD else None
    report = release.report.with_origin(
        by=by,
        source=name,
        source_file=opened.path if source_digest else None,
        output=None if written is None else written.name,
        output_file=written,
    )
    return replace(release, report=report)


def source_name(source: Any, opened: OpenTable) -> str | None:
    """What a source is called, where it has a name."""
    if opened.path is not None:
        return opened.path.name
    if not isinstance(source, str | Path | DatabaseTable):
        return None  # a frame is not printed to be told from a path: pandas may break down over its values
    found = database_table(source)
    return "standard input" if str(source) == STANDARD else None if found is None else found.table


def _policy(policy: PolicyLike) -> Policy:
    return Policy.of(policy)


def _runs_on_spark(opened: OpenTable, engine: Any) -> bool:
    return opened.frame is not None or engine == "spark"
