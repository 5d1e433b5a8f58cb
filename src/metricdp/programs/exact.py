"""Exact answers from a solver's guess.

The problem: a solver says in floats which columns of ``M x = b, x >= 0`` are in use. Those columns, and the equations,
are all that is kept of its answer: the rational x on these columns is found by exact elimination, and it is a proof if
no entry of it is negative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpz_mat

from metricdp.errors import ArgumentError

__all__ = ["Echelon", "integers", "point_on_support"]


@dataclass(frozen=True, eq=False)
class Echelon:
    """The equations ``M x = b``, for one or several right-hand sides b, brought to reduced row echelon form, exactly.

    Attributes:
        columns: how many columns M has.
        reduced: the reduced form of [M | b] in integers.
        divisor: a positive integer; ``reduced / divisor`` has ones as pivots.
        rank: of [M | b].

    >>> held = Echelon.of(fmpz_mat([[1, 1, 1], [1, 2, 3]]), fmpz_mat([[6], [14]]))
    >>> held.pivots, held.free, held.consistent
    ((0, 1), (2,), True)
    >>> held.solution(0), held.null_vector(2)
    ([Fraction(-2, 1), Fraction(8, 1), Fraction(0, 1)], [Fraction(1, 1), Fraction(-2, 1), Fraction(1, 1)])
    """

    columns: int
    reduced: fmpz_mat
    divisor: int
    rank: int

    @classmethod
    def of(cls, matrix: fmpz_mat, right: fmpz_mat) -> Echelon:
        """Eliminate."""
        rows = [one + two for one, two in zip(matrix.table(), right.table(), strict=True)]
        reduced, divisor, rank = fmpz_mat(rows).rref()
        if divisor < 0:
            reduced, divisor = -reduced, -divisor
        return cls(matrix.ncols(), reduced, int(divisor), int(rank))

    @cached_property
    def all_pivots(self) -> tuple[int, ...]:
        """The first column with an entry, in each row of the reduced form; those of b count on from M's."""
        places, column = [], 0
        for row in range(self.rank):
            while self.reduced[row, column] == 0:
                column += 1
            places.append(column)
        return tuple(places)

    @cached_property
    def pivots(self) -> tuple[int, ...]:
        """The columns of M that are independent of those before them: a basis of its column space."""
        return tuple(place for place in self.all_pivots if place < self.columns)

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The other columns of M."""
        taken = set(self.pivots)
        return tuple(column for column in range(self.columns) if column not in taken)

    @property
    def consistent(self) -> bool:
        """Whether ``M x = b`` has a solution for every right-hand side."""
        return len(self.pivots) == self.rank

    def solution(self, side: int) -> list[Fraction]:
        """The x of one right-hand side whose free entries are zero."""
        return self._spread({row: self.reduced[row, self.columns + side] for row in range(len(self.pivots))})

    def null_vector(self, free: int) -> list[Fraction]:
        """The x with ``M x = 0`` whose entry at one free column is one and at the others zero."""
        vector = self._spread({row: -self.reduced[row, free] for row in range(len(self.pivots))})
        vector[free] = Fraction(1)
        return vector

    def _spread(self, by_row: dict[int, object]) -> list[Fraction]:
        values = [Fraction(0)] * self.columns
        for row, value in by_row.items():
            values[self.pivots[row]] = Fraction(int(value), self.divisor)  # type: ignore[call-overload]
        return values


def integers(rows: Iterable[Sequence[int | Fraction]]) -> tuple[fmpz_mat, list[int]]:
    """Rows of rationals as rows of integers, and what each row was multiplied by.

    >>> integers([[Fraction(1, 2), Fraction(1, 3)]])
    ([3, 2], [6])
    """
    held = [[Fraction(value) for value in row] for row in rows]
    factors = [math.lcm(*(value.denominator for value in row)) for row in held]
    whole = [
        [value.numerator * (factor // value.denominator) for value in row]
        for row, factor in zip(held, factors, strict=True)
    ]
    return fmpz_mat(whole), factors


def point_on_support(
    matrix: Sequence[Sequence[int | Fraction]], right: Sequence[int | Fraction], support: Iterable[int]
) -> list[Fraction] | None:
    """The exact x >= 0 with ``M x = b`` that is zero outside the support; None where elimination finds none.

    On independent columns, such as those of a basis, there is at most one x, and None proves that there is none.
    On dependent ones those that depend on earlier ones are left at zero, and None proves nothing.

    >>> point_on_support([[1, 1, 1], [1, 2, 4]], [1, 3], [0, 2])
    [Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)]
    >>> point_on_support([[1, 1, 1], [1, 2, 4]], [1, 3], [0, 1]) is None  # it would be (-1, 2, 0)
    True
    """
    chosen = sorted(set(support))
    columns = {len(row) for row in matrix}
    if len(matrix) != len(right) or len(columns) != 1:
        raise ArgumentError(f"{len(matrix)} rows of equal length need as many right-hand sides, not {len(right)}")
    if not chosen:
        return None if any(right) else [Fraction(0)] * columns.pop()
    whole, _ = integers([*(row[place] for place in chosen), side] for row, side in zip(matrix, right, strict=True))
    table = whole.table()
    held = Echelon.of(fmpz_mat([row[:-1] for row in table]), fmpz_mat([row[-1:] for row in table]))
    if not held.consistent:
        return None
    values = held.solution(0)
    if min(values) < 0:
        return None
    point = [Fraction(0)] * columns.pop()
    for place, value in zip(chosen, values, strict=True):
        point[place] = value
    return point
