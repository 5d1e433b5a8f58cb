"""What a question computes from corrected numbers: arithmetic with intervals, and which groups are shown."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.estimates.reach import normal_reach
from metricdp.estimates.results import AS_GOOD, Estimate
from metricdp.policies.sql.expressions import Applied, Asked, Combined, Constant, Expression, Kept

__all__ = ["computed", "kept_places", "said_with"]

Interval = tuple[float, float]

_UNKNOWN: Interval = (-math.inf, math.inf)


def said_with(one: Estimate, confidence: float) -> Estimate:
    """A number whose interval was made surer to make up for something, as one of the confidence that was asked for.

    >>> one = said_with(Estimate(6.0, (4.0, 8.0), 5.0, confidence=0.99, noise=2.0), 0.95)
    >>> one.interval, one.confidence, round(one.noise, 2)
    ((4.0, 8.0), 0.95, 1.52)
    """
    if one.confidence == confidence:
        return one
    less = normal_reach(1 - confidence) / normal_reach(1 - one.confidence)
    return replace(one, confidence=confidence, noise=None if one.noise is None else less * one.noise)


def computed(expression: Expression, row: Sequence[Estimate], confidence: float) -> Estimate:
    """A number that is computed from others.

    Its interval holds all that the expression can be while the others are within theirs. So each of k others has an
    interval that fails with a k-th of the chance, and the result is conservative.

    Args:
        expression: what is computed.
        row: the corrected numbers of a group, each at the confidence that their number asks for.
        confidence: of the result.

    >>> from metricdp.policies.sql.expressions import Asked, Combined
    >>> row = [Estimate(6.0, (4.0, 8.0), 5.0), Estimate(2.0, (1.0, 4.0), 2.0)]
    >>> found = computed(Combined("/", Asked(0), Asked(1)), row, 0.9)
    >>> found.value, found.interval, found.naive
    (3.0, (1.0, 8.0), 2.5)
    """
    used = [row[place] for place in sorted(expression.asked())]
    if any(isinstance(one.value, dt.date) for one in used):
        raise ArgumentError("days are not computed with: ask for them as they are")
    low, high = _bounds(expression, row)
    value = float(expression.of([_number(one.value) for one in row]))
    naive = None
    if all(one.naive is not None for one in used):
        naive = float(expression.of([math.nan if one.naive is None else _number(one.naive) for one in row]))
        naive = naive if math.isfinite(naive) else None
    several = len(used) > 1
    notes = [note for one in used for note in one.notes if note != AS_GOOD]
    if (low, high) == _UNKNOWN and all(math.isfinite(_number(end)) for one in used for end in one.interval):
        notes.append("What it is divided by may be 0, so that the quotient may be anything.")
    method = f"computed from {len(used)} corrected numbers, with all that their intervals allow" if several else (
        f"computed; {used[0].method}" if used else "a number"
    )  # fmt: skip
    return Estimate(
        value,
        (low, high),
        naive,
        confidence,
        None,
        method,
        several or any(one.conservative for one in used),
        row[0].truth,
        tuple(dict.fromkeys(notes)),
        row[0].rows,
    )


def kept_places(kept: Kept, labels: Sequence[tuple[str, ...]], rows: Sequence[Sequence[Estimate]]) -> list[int]:
    """The places of the groups that are shown, in order, judged by their corrected values."""
    return kept.places(labels, [[_number(one.value) for one in row] for row in rows])


def _bounds(expression: Expression, row: Sequence[Estimate]) -> Interval:
    """The least and the greatest value of an expression while each number is within its interval, or beyond them."""
    if isinstance(expression, Constant):
        return expression.value, expression.value
    if isinstance(expression, Asked):
        low, high = row[expression.place].interval
        return _number(low), _number(high)
    if isinstance(expression, Applied):
        return _applied(expression, _bounds(expression.inner, row))
    assert isinstance(expression, Combined)
    one, two = _bounds(expression.left, row), _bounds(expression.right, row)
    if expression.sign == "/" and two[0] <= 0 <= two[1]:
        return _UNKNOWN
    signs: dict[str, Callable[[float, float], float]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
    }
    found = [signs[expression.sign](a, b) for a, b in itertools.product(one, two)]
    return _UNKNOWN if any(map(math.isnan, found)) else (min(found), max(found))


def _applied(expression: Applied, inner: Interval) -> Interval:
    low, high = inner
    if expression.name == "-":
        return -high, -low
    if expression.name == "abs":
        return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    if expression.name == "sqrt":
        return math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))
    step: dict[str, Callable[[float], float]] = {
        "round": lambda end: float(np.round(end, expression.places)),
        "floor": lambda end: float(np.floor(end)),
        "ceil": lambda end: float(np.ceil(end)),
    }
    return step[expression.name](low), step[expression.name](high)


def _number(value: float | dt.date) -> float:
    return float(value.toordinal()) if isinstance(value, dt.date) else float(value)
