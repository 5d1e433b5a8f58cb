"""Linear queries: numbers to which every record adds something by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from metricdp.queries.select.stand_ins import StandIn

__all__ = ["Amount", "CellWeights"]


@dataclass(frozen=True, eq=False)
class CellWeights:
    """A number for each cell of a column that divides the records, by a function that the question has of it.

    Attributes:
        column: the column.
        values: the number for each of its cells; 0 where it has none.
    """

    column: str
    values: tuple[Fraction, ...]

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest."""
        return min(self.values), max(self.values)


@dataclass(frozen=True)
class Amount:
    """One linear query.

    Attributes:
        kind: a count of records, or of those that have a value; a sum of values; or a sum of squares or products.
        column: of which; None for a count of all records.
        group: the place of the group.
        centre: what is taken from each value before it is added. Sums of smaller values need less noise.
        only: the condition of the aggregate, as text; None for all records of the group.
        second: of a product, the other column; the same one for a square.
        second_centre: what is taken from each value of the other column.
        shift: what is taken from each product before it is added.
        beside: another column that has to have a value for a record to count; None where there is none.
        weights: what stands for the value of a record, or what that is multiplied by, where there is a column.

    >>> Amount("product", "age", 0, Fraction(50), second="age").known
    ('age',)
    """

    kind: Literal["count", "sum", "product"]
    column: str | None
    group: int
    centre: Fraction = Fraction(0)
    only: str | None = None
    second: str | None = None
    second_centre: Fraction = Fraction(0)
    shift: Fraction = Fraction(0)
    beside: str | None = None
    weights: CellWeights | None = None

    @property
    def known(self) -> tuple[str, ...]:
        """The columns that have to have a value for a record to count."""
        return tuple(dict.fromkeys(name for name in (self.column, self.second, self.beside) if name is not None))

    @property
    def measure(self) -> tuple[Any, ...]:
        """All but the group and the condition: what a record adds."""
        return (
            self.kind,
            self.column,
            self.centre,
            self.second,
            self.second_centre,
            self.shift,
            self.beside,
            self.weights,
        )

    def factors(self, axes: Mapping[str, Sequence[StandIn]]) -> dict[str, tuple[Fraction, ...]]:
        """Numbers for the values that stand for all of each column; a record adds the product of those of its values.

        Where there are none, every record adds 1.
        """
        found = {name: tuple(self._factor(name, one) for one in axes[name]) for name in self.known}
        if self.weights is not None:
            centre = self.centre if self.column is None else 0
            of = self.weights.column
            found[of] = tuple(self.weights.values[one.cell] - centre for one in axes[of])
        return found

    def _factor(self, name: str, one: StandIn) -> Fraction:
        if one.value is None:
            return Fraction(0)
        if self.kind == "count" or name not in (self.column, self.second):
            return Fraction(1)
        if self.kind == "product" and self.column == self.second:
            return one.square(self.centre) - self.shift
        return one.value - (self.centre if name == self.column else self.second_centre)
