"""Numbers as multiples of a step that the policy declares, in SQL: integers, which add up exactly in any order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from metricdp.errors import ArgumentError
from metricdp.policies.cells.ordered import NumberCells, decimal_text
from metricdp.queries.universes.engines.orders import cases
from metricdp.sources.engines.sql import SqlTable

__all__ = ["NEAREST", "OFF_STEP", "ValueSteps", "decimal_text_of"]

NEAREST = Fraction(1, 1_000_000)
"""A number this part of a step from a multiple of it is taken for that multiple, as 0.1 + 0.2 is for 0.3."""

OFF_STEP = -5
"""In place of a multiple: a number that is none."""

_MOST_MULTIPLES = 10**9
"""Up to here, floats say to half of `NEAREST` how many steps a number is."""

_MOST_ROUNDED = 1 << 53


@dataclass(frozen=True)
class ValueSteps:
    """The multiples of a step between bounds.

    Attributes:
        step: between two of them.
        first: the least, in steps.
        last: the greatest, in steps.
        rounds: whether a number between two of them is taken for the nearer. It is where any two values are told apart
            alike; elsewhere two that are nearer than a step would come a step apart, and the table is refused.

    >>> ValueSteps.between(NumberCells("pay", (0, 10)), Fraction(1, 100), rounds=False).last
    1000
    """

    step: Fraction
    first: int
    last: int
    rounds: bool

    @classmethod
    def between(cls, cells: NumberCells, step: Fraction, rounds: bool) -> ValueSteps:
        """Those between the bounds of a column.

        Raises:
            ArgumentError: there is none, or floats do not tell them apart.
        """
        low, high = (Fraction(bound) for bound in cells.bounds)
        first, last = math.ceil(low / step), math.floor(high / step)
        if first > last:
            raise ArgumentError(f"column {cells.name!r}: no multiple of its resolution lies between its bounds")
        if max(abs(first), abs(last)) > (_MOST_ROUNDED if rounds else _MOST_MULTIPLES):
            times = "2^53" if rounds else "10^9"
            raise ArgumentError(
                f"column {cells.name!r}: its bounds are more than {times} times the resolution: declare a coarser one"
            )
        return cls(step, first, last, rounds)

    @property
    def kept(self) -> Fraction:
        """The part of the distance of two numbers that is at least left of it where both are taken for multiples."""
        return Fraction(1) if self.rounds else 1 - 2 * NEAREST

    @property
    def rule(self) -> str:
        """What is said of a number that is no multiple."""
        return (
            f"a value is no multiple of {decimal_text_of(self.step)}, the resolution that the policy declares: round "
            "it before, or declare a finer resolution"
        )

    def nearest(self, values: str, table: SqlTable) -> tuple[str, str | None]:
        """Which multiple is nearest to a number, as SQL, and whether it is near enough; None where it always is."""
        float64 = table.dialect.float64
        exactly = f"cast({values} as {float64}) * {_float(self.step.denominator, float64)}"
        steps = f"({exactly} / {_float(self.step.numerator, float64)})"
        nearest = f"floor({steps} + {_float(Fraction(1, 2), float64)})"
        near = f"abs({steps} - {nearest}) <= {_float(NEAREST / 2, float64)}"
        return f"cast({nearest} as bigint)", None if self.rounds else near

    def place(self, values: str, table: SqlTable) -> str:
        """How many steps a number is after the first, and 1, as SQL; or that it is none."""
        nearest, near = self.nearest(values, table)
        place = f"({nearest} - ({self.first - 1}))"
        return place if near is None else cases((near, place), otherwise=OFF_STEP)


def decimal_text_of(number: Fraction) -> str:
    """A number as text: a decimal where it is one, else the nearest float."""
    return decimal_text(number) if 10**60 % number.denominator == 0 else repr(float(number))


def _float(number: int | Fraction, float64: str) -> str:
    return f"cast('{float(number)!r}' as {float64})"
