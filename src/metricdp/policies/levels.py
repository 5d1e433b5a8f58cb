"""How far apart two values of a column are, as a policy writes it, and how far a missing value is from them.

A policy says ``within = "200 m"`` (and perhaps ``factor = 3``), or ``epsilon = 0.5`` (and perhaps ``per = "5 days"``),
or the whole metric: ``metric = "ln 2/5 absolute"``, or a table as `Metric.to_toml` writes it. One of the three, and any
key that would say nothing beside the others is a mistake: protection would be weaker than it is written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.exact.level import Level
from metricdp.metrics import Metric, Nullable, capped, discrete, nullable
from metricdp.metrics.finite import Discrete
from metricdp.metrics.reading import metric_in_words
from metricdp.metrics.toml import from_tree
from metricdp.metrics.words import Measure
from metricdp.policies.entry import ColumnEntry, Missing, Mistake
from metricdp.policies.quantities import example, factor_level, unit_in
from metricdp.policies.standard import Standard

__all__ = ["Written", "equal_level", "level_by_distance", "missing_distance", "wanted_distance", "with_missing"]


@dataclass(frozen=True)
class Written:
    """The distance between two values, and the words that it was written in.

    Attributes:
        metric: between two values that are there.
        amount: the level in words, such as "odds within a factor 2".
        distance: the distance that the level was written for; None where it was written without one.
        at: whether the level is that of the distance, or that of each such distance.
        measure: what distances are counted in.
        whole: whether the metric was written as a whole.
    """

    metric: Metric
    amount: str
    distance: Fraction | None
    at: bool
    measure: Measure
    whole: bool = False

    @property
    def words(self) -> str:
        """The level as the policy says it."""
        if self.whole:
            return self.amount
        if self.metric.pair_words:
            return f"{self.amount} {self.metric.pair_words}"
        if self.metric.place_words:
            return f"{self.amount} for {self._far} {self.metric.place_words}"
        where = "" if self.measure.unit else "a distance of "
        return f"{self.amount} {'at' if self.at else 'for'} {where}{self._far}"

    @property
    def _far(self) -> str:
        return self.measure.say(1 if self.distance is None else self.distance)


def level_by_distance(entry: ColumnEntry, base: Metric, unit: str = "", measure: str | None = None) -> Written | None:
    """The level of a column whose values have distances; None where none is written.

    Args:
        entry: the column's.
        base: the distance of its type, for which ``within`` and ``per`` are written.
        unit: what that distance is counted in; empty where any name may be written.
        measure: what reports count it in, where that is neither the unit nor what is written.
    """
    if entry.standard is not None:
        return _standard(entry, entry.standard)
    if "metric" in entry:
        return _whole(entry, ("within", "factor", "epsilon", "per"))
    written = entry.tree.get("within", entry.tree.get("per"))
    counted = Measure(unit_in(written) if measure is None and not unit else unit if measure is None else measure)
    if "within" in entry:
        _refuse(
            entry,
            "within",
            epsilon="say either within or epsilon",
            per="per goes with epsilon; with within, say factor",
        )
        radius = _distance(entry, "within", unit)
        factor = entry.take("factor", 2)
        return Written(_factor(entry) / radius * base, f"odds within a factor {factor}", radius, True, counted)
    if "epsilon" in entry:
        _refuse(entry, "epsilon", factor="factor goes with within; with epsilon it is not needed")
        per = _distance(entry, "per", unit) if "per" in entry else None
        level = _epsilon(entry) / (1 if per is None else per)
        return Written(level * base, f"epsilon {entry.take('epsilon')}", per, False, counted)
    for key in ("factor", "per"):
        if key in entry:
            raise Mistake(key, f"{key} goes with {'within' if key == 'factor' else 'epsilon'}, which is not there")
    return None


def wanted_distance(unit: str) -> str:
    """What is said where a level is wanted and none is written."""
    return f"either within = {example(unit)} (and factor = 2), or epsilon, or metric, is wanted"


def equal_level(entry: ColumnEntry) -> Written | None:
    """The level of a column any two values of which lie equally far apart; None where none is written."""
    if entry.standard is not None:
        return _standard(entry, entry.standard)
    if "metric" in entry:
        return _whole(entry, ("factor", "epsilon"))
    if "epsilon" in entry:
        _refuse(entry, "epsilon", factor="say either epsilon or factor")
        return Written(_epsilon(entry) * discrete(), f"epsilon {entry.take('epsilon')}", None, False, Measure(""))
    if "factor" in entry:
        factor = entry.take("factor")
        return Written(_factor(entry) * discrete(), f"odds within a factor {factor}", None, False, Measure(""))
    return None


def missing_distance(entry: ColumnEntry, missing: Missing, unit: str, written: Written | None) -> Fraction | None:
    """How far a missing value is from every other, as it is written; None where it is not.

    Args:
        entry: the column's.
        missing: what a missing value is.
        unit: what the distance of the type is counted in.
        written: the level; where it sets any two values equally far apart, that distance is 1, and has no unit.
    """
    if "missing_distance" in entry and missing != "secret":
        raise Mistake(
            "missing_distance", f"a missing value has a distance where it is secret, and here it is {missing}"
        )
    equal = written is not None and isinstance(written.metric.unit, Discrete)
    if equal and unit_in(entry.tree.get("missing_distance")):
        raise Mistake(
            "missing_distance",
            "any two values lie equally far apart, at a distance of 1: missing_distance is a number without a unit",
        )
    return entry.quantity("missing_distance", "" if equal else unit)


def with_missing(metric: Metric, missing: Missing, distance: Fraction | None) -> Metric:
    """The metric extended to missing values: those that are public may be told from others freely.

    By way of a missing value, all others are within twice its distance of each other.

    >>> from metricdp.metrics import absolute
    >>> print(with_missing(2 * absolute(), "secret", Fraction(10)))
    2·(min(|x − y|, 20) with ∅ at 10)
    >>> print(with_missing(2 * absolute(), "refuse", None))
    2·|x − y|
    """
    if missing == "refuse":
        return metric
    unit = metric.unit
    if missing == "public":
        return nullable(unit, math.inf) * metric.level
    if distance is None:
        return metric  # it knows missing values by itself
    near = unit if unit.greatest != math.inf and unit.greatest <= 2 * distance else capped(unit, 2 * distance)
    return nullable(near, distance) * metric.level


def _standard(entry: ColumnEntry, standard: Standard) -> Written | None:
    """The level that the policy says once for all columns; one that is released as it is has none."""
    for key in ("within", "factor", "epsilon", "per", "metric", "missing_distance"):
        if key in entry:
            raise Mistake(key, f"{key} is not used here: standard = {{..}} gives every column its level")
    if entry.tree.get("release") == "keep":
        return None
    words = f"epsilon {standard.epsilon} for a person"
    return Written(standard.between * discrete(), words, None, False, Measure(""), whole=True)


def _whole(entry: ColumnEntry, others: tuple[str, ...]) -> Written:
    _refuse(entry, "metric", **dict.fromkeys(others, "metric = .. says the whole distance, with its level"))
    written = entry.take("metric")
    if isinstance(written, str):
        metric = metric_in_words(written)
    elif isinstance(written, Mapping):
        metric = from_tree(written)
    else:
        raise Mistake("metric", 'metric is words such as "ln 2/5 absolute" or "0.5 discrete", or a table')
    if isinstance(metric.unit, Nullable):
        raise Mistake("metric", "metric is between values that are there; missing_distance = .. says the rest")
    return Written(metric, str(metric), None, False, Measure(metric.unit.unit_name), whole=True)


def _refuse(entry: ColumnEntry, beside: str, **reasons: str) -> None:
    for key, reason in reasons.items():
        if key in entry:
            raise Mistake(key, f"{key} is not used beside {beside}: {reason}")


def _distance(entry: ColumnEntry, key: str, unit: str) -> Fraction:
    distance = entry.amount(key, unit)
    if distance <= 0:
        raise Mistake(key, f"{key} is a positive distance")
    return distance


def _epsilon(entry: ColumnEntry) -> Level:
    return Level.parse(entry.take("epsilon"))


def _factor(entry: ColumnEntry) -> Level:
    factor: Any = entry.take("factor", 2)
    try:
        return factor_level(factor)
    except ArgumentError as error:
        raise Mistake("factor", f"factor: {error}") from None
