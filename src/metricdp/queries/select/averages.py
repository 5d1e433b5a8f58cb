"""Averages: a noisy sum by a noisy count, with an error bar that covers both."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.exact.balls import float_above
from metricdp.queries.select.spreads import spread
from metricdp.queries.select.table_answers import TableAnswer

__all__ = ["CONFIDENCE", "Noisy", "as_day", "average", "widest_average"]

CONFIDENCE = Fraction(95, 100)
"""Of every error bar."""

_UNSURE = Fraction(1, 100)
"""How likely it is at most that the noise of some group is larger than `widest_average` takes it to be."""


@dataclass(frozen=True)
class Noisy:
    """A noisy number, and how far it is from the truth at most with a probability; None where it is the truth."""

    value: float
    reach: Callable[[float], float | None] | None

    def bar(self, confidence: Fraction) -> float:
        """How far it is from the truth at most, with that confidence."""
        return 0.0 if self.reach is None else float(self.reach(float(confidence)) or 0.0)


def average(
    total: Noisy, count: Noisy, centre: Fraction, bounds: tuple[Fraction, Fraction], records: int
) -> TableAnswer:
    """The noisy sum by the noisy count, from the centre on, with the error bar of both together (see `spread`).

    The truth is one of somebody at least, since of nobody there is no average, and of no more than there are records.
    """
    low, high = bounds

    def within(value: Fraction) -> Fraction:
        return min(max(value, low), high)

    number = min(max(Fraction(count.value), Fraction(1)), Fraction(records))
    value = within(centre + Fraction(total.value) / number)
    middle, least, most = float(centre), float(low), float(high)

    def compute(numbers: Sequence[Any]) -> Any:
        return middle + numbers[0] / np.clip(numbers[1], 1.0, float(records))

    bars = {0: total.bar(CONFIDENCE), 1: count.bar(CONFIDENCE)}
    farthest = max(float(value) - least, most - float(value))  # the truth lies between the bounds
    near = (float(value) - middle) * float(number)  # the sum that gives the value, where it was beyond a bound
    bar = min(spread(compute, [near, float(number)], bars), farthest)
    somebody = count.value + count.bar(CONFIDENCE) >= 1  # of nobody there is no average
    return TableAnswer(float(value), bar, somebody and 2 * Fraction(bar) < high - low)


def as_day(found: TableAnswer, bounds: tuple[dt.date, dt.date]) -> TableAnswer:
    """The average of days, counted from the first that there can be, as the day that it falls on.

    >>> as_day(TableAnswer(30.7, 2.0), (dt.date(2024, 1, 1), dt.date(2024, 12, 31)))
    TableAnswer(value=datetime.date(2024, 1, 31), error_bar=3.0, tells=True, private=True)
    """
    whole = math.floor(found.value)  # type: ignore[arg-type]
    return replace(found, value=bounds[0] + dt.timedelta(days=whole), error_bar=found.error_bar + 1)


def widest_average(
    total: Noisy,
    count: Noisy,
    centre: Fraction,
    bounds: tuple[Fraction | float, Fraction | float],
    fewest: Fraction,
    groups: int,
) -> float:
    """An error bar of `average` that is not passed where there are so many or more, before anything is drawn.

    It is for the case that the true sum and count are within their bars; in the others nothing may be known. The noise
    is taken to be within a reach that it passes in 1 case of 100, all groups together. With n of them or more, the
    noisy count at least m = n - reach, and sums from the centre of at most H each, `average` moves by
    ``(H n + reach of the sum) · bar of the count / (m (m - bar of the count)) + bar of the sum / (m - bar of the
    count)``, which falls with n.

    Args:
        total: the noise of the sum; its value does not matter.
        count: that of the count.
        centre: what is taken from each value before it is added.
        bounds: of the values.
        fewest: how many there are at least.
        groups: how many averages are asked for.
    """
    low, high = (Fraction(bound) for bound in bounds)
    confidence = _of_each(total, count)
    off, away = Fraction(total.bar(confidence)), Fraction(count.bar(confidence))
    sure = 1 - _UNSURE / (2 * groups)
    number = fewest - Fraction(count.bar(sure))
    if number - away < 1:  # of nobody there is no average
        return float_above(high - low)
    added = max(abs(low - centre), abs(high - centre)) * fewest + Fraction(total.bar(sure))
    bar = added * away / (number * (number - away)) + off / (number - away)
    return float_above(min(bar, high - low))


def _of_each(total: Noisy, count: Noisy) -> Fraction:
    """The confidence of each bar: where both are noisy, each fails half as often."""
    both = total.reach is not None and count.reach is not None
    return 1 - (1 - CONFIDENCE) / 2 if both else CONFIDENCE
