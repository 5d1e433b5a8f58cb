"""Histograms of tables, computed where the tables are."""

from __future__ import annotations

from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, OutOfDomainError
from metricdp.queries.universes.engines.grouping import group_by_cell, needed
from metricdp.queries.universes.histograms import Histogram
from metricdp.queries.universes.universe import Universe
from metricdp.sources.dialect import Dialect
from metricdp.sources.opening import open_sql

__all__ = ["histogram"]


def histogram(source: Any, universe: Universe, engine: Any = None, *, dialect: Dialect | None = None) -> Histogram:
    """How many records lie in each cell, counted where the table is: only counts by cell leave the engine.

    Args:
        source: a file, a folder of Parquet parts, a frame, or a table of a database; see `metricdp.sources.open_table`.
            PostgreSQL, Spark and DuckDB count their own tables; all others are streamed to DuckDB.
        universe: the cells. Columns that it does not name are not read.
        engine: "spark" for Spark to read a file; a connection of ibis where the source is a table's name there.
        dialect: how a CSV file writes its values.

    Raises:
        ColumnError: a column that is not there or of another type, or a value in none of its cells. The error names the
            column, and a frame's row, and never the value.

    References:
        Paper 4, section 2.2.

    >>> import pyarrow as pa
    >>> from metricdp.policies.cells.listed import CategoryCells
    >>> from metricdp.policies.cells.ordered import IntegerCells
    >>> universe = Universe([CategoryCells("sex", ["F", "M"]), IntegerCells("age", (0, 119), width=40)])
    >>> histogram(pa.table({"sex": ["F", "F", "M"], "age": [30, 50, 39]}), universe).counts.tolist()
    [1, 1, 0, 1, 0, 0]
    """
    if not isinstance(universe, Universe):
        raise ArgumentError(f"a histogram is over a Universe, not {type(universe).__name__}")
    with open_sql(source, needed(universe, dialect=dialect), engine) as found:
        grouped = group_by_cell(found, universe)
    counts = np.zeros(len(universe), dtype=np.int64)
    counts[grouped.cells] = grouped.records
    if universe.capacity is not None:
        present = int(counts.sum())
        if present > universe.capacity:
            raise OutOfDomainError("there are more records than the universe's capacity says there can be")
        counts[-1] = universe.capacity - present
    return Histogram(universe, counts)
