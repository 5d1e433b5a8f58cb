"""The Laplace mechanism on the line: of numbers and of dates, and the one with a delta on a bounded interval."""

from __future__ import annotations

import datetime as dt
import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, LevelError, OutOfDomainError, UnsupportedMetricError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Real, ball
from metricdp.exact.grid import RESULT_CELLS, SECRET_CELLS, Grid, Placed
from metricdp.exact.level import Level, LevelLike, rational
from metricdp.exact.refine import Integers, nearest_integers
from metricdp.mechanisms.blocks import in_blocks
from metricdp.mechanisms.cells import refuse_missing
from metricdp.mechanisms.columns import release_column
from metricdp.mechanisms.continuous._line_law import line_law, positions
from metricdp.mechanisms.continuous._noise import LineNoise
from metricdp.mechanisms.forms.column import TICKS
from metricdp.mechanisms.law import Law, as_inputs, rational_exponential
from metricdp.mechanisms.mechanism import Mechanism, at_distance, probability_below, resolution_for
from metricdp.mechanisms.picture import NoisePicture, around_zero
from metricdp.metrics import Guarantee, Metric, discrete
from metricdp.metrics.dates import day_number
from metricdp.metrics.words import Measure

__all__ = ["ApproximateLaplace", "LineLaplace", "LineMechanism", "approximate_laplace", "line_laplace", "parse_bounds"]

Bounds = tuple[Fraction, Fraction]


class LineMechanism(Mechanism):
    """A number (or date, counted in days) plus Laplace noise, rounded to a grid."""

    resolution: Fraction
    bounds: Bounds | None

    @abstractmethod
    def rate(self) -> arb:
        """The reciprocal of the noise's scale, as a ball at the working precision."""

    @property
    def name(self) -> str:
        """Laplace noise."""
        return "Laplace noise"

    @property
    def cells(self) -> Self:
        """Itself."""
        return self

    def words(self, measure: Measure | None = None) -> str:
        """With the resolution, and whether releases are clamped."""
        clamped = "" if self.bounds is None else ", clamped to the bounds"
        return f"{self.name}, to {self._measure(measure).say(self.resolution)}{clamped}"

    @property
    def widest(self) -> Fraction | None:
        """From one bound to the other."""
        return None if self.bounds is None else self.bounds[1] - self.bounds[0]

    def density(self, secret: Any, release: Any) -> float:
        """The density ``exp(-|x - z| / scale) / (2 scale)`` of the noisy number before it is rounded; a float view.

        Args:
            secret: x.
            release: z.

        Raises:
            ArgumentError: it is clamped to bounds, so that it has no density there.

        References:
            Paper 1, Definition 6 and Fig. 2 (i).

        >>> import metricdp as mdp
        >>> mdp.laplace(mdp.metrics.absolute() / 2).density(3, 3)
        0.25
        """
        if self.bounds is not None:
            raise ArgumentError("what is clamped to bounds has no density at them: leave out bounds=")
        return float(self.error_density(np.array([float(release) - float(secret)]))[0])

    def error_density(self, errors: Floats) -> Floats:
        """``exp(-|error| / scale) / (2 scale)``, as floats: a view, for pictures."""
        scale = 1 / float(Real(self.rate))
        return np.asarray(np.exp(-np.abs(errors) / scale) / (2 * scale))

    def _picture(self, unit: str) -> NoisePicture:
        return around_zero(self.error_density, self.radius(0.95), unit)

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; `docs/containers.md` says what comes back for each type."""
        return release_column(self, secrets)

    def release_cells(
        self, secrets: NDArray[Any], unit: Fraction = Fraction(1), missing: NDArray[np.bool_] | None = None
    ) -> tuple[Integers, None]:
        """See `metricdp.mechanisms.cells.CellMechanism`."""
        refuse_missing(missing, self.takes_dates)
        grid = Grid.of(self.resolution / unit)
        return in_blocks(len(secrets), lambda rows: self._noisy(grid.place(secrets[rows]))), None

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`; for numbers and dates within bounds, where the outputs are the points of the grid."""
        rows = as_inputs(inputs)
        return super().law(rows) if self.bounds is None else line_law(self, rows, positions(self, rows))

    def cells_below(self, places: Floats, cuts: Floats) -> Floats:
        """See `metricdp.mechanisms.cells.CellMechanism`."""
        rate, width = float(Real(self.rate)), float(self.resolution)
        reach = rate * ((cuts - 0.5) * width - places[:, None])
        far = np.exp(-np.abs(reach)) / 2
        below = np.where(reach < 0, far, 1 - far)
        if self.end_cells is not None:
            below[:, cuts <= self.end_cells[0]], below[:, cuts > self.end_cells[1]] = 0.0, 1.0
        return below

    @property
    def null_shares(self) -> tuple[float, float]:
        """Null is no secret."""
        return 0.0, 1.0

    @property
    def end_cells(self) -> tuple[int, int] | None:
        """The outermost points of the grid within the bounds."""
        if self.bounds is None:
            return None
        return math.ceil(self.bounds[0] / self.resolution), math.floor(self.bounds[1] / self.resolution)

    def _to_be_finite(self) -> str:
        return "; with bounds=(least, greatest) and a resolution it has one"

    def rational_growth(self, distance: Fraction) -> Fraction | None:
        """``exp(rate · distance)``, where it is rational and known to be."""
        return None

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """``1 - exp(-distance / scale)``, less half a cell for the rounding; clamping to bounds only adds to it."""
        if self.bounds is not None:
            if distance >= self.bounds[1] - self.bounds[0]:
                return 1.0
            # A secret at a bound that is no point of the grid is never released nearer than the last one before it.
            if distance < max(-self.bounds[0] % self.resolution, self.bounds[1] % self.resolution):
                return 0.0
        reach = distance - self.resolution / 2
        return 0.0 if reach <= 0 else probability_below(lambda: -(-self.rate() * ball(reach)).expm1())

    def _unit_error(self) -> float:
        return 1 / float(Real(self.rate)) + float(self.resolution)

    def _likely_radius(self, confidence: float) -> float:
        radius = float(self.resolution / 2) - math.log1p(-confidence) / float(Real(self.rate))
        return radius if self.bounds is None else min(radius, float(self.bounds[1] - self.bounds[0]))

    @property
    def takes_dates(self) -> bool:
        """Whether secrets are moments, counted in days, rather than numbers."""
        return False

    def _noisy(self, placed: Placed, among: NDArray[np.bool_] | None = None) -> Integers:
        """Noise around secrets, in cells, clamped to the bounds; which those ``among`` them must lie within."""
        first, last = -RESULT_CELLS, RESULT_CELLS
        if self.bounds is not None:
            low, high = (bound / self.resolution for bound in self.bounds)
            outside = placed.outside(low, high, among)
            if outside is not None:
                raise OutOfDomainError("outside the declared bounds; clamp it first or widen the bounds", outside)
            assert self.end_cells is not None
            first, last = max(first, self.end_cells[0]), min(last, self.end_cells[1])
        drawn: Integers = nearest_integers(LineNoise(self._scale, placed), len(placed.cells))[0]
        np.add(placed.cells, drawn, out=drawn)
        np.clip(drawn, first, last, out=drawn)
        return drawn

    @cached_property
    def _scale(self) -> Real:
        """The noise's scale in cells."""
        return Real(lambda: 1 / (self.rate() * ball(self.resolution)))


@dataclass(frozen=True, repr=False)
class LineLaplace(LineMechanism):
    """The Laplace mechanism on the line.

    ``D(x)(z) = e / 2 * exp(-e |x - z|)`` with e = ``metric.level``, rounded to multiples of ``resolution``.

    Guarantee:
        ``metric``, exactly: rounding is post-processing of the ideal draw.

    References:
        Paper 1, Definition 6, Fact 7 and Fig. 2 (i).
    """

    metric: Metric
    resolution: Fraction
    bounds: Bounds | None = None

    @property
    def guarantee(self) -> Guarantee:
        """``metric``, with no delta."""
        return Guarantee(self.metric)

    @property
    def takes_dates(self) -> bool:
        """Whether its metric is one between moments."""
        return self.metric.moments

    def rate(self) -> arb:
        """``metric.level``."""
        return self.metric.level.ball()

    def at_resolution(self, step: Fraction) -> LineLaplace:
        """With a coarser resolution, where ``step`` is one."""
        return self if step <= self.resolution else replace(self, resolution=step)

    def rational_growth(self, distance: Fraction) -> Fraction | None:
        """``exp(metric.level · distance)``, where it is rational and known to be."""
        return rational_exponential(self.metric.level, distance)


def line_laplace(metric: Metric, resolution: LevelLike | None, bounds: Bounds | None) -> LineLaplace:
    """The Laplace mechanism for a multiple of the distance between numbers, or dates; others are refused."""
    if not metric.on_line:
        raise UnsupportedMetricError(f"Laplace noise on the line is for multiples of |x − y|, not for {metric}")
    scale = Real(lambda: 1 / metric.level.ball())
    on_a_clock = resolution is None and metric.moments
    width = _clock_step(float(scale)) if on_a_clock else resolution_for(scale, resolution)
    return LineLaplace(metric, _fitting(width, bounds), bounds)


def _fitting(width: Fraction, bounds: Bounds | None) -> Fraction:
    """The resolution, refused where no point of its grid lies within the bounds."""
    if bounds is not None and width > bounds[1] - bounds[0]:
        raise ArgumentError(f"the resolution {width} is wider than the bounds; give a finer resolution")
    if bounds is not None and max(abs(bound) for bound in bounds) > SECRET_CELLS * width:
        raise ArgumentError("the bounds are further out than 2^61 times the resolution; give a coarser resolution")
    if bounds is not None and math.ceil(bounds[0] / width) > math.floor(bounds[1] / width):
        raise ArgumentError("no multiple of the resolution lies within the bounds; give a finer resolution")
    return width


_CLOCK = ("D", "h", "m", "s", "ms", "us", "ns")


def _clock_step(scale: float) -> Fraction:
    """A whole day where the scale is longer; otherwise the longest step of a clock below a thousandth of it."""
    if scale >= 1:
        return TICKS["D"]
    return next((TICKS[step] for step in _CLOCK if TICKS[step] * 1000 <= scale), TICKS["ns"])


@dataclass(frozen=True, repr=False)
class ApproximateLaplace(LineMechanism):
    """The Laplace mechanism with (epsilon, delta) on a bounded interval.

    Scale ``b = width / (epsilon - 2 ln(1 - delta))`` with width = ``upper - lower``: the paper's scale has no
    factor 2, and is larger than it need be.

    Guarantee:
        ``epsilon * discrete`` and ``delta``: the total variation beyond exp(epsilon) between Laplace
        densities a distance w apart is ``1 - exp((epsilon - w / b) / 2)``, which is delta at the greatest w.

    References:
        Paper 2, Example 5, sharpened.
    """

    bounds: Bounds
    epsilon: Level
    delta: Fraction
    resolution: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon * discrete`` and ``delta``."""
        return Guarantee(self.epsilon * discrete(), self.delta)

    def rate(self) -> arb:
        """``(epsilon - 2 ln(1 - delta)) / (upper - lower)``."""
        return _approximate_rate(self.bounds, self.epsilon, self.delta)


def _approximate_rate(bounds: Bounds, epsilon: Level, delta: Fraction) -> arb:
    return (epsilon.ball() - 2 * ball(-delta).log1p()) / ball(bounds[1] - bounds[0])


def approximate_laplace(
    lower: LevelLike,
    upper: LevelLike,
    epsilon: LevelLike,
    delta: LevelLike,
    resolution: LevelLike | None = None,
) -> ApproximateLaplace:
    """Laplace noise on numbers between two bounds, (epsilon, delta)-private whatever the two numbers.

    Releases are clamped to the bounds.

    References:
        Paper 2, Example 5.

    >>> K = approximate_laplace(0, 100, epsilon=1, delta="0.001")
    >>> 0 <= K.release(42.0) <= 100
    True
    """
    bounds = parse_bounds((lower, upper))
    level, share = Level.of(epsilon), rational(delta, "delta")
    if not 0 <= share < 1:
        raise LevelError(f"a delta is at least 0 and below 1, and {delta} is not")
    scale = Real(lambda: 1 / _approximate_rate(bounds, level, share))
    return ApproximateLaplace(bounds, level, share, _fitting(resolution_for(scale, resolution), bounds))


def parse_bounds(bounds: tuple[Any, Any]) -> Bounds:
    """A lower and an upper bound as rationals, in that order."""
    lower, upper = (day_number(bound) if isinstance(bound, dt.date) else rational(bound, "bound") for bound in bounds)
    if not lower < upper:
        raise ArgumentError(f"the lower bound lies below the upper one, and {lower} is not below {upper}")
    return lower, upper
