"""A whole row at once: by how much the odds can move where two rows differ in every column."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from metricdp.mechanisms.mechanism import Mechanism
from metricdp.policies.column_type import ColumnType

if TYPE_CHECKING:
    from metricdp.tables.report.columns import ColumnReport

__all__ = ["Whole", "named_factor", "whole_of", "widest_factor"]

_LARGEST_EXPONENT = 709.0  # exp of more is beyond the floats


@dataclass(frozen=True)
class Whole:
    """By how much the odds between two rows, or between two persons, can move at most, over all columns together.

    Attributes:
        named: where each column differs by the distance that its level names.
        widest: where each differs by as much as the policy allows; None where the policy sets no bounds for a column,
            and infinite where the factor is beyond the floats.
        unbounded: columns for which the policy sets no bounds.
    """

    named: float
    widest: float | None
    unbounded: tuple[str, ...]


def whole_of(columns: Iterable[ColumnReport], rows: int = 1) -> Whole:
    """The factors of all columns multiplied, for so many rows of one person; each rounded up."""
    protected = list(columns)
    bounded = [column.widest_factor for column in protected if column.widest_factor is not None]
    return Whole(
        named=_product((column.named_factor for column in protected), rows),
        widest=_product(bounded, rows) if len(bounded) == len(protected) else None,
        unbounded=tuple(column.name for column in protected if column.widest_factor is None),
    )


def named_factor(column: ColumnType, mechanism: Mechanism) -> float:
    """By how much the odds can move at the distance that the column's level names."""
    if mechanism.guarantee.metric.pair_words:
        return mechanism.guarantee.odds(1)
    return mechanism.guarantee.odds(column.named_distance or mechanism.telling_distance)


def widest_factor(mechanism: Mechanism) -> float | None:
    """By how much they can move between any two values that the policy allows; None where it sets no bounds."""
    return None if mechanism.widest is None else mechanism.guarantee.odds(mechanism.widest)


def _product(factors: Iterable[float], power: int) -> float:
    """The product to a power, rounded up to a float."""
    known = list(factors)
    if any(map(math.isinf, known)) or power * math.fsum(map(math.log, known)) > _LARGEST_EXPONENT:
        return math.inf
    exact = math.prod(map(Fraction, known), start=Fraction(1)) ** power
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)
