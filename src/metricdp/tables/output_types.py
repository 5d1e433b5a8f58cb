"""Which types a file can hold, asked before any row is read."""

from __future__ import annotations

from pathlib import Path

from metricdp.errors import PolicyError
from metricdp.sources.file_kinds import kind_of_file
from metricdp.sources.plain_arrays import kind_of
from metricdp.sources.sinks import can_hold
from metricdp.tables.sanitizer import Sanitizer

__all__ = ["check_types"]


def check_types(plan: Sanitizer, out: Path) -> None:
    """Refuse an output whose format cannot hold a column; every such column is named.

    Raises:
        PolicyError: a column of the release has a type that files with this ending do not have.
    """
    kind = kind_of_file(out)
    lines = {column: item.line for item in plan.policy.columns for column in item.columns}
    problems = []
    for field in plan.schema_out:
        if not can_hold(kind, field):
            where = f"line {lines[field.name]}, " if field.name in lines else ""
            problems.append(
                f"{where}column {field.name!r}: a {kind} file cannot hold {kind_of(field.type)}; write "
                f"{'a .parquet or .arrow file' if kind.startswith('.csv') else 'an .arrow file'}, or drop the column"
            )
    if problems:
        raise PolicyError(problems)
