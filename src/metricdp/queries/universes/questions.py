"""Questions that are linear in the histogram: counts, totals, ranges, marginals and contingency tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError
from metricdp.policies.cells.listed import CategoryCells, Cells
from metricdp.policies.cells.ordered import MOST_CELLS, DateCells, OrderedCells
from metricdp.policies.sql.predicates import Predicate
from metricdp.queries.universes.universe import Universe

__all__ = ["Question", "count", "marginal", "marginals", "prefixes", "question_matrix", "ranges", "total"]

Row = NDArray[Any]
MOST_ENTRIES = 20_000_000
"""A larger matrix of a workload is refused."""


@dataclass(frozen=True)
class Question:
    """One or more linear queries, asked of any universe that has their columns.

    Attributes:
        text: what is asked.
        rows: given a universe, yields the queries' names, each with its row of integers or Fractions.
    """

    text: str
    rows: Callable[[Universe], Iterator[tuple[str, Row]]]

    def __repr__(self) -> str:
        return self.text


def count(where: Predicate | None = None, name: str | None = None) -> Question:
    """How many records satisfy a condition.

    >>> from metricdp.policies.sql.predicates import col
    >>> count(col("age") >= 40)
    count(age >= 40)
    """
    text = "count" if where is None else f"count({where!r})"
    return Question(text, lambda universe: iter([(name or text, universe.where(where).astype(np.int8))]))


def total(
    column: str,
    where: Predicate | None = None,
    at: Literal["first", "middle", "last"] | None = None,
    name: str | None = None,
) -> Question:
    """The sum of a column's values, over the records that satisfy a condition. Missing values add nothing.

    Args:
        column: integers, numbers, or a category of integers.
        where: the condition.
        at: which value stands for all of a cell that holds several. Without it such a cell is refused, since the sum of
            its values is not known from its count.
        name: what the query is called.

    >>> from metricdp.policies.cells.ordered import IntegerCells
    >>> question_matrix(Universe([IntegerCells("children", (0, 3))]), total("children"))[1].tolist()
    [[0, 1, 2, 3]]
    """
    if at not in (None, "first", "middle", "last"):
        raise ArgumentError("at is 'first', 'middle' or 'last'")
    text = (
        f"total({column}{'' if at is None else f' at the {at} of its cell'}{'' if where is None else f', {where!r}'})"
    )

    def rows(universe: Universe) -> Iterator[tuple[str, Row]]:
        chosen, found = universe.where(where), universe.column(column)
        values = _spread(universe, found, _values(found, at))
        unknown = chosen & np.array([value is None for value in values.tolist()])
        if unknown.any():
            raise ArgumentError(
                f"column {column!r}: the cell {universe.names[int(unknown.argmax())]!r} holds several values, of which "
                "the sum is not known; declare narrower cells, leave it out by a condition, or say at='middle'"
            )
        yield name or text, np.where(chosen, values, 0)  # of Python's integers and Fractions

    return Question(text, rows)


def marginal(*columns: str, where: Predicate | None = None) -> Question:
    """A count for each combination of the columns' cells: with all columns, the contingency table.

    >>> from metricdp.policies.cells.listed import BooleanCells
    >>> names, matrix = question_matrix(Universe([BooleanCells("native"), BooleanCells("adult")]), marginal("adult"))
    >>> names, matrix.tolist()
    (('adult=false', 'adult=true'), [[1, 0, 1, 0], [0, 1, 0, 1]])
    """
    if not columns or not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
        raise ArgumentError("a marginal names one or more columns, each once")
    condition = "" if where is None else f", where {where!r}"

    def rows(universe: Universe) -> Iterator[tuple[str, Row]]:
        chosen = universe.where(where)
        found = [universe.column(name) for name in columns]
        place = np.zeros(len(universe), dtype=np.int64)
        for column in found:
            place = place * len(column) + _places(universe, column)
        labels = [[f"{column.name}={label}" for label in column.labels] for column in found]
        for wanted, cell in enumerate(itertools.product(*labels)):
            row = (chosen & (place == wanted)).astype(np.int8)
            yield ", ".join(cell) + (f" ({where!r})" if where is not None else ""), row

    return Question(f"marginal({', '.join(columns)}{condition})", rows)


def marginals(order: int, where: Predicate | None = None) -> Question:
    """The marginals of all sets of ``order`` columns.

    >>> from metricdp.policies.cells.listed import BooleanCells
    >>> [name for name, _ in marginals(1).rows(Universe([BooleanCells("native"), BooleanCells("smoker")]))]
    ['native=false', 'native=true', 'smoker=false', 'smoker=true']
    """
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ArgumentError("the order of marginals is 1, 2, ..")

    def rows(universe: Universe) -> Iterator[tuple[str, Row]]:
        if order > len(universe.columns):
            raise ArgumentError(f"the universe has {len(universe.columns)} columns, fewer than {order}")
        for chosen in itertools.combinations(universe.columns, order):
            yield from marginal(*(column.name for column in chosen), where=where).rows(universe)

    return Question(f"marginals({order})", rows)


def prefixes(column: str, where: Predicate | None = None) -> Question:
    """For each cell of an ordered column: how many records are in it or before it.

    >>> from metricdp.policies.cells.ordered import IntegerCells
    >>> names, matrix = question_matrix(Universe([IntegerCells("age", (0, 59), width=20)]), prefixes("age"))
    >>> names, matrix.tolist()
    (('age in 0..19', 'age in 0..39', 'age in 0..59'), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    """
    return Question(f"prefixes({column})", lambda universe: _ranges(universe, column, where, only_from=0))


def ranges(column: str, where: Predicate | None = None) -> Question:
    """For each two cells of an ordered column: how many records are from the one to the other.

    >>> from metricdp.policies.cells.ordered import IntegerCells
    >>> len(list(ranges("age").rows(Universe([IntegerCells("age", (0, 3))]))))
    10
    """
    return Question(f"ranges({column})", lambda universe: _ranges(universe, column, where, only_from=None))


def question_matrix(universe: Universe, questions: Iterable[Question] | Question) -> tuple[tuple[str, ...], Row]:
    """The queries' names, and their rows as a matrix of integers or Fractions with a column for each cell."""
    listed = [questions] if isinstance(questions, Question) else list(questions)
    if not listed or not all(isinstance(question, Question) for question in listed):
        raise ArgumentError("questions are made by count, total, marginal, marginals, prefixes and ranges")
    rows: dict[str, Row] = {}
    for question in listed:
        for name, row in question.rows(universe):
            if name in rows:
                raise ArgumentError(f"the query {name!r} is asked twice; give it another name, or leave one out")
            rows[name] = row
            if len(rows) * len(universe) > MOST_ENTRIES:
                raise ArgumentError(
                    f"so many queries over {len(universe):,} cells make a matrix of more than {MOST_ENTRIES:,} "
                    "entries; ask fewer, or declare fewer cells"
                )
    return tuple(rows), np.array(list(rows.values()))


def _ranges(universe: Universe, name: str, where: Predicate | None, only_from: int | None) -> Iterator[tuple[str, Row]]:
    chosen, column = universe.where(where), universe.column(name)
    if not isinstance(column, OrderedCells):
        raise ArgumentError(f"column {name!r} has no order, and so no ranges")
    place = _places(universe, column)
    size = len(column.intervals)
    for first in range(size) if only_from is None else [only_from]:
        for last in range(first, size):
            row = chosen & (first <= place) & (place <= last)
            label = _joined(column, first, last) + (f" ({where!r})" if where is not None else "")
            yield f"{name} in {label}", row.astype(np.int8)


def _joined(column: OrderedCells, first: int, last: int) -> str:
    """What the cells from one to another are called together."""
    one, two = column.labels[first], column.labels[last]
    if first == last:
        return one
    if one.startswith("["):
        return f"{one.split(',')[0]},{two.split(',')[1]}"
    return f"{one.split('..')[0]}..{two.split('..')[-1]}"


def _values(column: Cells, at: str | None) -> Sequence[Any]:
    """The value that each cell adds to a sum: 0 for missing ones, None where there are several."""
    values: list[Any]
    if isinstance(column, OrderedCells) and not isinstance(column, DateCells):
        picks: dict[str, Callable[[Any], Any]] = {
            "first": lambda cell: cell.first,
            "middle": lambda cell: _whole(Fraction(cell.first + cell.last) / 2),
            "last": lambda cell: cell.last,
        }
        several = picks[at] if at is not None else lambda cell: None
        values = [cell.first if cell.first == cell.last else several(cell) for cell in column.intervals]
    elif isinstance(column, CategoryCells) and isinstance(column.values[0], int):
        values = list(column.values)
        if column.other_code is not None and column.other_code < len(values):
            values[column.other_code] = None  # others are counted with it
    else:
        raise ArgumentError(f"column {column.name!r} holds no numbers, and so has no total")
    values += [None] * (len(column) - len(values))
    if column.missing_code is not None and column.missing_code != column.other_code:
        values[column.missing_code] = 0
    return values


def _whole(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _places(universe: Universe, column: Cells) -> NDArray[np.int64]:
    """The place of a column's cell, for each cell of the universe; negative for those absent, alone or combined."""
    places = np.full(len(universe), -MOST_CELLS, dtype=np.int64)
    places[: math.prod(universe.shape)] = _along(universe, column, np.arange(len(column)))
    return places


def _spread(universe: Universe, column: Cells, values: Sequence[Any]) -> Row:
    """The values of a column's cells, for each cell of the universe; None for those absent."""
    entries, whole = np.empty(len(values), dtype=object), np.empty(len(universe), dtype=object)
    entries[:] = list(values)
    whole[: math.prod(universe.shape)] = _along(universe, column, entries)
    return whole


def _along(universe: Universe, column: Cells, entries: Row) -> Row:
    axis, shape = universe.columns.index(column), universe.shape
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return np.broadcast_to(entries.reshape(along), shape).ravel()
