"""The Laplace mechanisms of paper 1, Definition 6: density proportional to exp(-d(x, z)).

On the line, in R^n for the three norms, and (in `metricdp.mechanisms.sphere`) on the globe. `laplace` picks the
one for a metric.
"""

from __future__ import annotations

import datetime as dt
import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import KindError, LevelError, NotFiniteError, OutOfDomainError, ShapeError
from metricdp.exact.balls import Real, ball
from metricdp.exact.grid import Grid, Placed
from metricdp.exact.level import LevelLike, rational
from metricdp.exact.refine import Integers, nearest_integers
from metricdp.mechanisms.containers import unpack_numbers, unpack_vectors
from metricdp.mechanisms.mechanism import (
    Mechanism,
    at_distance,
    for_each_column,
    in_blocks,
    probability_below,
    resolution_for,
)
from metricdp.mechanisms.noise import CubeNoise, EuclideanNoise, LineNoise, PlaneNoise
from metricdp.metrics import Guarantee, Metric, discrete
from metricdp.metrics.dates import Dates, day_number

__all__ = ["ApproximateLaplace", "LineLaplace", "VectorLaplace", "approximate_laplace", "line_laplace"]

Bounds = tuple[Fraction, Fraction]

_TICKS = {
    "D": Fraction(1),
    "h": Fraction(1, 24),
    "m": Fraction(1, 24 * 60),
    "s": Fraction(1, 86_400),
    "ms": Fraction(1, 86_400 * 10**3),
    "us": Fraction(1, 86_400 * 10**6),
    "ns": Fraction(1, 86_400 * 10**9),
}
"""What one step of a datetime type is, in days."""


class LineMechanism(Mechanism):
    """A number (or date, counted in days) plus Laplace noise, rounded to a grid."""

    resolution: Fraction
    bounds: Bounds | None

    @abstractmethod
    def rate(self) -> arb:
        """The reciprocal of the noise's scale, as a ball at the working precision."""

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`. Integers give integers where the resolution is whole, otherwise floats."""
        batch = unpack_numbers(secrets)
        return batch.pack(in_blocks(batch.rows, self._draw))

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

    @property
    def _takes_dates(self) -> bool:
        return False

    def _draw(self, secrets: NDArray[Any]) -> NDArray[Any]:
        if self._takes_dates:
            return self._draw_dates(secrets if secrets.dtype.kind == "M" else _refuse_undated(secrets))
        cells, placed = self._noisy_cells(secrets, self.resolution, Fraction(1))
        return Grid.of(self.resolution).points(cells, placed, secrets)

    def _draw_dates(self, secrets: NDArray[Any]) -> NDArray[Any]:
        if np.isnat(secrets).any():
            raise NotFiniteError("a date is wanted, not NaT", int(np.argmax(np.isnat(secrets))))
        step, multiple = np.datetime_data(secrets.dtype)
        if step not in _TICKS:
            raise KindError(f"dates counted in {step!r} have steps of uneven length; convert to days or seconds")
        ticks = self.resolution / (_TICKS[step] * multiple)
        if ticks.denominator != 1:
            raise LevelError(
                f"the resolution of {self.resolution} days is no multiple of the step of these dates, {step!r}: give a "
                "coarser resolution, such as resolution=1 for whole days"
            )
        cells, _ = self._noisy_cells(secrets.view(np.int64), self.resolution, _TICKS[step] * multiple)
        return Grid.of(ticks).whole_values(cells).view(secrets.dtype)

    def _noisy_cells(self, secrets: NDArray[Any], width: Fraction, unit: Fraction) -> tuple[Integers, Placed]:
        grid = Grid.of(width)
        placed = grid.place(secrets, unit)
        drawn = nearest_integers(LineNoise(self._scale(width), placed), len(secrets))[0]
        cells = np.add(placed.cells, drawn, out=drawn)
        if self.bounds is not None:
            first, last = (bound / width for bound in self.bounds)
            self._check_bounds(secrets, placed, first, last)
            np.clip(cells, math.ceil(first), math.floor(last), out=cells)
        return cells, placed

    def _scale(self, width: Fraction) -> Real:
        """The noise's scale in cells, kept because every block of rows asks for it."""
        if width not in self._scales:
            self._scales[width] = Real(lambda: 1 / (self.rate() * ball(width)))
        return self._scales[width]

    @cached_property
    def _scales(self) -> dict[Fraction, Real]:
        return {}

    def _check_bounds(self, secrets: NDArray[Any], placed: Placed, first: Fraction, last: Fraction) -> None:
        """Refuse secrets outside the bounds; those within a hair of one are compared as rationals."""
        low = placed.cells + placed.fractions - float(first)
        high = float(last) - placed.cells - placed.fractions
        slack = placed.radius + 2.0**-40 * (1 + abs(float(first)) + abs(float(last)))
        doubtful = np.flatnonzero((low < slack) | (high < slack))
        if secrets.dtype != object:  # a bound is a value that many rows may share
            doubtful = np.sort(doubtful[np.unique(secrets[doubtful], return_index=True)[1]])
        for row in doubtful:
            if not first <= int(placed.cells[row]) + placed.exact(int(row)) <= last:
                raise OutOfDomainError("outside the declared bounds; clamp it first or widen the bounds", int(row))


@dataclass(frozen=True)
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
    def _takes_dates(self) -> bool:
        return isinstance(self.metric.unit, Dates)

    def rate(self) -> arb:
        """``metric.level``."""
        return self.metric.level.ball()


def line_laplace(metric: Metric, resolution: LevelLike | None, bounds: Bounds | None) -> LineLaplace:
    """The Laplace mechanism for a multiple of the distance between numbers, or dates."""
    scale = Real(lambda: 1 / metric.level.ball())
    if resolution is None and isinstance(metric.unit, Dates):
        width = _clock_step(float(scale))
    else:
        width = resolution_for(scale, resolution)
    return LineLaplace(metric, _fitting(width, bounds), bounds)


def _fitting(width: Fraction, bounds: Bounds | None) -> Fraction:
    """The resolution, refused where no point of its grid lies within the bounds."""
    if bounds is not None and width > bounds[1] - bounds[0]:
        raise LevelError("the resolution is wider than the bounds")
    if bounds is not None and math.ceil(bounds[0] / width) > math.floor(bounds[1] / width):
        raise LevelError("no multiple of the resolution lies within the bounds; give a finer resolution")
    return width


def _clock_step(scale: float) -> Fraction:
    """A whole day where the scale is longer; otherwise the longest step of a clock below a thousandth of it."""
    if scale >= 1:
        return _TICKS["D"]
    return next((step for step in _TICKS.values() if step * 1000 <= scale), _TICKS["ns"])


def _refuse_undated(secrets: NDArray[Any]) -> NDArray[Any]:
    """Say what is wrong with secrets that should be dates, and in which row."""
    for row, secret in enumerate(secrets.tolist()):
        if secret is None:
            raise KindError("a date is wanted, and it is missing", row)
        if getattr(secret, "tzinfo", None) is not None:
            raise KindError("moments without a time zone are wanted; convert to UTC first", row)
        if not isinstance(secret, dt.date | np.datetime64):
            raise KindError("a date or a datetime is wanted", row)
    raise KindError("dates and datetimes are wanted, all of one kind")


@dataclass(frozen=True)
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
    epsilon: Fraction
    delta: Fraction
    resolution: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon * discrete`` and ``delta``."""
        return Guarantee(self.epsilon * discrete(), self.delta)

    def rate(self) -> arb:
        """``(epsilon - 2 ln(1 - delta)) / (upper - lower)``."""
        return _approximate_rate(self.bounds, self.epsilon, self.delta)


def _approximate_rate(bounds: Bounds, epsilon: Fraction, delta: Fraction) -> arb:
    return (ball(epsilon) - 2 * ball(1 - delta).log()) / ball(bounds[1] - bounds[0])


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
    e, d = rational(epsilon, "epsilon"), rational(delta, "delta")  # type: ignore[arg-type]
    if e <= 0 or not 0 <= d < 1:
        raise LevelError("epsilon is positive and delta in [0, 1)")
    scale = Real(lambda: 1 / _approximate_rate(bounds, e, d))
    return ApproximateLaplace(bounds, e, d, _fitting(resolution_for(scale, resolution), bounds))


@dataclass(frozen=True)
class VectorLaplace(Mechanism):
    """The Laplace mechanism in R^n for the L1, L2 or L-infinity norm.

    Density proportional to ``exp(-e * norm(x - z))`` with e = ``metric.level``, each coordinate rounded to multiples
    of ``resolution``. For L2 and L-infinity this is not independent noise on each coordinate.

    Attributes:
        metric: level times a metric that is the norm of a difference.
        norm: 1, 2 or infinity.
        dim: n, or None to take it from the data's shape.

    Guarantee:
        ``metric``, exactly.

    References:
        Paper 1, Definition 6, Fig. 2 (ii) and (iii), section 6.1.
    """

    metric: Metric
    norm: float
    dim: int | None
    resolution: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """``metric``, with no delta."""
        return Guarantee(self.metric)

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`. A point gives a point, rows of points give rows."""
        batch = unpack_vectors(secrets, self.dim)
        dimension = batch.rows.shape[1]
        if self.dim is not None and dimension != self.dim:
            raise ShapeError(f"points of dimension {self.dim} are wanted, not {dimension}")
        return batch.pack(in_blocks(batch.rows, self._draw))

    def _draw(self, secrets: NDArray[Any]) -> NDArray[Any]:
        grid = Grid.of(self.resolution)
        columns = [np.ascontiguousarray(column) for column in secrets.T]
        placed = for_each_column(columns, grid.place)
        scale, count = self._scale, len(secrets)
        if self.norm == 1 or len(columns) == 1:
            drawn = [nearest_integers(LineNoise(scale, place), count)[0] for place in placed]
        elif self.norm == 2:
            formula = PlaneNoise(scale, placed) if len(columns) == 2 else EuclideanNoise(scale, placed)
            drawn = list(nearest_integers(formula, count))
        else:
            drawn = list(nearest_integers(CubeNoise(scale, placed), count))
        results = [
            grid.points(np.add(place.cells, cells, out=cells), place, column)
            for place, cells, column in zip(placed, drawn, columns, strict=True)
        ]
        return np.stack(results, axis=1)

    @cached_property
    def _scale(self) -> Real:
        return Real(lambda: 1 / (self.metric.level.ball() * ball(self.resolution)))

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """The norm of the noise is a sum of n exponentials: ``P(n, e * distance)``, less the rounding."""
        n = self._dimension()

        def probability() -> arb:
            corner = {1.0: ball(n), 2.0: ball(n).sqrt()}.get(self.norm, ball(1))
            argument = self.metric.level.ball() * (ball(distance) - corner * ball(self.resolution) / 2)
            return argument.gamma_lower(n, regularized=1) if argument > 0 else arb(0)

        return probability_below(probability)

    def _unit_error(self) -> float:
        return self._dimension() / float(self.metric.level)

    def _dimension(self) -> int:
        if self.dim is None:
            raise LevelError("the error depends on the dimension: give dim= to laplace")
        return self.dim

    def _explain_error(self) -> str:
        if self.dim is None:
            return "Error to expect: it depends on the dimension; give dim= to laplace."
        return super()._explain_error()


def parse_bounds(bounds: tuple[Any, Any]) -> Bounds:
    """A lower and an upper bound as rationals, in that order."""
    lower, upper = (day_number(bound) if isinstance(bound, dt.date) else rational(bound, "bound") for bound in bounds)
    if not lower < upper:
        raise LevelError("the lower bound lies below the upper one")
    return lower, upper
