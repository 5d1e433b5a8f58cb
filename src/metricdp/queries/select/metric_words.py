"""Metrics as a policy for queries writes them: an ε, a few words, or a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from metricdp.errors import KindError, LevelError
from metricdp.exact.level import rational
from metricdp.metrics import Metric, attributes, capped, nullable
from metricdp.metrics.reading import metric_in_words
from metricdp.metrics.toml import from_tree

__all__ = ["metric_of_entry"]


def metric_of_entry(entry: Any) -> Metric:
    """The metric of one column, as TOML has it.

    A number is an ε between any two values; text is read by `metric_in_words`. A table is either a metric as
    `Metric.to_toml` writes it, or ``{ distance = "ln 2/5 absolute", missing = 10 }``: then a missing value is as far
    from any other as two values that are 10 apart, which brings all values within 20.

    >>> print(metric_of_entry(Decimal("0.5")))
    0.5·[x ≠ y]
    >>> print(metric_of_entry({"distance": "ln 2/5 absolute", "missing": 10}))
    ln 2/5·(min(|x − y|, 20) with ∅ at 10)
    """
    if isinstance(entry, int | Decimal | float) and not isinstance(entry, bool):
        return attributes({"it": math.inf if entry == Decimal("inf") else Fraction(entry)}).parts[0]
    if isinstance(entry, str):
        return metric_in_words(entry)
    if not isinstance(entry, Mapping):
        raise KindError("a metric is an ε such as 0.5, words such as 'ln 2/5 absolute', or a table")
    if "metric" in entry:
        return from_tree(entry)
    if set(entry) != {"distance", "missing"}:
        raise KindError("a metric's table has distance = .. and missing = .., or is as to_toml() writes it")
    metric, away = metric_of_entry(entry["distance"]), entry["missing"]
    apart = rational(away, "distance")
    if apart <= 0:
        raise LevelError("missing = .. is a distance, and positive")
    unit = metric.unit
    near = unit if unit.greatest != math.inf and unit.greatest <= 2 * apart else capped(unit, 2 * apart)
    return nullable(near, apart) * metric.level
