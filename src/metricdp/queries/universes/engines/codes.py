"""The place of a value's cell as SQL that the engine computes, exactly the same in each.

NaN, which engines take for the largest number, lies outside every cell. In a column of integers only integers lie
outside: what is not whole is refused, since between two integers that are one apart no cell has room for it. Cells of
one width are found by division of integers, others by bisection: a thousand of them take ten comparisons. A long list
of values is compared with each different value of the table once.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from metricdp.policies.cells.listed import BooleanCells, CategoryCells, Cells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, JustAfter, OrderedCells
from metricdp.queries.universes.engines.orders import Decimals, Floats, Order, cases, column_of, order_of, wrong_type
from metricdp.sources.engines.sql import SqlTable

__all__ = ["MISSING", "NOT_A_NUMBER", "NOT_WHOLE", "OUTSIDE", "Coded"]

OUTSIDE = -1
"""In place of a cell: a value outside, where no cell was declared for it."""

MISSING = -2
"""In place of a cell: a missing value, where no cell was declared for it."""

NOT_WHOLE = -3
"""In place of a cell: a number with a fraction, where integers were declared."""

NOT_A_NUMBER = -4
"""In place of a cell: NaN, where no cell was declared for it."""

_FLOAT_INTEGERS = 1 << 53

_SHORT_LIST = 16
"""Values that every row is compared with. Engines that work on vectors of rows take long over more branches."""


@dataclass(frozen=True)
class Coded:
    """A table with the places of its values' cells.

    Attributes:
        table: the table.
        codes: for each column of cells, the place of a row's cell, as an expression on the rows of ``rows``.
        rows: what stands after FROM: the table, called ``source``, and beside it the places of values of long lists.
    """

    table: SqlTable
    codes: tuple[str, ...]
    rows: str

    @classmethod
    def of(cls, table: SqlTable, columns: Sequence[Cells]) -> Coded:
        """Say how the cells of these columns are found; refuse columns of another type."""
        codes, rows = [], f"{table.relation} as source"
        for place, column in enumerate(columns):
            beside = f"listed{place}"
            if isinstance(column, CategoryCells) and len(column.values) > _SHORT_LIST:
                rows += (
                    f" left join {_listed_once(column, table)} as {beside} on {_key(column, table)} = {beside}.value"
                )
            codes.append(_cell_code(column, table, beside))
        return cls(table, tuple(codes), rows)


def _key(column: Cells, table: SqlTable) -> str:
    return order_of(column, table).values


def _listed_once(column: CategoryCells, table: SqlTable) -> str:
    """Each different value of the column, with its place in the list."""
    values = f"select distinct {_key(column, table)} as value from {table.relation} as source"
    places = _listed(column, order_of(column, table, "value"))
    return f"(select value, {places} as place from ({values}) as different)"


def _cell_code(column: Cells, table: SqlTable, beside: str) -> str:
    """The place of the cell of a column's value."""
    values = column_of(table, column.name)
    missing = MISSING if column.missing_code is None else column.missing_code
    if isinstance(column, BooleanCells):
        if table.type(column.name).kind != "boolean":
            raise wrong_type(column.name, table.type(column.name), "booleans")
        found = cases((values, 1), otherwise=0)
    elif isinstance(column, CategoryCells):
        order = order_of(column, table)
        if len(column.values) > _SHORT_LIST:
            found = f"coalesce({beside}.place, {NOT_A_NUMBER})"  # NaN may equal nothing, not itself
        else:
            found = _listed(column, order)
    else:
        assert isinstance(column, OrderedCells)
        found = _in_bounds(column, order_of(column, table))
    return f"cast({cases((f'{values} is null', missing), otherwise=found)} as integer)"


def _outside(column: Cells) -> int:
    """The place of a value that lies outside the declared cells."""
    return OUTSIDE if column.other_code is None else column.other_code


def _numbers_only(column: Cells, order: Order, found: str) -> str:
    """The place of a number, once NaN has been looked for; of an integer, where the column is declared so.

    What is no integer has no place in a column of integers, whatever is declared for others.
    """
    if not isinstance(order, Floats | Decimals):
        return found
    integers, whole = isinstance(column, CategoryCells | IntegerCells), order.is_whole()
    nan = NOT_A_NUMBER if integers or column.other_code is None else column.other_code
    broken = [(f"not ({whole})", NOT_WHOLE)] if integers and whole is not None else []
    return cases((f"not ({order.is_number()})", nan), *broken, otherwise=found)


def _listed(column: CategoryCells, order: Order) -> str:
    """The place of the value that is equal to one of the list, found by bisection of the sorted list."""
    outside = _outside(column)
    keys = [value.encode() if isinstance(value, str) else value for value in column.values]
    places = sorted(range(len(keys)), key=keys.__getitem__)

    def leaf(rank: int) -> str:
        place = places[rank]
        return cases((order.equals(keys[place]), place), otherwise=outside)

    return _numbers_only(column, order, _bisected([keys[place] for place in places], order.at_least, leaf))


def _in_bounds(column: OrderedCells, order: Order) -> str:
    """The place of the last cell that begins at or before the value."""
    low, high = column.bounds
    width = _width(column)
    after = None if width is None else order.after(low)
    if after is not None and width is not None:
        inside = after if width == 1 else order.dialect.quotient(after, width)
    else:
        inside = _bisected(column.starts, lambda start: _begun(order, start), str)
    branches: list[tuple[str, Any]] = [(f"{order.at_least(low)} and {order.at_most(high)}", inside)]
    outside = _outside(column)
    if column.outside == "clamp":
        branches, outside = [*branches, (f"not ({order.at_least(low)})", 0)], len(column.starts) - 1
    return _numbers_only(column, order, cases(*branches, otherwise=outside))


def _begun(order: Order, start: Any) -> str:
    """Whether a value is where a cell begins, or beyond."""
    return f"not ({order.at_most(start.of)})" if isinstance(start, JustAfter) else order.at_least(start)


def _bisected(starts: Sequence[Any], at_least: Callable[[Any], str], leaf: Callable[[int], str]) -> str:
    def between(first: int, last: int) -> str:
        if first == last:
            return leaf(first)
        middle = (first + last + 1) // 2
        return cases((at_least(starts[middle]), between(middle, last)), otherwise=between(first, middle - 1))

    return between(0, len(starts) - 1)


def _width(column: OrderedCells) -> int | None:
    """The common width of cells of integers or days; None where there is none, or too few of them to matter."""
    high = column.bounds[1]
    if not isinstance(column, IntegerCells | DateCells) or len(column.starts) < 2:
        return None
    firsts = [start.toordinal() if isinstance(start, dt.date) else start for start in column.starts]
    widths = {two - one for one, two in itertools.pairwise(firsts)}
    last = high.toordinal() if isinstance(high, dt.date) else high
    fits = len(widths) == 1 and last - firsts[-1] < min(widths) and last - firsts[0] < _FLOAT_INTEGERS
    return widths.pop() if fits else None
