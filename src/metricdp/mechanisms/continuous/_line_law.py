"""The law of Laplace noise on the line that is rounded to a grid and clamped to bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from flint import arb

from metricdp.errors import OutOfDomainError
from metricdp.exact.balls import ball, precision
from metricdp.exact.weights import Weights
from metricdp.mechanisms.cells import CellMechanism, refuse_missing
from metricdp.mechanisms.columns import take_column
from metricdp.mechanisms.forms.column import Undeclared
from metricdp.mechanisms.law import Law, exact_point, fixed_point, log2_below, refuse_many
from metricdp.metrics.coordinates import number

__all__ = ["line_law", "positions"]


class _LineNoise(CellMechanism, Protocol):
    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None: ...

    def rate(self) -> arb: ...

    def rational_growth(self, distance: Fraction) -> Fraction | None: ...


def positions(mechanism: CellMechanism, inputs: Sequence[Any]) -> list[Any]:
    """Where on the line the inputs lie, exactly, dates in days; None for null, where the mechanism takes it."""
    column = take_column(list(inputs), mechanism.takes_dates, mechanism.takes_null)
    if not mechanism.takes_null:
        refuse_missing(column.missing, mechanism.takes_dates)
    values = column.numbers.tolist()
    missing = [False] * len(values) if column.missing is None else column.missing.tolist()
    if mechanism.takes_null:  # NaN among floats is null, too
        missing = [null or value != value for value, null in zip(values, missing, strict=True)]
    return [
        None if null else number(value, row) * column.unit
        for row, (value, null) in enumerate(zip(values, missing, strict=True))
    ]


def line_law(mechanism: _LineNoise, inputs: tuple[Any, ...], places: Sequence[Fraction]) -> Law:
    """The law of ``round(place + noise)``, clamped to the first and the last point of the grid within the bounds.

    With e = ``mechanism.rate()``, r the width of a cell, and a, b the distances from a place to the left and the right
    edge of its cell, that cell has the probability ``1 - exp(-e a) / 2 - exp(-e b) / 2``, the k-th to its right
    ``exp(-e b) exp(-e r (k - 1)) (1 - exp(-e r)) / 2``, and all from the k-th on ``exp(-e b) exp(-e r (k - 1)) / 2``.
    """
    bounds, width = mechanism.bounds, mechanism.resolution
    assert bounds is not None, "without bounds there is no last output"
    for row, place in enumerate(places):
        if not bounds[0] <= place <= bounds[1]:
            raise OutOfDomainError("outside the declared bounds; clamp it first or widen the bounds", row)
    first, last = math.ceil(bounds[0] / width), math.floor(bounds[1] / width)
    count = last - first + 1
    advice = f": take a resolution wider than {exact_point(width)}"
    refuse_many(count, "numbers within these bounds, at this resolution,", advice)
    homes = [math.floor(place / width + Fraction(1, 2)) for place in places]
    gaps = [
        (place - (home - Fraction(1, 2)) * width, (home + Fraction(1, 2)) * width - place)
        for place, home in zip(places, homes, strict=True)
    ]

    def spread(decay: Callable[[Fraction], Any], finish: Callable[[Any], Any]) -> Weights:
        step = decay(width)
        powers = [step**steps for steps in range(count + 1)]
        weights = np.empty((len(places), count), dtype=object)
        for row, (home, (left, right)) in enumerate(zip(homes, gaps, strict=True)):
            to_left, to_right = decay(left), decay(right)

            def below(cell: int, home: int = home, to_left: Any = to_left, to_right: Any = to_right) -> Any:
                """The probability of this cell and all to its left, before clamping."""
                return to_left * powers[home - cell - 1] / 2 if cell < home else 1 - to_right * powers[cell - home] / 2

            edges = [below(cell) for cell in range(first, last)]
            shares = [high - low for low, high in zip([0 * step, *edges], [*edges, 1 + 0 * step], strict=True)]
            weights[row] = [finish(share) for share in shares]
        return weights

    def fixed(bits: int) -> Weights:
        with precision(bits + 64):
            rate = mechanism.rate()
            return spread(lambda distance: (-rate * ball(distance)).exp(), lambda share: fixed_point(share, bits))

    def least() -> arb:
        rate = mechanism.rate()
        return -(-rate * ball(width)).expm1() * (-rate * ball((count + 1) * width)).exp() / 2

    growths = [mechanism.rational_growth(gap) for gap in {width, *(gap for pair in gaps for gap in pair)}]
    rational = None if None in growths else lambda: spread(_inverse(mechanism), Fraction)
    return Law(inputs, _outputs(mechanism, first, last), fixed, log2_below(least), rational)


def _inverse(mechanism: _LineNoise) -> Callable[[Fraction], Fraction]:
    def decay(distance: Fraction) -> Fraction:
        growth = mechanism.rational_growth(distance)
        assert growth is not None  # asked for before
        return 1 / growth

    return decay


def _outputs(mechanism: _LineNoise, first: int, last: int) -> tuple[Any, ...]:
    cells, width = np.arange(first, last + 1), mechanism.resolution
    if mechanism.takes_dates:
        return tuple(Undeclared(dates=True).give(cells, width, None))
    return tuple(exact_point(width * cell) for cell in cells.tolist())
