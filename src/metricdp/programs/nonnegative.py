"""Nonnegative solutions of linear equations in rationals, with a certificate where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq

from metricdp.exact.rationals import flint_rational, fraction

__all__ = ["LeastSolution", "has_solution", "least_solution"]

_ZERO, _ONE = fmpq(0), fmpq(1)

Number = Any
"""Of any ordered field: with the four operations and comparison, with each other and with 0."""


@dataclass(frozen=True)
class LeastSolution:
    """A solution, or the proof that there is none; one of the two is None.

    Attributes:
        solution: ``y >= 0`` with ``A y = b`` and ``Σ y`` the least.
        refutation: ``w`` with ``w A >= 0`` and ``w · b < 0``: no such y, or else 0 > w·b = w A y >= 0.
    """

    solution: tuple[Fraction, ...] | None
    refutation: tuple[Fraction, ...] | None


def least_solution(
    matrix: Sequence[Sequence[Fraction]], target: Sequence[Fraction], free: int | None = None
) -> LeastSolution:
    """The nonnegative solution of ``A y = b`` with the least sum, for b >= 0, by the simplex method in rationals.

    Exact, and it ends on every input (Bland's rule); meant for the few small systems that are singular.

    Args:
        matrix: A, row by row.
        target: b.
        free: how many of the first unknowns count in the sum; all of them by default.

    References:
        Paper 3, Appendix B (the singular case); the lemma of Farkas.

    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> least_solution([[one, one], [one, one]], [half, half]).solution
    (Fraction(1, 2), Fraction(0, 1))
    >>> least_solution([[one, one], [one, one]], [half, one]).refutation
    (Fraction(1, 1), Fraction(-1, 1))
    """
    rows, unknowns = len(target), len(matrix[0])
    whole = [[flint_rational(value) for value in row] for row in matrix]
    table, basis, reduced = _begun(whole, [flint_rational(value) for value in target], _ZERO, _ONE)
    if reduced[-1] < 0:  # minus the least sum of the artificial unknowns
        # Each artificial column is a unit vector e of cost 1, so its reduced cost is 1 - p·e: p are the multipliers.
        multipliers = [_ONE - reduced[unknowns + place] for place in range(rows)]
        return LeastSolution(None, tuple(fraction(-value) for value in multipliers))
    for place in range(
        rows
    ):  # an artificial unknown that stayed, at zero, leaves for any other, or its row says nothing
        if basis[place] >= unknowns:
            entering = next((column for column in range(unknowns) if table[place][column] != 0), None)
            if entering is not None:
                _pivot(table, basis, place, entering)
    kept = [place for place in range(rows) if basis[place] < unknowns]
    table, basis = [table[place] for place in kept], [basis[place] for place in kept]
    counted = unknowns if free is None else free
    _minimise(table, basis, [_ONE] * counted + [_ZERO] * (unknowns - counted + rows), unknowns)
    values = dict(zip(basis, (row[-1] for row in table), strict=True))
    return LeastSolution(tuple(fraction(values.get(column, _ZERO)) for column in range(unknowns)), None)


def has_solution(matrix: Sequence[Sequence[Number]], target: Sequence[Number], zero: Number, one: Number) -> bool:
    """Whether ``A y = b`` has a solution ``y >= 0``, for b >= 0, over any ordered field, such as `Algebraic` numbers.

    Args:
        matrix: A, row by row.
        target: b.
        zero: the field's 0.
        one: the field's 1.

    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> has_solution([[one, one], [one, one]], [half, half], Fraction(0), one)
    True
    """
    *_, reduced = _begun(matrix, target, zero, one)
    return not reduced[-1] < 0


def _begun(
    matrix: Sequence[Sequence[Number]], target: Sequence[Number], zero: Number, one: Number
) -> tuple[list[list[Number]], list[int], list[Number]]:
    """The table and basis of the least sum of artificial unknowns, one for each row, and the reduced costs there."""
    rows, unknowns = len(target), len(matrix[0])
    table = [
        [*row, *(one if column == place else zero for column in range(rows)), target[place]]
        for place, row in enumerate(matrix)
    ]
    basis = list(range(unknowns, unknowns + rows))
    reduced = _minimise(table, basis, [zero] * unknowns + [one] * rows, unknowns + rows, zero)
    return table, basis, reduced


def _minimise(
    table: list[list[Number]], basis: list[int], cost: list[Number], columns: int, zero: Number = _ZERO
) -> list[Number]:
    """Pivot to the least cost in the first ``columns`` unknowns; the reduced costs, with minus the cost at the end."""
    reduced = [*cost, zero]
    for row, column in zip(table, basis, strict=True):
        reduced = _less(reduced, row, cost[column])
    while True:
        entering = next((column for column in range(columns) if reduced[column] < 0), None)
        if entering is None:
            return reduced
        rising = [place for place, row in enumerate(table) if row[entering] > 0]
        if not rising:
            raise ArithmeticError("internal error: a sum of nonnegative unknowns has no least value")
        leaving = min(rising, key=lambda place: (table[place][-1] / table[place][entering], basis[place]))
        _pivot(table, basis, leaving, entering)
        reduced = _less(reduced, table[leaving], reduced[entering])


def _pivot(table: list[list[Number]], basis: list[int], place: int, column: int) -> None:
    scale = table[place][column]
    table[place] = [value / scale for value in table[place]]
    for other, row in enumerate(table):
        if other != place and row[column] != 0:
            table[other] = _less(row, table[place], row[column])
    basis[place] = column


def _less(row: list[Number], other: list[Number], factor: Number) -> list[Number]:
    return [a - factor * b for a, b in zip(row, other, strict=True)] if factor != 0 else row
