"""Randomized response for sets, element by element."""

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
    ShapeError,
    UnknownCategoryError,
    UnsupportedMetricError,
)
from metricdp.exact.balls import Real, precision
from metricdp.exact.choice import Thresholds
from metricdp.exact.level import Level, LevelLike
from metricdp.exact.refine import BLOCK
from metricdp.exact.weights import Weights
from metricdp.mechanisms.blocks import in_blocks
from metricdp.mechanisms.containers import is_array, unpack_sets
from metricdp.mechanisms.labels import declared_values, place_of
from metricdp.mechanisms.law import Law, as_inputs, fixed_point, log2_below, place_in, rational_exponential, refuse_many
from metricdp.mechanisms.mechanism import (
    ExpectedError,
    Mechanism,
    Pairs,
    at_distance,
    counted_words,
    probability_below,
)
from metricdp.mechanisms.picture import NoisePicture, bars
from metricdp.metrics import Guarantee, Metric, symmetric_difference
from metricdp.metrics.words import Measure, number, percent, share

__all__ = ["SetResponse", "set_response"]


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
        rows_at_once = max(1, BLOCK // len(self.universe))
        results: list[Any] = []
        for start in range(0, len(batch.rows), rows_at_once):
            sets = batch.rows[start : start + rows_at_once]
            present = np.zeros((len(sets), self.mask_bits), dtype=bool)
            for row, secret in enumerate(sets):
                if type(secret) not in (set, frozenset, list, tuple) and not is_array(secret):
                    raise KindError("a set is wanted: a set, a frozenset, a list or a tuple of elements", start + row)
                for element in secret:
                    place = place_of(element, self._places)
                    if place is None:
                        raise UnknownCategoryError("an element is not in the declared universe", start + row)
                    present[row, place] = True
            released = np.unpackbits(self.release_masks(self.masks(present)).view(np.uint8), bitorder="little")
            for secret, row_present in zip(sets, released.reshape(present.shape), strict=True):
                chosen = [self.universe[place] for place in np.flatnonzero(row_present)]
                results.append(chosen if isinstance(secret, np.ndarray) else type(secret)(chosen))
        return batch.pack(results)

    @property
    def mask_bits(self) -> int:
        """How many bits the mask of a set has: one for each element, and as many more as fill the words."""
        size = len(self.universe)
        return next((bits for bits in (8, 16, 32, 64) if size <= bits), 64 * math.ceil(size / 64))

    def masks(self, present: NDArray[np.bool_]) -> NDArray[Any]:
        """The masks of sets, a row of words for each.

        Args:
            present: for each set `mask_bits` booleans, of which those beyond the universe are not looked at.

        >>> import metricdp as mdp
        >>> K = set_response("abc", mdp.metrics.symmetric_difference())
        >>> K.masks(np.array([True, False, True, False, False, False, False, False])).tolist()
        [[5]]
        """
        words = np.packbits(present, bitorder="little").view(f"u{min(self.mask_bits, 64) // 8}")
        return words.reshape(-1, max(1, self.mask_bits // 64))

    def release_masks(self, masks: NDArray[Any]) -> NDArray[Any]:
        """The same for secrets given as `masks`, and released so; for whole columns."""
        if masks.ndim != 2 or masks.dtype != self._whole.dtype or masks.shape[1:] != self._whole.shape:
            raise ShapeError("masks are wanted, a row of words for each set")

        def draw(rows: slice) -> NDArray[Any]:
            block = masks[rows]
            flips = self._thresholds.flags(-(-block.nbytes // 8)).view(block.dtype)[: block.size]
            drawn: NDArray[Any] = (block ^ flips.reshape(block.shape)) & self._whole
            return drawn

        return in_blocks(len(masks), draw, self.mask_bits)

    @cached_property
    def _whole(self) -> NDArray[Any]:
        """The mask of the universe."""
        whole: NDArray[Any] = self.masks(np.arange(self.mask_bits) < len(self.universe))[0]
        return whole

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
    listed = declared_values(universe)
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
