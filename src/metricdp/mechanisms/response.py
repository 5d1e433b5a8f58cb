"""Randomized response: for categories, and element by element for sets."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from metricdp.errors import KindError, LevelError, UnknownCategoryError, UnsupportedMetricError
from metricdp.exact.balls import ball
from metricdp.exact.choice import Thresholds, uniform_below
from metricdp.exact.level import Level, LevelLike, rational
from metricdp.exact.refine import BLOCK, Integers
from metricdp.mechanisms.containers import unpack_labels
from metricdp.mechanisms.labels import Labels, place_of
from metricdp.mechanisms.mechanism import Mechanism, at_distance, probability_below
from metricdp.metrics import Guarantee, Metric, discrete, symmetric_difference

__all__ = ["RandomizedResponse", "SetResponse", "randomized_response", "set_response"]


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """Tell the truth with probability ``1 - m p``, and each of the other m values with probability p.

    ``p = (1 - delta) / (m + exp(epsilon))`` with m = ``len(values) - 1``: the least p there can be.

    Guarantee:
        ``epsilon * discrete`` and ``delta``, and nothing stronger.

    References:
        Paper 2, Example 6 and, for its optimality, Example 7.
    """

    values: tuple[Hashable, ...]
    epsilon: Level
    delta: Fraction = Fraction(0)

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon * discrete`` and ``delta``."""
        return Guarantee(self.epsilon * discrete(), self.delta)

    @property
    def resolution(self) -> None:
        """A category has none."""

    def truth(self) -> arb:
        """The probability of telling the truth, as a ball at the working precision."""
        others = len(self.values) - 1
        return 1 - others * ball(1 - self.delta) / (others + self.epsilon.ball().exp())

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; a tuple is one label, a list holds several."""
        return self._labels.release(secrets, self.release_places)

    def release_places(self, places: Integers) -> Integers:
        """The same for secrets given by their places in ``values``, and released so; for whole columns."""
        released = places.copy()
        lies = np.flatnonzero(self._thresholds.draw(len(places)))
        others = uniform_below(len(self.values) - 1, len(lies))
        released[lies] = others + (others >= places[lies])
        return released

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """The probability of the truth, for a distance below 1; at 1 every value is within it."""
        return 1.0 if distance >= 1 else probability_below(self.truth)

    def _explain_error(self) -> str:
        return f"Error to expect: the truth is told with probability {self.probability_within(0):.3g}."

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.values, self.values)

    @cached_property
    def _thresholds(self) -> Thresholds:
        return Thresholds(lambda: [self.truth()])


def randomized_response(values: Iterable[Hashable], epsilon: LevelLike, delta: LevelLike = 0) -> RandomizedResponse:
    """Randomized response among ``values``, which are declared, never taken from the data.

    >>> K = randomized_response(["yes", "no"], epsilon=1)
    >>> K.release("yes") in ("yes", "no")
    True
    """
    listed = _listed(values)
    if len(listed) < 2:
        raise LevelError("at least two values are wanted, each once")
    share = rational(delta, "delta")  # type: ignore[arg-type]
    if not 0 <= share < 1:
        raise LevelError("delta lies in [0, 1)")
    return RandomizedResponse(listed, Level.of(epsilon), share)


@dataclass(frozen=True)
class SetResponse(Mechanism):
    """Flip the presence of each element of the universe with probability ``1 / (1 + exp(e))``, e = ``metric.level``.

    Guarantee:
        ``metric``, e times the size of the symmetric difference; tight.

    References:
        Paper 2, Example 1, with randomized response for each element.
    """

    universe: tuple[Hashable, ...]
    metric: Metric

    @property
    def guarantee(self) -> Guarantee:
        """``metric``, with no delta."""
        return Guarantee(self.metric)

    @property
    def resolution(self) -> None:
        """A set has none."""

    def flip(self) -> arb:
        """The probability of a flip, as a ball at the working precision."""
        return 1 / (1 + self.metric.level.ball().exp())

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; a set gives a set, a list of sets a list of sets."""
        batch = unpack_labels(secrets, ())
        size = len(self.universe)
        rows_at_once = max(1, BLOCK // size)
        results: list[Any] = []
        for start in range(0, len(batch.rows), rows_at_once):
            sets = batch.rows[start : start + rows_at_once]
            present = np.zeros((len(sets), size), dtype=np.int64)
            for row, secret in enumerate(sets):
                if not isinstance(secret, (set, frozenset, list, tuple, np.ndarray)):
                    raise KindError("a set is wanted", start + row)
                for element in secret:
                    place = place_of(element, self._places)
                    if place is None:
                        raise UnknownCategoryError("an element is not in the declared universe", start + row)
                    present[row, place] = 1
            for secret, row_present in zip(sets, self.release_presence(present), strict=True):
                chosen = [self.universe[place] for place in np.flatnonzero(row_present)]
                results.append(chosen if isinstance(secret, np.ndarray) else type(secret)(chosen))
        return batch.pack(results)

    def release_presence(self, present: Integers) -> Integers:
        """The same for secrets given as rows of zeros and ones, one column for each element of the universe."""
        # Category 0 of the threshold is U below flip: a flip.
        return present ^ (1 - self._thresholds.draw(present.size).reshape(present.shape))

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """The probability of at most ``distance`` flips, a binomial one."""
        size = len(self.universe)
        most = min(size, math.floor(distance))

        def probability() -> arb:
            p = self.flip()
            terms = (arb.bin_uiui(size, j) * p**j * (1 - p) ** (size - j) for j in range(most + 1))
            return sum(terms, start=arb(0))

        return 1.0 if most == size else probability_below(probability)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {element: place for place, element in enumerate(self.universe)}

    @cached_property
    def _thresholds(self) -> Thresholds:
        return Thresholds(lambda: [self.flip()])


def set_response(universe: Iterable[Hashable], metric: Metric | LevelLike) -> SetResponse:
    """Randomized response for each element of a declared universe, for a multiple of the symmetric difference.

    >>> import metricdp as mdp
    >>> K = set_response(["chess", "golf", "jazz"], mdp.ln(3) * mdp.metrics.symmetric_difference())
    >>> K.release({"golf"}) <= {"chess", "golf", "jazz"}
    True
    >>> K.probability_within(0)
    0.42187...
    """
    listed = _listed(universe)
    if not listed:
        raise LevelError("a universe of at least one element is wanted, each once")
    if not isinstance(metric, Metric):
        metric = Level.of(metric) * symmetric_difference()
    if metric.unit != symmetric_difference():
        raise UnsupportedMetricError("set_response takes a multiple of symmetric_difference()")
    return SetResponse(listed, metric)


def _listed(values: Iterable[Any]) -> tuple[Any, ...]:
    """Declared values, each of which must be there once."""
    listed = tuple(values)
    try:
        different = len(set(listed))
    except TypeError:
        raise LevelError("declared values can be hashed: text, numbers, tuples") from None
    if different < len(listed):
        raise LevelError("declared values are wanted each once, and one is there twice")
    return listed
