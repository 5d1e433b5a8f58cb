"""The adversary's view: by how much the odds between two secrets can move, at a few distances."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from metricdp.exact.level import Level, rational
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.policies.column_type import ColumnType

__all__ = ["MISSING_OR_NOT", "OddsView", "views_of"]

MISSING_OR_NOT = "missing or not"
"""What the view of a missing and a present value is called."""


@dataclass(frozen=True)
class OddsView:
    """What an adversary can tell of two secrets that differ in this column alone.

    Attributes:
        secrets: which two.
        epsilon: their distance d, a float view.
        factor: by how much the odds between them can move at most, exp(d) rounded up; perhaps infinite.
        person_factor: the same for a person all of whose rows differ so; None where the policy names no person.
    """

    secrets: str
    epsilon: float
    factor: float
    person_factor: float | None = None


def views_of(column: ColumnType, mechanism: Mechanism, rows: int | None) -> list[OddsView]:
    """From near to far; last, where that is secret, missing and not.

    Args:
        column: of the policy.
        mechanism: its mechanism.
        rows: how many rows a person may have; None where the policy names no person.
    """
    guarantee = mechanism.guarantee
    level = float(guarantee.metric.level)

    def view(secrets: str, distance: Fraction) -> OddsView:
        together = None if rows is None else guarantee.odds(distance * rows)
        return OddsView(secrets, level * float(distance), guarantee.odds(distance), together)

    pairs = column.pairs_to_tell(mechanism)
    views = [view(words, distance) for words, distance in pairs]
    null = guarantee.metric.unit.distance_to_null
    if isinstance(null, Level):
        views.append(view(MISSING_OR_NOT, rational(null, "distance")))
    return views
