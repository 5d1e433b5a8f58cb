"""A release: the sanitized table, and the report that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from metricdp.tables.report import Report
from metricdp.visible import visible

__all__ = ["Release"]

Table = TypeVar("Table", covariant=True)


@dataclass(frozen=True)
class Release(Generic[Table]):
    """What came out of sanitizing a table. Prints as the report's summary.

    Attributes:
        report: what was promised, and how.
        table: the sanitized table, in the form the source had; None where it went to a file, or on a dry run.
        path: the file that was written; None where there is none.
    """

    report: Report
    table: Table = field(repr=False)
    path: Path | None = None

    def __str__(self) -> str:
        where = "" if self.path is None else f"Written to {visible(str(self.path))}\n\n"
        return where + self.report.summary()

    def _repr_html_(self) -> str:
        return self.report.html()
