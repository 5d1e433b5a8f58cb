"""The laws of a metric."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, MetricDPError
from metricdp.exact.balls import Enclosure, precision
from metricdp.exact.level import ln
from metricdp.exact.lists import as_list
from metricdp.metrics import Metric, capped, discrete, maximum
from metricdp.metrics.axioms import find_violation
from metricdp.metrics.metric import as_metric
from metricdp.metrics.registry import METRICS
from metricdp.testing._answers import answers, shortcuts
from metricdp.testing._secrets import SECRET_NUMBER, SECRET_TEXT, traces
from metricdp.testing.checked import Checked, Law, require, run_laws

__all__ = ["check_metric"]

_SLACK = Fraction(1, 2**50)
_VIEW_SLACK = 1e-6  # of the largest distance: a view may lose what cancels


def check_metric(metric: Metric, points: Sequence[Any], *, only: Iterable[str] | None = None) -> Checked:
    """Check a metric on some of its points.

    - axioms: d(x, x) = 0, symmetry, and the triangle inequality, decided exactly;
    - views: floats have the shape of the points, are the same for one pair and for many, and lie near the distances;
    - enclosures: they hold the exact distance, the balls of any precision, and the distance of `enclose`;
    - equality: a copy and a pickled copy are equal, and have one hash;
    - toml: ``Metric.from_toml(metric.to_toml())`` is the metric, where its points can be written;
    - scaling: ``2 * d``, ``ln(2) * d`` and ``2 * d / 2`` are what they say;
    - algebra: sums, maxima and caps are what they say;
    - shortcuts: integers, squares, exponentials, the tree and the greatest distance agree with the exact distance;
    - answers: what it says of itself, such as ``on_line``, ``norm`` or ``distance_to_null``, is what it measures;
    - refusals: what is no point is refused without being shown.

    Args:
        metric: the metric.
        points: secrets that it takes, at least two of them different.
        only: the names of the laws to check; all where it is not given.

    Raises:
        ConformanceError: a law is broken; it says which.

    >>> from metricdp.metrics import absolute
    >>> bool(check_metric(absolute(), [0, 1, 3], only=["axioms", "scaling"]))
    True
    """
    d, secrets = as_metric(metric), as_list(points, "points")
    if len(secrets) < 2:
        raise ArgumentError("at least two points are wanted, different from each other")
    laws: dict[str, Law] = {
        "axioms": lambda: _axioms(d, secrets),
        "views": lambda: _views(d, secrets),
        "enclosures": lambda: _enclosures(d, secrets),
        "equality": lambda: _equality(d),
        "toml": lambda: _toml(d),
        "scaling": lambda: _scaling(d, secrets),
        "algebra": lambda: _algebra(d, secrets),
        "shortcuts": lambda: shortcuts(d, secrets),
        "answers": lambda: answers(d, secrets),
        "refusals": lambda: _refusals(d, secrets),
    }
    return run_laws(d, laws, only)


def _axioms(d: Metric, points: list[Any]) -> None:
    violation = find_violation(d, points)
    require(violation is None, f"{violation}")
    require(bool((d.enclosures(points).upper > 0).any()), "all the points are at distance 0 from each other")


def _views(d: Metric, points: list[Any]) -> None:
    view = d.pairwise(points)
    shape = len(points), len(points)
    require(view.shape == shape, f"pairwise gives the shape {view.shape} for {len(points)} points, not {shape}")
    require(view.dtype == np.float64, f"pairwise gives {view.dtype}, not float64")
    require(not np.isnan(view).any() and bool((view >= 0).all()), "pairwise gives NaN or a negative number")
    for i, j in itertools.product(range(len(points)), repeat=2):
        one = d(points[i], points[j])
        require(
            one == view[i, j] or math.isclose(one, view[i, j], rel_tol=1e-9),
            f"d(x, y) is {one} by itself and {view[i, j]} among others, for {points[i]!r} and {points[j]!r}",
        )
    bounds = d.enclosures(points)
    finite = bounds.upper[np.isfinite(bounds.upper)]
    room = _VIEW_SLACK * max(1.0, float(finite.max(initial=0.0)))
    with np.errstate(invalid="ignore"):
        near = (view >= bounds.lower - room) & (view <= bounds.upper + room)
    require(bool((near | (view == bounds.lower)).all()), "pairwise is far from the exact distance")
    part = d.pairwise(points[:1], points)
    require(part.shape == (1, len(points)), f"pairwise(points, others) gives the shape {part.shape}")


def _enclosures(d: Metric, points: list[Any]) -> None:
    bounds = d.enclosures(points)
    require(bool((bounds.lower <= bounds.upper).all()), "a lower bound lies above its upper one")
    for i, j in itertools.product(range(len(points)), repeat=2):
        x, y = points[i], points[j]
        pair = f"for {x!r} and {y!r}"
        low, high = _rational(bounds.lower[i, j]), _rational(bounds.upper[i, j])
        exact, near = d.exactly(x, y), d.enclose(x, y)
        require(exact is None or low <= exact <= high, f"the enclosure misses the exact distance {exact}, {pair}")
        require(near.lower <= high and low <= near.upper, f"enclose and enclosures do not overlap, {pair}")
        require(
            exact is None or near.lower <= exact <= near.upper, f"enclose misses the exact distance {exact}, {pair}"
        )
        for bits in (32, 128):
            with precision(bits):
                ball = Enclosure.of(d.ball(x, y))
            require(
                ball.lower <= near.upper and near.lower <= ball.upper, f"the ball of {bits} bits is elsewhere, {pair}"
            )


def _rational(number: float) -> Fraction | float:
    return Fraction(float(number)) if math.isfinite(number) else float(number)


def _equality(d: Metric) -> None:
    for made in (copy.copy(d), copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        require(made == d, "a copy is not equal to it")
        require(hash(made) == hash(d), "a copy has another hash")
    require(d != 3 * d, "three times the metric is equal to it")
    require(bool(str(d)) and bool(repr(d)), "it prints as nothing")


def _toml(d: Metric) -> str | None:
    unregistered = [part.kind for part in _all_parts(d) if part.kind not in (*METRICS, *_BUILT)]
    require(
        not unregistered,
        f"the kind {unregistered[:1]} is not registered, so that no policy can name it: add an entry point in the "
        "group metricdp.metrics",
    )
    try:
        written = d.to_toml()
    except ArgumentError as error:
        return str(error)
    read = Metric.from_toml(written)
    require(read == d, f"what was written as TOML reads as {read!r}")
    return None


_BUILT = ("scaled", "sum", "maximum", "closure", "normalized")


def _all_parts(d: Metric) -> list[Metric]:
    return [d, *itertools.chain.from_iterable(_all_parts(part) for part in d.parts)]


def _scaling(d: Metric, points: list[Any]) -> None:
    twice, logarithm = 2 * d, None if _has_logarithm(d) else ln(2) * d
    require(twice / 2 == d, "2 * d / 2 is not d")
    for x, y in itertools.pairwise(points):
        once, doubled = d.enclose(x, y, 80), twice.enclose(x, y, 80)
        _require_overlap(doubled, once.lower * 2, once.upper * 2, f"2 * d is not twice d, for {x!r} and {y!r}")
        if logarithm is not None:
            with precision(128):
                factor = Enclosure.of(ln(2).ball())
            low, high = _times(once.lower, factor.lower), _times(once.upper, factor.upper)
            _require_overlap(logarithm.enclose(x, y, 80), low, high, f"ln(2) * d is not d times ln 2, for {x!r}, {y!r}")


def _has_logarithm(d: Metric) -> bool:
    return any(part.level.log_of is not None for part in _all_parts(d))


def _times(one: Fraction | float, two: Fraction | float) -> Fraction | float:
    return Fraction(0) if one == 0 else one * two


def _require_overlap(found: Enclosure, low: Fraction | float, high: Fraction | float, problem: str) -> None:
    if low == math.inf:
        require(found.lower == math.inf, problem)
        return
    require(found.lower <= high * (1 + _SLACK) and low * (1 - _SLACK) <= found.upper, problem)


def _algebra(d: Metric, points: list[Any]) -> None:
    require(d + d == 2 * d, "d + d is not 2 * d")
    require(maximum(d, d) == d, "maximum(d, d) is not d")
    both, cap = d + discrete(), Fraction(1, 2)
    for x, y in itertools.pairwise(points):
        pair, once = f"for {x!r} and {y!r}", d.enclose(x, y, 80)
        apart = 0 if d.exactly(x, y) == 0 and x == y else 1
        _require_overlap(
            both.enclose(x, y, 80), once.lower + apart, once.upper + apart, f"d + [x ≠ y] is wrong, {pair}"
        )
        most = capped(d, cap).enclose(x, y, 80)
        _require_overlap(most, min(once.lower, cap), min(once.upper, cap), f"min(d, 1/2) is wrong, {pair}")
        largest = maximum(d, discrete()).enclose(x, y, 80)
        low, high = (max(end, Fraction(apart)) for end in (once.lower, once.upper))
        _require_overlap(largest, low, high, f"max(d, [x ≠ y]) is wrong, {pair}")


def _refusals(d: Metric, points: list[Any]) -> None:
    for bad in (SECRET_TEXT, SECRET_NUMBER, [SECRET_NUMBER, SECRET_TEXT], {SECRET_TEXT}, object()):
        try:
            d.pairwise([points[0], bad], points[:1])
        except MetricDPError as error:
            require(not traces(error), f"the error for what is no point shows it: {error}")
        except Exception as error:
            require(False, f"what is no point raises {type(error).__name__}, not a DataError")
