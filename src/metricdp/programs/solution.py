"""What a solve of a linear program gives: how it ended, the point, its duals, and the basis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from metricdp.exact.arrays import Floats

__all__ = ["Basis", "Solution", "Status"]

_AT_LOWER, _BASIC, _AT_UPPER = 0, 1, 2
"""The solver's codes of a basis; a test compares them with the solver's."""


class Status(Enum):
    """How a solve ended; only `OPTIMAL` comes with an optimum, the others with the last point seen, if any."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time limit"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Basis:
    """Where the simplex method stood: which columns and rows are basic, and at which bound the others rest.

    Attributes:
        columns: one code of the solver for each column; see `basic_columns`.
        rows: the same for each row.
    """

    columns: tuple[int, ...]
    rows: tuple[int, ...]

    @classmethod
    def of_columns(cls, columns: int, basic: Iterable[int], rows: int) -> Basis:
        """Some columns basic, the other columns at their lower and all rows at their upper bounds."""
        codes = [_AT_LOWER] * columns
        for place in basic:
            codes[place] = _BASIC
        return cls(tuple(codes), (_AT_UPPER,) * rows)

    @property
    def basic_columns(self) -> list[int]:
        """The columns whose values the basis determines; all others rest at a bound."""
        return [place for place, code in enumerate(self.columns) if code == _BASIC]


@dataclass(frozen=True)
class Solution:
    """What a solve gave, in floats.

    Attributes:
        status: how it ended.
        objective: ``costs . primal``; NaN without a point.
        primal: the value of each column.
        duals: y, one for each row.
        reduced_costs: ``costs - M^T y``, one for each column.
        basis: None where the method left none (ipm without crossover).
        iterations: of the method that was used.
        ray: of an infeasible program, multipliers of its rows that prove it so, where the solver has them.
    """

    status: Status
    objective: float
    primal: Floats
    duals: Floats
    reduced_costs: Floats
    basis: Basis | None
    iterations: int
    ray: Floats | None = None

    @property
    def optimal(self) -> bool:
        """Whether the solver says that it found an optimum; that is no proof."""
        return self.status is Status.OPTIMAL
