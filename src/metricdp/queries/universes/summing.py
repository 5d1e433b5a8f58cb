"""Exact sums of a column in each cell of a universe, computed where the table is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, ColumnError, KindError, PolicyError
from metricdp.policies.cells.ordered import NumberCells, decimal_text
from metricdp.queries.universes.engines.codes import MISSING, NOT_A_NUMBER, NOT_WHOLE, OUTSIDE
from metricdp.queries.universes.engines.grouping import Summand, group_by_cell, needed
from metricdp.queries.universes.engines.orders import Numbers, cases, column_of, numbers
from metricdp.queries.universes.engines.steps import OFF_STEP, ValueSteps
from metricdp.queries.universes.histograms import Histogram
from metricdp.queries.universes.universe import Universe
from metricdp.sources.dialect import Dialect
from metricdp.sources.engines.sql import SqlTable
from metricdp.sources.opening import open_sql

__all__ = ["Addend", "AddendProduct", "Totals", "counts_and_totals", "totals"]

_Branches = list[tuple[str, Any]]
"""Conditions on a row, with what holds there."""

_DIGITS = 28
"""Engines add up decimals of so many digits exactly, for up to 10^10 rows."""


@dataclass(frozen=True, repr=False)
class Totals:
    """The sum of a column in each cell. It is private, and its repr shows no sum.

    Attributes:
        universe: the cells.
        column: what was summed.
        bounds: between which each record's value lies.
        sums: integers or Fractions, exactly, in the order of ``universe.cells``.
    """

    universe: Universe
    column: str
    bounds: tuple[Any, Any]
    sums: tuple[int | Fraction, ...]

    def __len__(self) -> int:
        return len(self.sums)

    def __repr__(self) -> str:
        return f"Totals({self.column}, {self.universe!r})"


def totals(
    source: Any,
    universe: Universe,
    column: str,
    bounds: tuple[Any, Any],
    *,
    outside: Literal["refuse", "clamp"] = "refuse",
    missing: Literal["refuse", "skip"] = "refuse",
    places: int = 0,
    engine: Any = None,
    dialect: Dialect | None = None,
) -> Totals:
    """The sum of a bounded column in each cell, exactly: integers and decimals, and floats that are whole numbers.

    Args:
        source: see `histogram`.
        universe: the cells.
        column: what to sum. Floats with a fraction are refused, since their sum depends on the order of rows.
        bounds: the least and the greatest value, exactly as written; they come from the policy, never from the data.
        outside: "clamp" for a value beyond a bound to count as that bound.
        missing: "skip" for missing values to add nothing.
        places: how many decimal places the values of a CSV file have; other tables know theirs.
        engine: see `histogram`.
        dialect: how a CSV file writes its values.

    Raises:
        ColumnError: see `histogram`; or a value to sum that is missing, out of bounds, or not a whole number.

    >>> import pyarrow as pa
    >>> from metricdp.policies.cells.listed import CategoryCells
    >>> people = pa.table({"sex": ["F", "F", "M"], "pay": [30, 50, 99]})
    >>> totals(people, Universe([CategoryCells("sex", ["F", "M", "X"])]), "pay", (0, 60), outside="clamp").sums
    (80, 60, 0)
    """
    wanted = Addend(column, bounds, outside, missing, places)
    return counts_and_totals(source, universe, [wanted], engine, dialect=dialect)[1][column]


@dataclass(frozen=True)
class Addend:
    """A column to sum; see `totals` for what its other attributes mean.

    Attributes:
        steps: what floats are counted in, where the policy declares a resolution.
    """

    column: str
    bounds: tuple[Any, Any]
    outside: Literal["refuse", "clamp"] = "refuse"
    missing: Literal["refuse", "skip"] = "refuse"
    places: int = 0
    steps: ValueSteps | None = None

    def __post_init__(self) -> None:
        _ = self.cells
        if self.missing not in ("refuse", "skip"):
            raise PolicyError([f"column {self.column!r}: missing is 'refuse' or 'skip'"])
        if isinstance(self.places, bool) or not isinstance(self.places, int) or not 0 <= self.places < _DIGITS:
            raise PolicyError([f"column {self.column!r}: places is how many decimal places its values have"])

    @property
    def cells(self) -> NumberCells:
        """Its bounds, checked, and what is done with values beyond them."""
        return NumberCells(self.column, self.bounds, outside=self.outside)

    @property
    def csv_type(self) -> str:
        """What a CSV file's text is taken as, so that it is added up exactly."""
        if self.steps is not None:
            return "float64"
        return f"decimal {self.places}" if self.places else "int64"

    @property
    def key(self) -> str:
        """What its sums are called."""
        return self.column

    @property
    def rules(self) -> Mapping[int, str]:
        """What is said of a value that cannot be summed."""
        rules = {mark: rule for mark, rule in _RULES.items() if mark != MISSING or self.missing == "refuse"}
        return rules if self.steps is None else rules | {OFF_STEP: self.steps.rule}


@dataclass(frozen=True)
class AddendProduct:
    """Two columns whose products are summed, or one twice for its squares; each is summed by itself, too.

    Attributes:
        left: the one.
        right: the other.
    """

    left: Addend
    right: Addend

    @property
    def key(self) -> tuple[str, str]:
        """What its sums are called."""
        return self.left.column, self.right.column


def counts_and_totals(
    source: Any,
    universe: Universe,
    addends: Sequence[Addend | AddendProduct],
    engine: Any = None,
    *,
    dialect: Dialect | None = None,
) -> tuple[Histogram, dict[Any, Totals]]:
    """How many records each cell has, and the sums of columns and products, by one question to the engine.

    Args:
        source: see `histogram`.
        universe: the cells.
        addends: the columns to sum, and the pairs of them whose products are summed.
        engine: see `histogram`.
        dialect: how a CSV file writes its values.
    """
    if not isinstance(universe, Universe):
        raise ArgumentError(f"totals are over a Universe, not {type(universe).__name__}")
    more = {addend.column: addend.csv_type for addend in addends if isinstance(addend, Addend)}
    with open_sql(source, needed(universe, more, dialect), engine) as found:
        single = {addend.key: _amount(addend, found) for addend in addends if isinstance(addend, Addend)}
        amounts = [
            single[addend.key] if isinstance(addend, Addend) else _product(*(single[name] for name in addend.key))
            for addend in addends
        ]
        grouped = group_by_cell(found, universe, amounts)
    counts = np.zeros(len(universe), dtype=np.int64)
    np.add.at(counts, grouped.cells, grouped.records)
    sums = {
        addend.key: Totals(universe, amount.column, _bounds(addend), _added_up(universe, grouped.cells, parts, amount))
        for addend, amount, parts in zip(addends, amounts, grouped.sums, strict=True)
    }
    return Histogram(universe, counts), sums


def _added_up(
    universe: Universe, cells: NDArray[np.int64], parts: Sequence[Any], amount: Summand
) -> tuple[int | Fraction, ...]:
    sums: list[int | Fraction] = [0] * len(universe)
    for cell, part in zip(cells.tolist(), parts, strict=True):
        sums[cell] += Fraction(part) * amount.unit
    return tuple(int(value) if Fraction(value).denominator == 1 else value for value in sums)


def _bounds(addend: Addend | AddendProduct) -> tuple[Any, Any]:
    """Between what one record's part lies."""
    if isinstance(addend, Addend):
        return addend.cells.bounds
    corners = [Fraction(x) * Fraction(y) for x in addend.left.cells.bounds for y in addend.right.cells.bounds]
    return min(corners), max(corners)


def _product(left: Summand, right: Summand) -> Summand:
    """What a row adds to a sum of products: nothing where either value is missing; see `Summand.state` for the rest."""
    name = f"{left.column} * {right.column}"
    if left.digits + right.digits >= _DIGITS:
        rule = (
            f"products of {left.digits} and {right.digits} digits cannot be added up exactly: declare narrower bounds"
        )
        raise ColumnError(left.column, KindError(f"{rule}, or a coarser resolution"))
    return Summand(name, f"(({left.value}) * ({right.value}))", "cast(0 as integer)", {}, left.unit * right.unit)


def _amount(addend: Addend, table: SqlTable) -> Summand:
    """What a row adds, as a decimal of the column's own places; and 0, or why it adds nothing."""
    declared, name = addend.cells, addend.column
    kind, values, (low, high) = table.type(name), column_of(table, name), declared.bounds
    order = numbers(name, values, kind, table.dialect, "integers or decimals")
    if addend.steps is not None and (kind.kind == "float" or (kind.kind == "decimal" and kind.scale is None)):
        return _in_steps(addend, addend.steps, order, values, table)
    places = kind.scale if kind.kind == "decimal" else 0
    if places is None:
        raise ColumnError(
            name, KindError("its decimals have no fixed number of places: cast it, as numeric(18, 2) does")
        )
    if kind.kind == "float" and max(-low, high) > order.integers:
        raise ColumnError(name, KindError("its floats do not hold all integers within the bounds: make it integers"))
    unit = 10**places
    if declared.outside == "clamp" and any((Fraction(bound) * unit).denominator != 1 for bound in (low, high)):
        raise ColumnError(name, KindError(f"its values have {places} places, and a bound to clamp to has more"))
    digits = max(len(str(int(max(abs(Fraction(low)), abs(Fraction(high))) * unit))), places + 1)
    if digits > _DIGITS:
        raise ColumnError(name, KindError(f"bounds of more than {_DIGITS} digits cannot be added up exactly"))
    decimal = f"decimal({digits}, {places})"

    def exactly(number: Any) -> str:
        return f"cast('{decimal_text(number)}' as {decimal})"

    refused = [(f"{values} is null", MISSING)]
    refused += [(f"not ({good})", NOT_A_NUMBER) for good in [order.is_number()] if good is not None]
    if kind.kind == "float":
        refused.append((f"not ({order.is_whole()})", NOT_WHOLE))
    value = f"cast({order.as_integer() if kind.kind == 'float' else values} as {decimal})"
    added = [(f"{order.at_least(low)} and {order.at_most(high)}", value)]
    if declared.outside == "clamp":
        added += [(f"not ({order.at_least(low)})", exactly(low)), (f"not ({order.at_most(high)})", exactly(high))]
    return _summand(addend, refused, added, exactly(0), digits)


def _in_steps(addend: Addend, steps: ValueSteps, order: Numbers, values: str, table: SqlTable) -> Summand:
    """What a row adds, in steps; a number beyond the first or the last of them is taken for that."""
    low, high = addend.cells.bounds
    digits = len(str(max(abs(steps.first), abs(steps.last)))) + 1
    decimal = f"decimal({digits}, 0)"
    multiple, near = steps.nearest(values, table)
    inside = f"{order.at_least(low)} and {order.at_most(high)}"
    refused = [(f"{values} is null", MISSING), (f"not ({order.is_number()})", NOT_A_NUMBER)]
    refused += [] if near is None else [(cases((inside, f"not ({near})"), otherwise="false"), OFF_STEP)]

    def exactly(number: Any) -> str:
        return f"cast({number} as {decimal})"

    added = [(inside, exactly(f"least(greatest({multiple}, {steps.first}), {steps.last})"))]
    if addend.outside == "clamp":
        added += [(f"not ({order.at_least(low)})", exactly(steps.first))]
        added += [(f"not ({order.at_most(high)})", exactly(steps.last))]
    return _summand(addend, refused, added, exactly(0), digits, steps.step)


def _summand(
    addend: Addend, refused: _Branches, added: _Branches, nothing: str, digits: int, unit: Fraction = Fraction(1)
) -> Summand:
    """What is added where none of the conditions to refuse holds, and the first of the others."""
    state = cases(*refused, *((where, 0) for where, _ in added), otherwise=OUTSIDE)
    summed = cases(*((where, nothing) for where, _ in refused), *added, otherwise=nothing)
    return Summand(addend.column, summed, f"cast({state} as integer)", addend.rules, unit, digits)


_RULES = {
    MISSING: "a value to sum is missing: say missing='skip' for it to add nothing",
    OUTSIDE: "a value to sum lies outside the bounds: say outside='clamp', or declare wider bounds",
    NOT_WHOLE: "a value to sum is a float with a fraction, and the sum of such depends on the order of rows: make the "
    "column decimals or integers, or declare the steps of its values in a policy, such as resolution = 0.01 for money",
    NOT_A_NUMBER: "a value to sum is NaN, which is no number: make it a missing value",
}
"""What is said of a value that cannot be summed."""
