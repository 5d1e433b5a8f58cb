"""What a metric answers about itself, and the quick forms of its distances: mechanisms and proofs rely on them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from metricdp.errors import MetricDPError
from metricdp.exact.balls import Enclosure, precision
from metricdp.exact.level import Level
from metricdp.metrics import Metric, absolute, chebyshev, dates, euclidean, great_circle, manhattan
from metricdp.metrics.amounts import Budget, Exact, exact_ball
from metricdp.testing.checked import require

__all__ = ["answers", "shortcuts"]

_SLACK = Fraction(1, 2**40)
_NORMS: dict[float, Callable[[], Metric]] = {1: manhattan, 2: euclidean, math.inf: chebyshev}

Bound = Fraction | float


def shortcuts(d: Metric, points: Sequence[Any]) -> None:
    """Integers, squares, exponentials, the tree, and the greatest distance say what the exact distance says."""
    pairs = list(itertools.product(range(len(points)), repeat=2))
    near = {(i, j): d.enclose(points[i], points[j], 80) for i, j in pairs}
    integers, tree = d.integers(points), d.hierarchy(points)
    greatest = _enclosed(d.greatest).upper
    for i, j in pairs:
        x, y, found = points[i], points[j], near[i, j]
        pair = f"for {x!r} and {y!r}"
        if integers is not None:
            _require_near(found, Fraction(int(integers[i, j])), f"integers() gives {integers[i, j]} {pair}")
        square, root = d.square(x, y), d.exponential(x, y)
        if square is not None:
            squared = Enclosure(_squared(found.lower), _squared(found.upper))
            _require_near(squared, square, f"square() gives {square} {pair}")
        if root is not None:
            with precision(128):
                logarithm = Enclosure.of(exact_ball(root.base).log() / root.degree)
            _require_near(found, logarithm, f"exponential() gives {root} {pair}")
        if tree is not None:
            _require_near(found, _along(tree, i, j), f"hierarchy() has another way {pair}")
        require(found.lower <= greatest, f"greatest is {d.greatest}, and the distance exceeds it, {pair}")


def _along(tree: Any, i: int, j: int) -> Enclosure:
    """The distance of two points by the tree."""
    one, other = tree.places[i], tree.places[j]
    if (one < 0) != (other < 0):
        return _enclosed(tree.null_distance, tree.level)
    if one < 0:
        return Enclosure(Fraction(0), Fraction(0))
    steps = int(tree.tree.step(one, other))
    return _enclosed(math.inf if steps < 0 else Fraction(steps, tree.tree.scale), tree.level)


def answers(d: Metric, points: Sequence[Any]) -> None:
    """On a line, on the globe, by a norm, all alike, of so many coordinates, null, capped: each as it is measured."""
    unit = d.unit
    present = [point for point in points if point is not None]
    if (away := d.distance_to_null) is not None:  # elsewhere None may be a label like any other
        for point in present:
            _require_near(d.enclose(None, point, 80), _enclosed(away), f"distance_to_null is {away}, for {point!r}")
    if d.on_line:
        alike = dates() if d.moments else absolute()
        _same(unit, alike, present, "on_line says that it is |x − y|")
    if d.on_globe:
        _same(unit, great_circle(), present, "on_globe says that it measures places")
    if d.norm is not None:
        _same(unit, _NORMS[d.norm](), present, f"norm says that it is the norm {d.norm}")
    if d.capped_at is not None:
        cap = _enclosed(d.capped_at).upper
        over = [(x, y) for x, y in itertools.combinations(points, 2) if d.enclose(x, y, 80).lower > cap]
        require(not over, f"capped_at is {d.capped_at}, and the distance exceeds it, for {over[:1]}")
    if d.all_alike:
        found = [unit.enclose(x, y, 80) for x, y in itertools.combinations(present, 2) if x != y]
        for one in found[1:]:
            _require_near(one, found[0], "all_alike says that any two are equally far apart, and they are not")
    if d.dimension is not None:
        sizes = {len(point) if hasattr(point, "__len__") else 1 for point in present}
        require(sizes <= {d.dimension}, f"dimension is {d.dimension}, and points have {sorted(sizes)} coordinates")
    if d.listed_values is not None:
        foreign = [point for point in present if point not in d.listed_values]
        require(not foreign, f"listed_values does not list {foreign[:1]}, which it measures")
    if d.attribute_names is not None:
        require(
            all(len(point) == len(d.attribute_names) for point in present), "attribute_names are not as many as values"
        )
    if d.adds_up:
        _adds_up(unit, present)
    if d.grows:
        _grows(unit, present)


def _same(unit: Metric, alike: Metric, points: Sequence[Any], said: str) -> None:
    for x, y in itertools.combinations(points, 2):
        _require_near(unit.enclose(x, y, 80), _measured(alike, x, y, said), f"{said}, and it is not, for {x!r}, {y!r}")


def _measured(alike: Metric, x: Any, y: Any, said: str) -> Enclosure:
    try:
        return alike.enclose(x, y, 80)
    except (MetricDPError, TypeError, ValueError) as error:
        require(False, f"{said}, and {x!r} and {y!r} are nothing of the kind: {error}")
        raise


def _adds_up(unit: Metric, points: Sequence[Any]) -> None:
    """The distance of two records is the sum of those where one position differs."""
    for x, y in itertools.combinations(points, 2):
        if len(x) != len(y):
            continue
        parts = [
            unit.enclose(x, type(x)([*x[:place], value, *x[place + 1 :]]), 80)
            for place, value in enumerate(y)
            if isinstance(x, (tuple, list))
        ]
        lower, upper = (sum((getattr(part, end) for part in parts), Fraction(0)) for end in ("lower", "upper"))
        if parts:
            _require_near(unit.enclose(x, y, 80), Enclosure(lower, upper), f"adds_up is wrong, for {x!r} and {y!r}")


def _grows(unit: Metric, points: Sequence[Any]) -> None:
    try:
        ordered = sorted(point for point in points if not hasattr(point, "__len__"))
    except TypeError:  # moments of several kinds
        return
    for low, middle, high in itertools.combinations(ordered, 3):
        far = unit.enclose(low, high, 80).upper
        for x, y in ((low, middle), (middle, high)):
            require(
                unit.enclose(x, y, 80).lower <= far * (1 + _SLACK),
                f"grows is wrong: {x!r} and {y!r} are further apart than {low!r} and {high!r}",
            )


def _enclosed(amount: Exact | Budget, level: Level | None = None) -> Enclosure:
    """An amount, perhaps with a level before it."""
    with precision(128):
        ball = exact_ball(amount)
        return Enclosure.of(ball if level is None or amount == math.inf else ball * level.ball())


def _squared(number: Bound) -> Bound:
    return number * number


def _require_near(found: Enclosure, said: Enclosure | Bound, problem: str) -> None:
    """That two enclosures have a number in common, but for what rounding explains."""
    low, high = (said.lower, said.upper) if isinstance(said, Enclosure) else (said, said)
    if found.lower == math.inf or low == math.inf:
        require(found.upper == math.inf and high == math.inf, problem)
        return
    require(found.lower <= high * (1 + _SLACK) and low <= found.upper * (1 + _SLACK), problem)
