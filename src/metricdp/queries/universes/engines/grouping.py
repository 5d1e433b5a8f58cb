"""Rows grouped by cell in the engine: what leaves it is a row for each cell that is not empty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ColumnError, OutOfDomainError
from metricdp.queries.universes.engines.codes import MISSING, OUTSIDE, cell_code, looked_up
from metricdp.queries.universes.engines.sources import ROW, Opened
from metricdp.queries.universes.universe import Universe

__all__ = ["Grouped", "group_by_cell"]

RULES = {
    MISSING: "a value is missing, and the universe has no cell for that: declare missing = .., the name of one",
    OUTSIDE: "a value lies outside the universe's cells: declare other = .., the name of a cell for such values, or "
    "outside = 'clamp' where they have an order",
}
"""What is said of a value in no cell."""


@dataclass(frozen=True)
class Grouped:
    """Cells that are not empty.

    Attributes:
        cells: their places in the universe.
        records: how many records lie in each.
        sums: the sum asked for in each, as Decimals.
    """

    cells: NDArray[np.int64]
    records: NDArray[np.int64]
    sums: list[Any]


def group_by_cell(
    found: Opened,
    universe: Universe,
    amount: Any = None,
    amount_state: tuple[str, Any, dict[int, str]] | None = None,
) -> Grouped:
    """Count the records of each cell, and sum an amount.

    Args:
        found: the table.
        universe: the cells.
        amount: what to sum, as an expression on the table's rows.
        amount_state: the amount's column, an expression that is 0 where it may be summed, and what to say where not.

    Raises:
        ColumnError: for the first column with a value in none of its cells.
    """
    found = replace(found, table=looked_up(universe.columns, found.table, found.dialect))
    checks = [(column.name, cell_code(column, found.table, found.dialect), RULES) for column in universe.columns]
    if amount_state is not None:
        checks.append(amount_state)
    codes = {f"c{place}": code for place, (_, code, _) in enumerate(checks)}
    more = {} if amount is None else {"amount": amount}
    sums = {} if amount is None else {"amount": lambda rows: rows.amount.sum()}
    rows = found.table.select(**codes, **more)
    read = found.read(rows.group_by(list(codes)).agg(records=lambda rows: rows.count(), **sums))
    places = [np.asarray(read[name]).astype(np.int64) for name in codes]
    for (name, code, rules), place in zip(checks, places, strict=True):
        for mark, rule in rules.items():
            if (place == mark).any():
                raise ColumnError(name, OutOfDomainError(rule, _first_row(found, code, mark)))
    of_cells = places[: len(universe.columns)]
    empty = not len(of_cells[0])
    cells = np.zeros(0, dtype=np.int64) if empty else np.ravel_multi_index(of_cells, universe.shape).astype(np.int64)
    records = np.asarray(read["records"]).astype(np.int64)
    return Grouped(cells, records, [] if amount is None else read["amount"].to_pylist())


def _first_row(found: Opened, code: Any, mark: int) -> int | None:
    """The first row of a frame whose value is in no cell; other tables have no order."""
    if not found.numbered:
        return None
    first = found.table.filter(code == mark).agg(row=lambda rows: rows[ROW].min())
    return int(found.read(first)["row"][0].as_py())
