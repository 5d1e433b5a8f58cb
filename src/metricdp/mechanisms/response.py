"""Randomized response: the truth with one probability, and any other value with another."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from metricdp.errors import (
    ArgumentError,
    LevelError,
)
from metricdp.exact.balls import Real, ball, precision
from metricdp.exact.choice import Thresholds, uniform_below
from metricdp.exact.level import Level, LevelLike, rational
from metricdp.exact.refine import Integers
from metricdp.exact.weights import Weights
from metricdp.mechanisms.blocks import in_blocks
from metricdp.mechanisms.labels import DeclaredLabels, declared_values
from metricdp.mechanisms.law import Law, as_inputs, fixed_point, log2_below, place_in, rational_exponential, refuse_many
from metricdp.mechanisms.mechanism import (
    ExpectedError,
    Mechanism,
    Pairs,
    at_distance,
    counted_words,
    null_words,
    probability_below,
)
from metricdp.mechanisms.picture import NoisePicture, response_bars
from metricdp.metrics import Guarantee, discrete
from metricdp.metrics.words import Measure, percent

__all__ = ["RandomizedResponse", "randomized_response"]


@dataclass(frozen=True, repr=False)
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

    @property
    def name(self) -> str:
        """Randomized response."""
        return "randomized response"

    @property
    def declared(self) -> tuple[Hashable, ...]:
        """``values``."""
        return self.values

    @property
    def widest(self) -> Fraction:
        """One."""
        return Fraction(1)

    def words(self, measure: Measure | None = None) -> str:
        """With the number of values."""
        del measure
        return f"{self.name} among {counted_words(self.values, 'value')}"

    def expected_error(self, measure: Measure | None = None) -> ExpectedError:
        """The probability of the truth; among values that are all alike there is no distance to tell."""
        truth, unit = self.probability_within(0), self._measure(measure).unit
        words = f"the truth with probability {percent(truth)}"
        if None not in self.values:
            return ExpectedError(None, None, unit, (words,), truth)
        stays = float(Real(self.truth))
        appears = (1 - stays) / (len(self.values) - 1)
        return ExpectedError(None, None, unit, (words, null_words(stays, appears)), truth, stays, appears)

    def pairs_to_tell(self, measure: Measure | None = None, middle: Fraction | None = None) -> Pairs:
        """Any two values are as far apart as any two others."""
        del measure, middle
        return [("any two values", Fraction(1))]

    def _picture(self, unit: str) -> NoisePicture:
        del unit
        return response_bars(float(Real(self.truth)), len(self.values) - 1)

    def truth(self) -> arb:
        """The probability of telling the truth, as a ball at the working precision."""
        return 1 - (len(self.values) - 1) * self._lie()

    def _lie(self) -> arb:
        """p; by ``exp(-epsilon)``, since balls hold no exponential of 1e300."""
        decay = (-self.epsilon.ball()).exp()
        return ball(1 - self.delta) * decay / ((len(self.values) - 1) * decay + 1)

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; a tuple is one label, a list holds several."""
        return self._labels.release(secrets, self.release_places)

    def release_places(self, places: Integers) -> Integers:
        """The same for secrets given by their places in ``values``, and released so; for whole columns."""
        return in_blocks(len(places), lambda rows: self._draw(places[rows])) if len(places) else places.copy()

    def _draw(self, places: Integers) -> Integers:
        released = places.copy()
        lies = np.flatnonzero(~self._thresholds.below(len(places)))
        others = uniform_below(len(self.values) - 1, len(lies))
        released[lies] = others + (others >= places[lies])
        return released

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`."""
        rows, others = as_inputs(inputs), len(self.values) - 1
        refuse_many(others + 1, "this randomized response")
        places = [place_in(point, self._labels.places, row) for row, point in enumerate(rows)]

        def spread(truth: Any, lie: Any) -> Weights:
            weights = np.full((len(rows), others + 1), lie, dtype=object)
            weights[np.arange(len(rows)), places] = truth
            return weights

        def fixed(bits: int) -> Weights:
            with precision(bits + 64):
                truth = self.truth()
                return spread(fixed_point(truth, bits), fixed_point((1 - truth) / others, bits))

        growth = rational_exponential(self.epsilon)
        lie = None if growth is None else (1 - self.delta) / (others + growth)
        rational = None if lie is None else lambda: spread(1 - others * lie, lie)
        least = log2_below(self._lie)
        return Law(rows, self.values, fixed, least, rational)

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """The probability of the truth, for a distance below 1; at 1 every value is within it."""
        return 1.0 if distance >= 1 else probability_below(self.truth)

    def _explain_error(self) -> str:
        return f"Error to expect: the truth is told with probability {self.probability_within(0):.3g}."

    @cached_property
    def _labels(self) -> DeclaredLabels:
        return DeclaredLabels(self.values, self.values)

    @cached_property
    def _thresholds(self) -> Thresholds:
        return Thresholds(lambda: [self.truth()])


def randomized_response(values: Iterable[Hashable], epsilon: LevelLike, delta: LevelLike = 0) -> RandomizedResponse:
    """Randomized response among ``values``, which are declared, never taken from the data.

    >>> K = randomized_response(["yes", "no"], epsilon=1)
    >>> K.release("yes") in ("yes", "no")
    True
    """
    listed = declared_values(values)
    if len(listed) < 2:
        raise ArgumentError("at least two values are wanted, each once")
    exact = rational(delta, "delta")
    if not 0 <= exact < 1:
        raise LevelError(f"a delta is at least 0 and below 1, and {delta} is not")
    return RandomizedResponse(listed, Level.of(epsilon), exact)
