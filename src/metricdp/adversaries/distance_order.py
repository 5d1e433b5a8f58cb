"""The order of distances, decided exactly where they are rational and in balls where they are not."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from metricdp.exact.balls import ball, decide_sign
from metricdp.exact.level import ln
from metricdp.metrics.metric import Metric

__all__ = ["compare_distances", "farthest_pair", "is_between", "log_at_most"]

Pair = tuple[Any, Any]


def compare_distances(metric: Metric, one: Pair, two: Pair) -> int:
    """The sign of d(one) - d(two), in the unit of the metric; 0 where 1024 bits do not tell them apart.

    >>> from metricdp.metrics import euclidean
    >>> compare_distances(euclidean(), ((0, 0), (1, 1)), ((0, 0), (0, 1)))
    1
    """
    unit = metric.unit
    a, b = unit.exactly(*one), unit.exactly(*two)
    if a is not None and b is not None:
        return (a > b) - (a < b)
    if math.inf in (a, b):
        return 1 if a == math.inf else -1
    return decide_sign(lambda: unit.ball(*one) - unit.ball(*two))


def farthest_pair(metric: Metric, pairs: Iterable[Pair]) -> Pair:
    """The pair with the largest distance."""
    return max(pairs, key=functools.cmp_to_key(functools.partial(compare_distances, metric)))


def is_between(metric: Metric, x: Any, y: Any, z: Any) -> bool:
    """Whether ``d(x, y) + d(y, z) = d(x, z)``; true as well where 1024 bits do not tell these apart.

    >>> from metricdp.metrics import absolute, euclidean
    >>> is_between(absolute(), 0, 1, 2), is_between(euclidean(), (0, 0), (0, 1), (1, 1))
    (True, False)
    """
    unit = metric.unit
    first, second, whole = (unit.exactly(*pair) for pair in ((x, y), (y, z), (x, z)))
    if first is not None and second is not None and whole is not None:
        return first + second == whole
    return decide_sign(lambda: unit.ball(x, y) + unit.ball(y, z) - unit.ball(x, z)) == 0


def log_at_most(ratio: Fraction | float, metric: Metric, pair: Pair, times: int = 1) -> bool | None:
    """Whether ``ln(ratio) <= times * d(pair)``; None where 16,384 bits do not tell these apart.

    Exact where both are multiples of one logarithm: ``ln 4`` is at most twice the distance ``ln 2``.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> log_at_most(Fraction(4), ln(2) * absolute(), (0, 1), 2)
    True
    """
    unit = metric.unit.exactly(*pair)
    if ratio <= 1 or unit == math.inf:
        return True
    if unit == 0 or isinstance(ratio, float):  # a ratio above 1, or an infinite one
        return False
    if isinstance(unit, Fraction):
        return ln(ratio) <= metric.level * (times * unit)
    sign = decide_sign(lambda: times * metric.ball(*pair) - ball(ratio).log(), most_bits=1 << 14)
    return None if sign == 0 else sign > 0
