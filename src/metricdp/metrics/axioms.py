"""The axioms of a metric, on finitely many points: where enclosures do not prove them, they are decided exactly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.exact.balls import decide_sign, float_above, float_below, precision
from metricdp.exact.lists import as_list
from metricdp.exact.results import Result, number_json
from metricdp.metrics.amounts import plain_label
from metricdp.metrics.enclosures import Enclosures

if TYPE_CHECKING:
    from metricdp.metrics.amounts import Exact
    from metricdp.metrics.metric import Metric

__all__ = ["Violation", "find_violation"]

Axiom = Literal["not a number", "negative", "self-distance", "symmetry", "triangle", "identity"]
Triple = tuple[int, int, int]

_BITS = (64, 256, 1024)
"""The working precisions at which a comparison is tried, one after the other."""


@dataclass(frozen=True)
class Violation(Result):
    """An axiom of metrics that is broken, where, and by what distances.

    Attributes:
        axiom: which one.
        points: the points; for the triangle inequality the two ends with the point between them.
        amounts: the distances; for the triangle inequality d(x, z), d(x, y) and d(y, z).
    """

    axiom: Axiom
    points: tuple[Any, ...]
    amounts: tuple[float, ...]

    @property
    def mendable(self) -> bool:
        """Whether `Metric.closure` makes a metric of it: shorter paths cannot mend a negative number or none."""
        return self.axiom not in ("not a number", "negative")

    def to_json(self) -> dict[str, Any]:
        """The axiom, the points and the distances as plain values for JSON."""
        return {
            "axiom": self.axiom,
            "points": [plain_label(point) for point in self.points],
            "amounts": [number_json(amount) for amount in self.amounts],
        }

    def __str__(self) -> str:
        names = [repr(point) for point in self.points]
        numbers = [repr(amount).removesuffix(".0") for amount in self.amounts]
        pair = f"d({', '.join(names[:2])}) = {numbers[0]}"
        if self.axiom == "triangle":
            x, y, z = names
            return (
                f"the triangle inequality is broken: d({x}, {z}) = {numbers[0]} is more than "
                f"d({x}, {y}) + d({y}, {z}) = {numbers[1]} + {numbers[2]}"
            )
        if self.axiom == "symmetry":
            return f"symmetry is broken: {pair} but d({names[1]}, {names[0]}) = {numbers[1]}"
        sentences = {
            "not a number": f"a distance is not a number: {pair}",
            "negative": f"a distance is negative: {pair}",
            "self-distance": f"a point is not at distance 0 from itself: {pair}",
            "identity": f"different points are at distance 0: {pair}",
        }
        return sentences[self.axiom]


def find_violation(
    metric: Metric, points: Sequence[Any], strict: bool = False, search: bool = True
) -> Violation | None:
    """See `Metric.violation`; without ``search``, the axioms are taken for granted."""
    points = as_list(points, "points", "[0, 1]")
    if metric.level.log_of is None:
        unscaled, factor = metric, 1.0
    else:  # a scale changes no axiom, and without its logarithm the distances may be rational
        unscaled, factor = metric.unit, float(metric.level)
    distances = Distances(unscaled, points)
    broken = next(distances.violations(), None) if search else None
    if broken is None and strict:
        broken = distances.first_coincidence()
    if broken is None:
        return None
    axiom, places = broken
    ends = [(places[0], places[-1])]
    if axiom == "triangle":
        ends += itertools.pairwise(places)
    if axiom == "symmetry":
        ends.append((places[1], places[0]))
    amounts = tuple(factor * distances.shown(end) for end in ends)
    return Violation(axiom, tuple(points[place] for place in places), amounts)


class Distances:
    """All distances between some points: enclosed, and exactly where that does not decide."""

    def __init__(self, metric: Metric, points: Sequence[Any]) -> None:
        self.metric, self.points = metric, points
        self.enclosures: Enclosures = metric.enclosures(points)
        self._exact: dict[tuple[int, int], Exact | None] = {}
        self._balls: dict[tuple[int, int, int], arb] = {}

    def violations(self) -> Iterator[tuple[Axiom, tuple[int, ...]]]:
        """The broken axioms, the gravest first; the triangle inequality only where all others hold."""
        found = False
        for axiom, places in self.simple_violations():
            found = True
            yield axiom, places
        if not found:
            for triple in self.broken_triangles():
                yield "triangle", triple

    def simple_violations(self) -> Iterator[tuple[Axiom, tuple[int, int]]]:
        """Broken axioms that concern two points at most."""
        lower, upper = self.enclosures.lower, self.enclosures.upper
        for i, j in np.argwhere(np.isnan(lower)).tolist():
            yield "not a number", (i, j)
        for i, j in np.argwhere(lower < 0).tolist():
            if self._sign((i, j)) < 0:
                yield "negative", (i, j)
        for i in range(len(self.points)):
            if self._sign((i, i)) > 0:
                yield "self-distance", (i, i)
        if self.metric.mirrored:  # one computation both ways, says the metric; its view may tell otherwise
            view = self.metric.pairwise(self.points)
            apart = view != view.T
        else:
            apart = (lower != lower.T) | (upper != upper.T) | (lower != upper)
        for i, j in np.argwhere(np.triu(apart, 1)).tolist():
            if self.compare((i, j), [(j, i)]) != 0:
                yield "symmetry", (i, j)

    def broken_triangles(self) -> Iterator[Triple]:
        """Triples (x, y, z) with d(x, z) above d(x, y) + d(y, z), proven."""
        view = self._integers()
        for middle in range(len(self.points)):
            if view is not None:
                legs = np.add.outer(view[:, middle], view[middle, :])
                for x, z in np.argwhere(view > legs).tolist():
                    yield x, middle, z
            else:
                for triple in self._candidates(middle):
                    x, y, z = triple
                    if self.compare((x, z), [(x, y), (y, z)]) > 0:
                        yield triple

    def first_coincidence(self) -> tuple[Axiom, tuple[int, ...]] | None:
        """Two different places at distance exactly zero."""
        for i, j in np.argwhere(np.triu(self.enclosures.lower <= 0, 1)).tolist():
            if self.exactly((i, j)) == 0:
                return "identity", (i, j)
        return None

    def exactly(self, pair: tuple[int, int]) -> Exact | None:
        """The distance of a pair, where it is known to be rational or infinite."""
        if pair not in self._exact:
            self._exact[pair] = self.metric.exactly(self.points[pair[0]], self.points[pair[1]])
        return self._exact[pair]

    def shown(self, pair: tuple[int, int]) -> float:
        """The distance of a pair as the nearest float, for messages."""
        exact = self.exactly(pair)
        if isinstance(exact, Fraction):
            lower, upper = float_below(exact), float_above(exact)
            return lower if upper == math.inf else upper if lower == -math.inf else float(exact)
        lower, upper = float(self.enclosures.lower[pair]), float(self.enclosures.upper[pair])
        return lower if exact is not None or lower == upper else lower / 2 + upper / 2

    def all_rational(self) -> bool:
        """Whether every distance is rational or infinite; looks until one is not."""
        places = range(len(self.points))
        return all(self.exactly((i, j)) is not None for i in places for j in places)

    def ball(self, pair: tuple[int, int], bits: int) -> arb:
        """The distance of a pair as a ball, computed once for each precision."""
        key = (*pair, bits)
        if key not in self._balls:
            self._balls[key] = self.metric.ball(self.points[pair[0]], self.points[pair[1]])
        return self._balls[key]

    def _sign(self, pair: tuple[int, int]) -> int:
        exact = self.exactly(pair)
        if exact is not None:
            return (exact > 0) - (exact < 0)
        return decide_sign(lambda: self.metric.ball(self.points[pair[0]], self.points[pair[1]]))

    def compare(
        self, one: tuple[int, int], others: Sequence[tuple[int, int]], elsewhere: Distances | None = None
    ) -> int:
        """The sign of one distance minus the sum of others, here or elsewhere; 0 where it cannot be told from zero.

        That is: where 1024 bits see no difference, nor do the squares of two distances.
        """
        there = self if elsewhere is None else elsewhere
        left, right = self.exactly(one), [there.exactly(pair) for pair in others]
        if math.inf in right:
            return 0 if left == math.inf else -1
        if left == math.inf:
            return 1
        if left is not None and None not in right:
            total = sum((value for value in right if isinstance(value, Fraction)), Fraction(0))
            return (left > total) - (left < total)
        for bits in _BITS:
            with precision(bits):
                difference = self.ball(one, bits)
                for pair in others:
                    difference = difference - there.ball(pair, bits)
                if difference > 0:
                    return 1
                if difference < 0:
                    return -1
        if len(others) == 1:
            squares = self._square(one), there._square(others[0])
            if squares[0] is not None and squares[1] is not None:
                return (squares[0] > squares[1]) - (squares[0] < squares[1])
        return 0

    def _square(self, pair: tuple[int, int]) -> Fraction | None:
        return self.metric.square(self.points[pair[0]], self.points[pair[1]])

    def at_most(self, pair: tuple[int, int], elsewhere: Distances) -> bool:
        """Whether the distance of a pair is proved to be no more than the same pair's elsewhere."""
        sign = self.compare(pair, [pair], elsewhere)
        if sign or None not in (self.exactly(pair), elsewhere.exactly(pair)):
            return sign <= 0
        if None not in (self._square(pair), elsewhere._square(pair)):
            return True
        x, y = (self.points[place] for place in pair)
        allowed, given = self.metric.exponential(x, y), elsewhere.metric.exponential(x, y)
        return allowed is not None and given is not None and not given < allowed

    def _candidates(self, middle: int) -> Iterator[Triple]:
        """Triples that might break the triangle inequality, the clearest first."""
        known, shape = self.enclosures, self.enclosures.lower.shape
        legs = known[:, [middle]].spread(shape) + known[[middle], :].spread(shape)
        with np.errstate(invalid="ignore", over="ignore"):
            excess = np.where(known.upper > legs.lower, known.upper - legs.lower, -math.inf)
        excess[middle, :] = excess[:, middle] = -math.inf
        np.fill_diagonal(excess, -math.inf)
        candidates = np.argwhere(np.triu(excess > -math.inf))
        for x, z in candidates[np.argsort(-excess[tuple(candidates.T)], kind="stable")].tolist():
            yield x, middle, z

    def _integers(self) -> NDArray[np.int64] | None:
        """The distances times some number, as integers, with infinities beyond any sum; None where these are long."""
        if not self.all_rational():
            return None
        size = len(self.points)
        exact = [self.exactly((i, j)) for i in range(size) for j in range(size)]
        rationals = [value for value in exact if isinstance(value, Fraction)]
        scale = math.lcm(*(value.denominator for value in rationals))
        if max((abs(value) for value in rationals), default=0) * scale >= 1 << 60:
            return None
        whole = [int(value * scale) if isinstance(value, Fraction) else 1 << 61 for value in exact]
        return np.array(whole, dtype=np.int64).reshape(size, size)
