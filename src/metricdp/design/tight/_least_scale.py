"""At which scales of its metric a space has a tight-constraints mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from flint import arb

from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.design.arguments import check_gap
from metricdp.design.distance_classes import DistanceClasses
from metricdp.design.tight._enclosures import least_by_enclosures
from metricdp.design.tight._polynomials import Part, cost, existence
from metricdp.design.tight._structured import Line, Product, check_tight_space
from metricdp.errors import TooLargeError
from metricdp.exact.balls import Enclosure, ball, enclose, float_above, float_below
from metricdp.exact.level import Level
from metricdp.exact.outward import Bound
from metricdp.exact.progress import Progress, Stopwatch, duration
from metricdp.exact.real_roots import PolynomialRoot
from metricdp.exact.results import Result, enclosure_json
from metricdp.metrics import Space

__all__ = ["TightScales", "least_scale"]

_MOST_COST = 200_000_000
_MOST_CLASSES = 600
_SECONDS = 300
"""About how long so many classes take."""

_MOST_POINTS = 2048
_WIDTH = Fraction(1, 1 << 64)
_FLOOR = 1e-3
_NOWHERE = Enclosure(Fraction(0), Fraction(0))
_EVERYWHERE = Enclosure(math.inf, math.inf)

Interval = tuple[Enclosure, Enclosure]


@dataclass(frozen=True, repr=False)
class TightScales(Result):
    """The scales s for which the points with the metric ``s · d`` have a tight-constraints mechanism.

    Attributes:
        least: from here on there always is one. A float rounded up, with ``lower`` and ``upper``; 0 if there is one at
            every scale.
        intervals: the closed intervals of scales where there is one, rising, each end enclosed; the last goes to
            infinity, and an end of 0 is not part of it. Below ``decided_from`` there may be more of them.
        isolated: single scales where there is one, with none around.
        undecided: single scales where one may exist, with none around: Φ is singular there, at a number of high degree;
            or ends of two factors' intervals that cannot be told apart.
        decided_from: above this scale, all that exists is listed; 0 where that is proved for every scale.
        proved: what is proved about ``least``, in words.
        finished: whether ``least`` is proved to within the gap that was asked for.
        reason: what stopped the search before that; empty if it is finished.

    References:
        Paper 3, section 5.1; existence is not monotone in the scale.
    """

    least: Bound
    intervals: tuple[Interval, ...]
    isolated: tuple[Enclosure, ...] = ()
    undecided: tuple[Enclosure, ...] = ()
    decided_from: float = 0.0
    proved: str = ""
    finished: bool = True
    reason: str = ""

    def __float__(self) -> float:
        return float(self.least)

    def __contains__(self, scale: float | Fraction) -> bool:
        """Whether there surely is one at this scale."""
        return any(max(low.upper, 0) <= scale <= high.lower and scale > 0 for low, high in self.intervals)

    def __str__(self) -> str:
        words = ", ".join(
            f"[{float_above(low.upper):.9g}, {float_below(high.lower):.9g}]" for low, high in self.intervals
        )
        return f"exists at scales in {words}; {self.proved}" + ("" if self.finished else f"; {self.reason}")

    def __repr__(self) -> str:
        return f"TightScales(least {float(self.least):.9g}, {len(self.intervals)} intervals, {self.proved})"

    def to_json(self) -> dict[str, Any]:
        """The least scale and all intervals, between bounds."""

        def ends(pair: Interval) -> list[dict[str, Any]]:
            return [enclosure_json(end) for end in pair]

        return {
            "least": enclosure_json(self.least.enclosure),
            "intervals": [ends(pair) for pair in self.intervals],
            "isolated": [enclosure_json(scale) for scale in self.isolated],
            "undecided": [enclosure_json(scale) for scale in self.undecided],
            "decided_from": self.decided_from,
            "proved": self.proved,
            "finished": self.finished,
            "reason": self.reason,
        }


def least_scale(
    space: Space | Line | Product,
    *,
    gap: float = 1e-9,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> TightScales:
    """The scales of a metric at which a tight-constraints mechanism exists, and the least above which it always does.

    Existence is not monotone: a mechanism may exist, cease to exist and exist again as the scale grows, so no bisection
    is a proof. Where all distances are multiples of one number and there are few classes of points, the ends of all
    intervals are roots of polynomials, isolated exactly. Elsewhere intervals of scales are laid downward from a scale
    above which existence is a theorem, each with its proof, and only the last interval is reported. A product has one
    exactly where all its factors have, and is taken apart into them.

    Args:
        space: the points and the metric d, whose multiples ``s · d`` are asked about.
        gap: how near to each other, relatively, the bounds of the least scale need to be.
        time_limit: seconds after which it stops. Where intervals are laid downward, what is proved so far is returned,
            with ``finished`` False; where polynomials are used, there is nothing to return yet.
        progress: is given an `Update` after each step, with the intervals laid or the unknowns eliminated.

    Raises:
        ArgumentError: if an argument cannot be used, or two distances differ by too large a factor.
        TooLargeError: if there are more than 2048 points, or more than 600 classes of points that see the same
            distances; or if the time limit is reached before anything is proved.

    References:
        Paper 3, Lemma 4 and section 6.

    >>> from metricdp.metrics import chebyshev
    >>> found = least_scale(Space.grid(3, 3, chebyshev()))
    >>> round(found.least, 9), [(round(float(a), 6), float(b)) for a, b in found.intervals]
    (1.443635475, [(1.443635, inf)])
    """
    search = _Scope(check_gap(gap), Stopwatch(time_limit, progress))
    factors = _different(_factors(space))
    if not factors:
        return _always("a line has a positive solution at every scale")
    held = [classes for classes in map(DistanceClasses.of, factors) if len(classes.leaders) > 1]
    if not held:
        return _always("all points see the same distances, so the diagonal is constant at every scale")
    answers: list[TightScales] = []
    for group in _groups(held):
        parts = _parts(group)
        if parts is not None and sum(map(cost, parts)) <= _MOST_COST:
            answers.append(_by_polynomials(parts, search))
        else:
            answers.extend(_alone(classes, search) for classes in group)
    return _judged(reduce(_intersection, answers), search)


@dataclass(frozen=True, eq=False)
class _Scope:
    """The gap that was asked for, and the time."""

    gap: float
    watch: Stopwatch


def _judged(found: TightScales, search: _Scope) -> TightScales:
    """The same, with whether the gap is reached."""
    least = found.least
    if Fraction(least.upper) - Fraction(least.lower) <= Fraction(search.gap) * Fraction(least.upper):
        return replace(found, finished=True, reason="")
    late = "the time limit was reached" if search.watch.over else ""
    return replace(found, finished=False, reason=late or "floats could not prove where the least scale is")


# Factors


def _factors(space: Space | Line | Product) -> list[Space]:
    """The spaces a product is made of, lines left out: they have a positive solution at every scale."""
    if isinstance(space, Line):
        return []
    if isinstance(space, Product):
        return [factor for part in space.parts for factor in _factors(part)]
    check_tight_space(space, "least_scale", _MOST_POINTS)
    blocks = constraints_matrix(space).blocks
    if len(blocks) > 1 or len(blocks[0].axes) < 2:
        return [space]
    return [Space([space.points[place] for place in axis], space.metric) for axis in blocks[0].axes]


def _different(factors: Iterable[Space]) -> list[Space]:
    """Without those whose distances, all of them and exactly, are those of an earlier one, place by place."""
    factors = list(factors)
    if len(factors) < 2:
        return factors
    kept: dict[object, Space] = {}
    for number, factor in enumerate(factors):
        unit, points = factor.metric.unit, factor.points
        table = tuple(unit.exactly(x, y) for place, x in enumerate(points) for y in points[:place])
        kept.setdefault(number if None in table else (len(points), factor.metric.level, table), factor)
    return list(kept.values())


def _groups(held: Sequence[DistanceClasses]) -> list[list[DistanceClasses]]:
    """Those whose distances are rational multiples of one number together, the others alone."""
    groups: dict[object, list[DistanceClasses]] = {}
    for number, classes in enumerate(held):
        key = number if classes.integers is None else ("of", classes.space.metric.level.log_of)
        groups.setdefault(key, []).append(classes)
    return list(groups.values())


def _unit(classes: DistanceClasses) -> Fraction:
    """What one of its integers is worth, but for the logarithm in the level."""
    assert classes.integers is not None
    return classes.integers[0] * classes.space.metric.level.coefficient


def _parts(group: Sequence[DistanceClasses]) -> list[Part] | None:
    """Each with how many of the common unit its own is; None where distances are irrational."""
    if any(classes.integers is None for classes in group):
        return None
    units = [_unit(classes) for classes in group]
    denominator = math.lcm(*(unit.denominator for unit in units))
    whole = [int(unit * denominator) for unit in units]
    common = math.gcd(*whole)
    return [(classes, times // common) for classes, times in zip(group, whole, strict=True)]


# One factor, or several with one unit


def _alone(classes: DistanceClasses, search: _Scope) -> TightScales:
    """By polynomials where that is not too much, else by enclosures."""
    parts = _parts([classes])
    if parts is not None and cost(parts[0]) <= _MOST_COST:
        return _by_polynomials(parts, search)
    if len(classes.leaders) > _MOST_CLASSES:
        estimate = f"about {duration(_SECONDS * (len(classes.leaders) / _MOST_CLASSES) ** 3)}"
        raise TooLargeError(
            f"at most {_MOST_CLASSES} classes of points that see the same distances, not {len(classes.leaders)}, which "
            f"would take {estimate}",
            estimate,
        )
    found = least_by_enclosures(classes, _FLOOR, search.gap, search.watch)
    bracket = Enclosure(found.lower, found.upper)
    upper = float_above(found.upper)
    if found.lower:
        words = (
            f"least scale between {float_below(found.lower):.12g} and {upper:.12g}, proved in {found.steps} intervals"
        )
    else:
        words = f"proved from {upper:.9g} on; below it nothing could be decided"
    return TightScales(Bound.above(bracket), ((bracket, _EVERYWHERE),), (), (), upper, words)


def _by_polynomials(parts: Sequence[Part], search: _Scope) -> TightScales:
    found = existence(parts, search.watch)
    classes, times = parts[0]
    level = Level(_unit(classes) / times, classes.space.metric.level.log_of)

    def scale(root: PolynomialRoot | None, otherwise: Enclosure) -> Enclosure:
        """``s = -ln α / level``, which falls as α rises."""
        if root is None:
            return otherwise
        near = root.narrowed(_WIDTH)
        ends = [enclose(partial(_scale_of, end, level), 96) for end in (near.upper, near.lower)]
        return Enclosure(ends[0].lower, ends[1].upper)

    intervals = tuple((scale(high, _NOWHERE), scale(low, _EVERYWHERE)) for low, high in reversed(found.intervals))
    least = intervals[-1][0]
    return TightScales(
        Bound.above(least),
        intervals,
        tuple(scale(root, _NOWHERE) for root in found.isolated),
        tuple(scale(root, _NOWHERE) for root in found.undecided),
        0.0,
        "every end is a root of a polynomial, isolated exactly",
    )


def _scale_of(alpha: Fraction, level: Level) -> arb:
    return -ball(alpha).log() / level.ball()


def _always(words: str) -> TightScales:
    return TightScales(Bound.above(_NOWHERE), ((_NOWHERE, _EVERYWHERE),), proved=words)


# Where all factors have one


def _intersection(one: TightScales, two: TightScales) -> TightScales:
    """Where both exist; ends are enclosed, and what turns on which of two that overlap comes first is undecided."""
    intervals: list[Interval] = []
    isolated: list[Enclosure] = []
    undecided: list[Enclosure] = []
    for a, b in one.intervals:
        for c, d in two.intervals:
            low, high = _extreme(max, a, c), _extreme(min, b, d)
            if low.upper <= high.lower:
                intervals.append((low, high))
            elif low.lower <= high.upper:
                undecided.append(Enclosure(min(low.lower, high.lower), max(low.upper, high.upper)))
    for here, there in ((one, two), (two, one)):
        for scale in here.isolated:
            if any(low.upper <= scale.lower and scale.upper <= high.lower for low, high in there.intervals):
                isolated.append(scale)
            elif _touches(scale, there):
                undecided.append(scale)
        undecided += [scale for scale in here.undecided if _touches(scale, there)]
    intervals.sort(key=lambda pair: pair[0].lower)
    return TightScales(
        Bound.above(intervals[-1][0]),
        tuple(intervals),
        tuple(isolated),
        tuple(dict.fromkeys(undecided)),
        max(one.decided_from, two.decided_from),
        "; ".join(dict.fromkeys((one.proved, two.proved))),
    )


def _touches(scale: Enclosure, other: TightScales) -> bool:
    """Whether the scale may be one of the other's."""
    singles = ((single, single) for single in (*other.isolated, *other.undecided))
    return any(low.lower <= scale.upper and scale.lower <= high.upper for low, high in (*other.intervals, *singles))


def _extreme(choose: Callable[..., Fraction | float], one: Enclosure, two: Enclosure) -> Enclosure:
    return Enclosure(choose(one.lower, two.lower), choose(one.upper, two.upper))
