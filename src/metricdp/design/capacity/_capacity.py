"""The capacities of a space: the most that any private mechanism can tell anybody."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, Literal

import numpy as np
from flint import arb

from metricdp.adversaries.capacity import Capacity
from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.channels.certified import Certified
from metricdp.channels.serialize import label_document
from metricdp.channels.verify import verify
from metricdp.design.arguments import check_gap, check_space
from metricdp.design.capacity._columns import best_by_columns
from metricdp.design.distance_classes import DistanceClasses
from metricdp.design.tight import TightConstraints, tight_constraints
from metricdp.design.tight.channel import tight_channel
from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError
from metricdp.exact.balls import Enclosure, precision
from metricdp.exact.outward import Bound
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, enclosure_json
from metricdp.metrics import Guarantee, Space

__all__ = ["SpaceCapacity", "capacity"]

_BITS = 96
_MOST_POINTS = 1024
_ONE = Enclosure(Fraction(1), Fraction(1))

Method = Literal["choose", "program"]


@dataclass(frozen=True, eq=False)
class _Part:
    """One capacity of one set of points, how to make the channel that reaches it, and why it is not nearer."""

    value: Enclosure
    channel: Callable[[], Certified]
    how: str
    reason: str = ""


@dataclass(frozen=True, eq=False)
class _Search:
    """How to search: whether formulas are used, the gap asked for, and the time."""

    method: Method
    gap: float
    watch: Stopwatch


@dataclass(frozen=True, eq=False, repr=False)
class SpaceCapacity(Capacity[Bound], Result):
    """The most that a mechanism which is private for a metric can leak, over all priors and gains.

    Attributes:
        inputs: the points of the space.
        multiplicative: the largest sum of column maxima of any private channel; a float rounded up, with ``lower`` and
            ``upper``, and ``exact`` where it is rational and was solved exactly.
        additive: one less the least sum of column minima; the same.
        space: the points and the metric.
        how: for each of the two, what proves it.
        finished: whether both are proved to within the gap that was asked for.
        reason: what stopped the search before that; empty if it is finished.

    References:
        Paper 5, Definition 8, Theorem 14, Corollaries 17, 18, 20 and 22.
    """

    space: Space
    how: tuple[str, str]
    finished: bool
    reason: str
    _makers: tuple[Callable[[], Certified], Callable[[], Certified]]

    @cached_property
    def multiplicative_channel(self) -> Certified:
        """A private channel, verified, that reaches the multiplicative capacity up to its rounding."""
        return self._makers[0]()

    @cached_property
    def additive_channel(self) -> Certified:
        """A private channel, verified, that reaches the additive capacity up to its rounding."""
        return self._makers[1]()

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: both channels, made by then, in place of what makes them."""
        made = {"multiplicative_channel": self.multiplicative_channel, "additive_channel": self.additive_channel}
        return vars(self) | made | {"_makers": ()}

    def to_json(self) -> dict[str, Any]:
        """Both capacities, between their bounds, with what proves them."""
        held = zip(("multiplicative", "additive"), (self.multiplicative, self.additive), self.how, strict=True)
        values = {name: enclosure_json(value.enclosure) | {"proof": how} for name, value, how in held}
        points = [label_document(point) for point in self.space.points]
        return {
            "points": points,
            "metric": str(self.space.metric),
            **values,
            "bits": self.bits,
            "finished": self.finished,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        held = zip(("multiplicative", "additive"), (self.multiplicative, self.additive), self.how, strict=True)
        words = ", ".join(f"{name} {value:.9g} ({how})" for name, value, how in held)
        return words if self.finished else f"{words}; not finished: {self.reason}"

    def __repr__(self) -> str:
        return f"SpaceCapacity({len(self.space)} points, {self})"


def capacity(
    space: Space,
    *,
    gap: float = 1e-8,
    time_limit: float | None = None,
    progress: Progress | None = None,
    method: Method = "choose",
) -> SpaceCapacity:
    """The multiplicative and additive capacities of all mechanisms that are private for a space's metric.

    Where a tight-constraints mechanism ``Φ a = 1`` exists, the multiplicative capacity is ``Σ a``: a is also the dual.
    Where all points see the same distances, the additive one is ``1 - n / Σ_x exp(d(x, z))``; on an even line of n
    points with ``α = exp(-gap)`` it is ``1 - α^m`` for n = 2 m + 1 and ``1 - 2 α^m / (1 + α)`` for n = 2 m; on products
    of these, what is left of 1 is the product of the factors'. Otherwise both are linear programs (paper 5, Corollaries
    17 and 18), solved by columns, with a dual that proves the bound.

    Args:
        space: the points and the metric d; points at distance zero count once, and sets of points at infinite distance
            from each other have capacities that add up (the additive one is then 1).
        gap: how far apart the bounds of a capacity may be, as a share of it.
        time_limit: seconds for the linear programs; then both capacities are returned between the bounds proved so
            far, with ``finished`` False. A formula, where there is one, is evaluated in any case.
        progress: is given an `Update` after each round of a linear program; ``print`` will do.
        method: "choose" uses a formula where one is known; "program" solves the linear programs in any case.

    Raises:
        ArgumentError: if an argument cannot be used.
        TooLargeError: if there are more than 1024 points, or more than 100 where no formula is known.

    References:
        Paper 5, Definition 8 and Corollaries 17, 18, 20 and 22 (the additive bound of the last lacks a factor n).

    >>> import metricdp as mdp
    >>> found = capacity(mdp.Space("abc", mdp.ln(2) * mdp.metrics.discrete()))
    >>> found.multiplicative.exact, found.additive.exact
    (Fraction(3, 2), Fraction(2, 5))
    >>> print(found.additive_channel)
    channel of 3 inputs and 3 outputs, weights out of 5
    ln 2·[x ≠ y]-private
         a    b    c
    a  1/5  2/5  2/5
    b  2/5  1/5  2/5
    c  2/5  2/5  1/5
    """
    search = _Search(method, check_gap(gap), Stopwatch(time_limit, progress))
    check_space(space, "capacity")
    if not isinstance(method, str) or method not in ("choose", "program"):
        raise ArgumentError(f'method must be "choose" or "program", not {method!r}')
    if len(space) > _MOST_POINTS:
        memory = f"about {1000 * (len(space) / _MOST_POINTS) ** 2:,.0f} MB"
        raise TooLargeError(f"capacity takes at most {_MOST_POINTS:,} points, not {len(space):,}", memory)
    phi = constraints_matrix(space)
    parts = [Space([space.points[place] for place in block.places], space.metric) for block in phi.blocks]
    most = [_multiplicative(part, search) for part in parts]
    value = reduce(lambda one, two: Enclosure(one.lower + two.lower, one.upper + two.upper), (p.value for p in most))
    least = _additive(parts[0], search) if len(parts) == 1 else _telling(parts)
    gain = Enclosure(min(least.value.lower, Fraction(1)), min(least.value.upper, Fraction(1)))  # of gains up to 1
    reason = _why(search, [value, gain], [*(part.reason for part in most), least.reason])
    return SpaceCapacity(
        space.points,
        Bound.above(value),
        Bound.above(gain),
        space,
        ("; ".join(dict.fromkeys(part.how for part in most)), least.how),
        not reason,
        reason,
        (lambda: _assembled(space, [part.channel() for part in most]), lambda: _assembled(space, [least.channel()])),
    )


def _why(search: _Search, values: list[Enclosure], reasons: list[str]) -> str:
    """What stopped the search before the gap was reached; nothing where it is reached."""
    if all(math.isfinite(value.upper) and value.width <= Fraction(search.gap) * value.upper for value in values):
        return ""
    return "; ".join(dict.fromkeys(filter(None, reasons))) or "rounding leaves more than the gap asked for"


def _multiplicative(space: Space, search: _Search) -> _Part:
    if search.method == "choose":
        found = tight_constraints(space)
        assert isinstance(found, TightConstraints)
        if found.total is not None:
            return _Part(found.total, lambda: found.channel, "the tight-constraints mechanism, its own dual")
    return _program(space, True, search)


def _additive(space: Space, search: _Search) -> _Part:
    if search.method == "choose" and (known := _formula(space)) is not None:
        return known
    return _program(space, False, search)


def _program(space: Space, largest: bool, search: _Search) -> _Part:
    if len(space) == 1:
        value = _ONE if largest else Enclosure(Fraction(0), Fraction(0))
        return _Part(value, lambda: _alone(space), "a single point")
    best = best_by_columns(space, largest, search.gap, search.watch)
    how = f"linear program, proved by its dual in {best.rounds} rounds"
    return _Part(best.value, lambda: best.channel, how, best.reason)


def _telling(parts: list[Space]) -> _Part:
    """Points at infinite distance may be told apart: to say in which part a point is makes all column minima zero."""

    def channel() -> Certified:
        points = [(point, row) for row, part in enumerate(parts) for point in part.points]
        weights = np.array([[int(row == place) for place in range(len(parts))] for _, row in points], dtype=object)
        inputs = tuple(point for point, _ in points)
        labels = tuple(part.points[0] for part in parts)
        return Certified(inputs, labels, weights, 1, Guarantee(parts[0].metric))

    return _Part(_ONE, channel, "points at infinite distance")


# Formulas


def _formula(space: Space) -> _Part | None:
    """The additive capacity where a dual y >= 0 is known: points that see the same distances, even lines, products."""
    if len(space) == 1:
        return None
    axes = constraints_matrix(space).blocks[0].axes
    if len(axes) > 1:
        factors = [Space([space.points[place] for place in axis], space.metric) for axis in axes]
        known = [_formula(factor) for factor in factors]
        held = [part for part in known if part is not None]
        if len(held) < len(axes):
            return None
        lower = math.prod((1 - Fraction(part.value.upper) for part in held), start=Fraction(1))
        upper = math.prod((1 - Fraction(part.value.lower) for part in held), start=Fraction(1))
        return _Part(
            Enclosure(1 - upper, 1 - lower),
            lambda: _product(space, [part.channel() for part in held]),
            "product of formulas",
        )
    classes = DistanceClasses.of(space)
    if (gap := _even(classes)) is not None:
        return _even_line(space, gap)
    return _same_from_all(space) if len(classes.leaders) == 1 else None


def _even(classes: DistanceClasses) -> tuple[int, int] | None:
    """Two neighbours on the evenly spaced line that the points are, if they are."""
    if classes.integers is None or None in classes.integers[1]:
        return None
    apart = np.array(classes.integers[1])[classes.codes]
    order = np.argsort(apart[int(np.argmax(apart[0]))], kind="stable")
    places = np.arange(len(order))
    if not (apart[np.ix_(order, order)] == np.abs(places[:, None] - places)).all():
        return None
    return int(order[0]), int(order[1])


def _even_line(space: Space, gap: tuple[int, int]) -> _Part:
    half, odd = divmod(len(space), 2)

    def formula(alpha: Any) -> Any:
        return 1 - alpha**half if odd else 1 - 2 * alpha**half / (1 + alpha)

    found = tight_constraints(space)
    assert isinstance(found, TightConstraints)
    return _Part(_evaluated(space, gap, formula), lambda: found.channel, "formula of an even line")


def _evaluated(space: Space, pair: tuple[int, int], formula: Callable[[Any], Any]) -> Enclosure:
    exact = constraints_matrix(space).exactly(*pair)
    if exact is not None:
        value = formula(exact)
        return Enclosure(value, value)
    with precision(_BITS):
        return Enclosure.of(formula(constraints_matrix(space).ball(*pair)))


def _same_from_all(space: Space) -> _Part:
    """``1 - n / Σ exp(d)``: the channel ``exp(d) / Σ exp(d)`` reaches it, and ``y = 1 / Σ exp(d)`` proves it."""
    phi = constraints_matrix(space)
    count = len(space)

    def share(bits: int) -> Enclosure:
        """``1 / Σ exp(d)``."""
        exact = [phi.exactly(0, h) for h in range(count)]
        if None not in exact:
            value = 1 / sum((1 / fall for fall in exact if fall is not None), Fraction(0))
            return Enclosure(value, value)
        growth = int(space.distances[0].max() * math.log2(math.e)) + 1
        with precision(bits + growth + 64):
            return Enclosure.of(1 / sum((1 / phi.ball(0, h) for h in range(count)), arb(0)))

    one = share(_BITS)
    return _Part(
        Enclosure(1 - count * one.upper, 1 - count * one.lower),
        lambda: tight_channel(phi, lambda bits: (share(bits),) * count, grows=True),
        "formula for points that see the same distances",
    )


# Channels


def _alone(space: Space) -> Certified:
    return Certified(space.points, space.points, np.array([[1]], dtype=object), 1, Guarantee(space.metric))


def _product(space: Space, factors: list[Certified]) -> Certified:
    """Each position by its own channel."""
    weights = reduce(np.kron, [factor.weights for factor in factors])
    total = math.prod(factor.total for factor in factors)
    outputs: tuple[Any, ...] = space.points
    return _verified(Certified(space.points, outputs, weights, total, Guarantee(space.metric)), space)


def _assembled(space: Space, parts: list[Certified]) -> Certified:
    """One channel for the whole space: a part for each set of points, and the same row for points at distance zero."""
    if len(parts) == 1 and parts[0].inputs == space.points:
        return parts[0]
    first = constraints_matrix(space).representatives
    total = math.lcm(*(part.total for part in parts))
    outputs = tuple(label for part in parts for label in part.outputs)
    weights = np.zeros((len(space), len(outputs)), dtype=object)
    column = 0
    for part in parts:
        for point, row in zip(part.inputs, part.weights, strict=True):
            leader = space.index(point)
            for place in range(len(space)):
                if first[place] == leader:
                    weights[place, column : column + len(row)] = row * (total // part.total)
        column += len(part.outputs)
    moved = max(part.moved for part in parts)
    return _verified(Certified(space.points, outputs, weights, total, Guarantee(space.metric), moved), space)


def _verified(channel: Certified, space: Space) -> Certified:
    verdict = verify(channel, space)
    if not verdict:
        raise ImpossibleError(f"the channel could not be proved private: {verdict}")
    return channel
