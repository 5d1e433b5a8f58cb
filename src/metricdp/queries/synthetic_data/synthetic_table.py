"""Synthetic tables: rows that were never anybody's, what they promise, and how near their marginals are."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metricdp.metrics import Guarantee
from metricdp.metrics.released import Released

__all__ = ["MarginalError", "SyntheticTable"]


@dataclass(frozen=True)
class MarginalError:
    """How far the counts of one marginal may be off.

    Attributes:
        columns: the marginal's.
        cells: how many counts it has.
        scale: of the Laplace noise on what was measured for it.
        expected: the root mean square of that noise in one of its counts, before counts were made consistent, which
            brings them nearer on the whole.
        error_bar: how far the noise takes one count at most, with 95%; where it was summed from other counts, about.
        rounding: the root mean square by which the rows miss the counts that were fitted, since rows are whole.
    """

    columns: tuple[str, ...]
    cells: int
    scale: float
    expected: float
    error_bar: float
    rounding: float

    def to_json(self) -> dict[str, Any]:
        """The errors as plain values for JSON."""
        return {
            "columns": list(self.columns),
            "cells": self.cells,
            "scale": self.scale,
            "expected_error": self.expected,
            "error_bar": self.error_bar,
            "rounding": self.rounding,
        }


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticTable(Released):
    """What `synthesize` makes.

    Attributes:
        table: the rows, in the form that the source had; None where they are in a file.
        records: how many rows there are.
        columns: of the table, in the order of the source.
        left_out: columns of the source that the policy does not declare, or that were not wanted; they were not read.
        marginals: those asked for, each with the error to expect.
        guarantee: what rows and report together promise; None where they tell nothing secret.
        person_rows: the greatest number of records that are one person's.
        private: False where the noise came from a seeded source.
        path: the file with the rows, if there is one.
    """

    table: Any
    records: int
    columns: tuple[str, ...]
    left_out: tuple[str, ...]
    marginals: tuple[MarginalError, ...]
    guarantee: Guarantee | None
    person_rows: int = 1
    private: bool = True
    path: Path | None = None

    @property
    def person_guarantee(self) -> Guarantee | None:
        """What is promised for one person, who may have several rows."""
        return None if self.guarantee is None else Guarantee(self.guarantee.metric * self.person_rows)

    def text(self) -> str:
        """The report in words."""
        lines = [f"{self.records:,} synthetic rows of {', '.join(self.columns)}"]
        if self.path is not None:
            lines[0] += f", in {self.path.name}"
        lines += [
            f"  {self.promise}",
            "",
            "  error to expect in one count (root mean square), and the bar that 95% of the noise is in:",
        ]
        width = max(len(", ".join(one.columns)) for one in self.marginals)
        for one in self.marginals:
            name = ", ".join(one.columns)
            lines.append(
                f"    {name:<{width}}  {one.cells:>7,} counts   {one.expected:.3g}, ± {one.error_bar:.3g}"
                f"   (whole rows: {one.rounding:.2g})"
            )
        if self.left_out:
            lines.append(f"  Not read: {', '.join(self.left_out)}")
        lines.append("  Where a cell of the policy holds several values, one was drawn evenly.")
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """The report as a page."""
        head = "<!doctype html><meta charset='utf-8'><title>Synthetic table</title>"
        return f"{head}<pre>{html.escape(self.text())}</pre>\n"

    def __repr__(self) -> str:
        return f"SyntheticTable({self.records:,} rows, {len(self.marginals)} marginals, {self.promise})"

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """The report as plain values for JSON; the rows are not in it."""
        return {
            "records": self.records,
            "columns": list(self.columns),
            "left_out": list(self.left_out),
            "marginals": [one.to_json() for one in self.marginals],
            "guarantee": None if self.guarantee is None else self.guarantee.to_json(),
            "rows_per_person": self.person_rows,
            "private": self.private,
        }
