"""Histograms of tables, computed where the tables are."""

from __future__ import annotations

from typing import Any

import numpy as np

from metricdp.errors import KindError, OutOfDomainError
from metricdp.queries.universes.engines.grouping import group_by_cell
from metricdp.queries.universes.engines.sources import opened
from metricdp.queries.universes.histograms import Histogram
from metricdp.queries.universes.universe import Universe

__all__ = ["histogram"]


def histogram(source: Any, universe: Universe, engine: Any = None) -> Histogram:
    """How many records lie in each cell, counted where the table is: only counts by cell leave the engine.

    Args:
        source: a Parquet or CSV file, a folder of Parquet parts, a pandas, Polars or Arrow frame (all through DuckDB),
            a table of ibis in DuckDB, PostgreSQL or Spark, or a Spark frame.
        universe: the cells. Columns that it does not name are not read.
        engine: "spark" for Spark to read a file; a connection of ibis where the source is a table's name there.

    Raises:
        ColumnError: a column that is not there or of another type, or a value in none of its cells. The error names the
            column, and a frame's row, and never the value.

    References:
        Paper 4, section 2.2.

    >>> import pyarrow as pa
    >>> from metricdp.queries.universes.columns import Category
    >>> from metricdp.queries.universes.intervals import Integer
    >>> universe = Universe([Category("sex", ["F", "M"]), Integer("age", (0, 119), width=40)])
    >>> histogram(pa.table({"sex": ["F", "F", "M"], "age": [30, 50, 39]}), universe).counts.tolist()
    [1, 1, 0, 1, 0, 0]
    """
    if not isinstance(universe, Universe):
        raise KindError(f"a histogram is over a Universe, not {type(universe).__name__}")
    types = {column.name: column.csv_type for column in universe.columns}
    with opened(source, types, engine) as found:
        grouped = group_by_cell(found, universe)
    counts = np.zeros(len(universe), dtype=np.int64)
    counts[grouped.cells] = grouped.records
    if universe.capacity is not None:
        present = int(counts.sum())
        if present > universe.capacity:
            raise OutOfDomainError("there are more records than the universe's capacity says there can be")
        counts[-1] = universe.capacity - present
    return Histogram(universe, counts)
