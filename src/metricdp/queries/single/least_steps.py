"""For any two answers, the nearest databases that have them: all pairs of databases compared, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import MetricDPError
from metricdp.exact.arrays import Floats
from metricdp.exact.progress import Stopwatch
from metricdp.metrics import Metric
from metricdp.metrics.amounts import Exact
from metricdp.metrics.coordinates import label
from metricdp.queries.single.record_metrics import record_metric

__all__ = ["LeastSteps", "least_steps"]

LeastSteps = dict[tuple[int, int], tuple[Exact | None, tuple[Any, Any]]]
"""For two answers (i < j), the least distance of two databases with them, None where it is irrational, and these."""

_EXACT_IN_FLOAT = 1 << 53


def least_steps(
    points: Sequence[Any], answers: Sequence[int], metric: Metric, watch: Stopwatch | None = None
) -> LeastSteps:
    """Compare all pairs of databases that have different answers.

    Args:
        points: the databases.
        answers: which answer each of them has.
        metric: between databases, without a number before it. One irrational distance for two answers makes theirs
            None.
        watch: the time limit, and whom to tell how many databases are done.
    """
    clock = Stopwatch() if watch is None else watch
    rows = _from_tables(points, metric)
    if rows is None:
        return _one_by_one(points, answers, metric, clock)
    distances, scale = rows
    places, size = np.asarray(answers), max(answers) + 1
    least = np.full((size, size), np.inf)
    ends: LeastSteps = {}
    for b in range(len(points)):
        j, costs = answers[b], distances(b)
        nearest = np.full(size, np.inf)
        np.minimum.at(nearest, places[:b], costs)
        for i in np.unique(places[:b]).tolist():
            pair = (i, j) if i < j else (j, i)
            if i == j or (pair in ends and nearest[i] >= least[pair]):
                continue
            a = int(np.flatnonzero((places[:b] == i) & (costs == nearest[i]))[0])
            least[pair] = nearest[i]
            cost = math.inf if nearest[i] == np.inf else Fraction(int(nearest[i]), scale)
            ends[pair] = cost, (points[a], points[b]) if i < j else (points[b], points[a])
        _tell(clock, b + 1, len(points))
    return ends


def _from_tables(points: Sequence[Any], metric: Metric) -> tuple[Callable[[int], Floats], int] | None:
    """The distances of a database from all before it, as whole numbers of 1/scale that floats hold exactly.

    For metrics that combine one distance for each record: these are few, and are looked up.
    """
    parts = record_metric(metric)
    if parts is None or parts.p == 2 or not all(isinstance(x, tuple) and len(x) == len(points[0]) for x in points):
        return None
    values: dict[Any, int] = {}
    codes: NDArray[np.int64] = np.array([[values.setdefault(label(v), len(values)) for v in x] for x in points])
    base, listed = parts.base * parts.level, list(values)
    try:
        table = [[base.exactly(v, w) for w in listed] for v in listed]
    except MetricDPError:  # the metric itself says better what is wrong
        return None
    finite = [entry for row in table for entry in row if entry is not None and entry != math.inf]
    if any(entry is None for row in table for entry in row):
        return None
    scale = math.lcm(*(Fraction(entry).denominator for entry in finite))
    if max(finite) * scale * len(points[0]) >= _EXACT_IN_FLOAT:
        return None
    whole = np.array([[entry if entry == math.inf else float(entry * scale) for entry in row] for row in table])  # type: ignore[operator]
    combine = np.maximum if parts.p == math.inf else np.add

    def distances(b: int) -> Floats:
        total = np.zeros(b)
        for position, code in enumerate(codes[b]):
            total = combine(total, whole[code, codes[:b, position]])
        return total

    return distances, scale


def _one_by_one(points: Sequence[Any], answers: Sequence[int], metric: Metric, clock: Stopwatch) -> LeastSteps:
    least: LeastSteps = {}
    for b, y in enumerate(points):
        for a in range(b):
            i, j = answers[a], answers[b]
            if i == j:
                continue
            cost = metric.exactly(points[a], y)
            pair, ends = ((i, j), (points[a], y)) if i < j else ((j, i), (y, points[a]))
            before = least.get(pair)
            if before is None or cost is None or (before[0] is not None and cost < before[0]):
                least[pair] = cost, ends
        _tell(clock, b + 1, len(points))
    return least


def _tell(clock: Stopwatch, done: int, total: int) -> None:
    clock.check("to compare all databases", done, total, "databases")
    clock.tell(done, total, unit="databases")
