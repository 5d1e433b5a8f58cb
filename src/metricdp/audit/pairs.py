"""Which secrets to compare: pairs that were given, or pairs found by asking the box and its metric what they take."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Box, check_pair
from metricdp.errors import ArgumentError, DataError
from metricdp.metrics import Metric

__all__ = ["Apart", "find_pairs", "given_pairs"]

Apart = tuple[tuple[Any, Any], float]
"""Two secrets, and a float that is not below their distance."""

_MOST = 24
_CLOSEST, _FARTHEST = 1e-3, 8.0


def given_pairs(pairs: Iterable[Any], metric: Metric) -> list[Apart]:
    """Pairs with their distances, those that may be told apart freely left out.

    Raises:
        ArgumentError: if the metric does not measure a pair; names its number, counted from 0.
    """
    found = []
    for number, each in enumerate(pairs):
        pair = check_pair(each)
        try:
            distance = distance_above(metric, *pair)
        except (DataError, TypeError, ValueError) as error:
            raise ArgumentError(f"pair {number}: {metric} does not measure it: {error}") from None
        if not math.isinf(distance):
            found.append((pair, distance))
    if not found:
        raise ArgumentError("no pair of secrets is at a finite distance: nothing is promised about any")
    return found


def distance_above(metric: Metric, x: Any, y: Any) -> float:
    """The distance, rounded up; infinite where it is beyond all floats."""
    upper = metric.enclose(x, y).upper
    try:
        return math.nextafter(float(upper), math.inf) if upper else 0.0
    except OverflowError:  # beyond all floats
        return math.inf


def find_pairs(box: Box, mechanism: Any, metric: Metric) -> list[Apart]:
    """Pairs of secrets that the box takes: edges, powers of two, nulls, ties, poles, neighbours at distance 1.

    Raises:
        ArgumentError: if no two such secrets are found.
    """
    pool = [secret for secret in _pool(mechanism, metric) if _taken(box, secret, metric)]
    found: list[Apart] = []
    seen: set[str] = set()
    for x, y in itertools.combinations(pool, 2):
        try:
            distance = distance_above(metric, x, y)
        except (DataError, TypeError, ValueError):
            continue
        key = f"{x!r} {y!r}"
        if _CLOSEST <= distance <= _FARTHEST and key not in seen:
            seen.add(key)
            found.append(((x, y), distance))
    if not found:
        raise ArgumentError(f"no secrets of {metric} were found that the box takes: give some with pairs=..")
    found.sort(key=lambda each: abs(math.log(each[1])))
    near = found[: _MOST // 2]
    rest = found[_MOST // 2 :]
    step = max(1, len(rest) // (_MOST - len(near)))
    return near + rest[::step][: _MOST - len(near)]


def _taken(box: Box, secret: Any, metric: Metric) -> bool:
    """Whether the metric and the box take a secret; in a search, a box that fails for it refuses it."""
    from metricdp.audit.boxes.box import Failure, Rows

    try:
        metric.pairwise([secret])
        batch = (
            box.function([secret]) if isinstance(box, Rows) else box.draw((secret, secret), np.ones(1, bool)).releases
        )
        return len(batch) == 1 and not isinstance(batch[0], Failure)
    except Exception:
        return False


def _pool(mechanism: Any, metric: Metric) -> list[Any]:
    """Secrets worth trying; those that are none of the box's are taken out later."""
    own = _own_points(mechanism, metric)
    if own:
        return list(own)[:40]
    unit = 1 / float(metric.level) if float(metric.level) > 0 else 1.0
    numbers = _numbers(mechanism, unit)
    size = getattr(mechanism, "dim", None)
    sizes = [size] if size else [len(mechanism.times)] if hasattr(mechanism, "times") else [2, 1, 3, 5]
    points = [point for count in sizes for point in _points(count, unit)]
    places = [[0.0, 0.0], [48.8566, 2.3522], [89.9999, 10.0], [90.0, 0.0], [0.0, 179.9999], [-60.0, -180.0]]
    degrees = unit / 111_194.9
    places += [[48.8566 + degrees, 2.3522], [48.8566, 2.3522 + degrees], [60.0, 0.0], [60.0, degrees], [degrees, 0.0]]
    days = [
        np.datetime64(day, "s") for day in ("2024-02-29T12:30:01", "2024-03-01", "1969-12-31T23:59:59", "1970-01-01")
    ]
    later = [day + np.timedelta64(round(86_400 * min(max(unit, 1e-3), 3650.0)), "s") for day in days]
    pools: list[list[Any]] = [numbers, points, [None, *numbers]]
    if metric.on_globe or metric.moments:
        pools = [places if metric.on_globe else days + later]
    return [secret for pool in pools for secret in pool]


def _own_points(mechanism: Any, metric: Metric) -> Sequence[Any]:
    """The secrets that a finite mechanism lists."""
    for name in ("values", "inputs"):
        if isinstance(found := getattr(mechanism, name, None), tuple):
            return found
    if hasattr(mechanism, "space"):
        return tuple(mechanism.space.points)
    universe = getattr(mechanism, "universe", None)
    if isinstance(universe, tuple):
        singles = [frozenset(), *(frozenset({each}) for each in universe[:4])]
        return [*singles, frozenset(universe[:2]), frozenset(universe), frozenset(universe[1:])]
    if hasattr(metric.unit, "points"):
        return tuple(metric.unit.points)
    if len(parts := getattr(mechanism, "parts", ())) > 1:
        pools = [_pool(each, each.guarantee.metric)[:6] for each in parts]
        return list(itertools.islice(itertools.product(*pools), 40))
    return ()


def _numbers(mechanism: Any, unit: float) -> list[Any]:
    whole = max(1, round(unit))
    found: list[Any] = [
        0.0,
        unit,
        -unit,
        0.1 * unit,
        3 * unit,
        unit / 2,
        1.0,
        0.1,
        1 / 3,
        2.0**10,
        2.0**10 + unit,
        5 * unit,
    ]
    found += [2.0**-10, 1.0 + unit, 0.1 + unit, 0, whole, 2 * whole, -whole, 5 * whole]
    bounds = getattr(mechanism, "bounds", None) or getattr(getattr(mechanism, "numbers", None), "bounds", None)
    if bounds is not None:
        low, high = (float(end) for end in bounds)
        found = [low, high, low + unit, high - unit, (low + high) / 2, (low + high) / 2 + unit, *found]
    steps = getattr(mechanism, "steps", None)
    if isinstance(steps, int):
        step = float(getattr(mechanism, "step", 1))
        found = [0, steps * step, (steps - 1) * step, step, 2 * step, *found]
        found = [int(each) if float(each).is_integer() else each for each in found]
    elif hasattr(mechanism, "step"):
        step = mechanism.step
        found = [type_number(step * each) for each in (0, 1, 2, 5, -1, 1000, max(1, round(unit / float(step))))]
    return found


def type_number(value: Any) -> Any:
    """A Fraction as the int or float it is."""
    return int(value) if value.denominator == 1 else float(value)


def _points(size: int, unit: float) -> list[Any]:
    zero = [0.0] * size
    found = [zero, [unit] * size, [unit / size] * size, [0.1 * unit] * size, [2.0**10] * size]
    for axis in range(min(size, 3)):
        step = list(zero)
        step[axis] = unit
        found += [step, [-each for each in step], [3 * each for each in step]]
    found.append([unit if axis % 2 else -unit for axis in range(size)])
    return found
