"""A release: the sanitized table, and the report that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from metricdp.metrics.guarantee import Guarantee
from metricdp.metrics.released import Released
from metricdp.tables.report import Report
from metricdp.visible import visible

__all__ = ["Release"]

Table = TypeVar("Table", covariant=True)

_CHECKED = {
    "types": "the table's columns are there and of the right types; no row was read",
    "rows": "the table's columns are there, and every row was read and can be released",
}


@dataclass(frozen=True)
class Release(Released, Generic[Table]):
    """What came out of sanitizing a table. Prints as the report's summary.

    Attributes:
        report: what was promised, and how.
        table: the sanitized table, in the form the source had; None where it went to a file, or on a dry run.
        path: the file that was written; None where there is none.
        checked: what a dry run looked at: the columns and their types, or every row too; None where it was no dry run.
    """

    report: Report
    table: Table = field(repr=False)
    path: Path | None = None
    checked: Literal["types", "rows"] | None = None

    @property
    def guarantee(self) -> Guarantee | None:
        """What is promised of a row."""
        return self.report.guarantee

    @property
    def private(self) -> bool:
        """False where the noise came from a seed."""
        return self.report.private

    @property
    def check_words(self) -> str:
        """What a dry run found; empty where it was none."""
        return "" if self.checked is None else _CHECKED[self.checked]

    def __str__(self) -> str:
        where = "" if self.path is None else f"Written to {visible(str(self.path))}\n\n"
        dry = "" if self.checked is None else f"Nothing was released: {self.check_words}.\n\n"
        return where + dry + self.report.summary()

    def to_json(self) -> dict[str, Any]:
        """The report as plain values for JSON, with the guarantee, and what was written or checked."""
        path = None if self.path is None else str(self.path)
        return self.report.to_json() | {
            "guarantee": self.report.guarantee_json(),
            "path": path,
            "checked": self.checked,
        }

    def _repr_html_(self) -> str:
        return self.report.html()
