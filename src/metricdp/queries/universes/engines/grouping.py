"""Rows grouped by cell in the engine: what leaves it is a row for each cell that is not empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metricdp.errors import ColumnError, OutOfDomainError
from metricdp.queries.universes.engines.codes import MISSING, NOT_A_NUMBER, NOT_WHOLE, OUTSIDE, Coded
from metricdp.queries.universes.universe import Universe
from metricdp.sources.dialect import Dialect
from metricdp.sources.engines.sql import SqlTable
from metricdp.sources.table import Declared

__all__ = ["RULES", "Grouped", "Summand", "declared_types", "group_by_cell", "needed", "read_by_code"]

RULES: Mapping[int, str] = {
    MISSING: 'a value is missing, and there is no cell for that: declare missing = "secret" in a policy, or '
    'missing="..", the name of a cell, in Python',
    OUTSIDE: 'a value lies outside the declared values or bounds: declare outside = "clamp" where they have an order, '
    'or a cell for such values, count_by = {other = ".."} in a policy, other=".." in Python',
    NOT_WHOLE: 'a value is not a whole number, and the column is declared as integers: declare type = "number", or '
    "round it before",
    NOT_A_NUMBER: "a value is NaN, which is no number: make it a missing value, and declare a cell for those",
}
"""What is said of a value in no cell."""


@dataclass(frozen=True)
class Summand:
    """What is summed in each cell.

    Attributes:
        column: its name.
        value: what a row adds, as SQL.
        state: 0 where it may be added, else why not, as SQL.
        rules: what is said for each state that is refused.
        unit: what a 1 of the value stands for.
        digits: how many digits a value has at most.
    """

    column: str
    value: str
    state: str
    rules: Mapping[int, str]
    unit: Fraction = Fraction(1)
    digits: int = 0


@dataclass(frozen=True)
class Grouped:
    """Cells that are not empty.

    Attributes:
        cells: their places in the universe.
        records: how many records lie in each.
        sums: for each column that is summed, the sum in each, in its unit, as Decimals.
    """

    cells: NDArray[np.int64]
    records: NDArray[np.int64]
    sums: tuple[Sequence[Any], ...]


def needed(universe: Universe, more: Mapping[str, str] | None = None, dialect: Dialect | None = None) -> Declared:
    """The columns of a universe, and perhaps others, with the types that a CSV file has no place for.

    Args:
        universe: the cells.
        more: further columns, with their types.
        dialect: how a CSV file writes its values.
    """
    types = {column.name: column.csv_type for column in universe.columns} | dict(more or {})
    return declared_types(types, dialect or Dialect())


def declared_types(types: Mapping[str, str], dialect: Dialect) -> Declared:
    """Columns with their types by name, as sources take them."""
    return Declared({name: _arrow_type(kind) for name, kind in types.items()}, dialect)


def _arrow_type(name: str) -> pa.DataType:
    """The Arrow type of that name; "decimal 2" is a decimal of two places."""
    kind, _, places = name.partition(" ")
    return pa.decimal128(38, int(places)) if kind == "decimal" else pa.type_for_alias(name)


def group_by_cell(table: SqlTable, universe: Universe, amounts: Sequence[Summand] = ()) -> Grouped:
    """Count the records of each cell, and sum amounts, in one reading of the table.

    A cell comes more than once where a value to sum is missing in some of its records.

    Raises:
        ColumnError: for the first column with a value in none of its cells.
    """
    coded = Coded.of(table, universe.columns)
    checks = [(column.name, code, RULES) for column, code in zip(universe.columns, coded.codes, strict=True)]
    checks += [(amount.column, amount.state, amount.rules) for amount in amounts]
    places, read = read_by_code(coded, checks, [amount.value for amount in amounts])
    of_cells = places[: len(universe.columns)]
    empty = not len(of_cells[0])
    cells = np.zeros(0, dtype=np.int64) if empty else np.ravel_multi_index(of_cells, universe.shape).astype(np.int64)
    summed = tuple(read[f"s{place}"] for place in range(len(amounts)))
    return Grouped(cells, np.asarray(read["records"], dtype=np.int64), summed)


def read_by_code(
    coded: Coded, checks: Sequence[tuple[str, str, Mapping[int, str]]], amounts: Sequence[str] = ()
) -> tuple[list[NDArray[np.int64]], Mapping[str, Sequence[Any]]]:
    """Count the rows of each combination of codes, as ``records``, and sum amounts, as ``s0`` and so on.

    Args:
        coded: the table.
        checks: columns, with their codes as SQL, and what is said of codes that are refused.
        amounts: what is summed, as SQL.

    Returns:
        The codes, column by column, and all that was read.

    Raises:
        ColumnError: for the first column with a code that is refused.
    """
    names = [f"c{place}" for place in range(len(checks))]
    codes = [f"{code} as {name}" for name, (_, code, _) in zip(names, checks, strict=True)]
    added = [f"{amount} as a{place}" for place, amount in enumerate(amounts)]
    sums = [f"sum(a{place}) as s{place}" for place in range(len(amounts))]
    read = coded.table.read(
        f"select {', '.join([*names, 'count(*) as records', *sums])} "
        f"from (select {', '.join([*codes, *added])} from {coded.rows}) as coded group by {', '.join(names)}"
    )
    places = [np.asarray(read[name], dtype=np.int64) for name in names]
    for (name, code, rules), place in zip(checks, places, strict=True):
        for mark, rule in rules.items():
            if (place == mark).any():
                raise ColumnError(name, OutOfDomainError(rule, _first_row(coded, code, mark)))
    return places, read


def _first_row(coded: Coded, code: str, mark: int) -> int | None:
    """The first row whose value is in no cell, where the table's rows have an order."""
    if coded.table.row is None:
        return None
    row = coded.table.dialect.quoted(coded.table.row)
    found = coded.table.read(f"select min(source.{row}) as first_row from {coded.rows} where {code} = {mark}")
    return int(found["first_row"][0])
