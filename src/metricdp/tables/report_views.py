"""The adversary's view: by how much the odds between two secrets can move, at a few distances."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.exact.level import Level
from metricdp.mechanisms.finite import Exponential
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.response import RandomizedResponse, SetResponse
from metricdp.mechanisms.stepped import Geometric
from metricdp.metrics import Nullable
from metricdp.metrics.words import telling_distances
from metricdp.tables.quantities import quantity
from metricdp.tables.report_words import Measure
from metricdp.tables.treatments import Location, Time, Treatment
from metricdp.tables.treatments.numeric import Numeric

__all__ = ["MISSING_OR_NOT", "View", "views_of"]

MISSING_OR_NOT = "missing or not"
"""What the view of a missing and a present value is called."""

_MOST_DISTANCES = 4


@dataclass(frozen=True)
class View:
    """What an adversary can tell of two secrets that differ in this column alone.

    Attributes:
        secrets: which two.
        epsilon: their distance d, a float view.
        factor: by how much the odds between them can move at most, exp(d) rounded up; perhaps infinite.
        person_factor: the same for a person all of whose rows differ so; None where the policy has no unit.
    """

    secrets: str
    epsilon: float
    factor: float
    person_factor: float | None = None


def views_of(
    item: Treatment, mechanism: Mechanism, entry: dict[str, Any], measure: Measure, rows: int | None
) -> list[View]:
    """From near to far; last, where that is secret, missing and not.

    Args:
        item: the treatment.
        mechanism: its mechanism.
        entry: its entry in the policy.
        measure: what its distances are counted in.
        rows: how many rows a person may have; None where the policy has no unit.
    """
    guarantee = mechanism.guarantee
    unit = guarantee.metric.unit

    def view(secrets: str, distance: Fraction) -> View:
        together = None if rows is None else guarantee.odds(distance * rows)
        epsilon = float(guarantee.metric.level) * float(distance)
        return View(secrets, epsilon, guarantee.odds(distance), together)

    views = [view(words, distance) for words, distance in _pairs(item, mechanism, entry, measure)]
    if isinstance(unit, Nullable) and isinstance(unit.null_distance, Level):
        assert unit.null_distance.log_of is None
        views.append(view(MISSING_OR_NOT, unit.null_distance.coefficient))
    return views


def _pairs(
    item: Treatment, mechanism: Mechanism, entry: dict[str, Any], measure: Measure
) -> list[tuple[str, Fraction]]:
    if isinstance(mechanism, RandomizedResponse):
        return [("any two values", Fraction(1))]
    if isinstance(mechanism, SetResponse):
        counts = [count for count in (1, 2, 4) if count <= len(mechanism.universe)]
        return [(f"{measure.say(count)} different", Fraction(count)) for count in counts]
    if isinstance(mechanism, Exponential):
        return _taxonomy_pairs(mechanism, measure)
    return [(f"{measure.say(distance)} apart", distance) for distance in _distances(mechanism, entry, item)]


def _distances(mechanism: Mechanism, entry: dict[str, Any], item: Treatment) -> list[Fraction]:
    """Half of the distance that the policy names, that, its double and its fivefold; for integers only whole ones."""
    unit = "m" if isinstance(item, Location) else "days" if isinstance(item, Time) else ""
    written = entry.get("within", entry.get("per"))
    middle = telling_distances(mechanism.guarantee.metric)[1] if written is None else quantity(written, unit)
    distances = [middle / 2, middle, 2 * middle, 5 * middle]
    if isinstance(mechanism, Geometric):
        distances = [distance for distance in distances if distance % mechanism.step == 0]
    bounds = item.bounds if isinstance(item, Numeric) else None
    widest = None if bounds is None else bounds[1] - bounds[0]
    return [distance for distance in distances if widest is None or distance <= widest] or [middle]


def _taxonomy_pairs(mechanism: Exponential, measure: Measure) -> list[tuple[str, Fraction]]:
    """Every distance between two categories, the nearest and the farthest ones where there are many."""
    metric = mechanism.space.metric.unit
    tree = metric.base if isinstance(metric, Nullable) else metric
    leaves = [point for point in mechanism.space.points if point is not None]
    found = {Fraction(tree.exactly(x, y) or 0): (x, y) for x in leaves for y in leaves if x != y}
    distances = sorted(found)
    if len(distances) > _MOST_DISTANCES:
        distances = [*distances[: _MOST_DISTANCES - 1], distances[-1]]
    return [(f"{measure.say(far)} apart ({found[far][0]}, {found[far][1]})", far) for far in distances]
