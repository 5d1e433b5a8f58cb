"""Parallel composition: releases about groups of people, one for each group, as one guarantee for all.

If it is public who is in which group, and everybody is in one, then a person's data are in one release only, and the
largest of the guarantees holds for all. If it is secret, a change of one's data can move a person from one group to
another: such a person is absent from the one and present in the other, and pays for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal

from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.exact.level import Level
from metricdp.metrics import Guarantee, Metric, add_remove, discrete, maximum, nullable, records, unprotected
from metricdp.metrics.amounts import Budget, sum_of_budgets
from metricdp.metrics.nullable import Nullable
from metricdp.metrics.records import AddRemove, Hamming, Records

__all__ = ["parallel_guarantee"]


def parallel_guarantee(groups: Mapping[str, Guarantee], membership: Literal["public", "secret"]) -> Guarantee:
    """What releases about disjoint groups of people promise together, about all of them.

    Args:
        groups: for each group, the guarantee of the release about its members. Metrics add up over people: ``hamming``,
            ``add_remove`` and ``records`` with the norm 1, each with a level.
        membership: "public" if everybody knows who is in which group, whatever the secrets are, and each person is in
            one; "secret" otherwise, as with groups by a secret attribute. Then the metrics must say how far a person is
            from being absent.

    Raises:
        UnsupportedMetricError: a metric does not add up over people, or does not know absence.
        ArgumentError: the combined distance is no metric.

    >>> from metricdp.metrics import hamming
    >>> towns = {"north": Guarantee(0.5 * hamming()), "south": Guarantee(0.2 * hamming())}
    >>> print(parallel_guarantee(towns, "public"))
    0.5·dₕ-private
    """
    if not groups:
        raise ArgumentError("there are no groups")
    if membership not in ("public", "secret"):
        raise ArgumentError("the membership of groups is 'public' or 'secret'")
    metrics = [guarantee.metric for guarantee in groups.values()]
    combine: Callable[[list[Metric]], Metric] = _public if membership == "public" else _secret
    # Two tables can differ in every group, so that all deltas count.
    return Guarantee(combine(metrics), sum((guarantee.delta for guarantee in groups.values()), Fraction(0)))


def _public(metrics: list[Metric]) -> Metric:
    if len({metric.unit for metric in metrics}) == 1:
        _person(metrics[0])
        return metrics[0].unit * max(metric.level for metric in metrics)
    return records(maximum(*map(_person, metrics)))


def _secret(metrics: list[Metric]) -> Metric:
    if all(isinstance(metric.unit, AddRemove) for metric in metrics):  # a move is a removal and an addition
        return add_remove() * max(metric.level for metric in metrics)
    people = [_person(metric) for metric in metrics]
    bases = [_present(person) for person in people]
    absences = sorted((_absence(person) for person in people), key=lambda one: (one == math.inf, one), reverse=True)
    if len(absences) == 1:
        return records(people[0])
    move = sum_of_budgets(absences[:2])
    moved = discrete() * move if isinstance(move, Level) else unprotected()
    combined = nullable(maximum(*bases, moved), absences[0] if isinstance(absences[0], Level) else math.inf)
    if not combined.proven:
        raise ArgumentError(
            f"the combined distance {combined} is not known to be a metric: no two values may be more than twice as "
            "far apart as they are from absence; bound the distances with capped(metric, twice that)"
        )
    return records(combined)


def _person(metric: Metric) -> Metric:
    """The distance between two states of one person."""
    unit = metric.unit
    if isinstance(unit, Hamming):
        return discrete() * metric.level
    if isinstance(unit, AddRemove):
        return nullable(2 * discrete() * metric.level, metric.level)
    if isinstance(unit, Records) and unit.p == 1:
        return unit.base * metric.level
    raise UnsupportedMetricError(f"{metric} does not add up over people: hamming, add_remove or records is needed")


def _nullable(person: Metric) -> Nullable:
    if not isinstance(person.unit, Nullable):
        raise UnsupportedMetricError(
            f"{person} does not say how far a person is from being absent; use add_remove, or records(nullable(..))"
        )
    return person.unit


def _present(person: Metric) -> Metric:
    return _nullable(person).base * person.level


def _absence(person: Metric) -> Budget:
    apart = _nullable(person).null_distance
    return apart * person.level if isinstance(apart, Level) else apart
