"""The exponential mechanism over a finite space, and any mechanism that is a table of probabilities."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from metricdp.errors import KindError, LevelError
from metricdp.exact.balls import Enclosure, ball, float_below, precision
from metricdp.exact.choice import Thresholds
from metricdp.exact.refine import Floats, Integers
from metricdp.mechanisms.labels import Labels
from metricdp.mechanisms.mechanism import Mechanism, at_distance
from metricdp.metrics import Guarantee, Space

__all__ = ["Exponential", "exponential"]

_SHARES = tuple(Fraction(share) for share in ("1023/1024", "255/256", "63/64", "15/16", "7/8", "3/4", "5/8"))
_MOST_POINTS_TO_SEARCH = 200  # the proof of a share takes a ball for every pair of points


@dataclass(frozen=True)
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

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; a tuple is one point, a list holds several."""
        return self._labels.release(secrets, self.release_places)

    def release_places(self, places: Integers) -> Integers:
        """The same for secrets given by their places in ``space.points``, and released so; for whole columns."""
        released = np.empty_like(places)
        for point in np.unique(places):  # sorted, so a seeded run is the same each time
            rows = np.flatnonzero(places == point)
            released[rows] = self._thresholds(int(point)).draw(len(rows))
        return released

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """The least probability, over all secrets, of a release within ``distance`` in ``space.metric.unit``."""
        reach = float_below(distance)
        return min(
            float(below[: int(np.searchsorted(far, reach, side="right"))].sum()) * (1 - 2.0**-30)
            for far, below in self._spreads
        )

    def _unit_error(self) -> float:
        return 1 / float(self.space.metric.level)

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.space.points, self.space.points)

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
        raise KindError(f"exponential takes a Space, not {type(space).__name__}")
    if len(space) < 2:
        raise LevelError("a space of at least two points is wanted")
    if len(space) <= _MOST_POINTS_TO_SEARCH:
        for share in _SHARES:
            if _plausible(space, share) and _proved(space, share):
                return Exponential(space, share)
    return Exponential(space, Fraction(1, 2))


def _plausible(space: Space, share: Fraction) -> bool:
    """What `_proved` decides, guessed in floats, so that hopeless shares cost no balls."""
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
            slack * space.ball(x, y) >= abs(constants[x] - constants[y]) or space.distances[x, y] == 0
            for x in count
            for y in range(x)
        )


def _weights(space: Space, point: int, share: Fraction) -> list[arb]:
    factor = -ball(share)
    return [_exp(factor * space.ball(point, other)) for other in range(len(space))]


def _exp(exponent: arb) -> arb:
    return exponent.exp() if exponent.is_finite() else arb(0)  # an infinite distance: never drawn
