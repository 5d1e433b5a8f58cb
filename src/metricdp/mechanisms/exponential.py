"""The exponential mechanism over a finite space, and any mechanism that is a table of probabilities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, float_above, float_below, precision
from metricdp.exact.choice import Thresholds
from metricdp.exact.level import Level
from metricdp.exact.refine import Integers
from metricdp.exact.weights import Weights
from metricdp.mechanisms.labels import DeclaredLabels
from metricdp.mechanisms.law import Law, as_inputs, fixed_point, place_in, refuse_many
from metricdp.mechanisms.mechanism import ExpectedError, Mechanism, Pairs, at_distance, counted_words, null_words
from metricdp.mechanisms.picture import NoisePicture, shares_table
from metricdp.mechanisms.trees import TreeDraws, TreeSpread, TreeSums
from metricdp.metrics import Guarantee, Space
from metricdp.metrics.amounts import Exact
from metricdp.metrics.words import Measure, percent

__all__ = ["Exponential", "exponential"]

_SHARES = tuple(Fraction(share) for share in ("1023/1024", "255/256", "63/64", "15/16", "7/8", "3/4", "5/8"))
_MOST_TOLD = 4
_MOST_POINTS_TO_SEARCH = 200  # the proof of a share takes a ball for every pair of points, but on a tree
_MOST_POINTS_TO_LIST = 128  # for which each secret of a tree has a table of its own


@dataclass(frozen=True, repr=False)
class Exponential(Mechanism):
    """Points drawn with probability proportional to ``exp(-s * d(x, z))``.

    Attributes:
        space: the points and d.
        share: s. One half serves every space; a greater share is taken where it is proved that the normalising
            constants C(x) differ so little that ``s d(x, x') + |ln C(x) - ln C(x')| <= d(x, x')`` for all pairs.
            Where all points look alike, it is almost 1.

    Guarantee:
        ``space.metric`` on ``space.points``.

    References:
        Paper 1, section 4.1, and paper 4, Theorem 3, with the distance for a score.
    """

    space: Space
    share: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """``space.metric``, with no delta."""
        return Guarantee(self.space.metric)

    @property
    def resolution(self) -> None:
        """A point of a finite space has none."""

    @property
    def name(self) -> str:
        """The exponential mechanism."""
        return "exponential mechanism"

    @property
    def declared(self) -> tuple[Any, ...]:
        """``space.points``."""
        return self.space.points

    @property
    def widest(self) -> Fraction | None:
        """The largest distance between two points, null among them, rounded up; None where it is infinite."""
        found: dict[Exact, tuple[Any, Any]] = dict(self._pairs())
        known: list[Exact] = [*found]
        if None in self.space.points:
            null = self.space.metric.unit.distance_to_null
            known.append(Fraction(null.enclose().upper) if isinstance(null, Level) else null or Fraction(0))
        return max((far for far in known if isinstance(far, Fraction)), default=None) if math.inf not in known else None

    def words(self, measure: Measure | None = None) -> str:
        """With the number of points."""
        del measure
        return f"{self.name} over {counted_words(self.space.points, 'category')}"

    def expected_error(self, measure: Measure | None = None) -> ExpectedError:
        """For the secret that fares worst."""
        counted, truth = self._measure(measure), self.probability_within(0)
        median, radius = self.radius(0.5), self.radius(0.95)
        where = f" {self.space.metric.place_words}".rstrip()
        words = [f"the truth with probability {percent(truth)} at least; 95% within {counted.say(radius)}{where}"]
        if None not in self.space.points:
            return ExpectedError(median, radius, counted.unit, tuple(words), truth)
        null, as_null = self.space.points.index(None), self.released_as(None)
        stays, appears = float(as_null[null]), float(np.delete(as_null, null).max())
        words.append(null_words(stays, appears))
        return ExpectedError(median, radius, counted.unit, tuple(words), truth, stays, appears)

    def pairs_to_tell(self, measure: Measure | None = None, middle: Fraction | None = None) -> Pairs:
        """Every distance there is, each with two points; the nearest and the farthest where there are many."""
        del middle
        found, counted = self.examples(), self._measure(measure)
        distances = sorted(found)
        if len(distances) > _MOST_TOLD:
            distances = [*distances[: _MOST_TOLD - 1], distances[-1]]
        return [(f"{counted.say(far)} apart ({found[far][0]}, {found[far][1]})", far) for far in distances]

    def _picture(self, unit: str) -> NoisePicture:
        del unit
        return shares_table(
            self.space.points,
            lambda shown: np.stack([self.released_as(point)[: len(shown)] for point in shown], axis=1),
        )

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; a tuple is one point, a list holds several."""
        return self._labels.release(secrets, self.release_places)

    def release_places(self, places: Integers) -> Integers:
        """The same for secrets given by their places in ``space.points``, and released so; for whole columns."""
        if self._draws is not None:
            return self._draws.draw(places)
        released = np.empty_like(places)
        for point in np.unique(places):  # sorted, so a seeded run is the same each time
            rows = np.flatnonzero(places == point)
            released[rows] = self._thresholds(int(point)).draw(len(rows))
        return released

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`."""
        rows = as_inputs(inputs)
        refuse_many(len(self.space), "this exponential mechanism")
        places = [place_in(point, self._labels.places, row) for row, point in enumerate(rows)]

        def fixed(bits: int) -> Weights:
            with precision(bits + 64):
                return np.array(
                    [[fixed_point(share, bits) for share in self.probabilities(place)] for place in places],
                    dtype=object,
                )

        known = self.space.enclosures
        farthest = float(known.upper[~known.infinite].max()) * float_above(self.share) * (1 + 2.0**-40)
        least = -farthest / math.log(2) - math.log2(len(self.space)) - 2
        return Law(rows, self.space.points, fixed, least)

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """The least probability, over all secrets, of a release within ``distance`` in ``space.metric.unit``."""
        reach = float_below(distance)
        if self._spread is not None:
            return self._spread.probability_within(reach)
        return min(
            float(below[: int(np.searchsorted(far, reach, side="right"))].sum()) * (1 - 2.0**-30)
            for far, below in self._spreads
        )

    def released_as(self, point: Any) -> Floats:
        """For each secret the probability, as a float, that it is released as this point; a view, for reports."""
        distances = self.space.metric.pairwise(self.space.points, [point])[:, 0]
        return np.asarray(np.exp(-float(self.share) * distances) / self._constants)

    @cached_property
    def _constants(self) -> Floats:
        """For each secret the sum of ``exp(-s d)`` over all points, as a float."""
        if self._law is not None:
            return self._law.constants
        return np.asarray(np.exp(-float(self.share) * self.space.distances).sum(axis=1))

    def examples(self) -> dict[Fraction, tuple[Any, Any]]:
        """Finite distances between two points before the level, each with two points that far apart.

        All of them, rounded up where they are not rational; where a tree has very many leaves, those that some of them
        have, and the largest.
        """
        return {far: pair for far, pair in self._pairs() if isinstance(far, Fraction)}

    def _pairs(self) -> Iterator[tuple[Exact, tuple[Any, Any]]]:
        points, unit = self.space.points, self.space.metric.unit
        if self._spread is not None:
            yield from ((far, (points[x], points[y])) for far, (x, y) in self._spread.examples().items())
            return
        for x, y in itertools.permutations([point for point in points if point is not None], 2):
            exact = unit.exactly(x, y)
            upper = unit.enclose(x, y).upper if exact is None else exact
            yield upper if upper == math.inf else Fraction(upper), (x, y)

    def _unit_error(self) -> float:
        return 1 / float(self.space.metric.level)

    @cached_property
    def _labels(self) -> DeclaredLabels:
        return DeclaredLabels(self.space.points, self.space.points)

    @cached_property
    def _law(self) -> TreeSums | None:
        """The same law along the edges of a tree, where the points are nodes of one and there are many."""
        many = len(self.space) > _MOST_POINTS_TO_LIST
        hierarchy = self.space.metric.hierarchy(self.space.points) if many else None
        return None if hierarchy is None else TreeSums(hierarchy, self.share)

    @cached_property
    def _draws(self) -> TreeDraws | None:
        return None if self._law is None else TreeDraws(self._law)

    @cached_property
    def _spread(self) -> TreeSpread | None:
        return None if self._law is None else TreeSpread(self._law)

    @cached_property
    def _tables(self) -> dict[int, Thresholds]:
        return {}

    def _thresholds(self, point: int) -> Thresholds:
        if point not in self._tables:
            self._tables[point] = Thresholds(self._cumulative(point))
        return self._tables[point]

    def probabilities(self, point: int) -> list[arb]:
        """The probabilities of all points, as balls at the working precision, for the secret at a place."""
        weights = _weights(self.space, point, self.share)
        total = sum(weights, start=arb(0))
        return [weight / total for weight in weights]

    def _cumulative(self, point: int) -> Callable[[], list[arb]]:
        return lambda: list(itertools.accumulate(self.probabilities(point)))[:-1]

    @cached_property
    def _spreads(self) -> list[tuple[Floats, Floats]]:
        """For each secret the distances of all points, sorted, rounded up, and their probabilities, rounded down."""
        level = self.space.metric.level
        spreads = []
        with precision(96):
            unit = 1 / level.ball()
            for point in range(len(self.space)):
                weights = _weights(self.space, point, self.share)
                total = sum(weights, start=arb(0))
                apart = [Enclosure.of(self.space.ball(point, z) * unit) for z in range(len(self.space))]
                far = np.array([distance.outward[1] for distance in apart])
                below = np.array([max(0.0, Enclosure.of(weight / total).outward[0]) for weight in weights])
                order = np.argsort(far, kind="stable")
                spreads.append((far[order], below[order]))
        return spreads


def exponential(space: Space) -> Exponential:
    """The exponential mechanism on a finite space; draws near points more often than far ones.

    >>> import metricdp as mdp
    >>> K = mdp.exponential(mdp.Space.line(5, mdp.ln(4) * mdp.metrics.absolute()))
    >>> K.release(2) in range(5)
    True
    """
    if not isinstance(space, Space):
        raise ArgumentError(f"exponential takes a Space, such as Space(points, metric), not {type(space).__name__}")
    if len(space) < 2:
        raise ArgumentError("a space of at least two points is wanted")
    hierarchy = space.metric.hierarchy(space.points)
    if hierarchy is not None:
        tree = TreeSums(hierarchy, _SHARES[0])
        laws = (tree.with_share(share) for share in _SHARES)
        proved = (law.share for law in laws if law.plausible() and law.proved())
    elif len(space) <= _MOST_POINTS_TO_SEARCH:
        proved = (share for share in _SHARES if _plausible(space, share) and _proved(space, share))
    else:
        proved = (share for share in _SHARES[:0])
    return Exponential(space, next(proved, Fraction(1, 2)))


def _plausible(space: Space, share: Fraction) -> bool:
    """What `_proved` decides, guessed in floats, so that hopeless shares cost no balls; a wrong guess costs utility."""
    distances = space.distances
    with np.errstate(invalid="ignore"):
        constants = np.log(np.exp(-float(share) * distances).sum(axis=1))
        slack = float(1 - share) * distances - np.abs(np.subtract.outer(constants, constants))
    return not bool((slack < -1e-9).any())


def _proved(space: Space, share: Fraction) -> bool:
    """Whether ``(1 - s) d(x, x') >= |ln C(x) - ln C(x')|`` for every pair, by balls."""
    count = range(len(space))
    with precision(96):
        constants = [sum(_weights(space, point, share), start=arb(0)).log() for point in count]
        slack = ball(1 - share)
        return all(
            slack * space.ball(x, y) >= abs(constants[x] - constants[y]) or space.enclosures.zero[x, y]
            for x in count
            for y in range(x)
        )


def _weights(space: Space, point: int, share: Fraction) -> list[arb]:
    factor = -ball(share)
    return [_exp(factor * space.ball(point, other)) for other in range(len(space))]


def _exp(exponent: arb) -> arb:
    return exponent.exp() if exponent.is_finite() else arb(0)  # an infinite distance: never drawn
