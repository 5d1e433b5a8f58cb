"""Exact sums of a column in each cell of a universe, computed where the table is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from metricdp.errors import ColumnError, KindError, PolicyError
from metricdp.queries.universes.engines.codes import MISSING, OUTSIDE, numbers
from metricdp.queries.universes.engines.dialects import Dialect, load_ibis
from metricdp.queries.universes.engines.grouping import group_by_cell
from metricdp.queries.universes.engines.sources import opened
from metricdp.queries.universes.intervals import Number, decimal_text
from metricdp.queries.universes.universe import Universe

__all__ = ["Totals", "totals"]

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

    Raises:
        ColumnError: see `histogram`; or a value to sum that is missing, out of bounds, or not a whole number.

    >>> import pyarrow as pa
    >>> from metricdp.queries.universes.columns import Category
    >>> people = pa.table({"sex": ["F", "F", "M"], "pay": [30, 50, 99]})
    >>> totals(people, Universe([Category("sex", ["F", "M", "X"])]), "pay", (0, 60), outside="clamp").sums
    (80, 60, 0)
    """
    if not isinstance(universe, Universe):
        raise KindError(f"totals are over a Universe, not {type(universe).__name__}")
    declared = Number(column, bounds, outside=outside)  # checks the bounds
    if missing not in ("refuse", "skip"):
        raise PolicyError([f"column {column!r}: missing is 'refuse' or 'skip'"])
    if isinstance(places, bool) or not isinstance(places, int) or not 0 <= places < _DIGITS:
        raise PolicyError([f"column {column!r}: places is how many decimal places its values have"])
    types = {item.name: item.csv_type for item in universe.columns}
    with opened(source, types | {column: f"decimal {places}" if places else "int64"}, engine) as found:
        amount, state = _amount(declared, found.table[column], found.dialect)
        rules = {OUTSIDE: _OUTSIDE} | ({MISSING: _MISSING} if missing == "refuse" else {})
        grouped = group_by_cell(found, universe, amount, (column, state, rules))
    sums: list[int | Fraction] = [0] * len(universe)
    for cell, part in zip(grouped.cells.tolist(), grouped.sums, strict=True):  # a cell twice, where values are missing
        sums[cell] += Fraction(part)
    whole = (int(value) if Fraction(value).denominator == 1 else value for value in sums)
    return Totals(universe, column, declared.bounds, tuple(whole))


def _amount(declared: Number, values: Any, dialect: Dialect) -> tuple[Any, Any]:
    """What a row adds, as a decimal of the column's own places; and 0, or why it adds nothing."""
    ibis, kind, name = load_ibis(), values.type(), declared.name
    low, high = declared.bounds
    order: Any = numbers(name, values, dialect, "integers or decimals")
    places = kind.scale if kind.is_decimal() else 0
    if places is None:
        raise ColumnError(
            name, KindError("its decimals have no fixed number of places: cast it, as numeric(18, 2) does")
        )
    if kind.is_floating() and max(-low, high) > order.integers:
        raise ColumnError(name, KindError("its floats do not hold all integers within the bounds: make it integers"))
    unit = 10**places
    if declared.outside == "clamp" and any((Fraction(bound) * unit).denominator != 1 for bound in (low, high)):
        raise ColumnError(name, KindError(f"its values have {places} places, and a bound to clamp to has more"))
    digits = len(str(int(max(abs(Fraction(low)), abs(Fraction(high))) * unit)))
    if digits > _DIGITS:
        raise ColumnError(name, KindError(f"bounds of more than {_DIGITS} digits cannot be added up exactly"))
    decimal = f"decimal({max(digits, places + 1)}, {places})"

    def exactly(number: Any) -> Any:
        return ibis.literal(decimal_text(number)).cast(decimal)

    value = (order.as_integer() if kind.is_floating() else values).cast(decimal)
    whole = order.is_whole() if kind.is_floating() else None
    inside = order.at_least(low) & order.at_most(high)
    if whole is not None:
        inside = inside & whole
    null = dialect.is_null(values)
    states, amounts = [(null, MISSING), (inside, 0)], [(null, exactly(0)), (inside, value)]
    if declared.outside == "clamp":
        below, above = ~order.at_least(low), ~order.at_most(high) & order.is_number()
        states += [(below, 0), (above, 0)]
        amounts += [(below, exactly(low)), (above, exactly(high))]
    state = ibis.cases(*states, else_=OUTSIDE).cast("int32")
    return ibis.cases(*amounts, else_=exactly(0)), state


_MISSING = "a value to sum is missing: say missing='skip' for it to add nothing"
_OUTSIDE = (
    "a value to sum lies outside the bounds or is not a whole number: say outside='clamp', or declare wider bounds"
)
