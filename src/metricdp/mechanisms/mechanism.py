"""What every mechanism has."""

from __future__ import annotations

import functools
import html
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import InputError, KindError, LevelError
from metricdp.exact.balls import Real, enclose
from metricdp.exact.grid import Placed
from metricdp.exact.level import LevelLike, rational
from metricdp.exact.refine import BLOCK
from metricdp.metrics import Guarantee

__all__ = [
    "Mechanism",
    "as_mechanism",
    "at_distance",
    "for_each_column",
    "in_blocks",
    "probability_below",
    "resolution_for",
]


class Mechanism(ABC):
    """A random map with a guarantee.

    Mechanisms are frozen values: equal by their fields, and pickled by them alone, so no generator's state
    travels to another process.
    """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised of one release."""

    @abstractmethod
    def release(self, secrets: Any) -> Any:
        """Release each secret privately: a scalar gives a scalar, a list a list, an array an array, a Series a Series.

        The guarantee is that of each row; all rows of a table together are one record each.
        """

    @abstractmethod
    def probability_within(self, distance: float) -> float:
        """The probability that a release lies within ``distance`` of its secret, rounded down.

        Paper 1 calls a mechanism (alpha, delta)-useful when this is at least 1 - delta (Example 1).
        """

    def radius(self, confidence: float = 0.95) -> float:
        """The distance within which a release lies with probability ``confidence``, rounded up."""
        if not 0 < confidence < 1:
            raise LevelError("a confidence lies between 0 and 1")
        low, high = 0.0, self._unit_error()
        if self.probability_within(0.0) >= confidence:
            return 0.0
        while self.probability_within(high) < confidence:
            low, high = high, 2 * high
            if math.isinf(high):
                raise LevelError("no distance is within reach of that confidence")
        while high - low > 2.0**-40 * high and high > 2.0**-1000:
            middle = (low + high) / 2
            low, high = (low, middle) if self.probability_within(middle) >= confidence else (middle, high)
        short = float(f"{high:.9g}")  # 10 rather than 10.000000000004, where 10 serves
        return short if self.probability_within(short) >= confidence else high

    def explain(self, distances: Sequence[float] | None = None) -> str:
        """In plain words: how much an adversary's odds can move at several distances, and the error to expect."""
        return "\n".join([self.guarantee.explain(distances), self._explain_error()])

    def _explain_error(self) -> str:
        unit = self.guarantee.metric.unit_name
        reach = [f"{_plain(self.radius(confidence))} {unit}".strip() for confidence in (0.5, 0.95)]
        return f"Error to expect: half of all releases lie within {reach[0]} of the truth, 95% within {reach[1]}."

    def _unit_error(self) -> float:
        """Some positive distance to begin the search of `radius` with."""
        return 1.0

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


def in_blocks(rows: NDArray[Any], draw: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """Draw for all rows, a cache's worth at a time; an error names the row of the whole input."""
    result: NDArray[Any] | None = None
    for start in range(0, len(rows), BLOCK):
        try:
            block = draw(rows[start : start + BLOCK])
        except InputError as error:
            raise error.shifted(start) from None
        if len(block) == len(rows):
            return block
        if result is None:
            result = np.empty((len(rows), *block.shape[1:]), dtype=block.dtype)
        result[start : start + len(block)] = block
    assert result is not None  # containers refuse an empty input
    return result


def for_each_column(columns: Sequence[NDArray[Any]], place: Callable[[NDArray[Any]], Placed]) -> list[Placed]:
    """Place every column; of several errors the one in the first row is raised."""
    placed, errors = [], []
    for column in columns:
        try:
            placed.append(place(column))
        except InputError as error:
            errors.append(error)
    if errors:
        raise min(errors, key=lambda error: -1 if error.row is None else error.row)
    return placed


def resolution_for(scale: Real, given: LevelLike | None, bits: int = 20) -> Fraction:
    """The width of the release grid: the user's, or the power of two about 2^-bits of the noise's scale.

    A function of the scale alone, never of the data, so it tells nothing of them.
    """
    if given is None:
        return Fraction(2) ** (math.floor(math.log2(float(scale))) - bits)
    width = rational(given, "resolution")  # type: ignore[arg-type]
    if width <= 0:
        raise LevelError("a resolution is positive: the width of the grid that releases are rounded to")
    return width


def probability_below(value: Callable[[], arb]) -> float:
    """A probability from balls, rounded down and kept within [0, 1]."""
    return min(1.0, max(0.0, enclose(value).outward[0]))


def as_mechanism(value: object) -> Mechanism:
    """The value, refused where it is no mechanism."""
    if not isinstance(value, Mechanism):
        raise KindError(f"a mechanism is wanted here, not {type(value).__name__}")
    return value


def _plain(number: float) -> str:
    """A number with three digits, as a person would write it."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
