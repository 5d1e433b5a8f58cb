"""Columns of true and false."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from metricdp.exact.level import rational
from metricdp.policies.count_by import CountBy
from metricdp.policies.entry import ColumnEntry, Mistake
from metricdp.policies.levels import equal_level, missing_distance
from metricdp.policies.open_questions import FACTOR, MISSING
from metricdp.policies.types._finite import OneOf

if TYPE_CHECKING:
    from metricdp.policies.cells.listed import Cells

__all__ = ["Boolean"]


@dataclass(frozen=True, kw_only=True)
class Boolean(OneOf):
    """True or false, by randomized response."""

    type_name = "boolean"
    keys = ("epsilon", "factor", "metric", "missing", "missing_distance", "delta", "count_by")
    questions = (FACTOR, MISSING)
    wants = "booleans"

    @classmethod
    def read(cls, entry: ColumnEntry) -> Self:
        """See `ColumnType.read`."""
        missing, written = entry.missing(True), equal_level(entry)
        delta = rational(entry.take("delta", 0), "delta")
        if not 0 <= delta < 1:
            raise Mistake("delta", "delta is a probability, from 0 to below 1")
        return cls(
            name=entry.name,
            columns=entry.columns,
            line=entry.line,
            release=entry.release(),
            missing=missing,
            written=written,
            missing_distance=missing_distance(entry, missing, "", written),
            delta=delta,
            count_by=CountBy.read(entry, ("missing",)),
        )

    @property
    def listed(self) -> tuple[Any, ...]:
        """True and False."""
        return (True, False)

    def _make_cells(self) -> Cells:
        from metricdp.policies.cells.listed import BooleanCells

        return BooleanCells(self.columns[0], missing=self.count_by.missing_name(self.missing, []))
