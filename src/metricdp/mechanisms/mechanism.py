"""What every mechanism has, and what it says about itself.

A mechanism has to give `guarantee`, `release` and `probability_within`. Reports, plots, channels, queries and the
conformance suite ask it for everything else, and nobody asks for its class: its words, the error to expect, a picture
of its noise, the values it is declared on. All of these have an answer that follows from the three, which a class
may better.
"""

from __future__ import annotations

import functools
import html
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeGuard, TypeVar, overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Real, enclose
from metricdp.exact.level import LevelLike, rational
from metricdp.mechanisms.cells import CellMechanism
from metricdp.mechanisms.expected_error import ExpectedError
from metricdp.mechanisms.law import Law
from metricdp.mechanisms.picture import NoisePicture, distances_from
from metricdp.metrics import Guarantee
from metricdp.metrics.explain import telling_distances
from metricdp.metrics.words import Measure, number, percent
from metricdp.visible import visible

__all__ = [
    "ExpectedError",
    "Mechanism",
    "Pairs",
    "as_mechanism",
    "at_distance",
    "counted_words",
    "is_mechanism",
    "null_words",
    "probability_below",
    "resolution_for",
]


class TabularLike(Protocol):
    """A Series or frame of pandas or Polars, which comes back as one of the same class."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, and columns where there are several."""
        ...

    def to_numpy(self) -> Any:
        """As an array."""
        ...


Tabular = TypeVar("Tabular", bound=TabularLike)

Pairs = list[tuple[str, Fraction]]
"""Pairs of secrets in words, each with their distance before the level."""

_LONGEST_UNIT = 30
_LEAST_SCALE = 2.0**-450


class Mechanism(ABC):
    """A random map with a guarantee.

    Mechanisms are frozen values: equal by their fields, and pickled by them alone, so no generator's state
    travels to another process.
    """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised of one release."""

    @overload
    def release(self, secrets: NDArray[Any]) -> NDArray[Any]: ...

    @overload
    def release(self, secrets: list[Any]) -> list[Any]: ...

    @overload
    def release(self, secrets: Tabular) -> Tabular: ...

    @overload
    def release(self, secrets: Any) -> Any: ...

    @abstractmethod
    def release(self, secrets: Any) -> Any:
        """Release each secret privately: a scalar gives a scalar, a list a list, an array an array, a Series a Series.

        The guarantee is that of each row; all rows of a table together are one record each.
        """

    def release_rows(self, secrets: list[Any]) -> list[Any]:
        """One result for each of a list of secrets, where `release` may return several lists or apply to them whole."""
        released: list[Any] = self.release(secrets)
        return released

    @abstractmethod
    def probability_within(self, distance: float) -> float:
        """The probability that a release lies within ``distance`` of its secret, rounded down.

        Paper 1 calls a mechanism (alpha, delta)-useful when this is at least 1 - delta (Example 1).
        """

    @property
    def error_of(self) -> Mechanism:
        """Whose error `probability_within` and `radius` tell: its own, or that of what a function is applied to."""
        return self

    # What it is

    @property
    def name(self) -> str:
        """The noise in two or three words, such as "Laplace noise"; by default its class's name."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type(self).__name__).lower()

    @property
    def declared(self) -> tuple[Any, ...] | None:
        """The values, or elements of sets, that secrets and releases are made of; None where they are not listed."""
        return None

    @property
    def takes_null(self) -> bool:
        """Whether a missing value is a secret like any other."""
        return self.declared is not None and None in self.declared

    @property
    def widest(self) -> Fraction | None:
        """A distance, before the level, that no two secrets exceed; None where there is no such bound."""
        return None

    @property
    def telling_distance(self) -> Fraction:
        """The distance, before the level, at which to say what the level means, where nobody names another one."""
        if self.declared is not None:
            return Fraction(1)
        told = telling_distances(self.guarantee.metric)
        return told[len(told) // 2]

    @property
    def cells(self) -> CellMechanism | None:
        """Itself, where each secret is one number or moment and each release a whole number of cells; else None."""
        return None

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """The mechanisms it is made of, where it is made of others."""
        return ()

    @property
    def secrets_to_try(self) -> Sequence[Any]:
        """Some secrets that it takes, for tests and audits; empty where nobody knows any."""
        return self.declared or ()

    def at_resolution(self, step: Fraction) -> Mechanism:
        """The same where releases are rounded to multiples of ``step``, by a type that holds no finer ones."""
        del step
        return self

    # What it says of itself

    def words(self, measure: Measure | None = None) -> str:
        """How secrets are released, in a phrase.

        Args:
            measure: what distances are counted in; the metric's own unit where it is not given.
        """
        del measure
        return self.name

    def expected_error(self, measure: Measure | None = None) -> ExpectedError:
        """What to expect of a release, as numbers and in words.

        Args:
            measure: what distances are counted in; the metric's own unit where it is not given.

        Raises:
            ArgumentError: it is not known, as for vectors whose dimension was not given.
        """
        counted = self._measure(measure)
        median, radius = self.radius(0.5), self.radius(0.95)
        said = f"half within {counted.say(median)}, 95% within {counted.say(radius)}"
        return ExpectedError(median, radius, counted.unit, (said,))

    def pairs_to_tell(self, measure: Measure | None = None, middle: Fraction | None = None) -> Pairs:
        """Pairs of secrets for which to say what an adversary can learn: in words, and their distance without level.

        Args:
            measure: what distances are counted in; the metric's own unit where it is not given.
            middle: the distance that matters to whoever asks, such as the one that a policy names.
        """
        counted = self._measure(measure)
        return [(f"{counted.say(far)} apart", far) for far in self._distances_to_tell(middle)]

    def _distances_to_tell(self, middle: Fraction | None) -> list[Fraction]:
        """Half of the distance that matters, that, its double and its fivefold, as far as secrets can be apart."""
        centre = self.telling_distance if middle is None else middle
        distances = [centre / 2, centre, 2 * centre, 5 * centre]
        return [far for far in distances if self._can_be_apart(far)] or [centre]

    def _can_be_apart(self, distance: Fraction) -> bool:
        """Whether two secrets can have this distance, before the level."""
        return self.widest is None or distance <= self.widest

    def picture(self, unit: str | None = None) -> NoisePicture:
        """How likely a release is at each distance from its secret, or which category, as data; `plots` draws it.

        Args:
            unit: what distances are counted in; the metric's own where it is not given.

        Raises:
            UnsupportedMetricError: nothing is known of its noise.
        """
        named = self.guarantee.metric.unit_name if unit is None else unit
        return self._picture(visible(named, _LONGEST_UNIT))

    def _picture(self, unit: str) -> NoisePicture:
        """By default the density of the distance from the secret, as `probability_within` grows."""

        def density(lengths: Floats) -> Floats:
            below = np.array([self.probability_within(float(length)) for length in lengths])
            return np.diff(below, prepend=0.0)

        return distances_from(density, self.radius(0.95), "distance from the secret", unit)

    def _measure(self, measure: Measure | None) -> Measure:
        return Measure(self.guarantee.metric.unit_name) if measure is None else measure

    # Distances

    def law(self, inputs: Iterable[Any]) -> Law:
        """The probability of every output for each of some inputs, exactly; see `metricdp.mechanisms.law.Law`.

        Raises:
            ArgumentError: the mechanism has no finite list of outputs.
            TooLargeError: it has more than `metricdp.mechanisms.law.MOST_OUTPUTS`.
        """
        raise ArgumentError(f"{type(self).__name__} has no finite list of outputs{self._to_be_finite()}")

    def density(self, secret: Any, release: Any) -> float:
        """How dense the noise lies around a release, before it is rounded, as a float view; for noise on a continuum.

        Raises:
            ArgumentError: the mechanism has none.

        References:
            Paper 1, Definition 6.
        """
        raise ArgumentError(f"{type(self).__name__} has no density: its law has probabilities, where it is finite")

    def _to_be_finite(self) -> str:
        """What to do about that, appended to the sentence."""
        return ", so it is no channel"

    def radius(self, confidence: float = 0.95) -> float:
        """The distance within which a release lies with probability ``confidence``, rounded up."""
        if not 0 < confidence < 1:
            raise ArgumentError(f"a confidence lies between 0 and 1, not at {confidence!r}")
        likely = self._likely_radius(confidence)
        if likely is not None and math.isfinite(likely):
            low, high = likely * (1 - 2.0**-41), likely * (1 + 2.0**-42)
            if self.probability_within(low) < confidence <= self.probability_within(high):
                return self._shortened(high, confidence)
        low, high = 0.0, self._unit_error()
        if self.probability_within(0.0) >= confidence:
            return 0.0
        while self.probability_within(high) < confidence:
            low, high = high, 2 * high
            if math.isinf(high):
                raise ArgumentError("no distance is within reach of that confidence")
        while high - low > 2.0**-40 * high and high > 2.0**-1000:
            middle = (low + high) / 2
            low, high = (low, middle) if self.probability_within(middle) >= confidence else (middle, high)
        return self._shortened(high, confidence)

    def _likely_radius(self, confidence: float) -> float | None:
        """What `radius` is about, where a formula gives it: tried first, and used only if it is proved to be right."""
        return None

    def _shortened(self, radius: float, confidence: float) -> float:
        """10 rather than 10.000000000004, where 10 serves."""
        short = float(f"{radius:.9g}")
        return short if self.probability_within(short) >= confidence else radius

    def _unit_error(self) -> float:
        """Some positive distance to begin the search of `radius` with."""
        return 1.0

    # Words

    def explain(self, distances: Sequence[float] | float | None = None) -> str:
        """In plain words: how far an adversary's odds can move, at one distance or several, and the error to expect."""
        return "\n".join([self.guarantee.explain(distances), self._explain_error()])

    def _explain_error(self) -> str:
        unit = self.guarantee.metric.unit_name
        reach = [f"{number(self.radius(confidence))} {unit}".strip() for confidence in (0.5, 0.95)]
        return f"Error to expect: half of all releases lie within {reach[0]} of the truth, 95% within {reach[1]}."

    def to_json(self) -> dict[str, Any]:
        """What it says of itself, as plain values for JSON."""
        return {
            "mechanism": self.words(),
            "guarantee": self.guarantee.to_json(),
            "error": self.expected_error().to_json(),
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.words()}; {self.guarantee})"

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self.explain().splitlines() if line.strip())
        return f"<b>{html.escape(repr(self))}</b><ul>{lines}</ul>"

    def __getstate__(self) -> dict[str, Any]:
        if not is_dataclass(self):
            raise TypeError(f"{type(self).__name__} does not say which of its fields to pickle")
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)


Probability = Callable[[Any, Fraction], float]


def at_distance(probability: Probability) -> Callable[[Any, float | Fraction], float]:
    """Makes a probability for exact distances answer for any: below 0 it is 0, at infinity 1, NaN is refused."""

    @functools.wraps(probability)
    def answer(self: Any, distance: float | Fraction) -> float:
        if isinstance(distance, float) and math.isinf(distance):
            return 1.0 if distance > 0 else 0.0
        exact = rational(distance, "distance")
        return 0.0 if exact < 0 else probability(self, exact)

    return answer


def resolution_for(scale: Real, given: LevelLike | None, bits: int = 20) -> Fraction:
    """The width of the release grid: the user's, or the power of two about 2^-bits of the noise's scale.

    A function of the scale alone, never of the data, so it tells nothing of them.

    Raises:
        ArgumentError: it is not positive, or the scale is so large or small that no grid fits it.
    """
    if given is None:
        size = float(scale)
        if not _LEAST_SCALE < size < 1 / _LEAST_SCALE:
            raise ArgumentError("no grid is fit for noise of this scale: give a level between 1e-100 and 1e100")
        return Fraction(2) ** (math.floor(math.log2(size)) - bits)
    width = rational(given, "resolution")
    if width <= 0:
        raise ArgumentError(
            f"a resolution is the width of the grid that releases are rounded to: positive, not {given}"
        )
    return width


def probability_below(value: Callable[[], arb]) -> float:
    """A probability from balls, rounded down and kept within [0, 1]."""
    return min(1.0, max(0.0, enclose(value).outward[0]))


def is_mechanism(value: object) -> TypeGuard[Mechanism]:
    """Whether it is a mechanism."""
    return isinstance(value, Mechanism)


def as_mechanism(value: object) -> Mechanism:
    """The value, refused where it is no mechanism."""
    if not isinstance(value, Mechanism):
        raise ArgumentError(f"a mechanism is wanted here, such as laplace(metric), not {type(value).__name__}")
    return value


def null_words(stays: float, appears: float) -> str:
    """What happens to missing values that are secret."""
    return f"missing stays missing: {percent(stays)}; present turns missing: {percent(appears)}"


def counted_words(values: Sequence[Any], name: str) -> str:
    """How many declared values there are, and whether missing is one of them."""
    present = sum(value is not None for value in values)
    several = name if present == 1 else f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{present} {several}" + (" and missing" if present < len(values) else "")
