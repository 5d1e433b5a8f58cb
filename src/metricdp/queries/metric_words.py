"""Metrics as a policy for queries writes them: an ε, a few words, or a table."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from metricdp.errors import KindError, LevelError
from metricdp.exact.level import Level, ln, rational
from metricdp.metrics import Metric, attributes, capped, nullable
from metricdp.metrics.toml import from_tree

__all__ = ["NAMES", "level_in_words", "metric_in_words", "metric_of_entry"]

NAMES = ("absolute", "euclidean", "manhattan", "chebyshev", "great_circle", "dates", "discrete")
"""Metrics on single values that need no more than their name."""

_NUMBER = r"(?:[0-9]+/[0-9]+|[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]{1,2})?|\.[0-9]+(?:[eE][-+]?[0-9]{1,2})?)"
_DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_LEVEL = re.compile(
    rf"(?:(?P<before>{_NUMBER})\s*[*·]?\s*)?ln\s*(?:\((?P<inside>{_NUMBER})\)|(?P<of>{_DECIMAL}))"
    rf"(?:\s*/\s*(?P<divisor>{_DECIMAL}))?|(?P<number>{_NUMBER})"
)


def level_in_words(text: str) -> Level:
    """The level in ``0.5``, ``1/2``, ``ln 2``, ``ln 2/5`` (the logarithm, divided), ``1/5 ln 2`` or ``ln(5/3)``.

    >>> level_in_words("ln 2/5") == ln(2) / 5
    True
    """
    found = _LEVEL.fullmatch(text.strip())
    if found is None:
        raise LevelError(f"{text.strip()!r} is no level; write a number or a logarithm: 0.5, 1/2, ln 2, ln 2/5")
    if found["number"] is not None:
        return Level.of(rational(found["number"]))
    of, divisor = rational(found["inside"] or found["of"]), rational(found["divisor"] or 1)
    if found["of"] is not None and found["divisor"] is not None and of > divisor:
        raise LevelError(
            f"'{text.strip()}' could be two things: write ln({found['of']}/{found['divisor']}), or a factor"
        )
    if not divisor:
        raise LevelError("a level is not divided by 0")
    return Level.of(ln(of) * (rational(found["before"] or 1) / divisor))


def metric_in_words(text: str) -> Metric:
    """A level and a name, such as ``ln 2/5 absolute``.

    >>> print(metric_in_words("ln 2/5 absolute"))
    ln 2/5·|x − y|
    """
    from metricdp import metrics

    *before, name = text.replace("*", " ").replace("·", " ").split() or [""]
    plain = name.replace("-", "_").lower()
    if plain not in NAMES:
        raise KindError(f"{text!r} is no metric: write a level and one of {', '.join(NAMES)}, as in 'ln 2/5 absolute'")
    unit: Metric = getattr(metrics, plain)()
    return unit * level_in_words(" ".join(before)) if before else unit


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
