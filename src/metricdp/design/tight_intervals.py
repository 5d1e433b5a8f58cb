"""At which scales of its metric a space has a tight-constraints mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from flint import arb

from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.design.distance_classes import DistanceClasses
from metricdp.design.real_roots import Root
from metricdp.design.structured import Line, Product
from metricdp.design.tight_enclosures import least_by_enclosures
from metricdp.design.tight_polynomials import cost, existence
from metricdp.errors import KindError, LevelError
from metricdp.exact.balls import Enclosure, ball, enclose
from metricdp.exact.level import Level
from metricdp.exact.outward import Bound
from metricdp.metrics import Space

__all__ = ["TightScales", "least_scale"]

_MOST_COST = 200_000_000
_MOST_CLASSES = 600
_MOST_POINTS = 2048
_WIDTH = Fraction(1, 1 << 64)
_FLOOR = 1e-3
_NOWHERE = Enclosure(Fraction(0), Fraction(0))
_EVERYWHERE = Enclosure(math.inf, math.inf)

Interval = tuple[Enclosure, Enclosure]


@dataclass(frozen=True)
class TightScales:
    """The scales s for which the points with the metric ``s · d`` have a tight-constraints mechanism.

    Attributes:
        least: from here on there always is one; a float that is not below the least such scale, and within 1e-9 of it
            where ``proved`` says so. 0 where there is one at every scale.
        intervals: the closed intervals of scales where there is one, rising, each end enclosed; the last goes to
            infinity, and an end of 0 is not part of it. Only the last where ``decided_from`` is not 0.
        isolated: single scales where there is one, with none around.
        undecided: single scales, with none around, where Φ is singular at an irrational number: one may exist there.
        decided_from: above this scale, all that exists is listed; 0 where that is proved for every scale.
        proved: what is proved about ``least``, in words.

    References:
        Paper 3, section 5.1; existence is not monotone in the scale.
    """

    least: Bound
    intervals: tuple[Interval, ...]
    isolated: tuple[Enclosure, ...] = field(default=(), repr=False)
    undecided: tuple[Enclosure, ...] = field(default=(), repr=False)
    decided_from: float = 0.0
    proved: str = field(default="", repr=False)

    def __float__(self) -> float:
        return float(self.least)

    def __contains__(self, scale: float | Fraction) -> bool:
        """Whether there surely is one at this scale."""
        return any(max(low.upper, 0) <= scale <= high.lower and scale > 0 for low, high in self.intervals)

    def __str__(self) -> str:
        words = ", ".join(f"[{float(low):.9g}, {float(high):.9g}]" for low, high in self.intervals)
        return f"exists at scales in {words}; {self.proved}"


def least_scale(space: Space | Line | Product) -> TightScales:
    """The scales of a metric at which a tight-constraints mechanism exists, and the least above which it always does.

    Existence is not monotone: a mechanism may exist, cease to exist and exist again as the scale grows, so no bisection
    is a proof. Where all distances are multiples of one number and there are few classes of points, the ends of all
    intervals are roots of polynomials, isolated exactly. Elsewhere intervals of scales are laid downward from a scale
    above which existence is a theorem, each with its proof, and only the last interval is reported. A product has one
    exactly where all its factors have.

    Args:
        space: the points and the metric d, whose multiples ``s · d`` are asked about.

    Raises:
        LevelError: more than 2048 points, or more than 600 classes of points that see the same distances.

    References:
        Paper 3, Lemma 4 and section 6.

    >>> from metricdp.metrics import chebyshev
    >>> found = least_scale(Space.grid(3, 3, chebyshev()))
    >>> round(found.least, 9), [(round(float(a), 6), float(b)) for a, b in found.intervals]
    (1.443635475, [(1.443635, inf)])
    """
    if isinstance(space, Line):
        return _always("a line has a positive solution at every scale")
    if isinstance(space, Product):
        return _intersection([least_scale(part) for part in space.parts])
    if not isinstance(space, Space):
        raise KindError(f"least_scale takes a Space, a Line or a Product, not {type(space).__name__}")
    if len(space) > _MOST_POINTS:
        raise LevelError(f"at most {_MOST_POINTS} points, not {len(space)}; a Line or a Product may have more")
    axes = constraints_matrix(space).blocks[0].axes
    if len(axes) > 1:
        factors = {
            tuple(space.distances[axis[0], list(axis)].tolist()): Space(
                [space.points[place] for place in axis], space.metric
            )
            for axis in axes
        }
        return _intersection([least_scale(factor) for factor in factors.values()])
    classes = DistanceClasses.of(space)
    if len(classes.leaders) == 1:
        return _always("all points see the same distances, so the diagonal is constant at every scale")
    if classes.integers is not None and cost(classes) <= _MOST_COST:
        return _by_polynomials(classes)
    if len(classes.leaders) > _MOST_CLASSES:
        raise LevelError(
            f"at most {_MOST_CLASSES} classes of points that see the same distances, not {len(classes.leaders)}"
        )
    found = least_by_enclosures(classes, _FLOOR)
    bracket = Enclosure(Fraction(found.lower), Fraction(found.upper))
    if found.lower:
        words = f"least scale between {found.lower:.12g} and {found.upper:.12g}, proved in {found.steps} intervals"
    else:
        words = f"proved from {found.upper:.9g} on; below it nothing could be decided"
    return TightScales(Bound.above(bracket), ((bracket, _EVERYWHERE),), (), (), found.upper, words)


def _by_polynomials(classes: DistanceClasses) -> TightScales:
    found = existence(classes)
    assert classes.integers is not None
    unit, level = classes.integers[0], classes.space.metric.level

    def scale(root: Root | None, otherwise: Enclosure) -> Enclosure:
        """``s = -ln α / (level unit)``, which falls as α rises."""
        if root is None:
            return otherwise
        near = root.narrowed(_WIDTH)
        ends = [enclose(partial(_scale_of, end, level, unit), 96) for end in (near.upper, near.lower)]
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


def _scale_of(alpha: Fraction, level: Level, unit: Fraction) -> arb:
    return -ball(alpha).log() / (level.ball() * ball(unit))


def _always(words: str) -> TightScales:
    return TightScales(Bound.above(_NOWHERE), ((_NOWHERE, _EVERYWHERE),), proved=words)


def _intersection(parts: list[TightScales]) -> TightScales:
    """Where all exist. Ends are enclosed within 1e-9 or so; intervals that overlap only there are left out."""
    intervals = list(parts[0].intervals)
    for part in parts[1:]:
        met = [(_later(a, c), _earlier(b, d)) for a, b in intervals for c, d in part.intervals]
        intervals = sorted((pair for pair in met if pair[0].upper <= pair[1].lower), key=lambda pair: pair[0].lower)
    isolated = tuple(scale for part in parts for scale in part.isolated)
    undecided = tuple(scale for part in parts for scale in (*part.undecided, *(isolated if len(parts) > 1 else ())))
    return TightScales(
        Bound.above(intervals[-1][0]),
        tuple(intervals),
        isolated if len(parts) == 1 else (),
        tuple(dict.fromkeys(undecided)),
        max(part.decided_from for part in parts),
        "; ".join(dict.fromkeys(part.proved for part in parts)),
    )


def _later(one: Enclosure, two: Enclosure) -> Enclosure:
    return Enclosure(max(one.lower, two.lower), max(one.upper, two.upper))


def _earlier(one: Enclosure, two: Enclosure) -> Enclosure:
    return Enclosure(min(one.lower, two.lower), min(one.upper, two.upper))
