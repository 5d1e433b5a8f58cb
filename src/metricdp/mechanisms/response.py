"""Randomized response: for categories, and element by element for sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import (
    ArgumentError,
    KindError,
    LevelError,
    ShapeError,
    UnknownCategoryError,
    UnsupportedMetricError,
)
from metricdp.exact.balls import Real, ball, precision
from metricdp.exact.choice import Thresholds, uniform_below
from metricdp.exact.level import Level, LevelLike, rational
from metricdp.exact.lists import as_list
from metricdp.exact.refine import BLOCK, Integers
from metricdp.exact.weights import Weights
from metricdp.mechanisms.blocks import in_blocks
from metricdp.mechanisms.containers import is_array, unpack_sets
from metricdp.mechanisms.forms.plain import is_null
from metricdp.mechanisms.labels import DeclaredLabels, place_of
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
from metricdp.mechanisms.picture import NoisePicture, bars, response_bars
from metricdp.metrics import Guarantee, Metric, discrete, symmetric_difference
from metricdp.metrics.words import Measure, number, percent, share

__all__ = ["RandomizedResponse", "SetResponse", "randomized_response", "set_response"]


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
    listed = _listed(values)
    if len(listed) < 2:
        raise ArgumentError("at least two values are wanted, each once")
    exact = rational(delta, "delta")
    if not 0 <= exact < 1:
        raise LevelError(f"a delta is at least 0 and below 1, and {delta} is not")
    return RandomizedResponse(listed, Level.of(epsilon), exact)


@dataclass(frozen=True, repr=False)
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

    @property
    def name(self) -> str:
        """Randomized response for each element."""
        return "randomized response for each element"

    @property
    def declared(self) -> tuple[Hashable, ...]:
        """``universe``."""
        return self.universe

    @property
    def widest(self) -> Fraction:
        """All elements."""
        return Fraction(len(self.universe))

    @property
    def takes_null(self) -> bool:
        """Not in the place of a set."""
        return False

    @property
    def secrets_to_try(self) -> list[frozenset[Hashable]]:
        """The empty set, the whole universe, and some between."""
        some = self.universe[:4]
        return [
            frozenset(),
            *(frozenset({each}) for each in some),
            *map(frozenset, (some[:2], self.universe, some[1:])),
        ]

    def words(self, measure: Measure | None = None) -> str:
        """With the number of elements."""
        del measure
        return f"each of {counted_words(self.universe, 'element')} put in or out by a coin of its own"

    def expected_error(self, measure: Measure | None = None) -> ExpectedError:
        """How many elements are wrong."""
        flip, size = float(Real(self.flip)), len(self.universe)
        median, radius = self.radius(0.5), self.radius(0.95)
        words = (
            f"each element wrong with probability {percent(flip)}: {share(flip * size)} of {size} on average, in 95% "
            f"at most {number(radius)}"
        )
        return ExpectedError(median, radius, self._measure(measure).unit, (words,), self.probability_within(0))

    def pairs_to_tell(self, measure: Measure | None = None, middle: Fraction | None = None) -> Pairs:
        """Sets that differ in one element, in two, in four."""
        del middle
        counts = [count for count in (1, 2, 4) if count <= len(self.universe)]
        return [(f"{self._measure(measure).say(count)} different", Fraction(count)) for count in counts]

    def _picture(self, unit: str) -> NoisePicture:
        del unit
        size, flip = len(self.universe), float(Real(self.flip))
        spread = max(2.0, 4 * math.sqrt(size * flip * (1 - flip)))
        counts = np.arange(max(0, math.floor(size * flip - spread)), min(size, math.ceil(size * flip + spread)) + 1)
        ways = [math.lgamma(size + 1) - math.lgamma(count + 1) - math.lgamma(size - count + 1) for count in counts]
        log_flip = -float(np.logaddexp(0, float(self.metric.level)))  # of a flip that floats take for 0, too
        logs = np.array(ways) + counts * log_flip + (size - counts) * math.log1p(-flip)
        return bars(counts, np.exp(logs), self.radius(0.95), "elements that are wrong", True)

    def flip(self) -> arb:
        """The probability of a flip, as a ball at the working precision."""
        decay = (-self.metric.level.ball()).exp()
        return decay / (1 + decay)

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; a set gives a set, a list of sets a list of sets."""
        batch = unpack_sets(secrets, self.universe)
        size = len(self.universe)
        rows_at_once = max(1, BLOCK // size)
        results: list[Any] = []
        for start in range(0, len(batch.rows), rows_at_once):
            sets = batch.rows[start : start + rows_at_once]
            present = np.zeros((len(sets), size), dtype=bool)
            for row, secret in enumerate(sets):
                if type(secret) not in (set, frozenset, list, tuple) and not is_array(secret):
                    raise KindError("a set is wanted: a set, a frozenset, a list or a tuple of elements", start + row)
                for element in secret:
                    place = place_of(element, self._places)
                    if place is None:
                        raise UnknownCategoryError("an element is not in the declared universe", start + row)
                    present[row, place] = True
            for secret, row_present in zip(sets, self.release_presence(present), strict=True):
                chosen = [self.universe[place] for place in np.flatnonzero(row_present)]
                results.append(chosen if isinstance(secret, np.ndarray) else type(secret)(chosen))
        return batch.pack(results)

    def release_presence(self, present: NDArray[Any]) -> NDArray[np.bool_]:
        """The same for secrets given as rows of zeros and ones, one column for each element of the universe.

        Booleans are quickest; what comes back is an array of them.
        """
        if present.ndim != 2 or present.shape[1] != len(self.universe):
            raise ShapeError("a column for each element of the universe is wanted")
        is_present = present.astype(bool, copy=False)

        def draw(rows: slice) -> NDArray[np.bool_]:
            block = is_present[rows]
            return block ^ self._thresholds.below(block.size).reshape(block.shape)

        return in_blocks(len(present), draw, present.shape[1])

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`; the outputs are all subsets of the universe, so that has to be small."""
        size, rows = len(self.universe), as_inputs(inputs)
        refuse_many(1 << size, f"a set response on a universe of {size} elements")
        subsets = [
            frozenset(some) for count in range(size + 1) for some in itertools.combinations(self.universe, count)
        ]
        places = {subset: place for place, subset in enumerate(subsets)}
        secrets = [subsets[place_in(_as_set(point, row), places, row)] for row, point in enumerate(rows)]
        flips = np.array([[len(secret ^ output) for output in subsets] for secret in secrets])

        def spread(flip: Any, finish: Callable[[Any], Any]) -> Weights:
            terms = [finish(flip**count * (1 - flip) ** (size - count)) for count in range(size + 1)]
            weights: Weights = np.array(terms, dtype=object)[flips]
            return weights

        def fixed(bits: int) -> Weights:
            with precision(bits + 64):
                return spread(self.flip(), lambda share: fixed_point(share, bits))

        growth = rational_exponential(self.metric.level)
        rational = None if growth is None else lambda: spread(1 / (1 + growth), lambda share: share)
        return Law(rows, tuple(subsets), fixed, size * log2_below(self.flip), rational)

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
        raise ArgumentError("a universe of at least one element is wanted, each once")
    if not isinstance(metric, Metric):
        metric = Level.of(metric) * symmetric_difference()
    if metric.unit != symmetric_difference():
        raise UnsupportedMetricError("set_response takes a multiple of symmetric_difference()")
    return SetResponse(listed, metric)


def _as_set(point: Any, row: int) -> frozenset[Any]:
    if not isinstance(point, set | frozenset | list | tuple):
        raise KindError("a set is wanted", row)
    return frozenset(point)


def _listed(values: Iterable[Any]) -> tuple[Any, ...]:
    """Declared values, each of which must be there once."""
    listed = tuple(as_list(values, "values", "['yes', 'no']"))
    try:
        different = len(set(listed))
    except (TypeError, ValueError):
        raise ArgumentError("declared values can be hashed: text, numbers, tuples") from None
    if any(is_null(value) and value is not None for value in listed):
        raise ArgumentError("NaN, NaT and NA are no values, for none equals itself: declare None for missing")
    if different < len(listed):
        raise ArgumentError("declared values are wanted each once, and one is there twice")
    return listed
