"""Released columns with the mechanisms that released them, where there is no policy: as a table that says how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pyarrow as pa

from metricdp.errors import ArgumentError
from metricdp.estimates.noise_shape import is_geometric
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.policies.policy import Policy
from metricdp.policies.types.category import Category
from metricdp.policies.types.number import Number

__all__ = ["by_mechanisms"]


@dataclass(frozen=True, kw_only=True)
class _NumberOf(Number):
    """A column of numbers whose mechanism is given."""

    given: Any = field(compare=False)
    steps: Fraction | None = None

    def _make_mechanism(self) -> Mechanism:
        mechanism: Mechanism = self.given
        return mechanism

    @property
    def secret_step(self) -> Fraction | None:
        """That of a geometric mechanism."""
        return self.steps


@dataclass(frozen=True, kw_only=True)
class _CategoryOf(Category):
    """A column of declared values whose mechanism is given."""

    given: Any = field(compare=False)

    def _make_mechanism(self) -> Mechanism:
        mechanism: Mechanism = self.given
        return mechanism


def by_mechanisms(columns: Mapping[str, Any]) -> tuple[pa.Table, Policy]:
    """A table of released columns and a policy that says how they were released.

    Args:
        columns: for each name the released values and the mechanism: on the line, geometric, or among declared values.

    Raises:
        ArgumentError: a column is no such pair, its mechanism is of another kind, or there are more or fewer values
            than in another one.

    >>> import metricdp as mdp
    >>> table, policy = by_mechanisms({"smokes": ([True, False], mdp.randomized_response([True, False], mdp.ln(3)))})
    >>> table.num_rows, policy.columns[0].listed
    (2, (True, False))
    """
    arrays, made = {}, []
    for name, pair in columns.items():
        try:
            values, mechanism = pair
        except (TypeError, ValueError):
            raise ArgumentError(f"column {name!r}: the released values and their mechanism are wanted") from None
        if not (hasattr(mechanism, "guarantee") and hasattr(mechanism, "declared")):
            raise ArgumentError(f"column {name!r}: {type(mechanism).__name__} is no mechanism")
        column = _column(name, mechanism)
        made.append(column)
        arrays[name] = _array(name, values, column)
    if len({len(array) for array in arrays.values()}) > 1:
        raise ArgumentError("columns with as many values as each other are wanted, one for each row")
    return pa.table(arrays), Policy(
        columns=tuple(made), person=None, order="public", records=None, capacity=None, absent=None, text=""
    )


def _column(name: str, mechanism: Mechanism) -> _NumberOf | _CategoryOf:
    given: Any = mechanism
    declared = mechanism.declared
    if declared is not None:
        if None in declared[:-1]:
            raise ArgumentError(f"column {name!r}: None has to be the last of the declared values")
        values = tuple(value for value in declared if value is not None)
        if not all(isinstance(value, str | int) for value in values):
            raise ArgumentError(f"column {name!r}: declared values are text, whole numbers or booleans here")
        missing: Any = "refuse" if len(values) == len(declared) else "secret"
        return _CategoryOf(name=name, columns=(name,), line=0, missing=missing, values=values, given=mechanism)
    if mechanism.cells is None or getattr(given, "takes_dates", False):
        raise ArgumentError(
            f"column {name!r}: {mechanism.name} is not for numbers on a line or declared values; sanitize a table with "
            "a policy, and estimate that"
        )
    steps = Fraction(given.resolution) if is_geometric(mechanism.cells) else None
    bounds, ends = getattr(mechanism, "bounds", None), mechanism.cells.end_cells
    if bounds is None and ends is not None:
        bounds = ends[0] * Fraction(given.resolution), ends[1] * Fraction(given.resolution)
    return _NumberOf(
        name=name,
        columns=(name,),
        line=0,
        missing="secret" if mechanism.takes_null else "refuse",
        bounds=bounds,
        outside="refuse",
        given=mechanism,
        steps=steps,
    )


def _array(name: str, values: Any, column: _NumberOf | _CategoryOf) -> pa.Array:
    listed = list(values)
    try:
        if isinstance(column, _NumberOf):
            return pa.array(
                [None if value is None or value != value else float(value) for value in listed], pa.float64()
            )
        return pa.array(listed)
    except (TypeError, ValueError, pa.ArrowInvalid):
        raise ArgumentError(f"column {name!r}: its values are not what its mechanism releases") from None
