"""A secret that may be missing, where that too is secret."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ImpossibleError, NotAMetricError, UnsupportedMetricError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Real, ball, decide_sign, enclose
from metricdp.exact.choice import Thresholds
from metricdp.exact.grid import Grid
from metricdp.exact.level import Level, LevelLike
from metricdp.exact.refine import Integers
from metricdp.mechanisms.blocks import in_blocks
from metricdp.mechanisms.columns import release_column
from metricdp.mechanisms.continuous._line_law import line_law, positions
from metricdp.mechanisms.continuous._noise_metric import noise_metric
from metricdp.mechanisms.continuous.line import Bounds, LineLaplace, line_laplace, parse_bounds
from metricdp.mechanisms.law import Law, as_inputs, mixed
from metricdp.mechanisms.mechanism import ExpectedError, Mechanism, at_distance, null_words, probability_below
from metricdp.mechanisms.picture import NoisePicture, around_zero
from metricdp.metrics import Guarantee, Metric
from metricdp.metrics.nullable import Nullable
from metricdp.metrics.words import Measure, percent

__all__ = ["NullableLaplace", "nullable_laplace"]

_NULL = np.iinfo(np.int64).min
"""Written in the place of a cell, which it is not, for null."""


@dataclass(frozen=True, repr=False)
class NullableLaplace(Mechanism):
    """Numbers within bounds, or null, where null lies at one distance D from every number.

    A number is released as null with probability p and otherwise through ``numbers``; null as null with
    probability q, and otherwise as the middle of the bounds would be. With h = e (upper - lower) / 2 the distance from
    the middle to a bound, e the level, ``p = (exp(D - h) - 1) / (exp(2 D - h) - 1)`` and ``q = exp(D) p``: the largest
    q - p for which

    - ``q <= exp(D) p``, when null is released, and
    - ``(1 - p) exp(h) <= exp(D) (1 - q)``, when a number is.

    Attributes:
        metric: a level times ``nullable(absolute(), ..)``, or of a multiple of it.
        numbers: the Laplace mechanism for the numbers.

    Guarantee:
        ``metric`` on null and the numbers within the bounds; tight.

    References:
        Paper 1, section 5, for null-extended universes.
    """

    metric: Metric
    numbers: LineLaplace

    @property
    def guarantee(self) -> Guarantee:
        """``metric``, with no delta."""
        return Guarantee(self.metric)

    @property
    def resolution(self) -> Fraction:
        """Of the numbers."""
        return self.numbers.resolution

    def false_null(self) -> arb:
        """p: the probability that a number is released as null."""
        return (-self._null_distance()).exp() * self.true_null()

    def true_null(self) -> arb:
        """q: the probability that null is released as null; by powers of 1/e, since no ball holds exp(1e300)."""
        far, half = self._null_distance(), self._half_width()
        return (half - far).expm1() / (half - 2 * far).expm1()

    @property
    def takes_dates(self) -> bool:
        """Whether secrets are moments rather than numbers."""
        return self.numbers.takes_dates

    @property
    def takes_null(self) -> bool:
        """It does."""
        return True

    @property
    def name(self) -> str:
        """Laplace noise, and a coin."""
        return f"{self.numbers.name}, and a coin for missing or not"

    @property
    def bounds(self) -> Bounds:
        """Of the numbers."""
        return self._bounds

    @property
    def cells(self) -> Self:
        """Itself."""
        return self

    def words(self, measure: Measure | None = None) -> str:
        """Those of the numbers, and the coin."""
        return f"{self.numbers.words(self._measure(measure))}, and a coin for missing or not"

    def expected_error(self, measure: Measure | None = None) -> ExpectedError:
        """That of a number which is released as one, and the probabilities of a missing value."""
        stays, appears = float(Real(self.true_null)), float(Real(self.false_null))
        error = self.numbers.expected_error(self._measure(measure))
        words = (*error.words, null_words(stays, appears))
        return replace(error, words=words, null_stays=stays, null_appears=appears)

    def at_resolution(self, step: Fraction) -> NullableLaplace:
        """With a coarser resolution of the numbers, where ``step`` is one."""
        return replace(self, numbers=self.numbers.at_resolution(step))

    @property
    def widest(self) -> Fraction:
        """From one bound to the other, or from null to a number."""
        across, null = self._bounds[1] - self._bounds[0], self.metric.unit.distance_to_null
        return max(across, Fraction(null.enclose().upper)) if isinstance(null, Level) else across

    def _can_be_apart(self, distance: Fraction) -> bool:
        return self.numbers._can_be_apart(distance)

    def _picture(self, unit: str) -> NoisePicture:
        missing = f"missing: {percent(float(Real(self.false_null)))}"
        return around_zero(self.numbers.error_density, self.numbers.radius(0.95), unit, missing)

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; `docs/containers.md` says what comes back for each type, and how null is written."""
        return release_column(self, secrets)

    def release_cells(
        self, secrets: NDArray[Any], unit: Fraction = Fraction(1), missing: NDArray[np.bool_] | None = None
    ) -> tuple[Integers, NDArray[np.bool_]]:
        """See `metricdp.mechanisms.cells.CellMechanism`."""
        grid = Grid.of(self.resolution / unit)
        is_null = np.zeros(len(secrets), dtype=bool) if missing is None else missing
        if secrets.dtype.kind == "f":
            is_null = is_null | np.isnan(secrets)
        centre = grid.place(np.array([self._centre / unit], dtype=object))

        def draw(rows: slice) -> Integers:
            nulls = is_null[rows]
            filled = np.where(nulls, 0, secrets[rows]) if nulls.any() else secrets[rows]
            cells = self.numbers._noisy(grid.place(filled).moved(nulls, centre), ~nulls)
            for chosen, thresholds in ((~nulls, self._number_thresholds), (nulls, self._null_thresholds)):
                # Category 0 is U below the threshold: released as null.
                places = np.flatnonzero(chosen)
                cells[places[thresholds.draw(len(places)) == 0]] = _NULL
            return cells

        cells = in_blocks(len(secrets), draw)
        released_null = cells == _NULL
        cells[released_null] = 0
        return cells, released_null

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`; the outputs are the points of the grid within the bounds, and null."""
        rows = as_inputs(inputs)
        places = positions(self, rows)
        numbers = line_law(self.numbers, rows, [self._centre if place is None else place for place in places])
        kinds = [int(place is None) for place in places]
        return mixed(numbers, None, kinds, (self.false_null, self.true_null), self._rational_nulls())

    def cells_below(self, places: Floats, cuts: Floats) -> Floats:
        """See `metricdp.mechanisms.cells.CellMechanism`; of null the place is the middle of the bounds."""
        return self.numbers.cells_below(places, cuts)

    @property
    def null_shares(self) -> tuple[float, float]:
        """`false_null` and `true_null`."""
        return float(Real(self.false_null)), float(Real(self.true_null))

    @property
    def end_cells(self) -> tuple[int, int] | None:
        """Of the numbers."""
        return self.numbers.end_cells

    def _rational_nulls(self) -> tuple[Fraction, Fraction] | None:
        """Q and p, where they are rational and known to be."""
        lower, upper = self._bounds
        root = self.metric.exponential(None, lower)
        far, half = None if root is None else root.rational, self.numbers.rational_growth((upper - lower) / 2)
        if far is None or half is None:
            return None
        false = (far / half - 1) / (far**2 / half - 1)
        return false, far * false

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """For a number: not released as null and within ``distance``. For null see `true_null`."""
        stays = probability_below(lambda: 1 - self.false_null())
        return self.numbers.probability_within(distance) * stays * (1 - 2.0**-50)

    def explain(self, distances: Sequence[float] | float | None = None) -> str:
        """See `Mechanism.explain`; and the odds between null and a number."""
        factor = enclose(lambda: self._null_distance().exp()).outward[1]
        first, *rest = super().explain(distances).splitlines()
        null = f"Null and any number: an adversary's odds between them can move by at most a factor {factor:.4g}."
        return "\n".join([first, null, *rest])

    def _explain_error(self) -> str:
        kept, made_up = (probability_below(p) for p in (self.true_null, self.false_null))
        return (
            f"A null is released as null with probability {kept:.3g}, a number with probability {made_up:.3g}.\n"
            f"For a number released as one: {self.numbers._explain_error()}"
        )

    @cached_property
    def _centre(self) -> Fraction:
        """The middle of the bounds, as the rational it is: what stands for null is placed by it, and p and q use it."""
        return sum(self._bounds, start=Fraction(0)) / 2

    @property
    def _bounds(self) -> Bounds:
        assert self.numbers.bounds is not None
        return self.numbers.bounds

    def _half_width(self) -> arb:
        lower, upper = self._bounds
        return self.numbers.rate() * ball(max(upper - self._centre, self._centre - lower))

    def _null_distance(self) -> arb:
        return self.metric.ball(None, self._bounds[0])

    @cached_property
    def _number_thresholds(self) -> Thresholds:
        return Thresholds(lambda: [self.false_null()])

    @cached_property
    def _null_thresholds(self) -> Thresholds:
        return Thresholds(lambda: [self.true_null()])


def nullable_laplace(
    metric: Metric, bounds: tuple[LevelLike, LevelLike] | None, resolution: LevelLike | None = None
) -> NullableLaplace:
    """The Laplace mechanism for numbers within bounds that may be null.

    >>> import metricdp as mdp
    >>> d = mdp.metrics.nullable(mdp.metrics.absolute(), 100)
    >>> K = nullable_laplace(mdp.ln(2) / 10 * d, bounds=(0, 100))
    >>> K.release([None, 50.0]) is not None
    True
    """
    unit = metric.unit
    if not isinstance(unit, Nullable):
        raise UnsupportedMetricError(f"nullable_laplace takes a multiple of nullable(..), not {unit}")
    if bounds is None:
        raise ImpossibleError(
            "no mechanism keeps a null secret among unbounded numbers: two numbers are at most twice the null's "
            "distance apart in what they can promise each other, so d would have to be capped there. Declare bounds, "
            "or keep nulls in a public column of their own"
        )
    if unit.null_distance == math.inf:
        raise UnsupportedMetricError("a null at infinite distance is public: keep it in a column of its own")
    noise = noise_metric(metric.level * unit.base)
    if not noise.on_line:
        raise UnsupportedMetricError(f"a secret null is kept among numbers or dates, not {unit.base}")
    numbers = line_laplace(noise, resolution, parse_bounds(bounds))
    made = NullableLaplace(metric, numbers)
    if decide_sign(lambda: made._null_distance() - made._half_width()) <= 0:
        raise NotAMetricError(
            "null lies no further than half the width of the bounds: nearer would break the triangle inequality, "
            "and there null could never be released as null"
        )
    return made
