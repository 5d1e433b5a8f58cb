"""Rows of probabilities as integers over one total: exactly what was given, or it is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.lists import as_list
from metricdp.exact.weights import Weights

__all__ = ["ROUNDING", "whole_rows"]

ROUNDING = 1e-6
"""How far from one the floats of a row may sum; beyond it they are no probabilities, and refused."""


def whole_rows(probabilities: Any, names: Sequence[Any], columns: int) -> tuple[Weights, int]:
    """The weights of a matrix of probabilities, and their total; see `metricdp.channels.Channel.from_matrix`.

    Args:
        probabilities: one row for each name.
        names: of the rows.
        columns: how many there are.
    """
    given = probabilities.tolist() if isinstance(probabilities, np.ndarray) else probabilities
    rows = [as_list(row, "probabilities") for row in as_list(given, "rows of probabilities", "[[0.5, 0.5], [0, 1]]")]
    if len(rows) != len(names) or any(len(row) != columns for row in rows):
        raise ArgumentError(f"a matrix of {len(names)} rows and {columns} columns is wanted: inputs by outputs")
    if (
        isinstance(probabilities, np.ndarray)
        and probabilities.dtype == np.float64
        and bool(((probabilities >= 0) & (probabilities <= 2)).all())
    ):
        whole, total = _dyadic(probabilities)
    else:
        exact = [[_probability(value, row) for value in values] for row, values in enumerate(rows)]
        total = math.lcm(*{value.denominator for values in exact for value in values})
        whole = [[value.numerator * (total // value.denominator) for value in values] for values in exact]
    weights = np.empty((len(names), columns), dtype=object)
    for row, values in enumerate(whole):
        rounded = any(isinstance(value, float) for value in rows[row])
        weights[row] = _to_total(values, total, rounded, row, names[row])
    return weights, total


def _dyadic(floats: Floats) -> tuple[list[list[int]], int]:
    """Floats in [0, 2] as integers over one power of two."""
    halves, exponents = np.frexp(floats)
    mantissas, exponents = np.ldexp(halves, 53).astype(np.int64), exponents - 53
    least = int(exponents.min(initial=0, where=floats > 0))
    shifts = np.where(floats > 0, exponents - least, 0)
    whole = [
        [m << s for m, s in zip(*row, strict=True)] for row in zip(mantissas.tolist(), shifts.tolist(), strict=True)
    ]
    return whole, 1 << -least


def _probability(value: Any, row: int) -> Fraction:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction, Decimal, str)):
        raise ArgumentError(f"row {row}: a probability is a number, not {type(value).__name__}")
    try:
        exact = Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ArgumentError(f"row {row}: a probability is a finite number") from None
    if exact < 0:
        raise ArgumentError(f"row {row}: a negative probability")
    return exact


def _to_total(whole: list[int], total: int, rounded: bool, row: int, name: Any) -> list[int]:
    missing = total - sum(whole)
    if missing:
        if not rounded or abs(missing) > Fraction(ROUNDING) * total:
            raise ArgumentError(
                f"row {row}: input {name!r}: its probabilities sum to "
                f"{float(Fraction(total - missing, total)):.12g}, not to one"
            )
        largest = max(range(len(whole)), key=whole.__getitem__)
        whole[largest] += missing
    return whole
