"""The geometric mechanisms: integer noise on a stepped grid, tight for every pair of neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, OffGridError, OutOfDomainError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Real, ball, precision
from metricdp.exact.grid import RESULT_CELLS, SECRET_CELLS, Grid, Placed
from metricdp.exact.level import LevelLike, rational
from metricdp.exact.refine import Integers, nearest_integers
from metricdp.exact.weights import Weights
from metricdp.mechanisms.blocks import in_blocks
from metricdp.mechanisms.cells import refuse_missing
from metricdp.mechanisms.columns import release_column
from metricdp.mechanisms.continuous._noise import LineNoise
from metricdp.mechanisms.continuous._noise_metric import on_the_line
from metricdp.mechanisms.law import (
    Law,
    as_inputs,
    exact_point,
    fixed_point,
    log2_below,
    rational_exponential,
    refuse_many,
)
from metricdp.mechanisms.mechanism import Mechanism, at_distance, probability_below
from metricdp.mechanisms.picture import NoisePicture, labelled, steps
from metricdp.metrics import Guarantee, Metric, discrete
from metricdp.metrics.coordinates import number
from metricdp.metrics.words import Measure
from metricdp.metrics.words import number as number_words

__all__ = ["Geometric", "geometric", "truncated_geometric"]


@dataclass(frozen=True, repr=False)
class Geometric(Mechanism):
    """Two-sided geometric noise on the multiples of ``step``, truncated to ``steps`` of them above 0 if that is given.

    ``P(z | x) = (1 - a) / (1 + a) * a^(|x - z| / step)`` with a = exp(-e * step), e = ``metric.level``; truncated, what
    falls outside goes to the nearer end.

    Attributes:
        snap: round secrets that lie between two steps, half up, instead of refusing them.

    Guarantee:
        ``metric`` on the grid; with ``snap``, ``metric`` plus ``e * step`` for any two different secrets, since
        rounding may move them apart by one step.

    References:
        Paper 1, Fig. 2 (iv) and Theorem 8.
    """

    metric: Metric
    step: Fraction = Fraction(1)
    steps: int | None = None
    snap: bool = False

    @property
    def resolution(self) -> Fraction:
        """``step``."""
        return self.step

    @property
    def guarantee(self) -> Guarantee:
        """``metric``, plus the cost of snapping where that was asked for."""
        if self.snap:
            return Guarantee(self.metric + self.metric.level * self.step * discrete())
        return Guarantee(self.metric)

    @property
    def takes_dates(self) -> bool:
        """It takes numbers."""
        return False

    @property
    def name(self) -> str:
        """Geometric noise, perhaps truncated."""
        return "geometric noise" if self.steps is None else "truncated geometric noise"

    @property
    def cells(self) -> Self:
        """Itself."""
        return self

    def words(self, measure: Measure | None = None) -> str:
        """With the steps, and whether releases are clamped."""
        del measure
        steps = "" if self.step == 1 else f" in steps of {number_words(float(self.step))}"
        clamped = "" if self.steps is None else ", clamped to the bounds"
        return f"two-sided geometric noise{steps}{clamped}"

    def _can_be_apart(self, distance: Fraction) -> bool:
        return distance % self.step == 0 and super()._can_be_apart(distance)

    @property
    def widest(self) -> Fraction | None:
        """``steps * step``."""
        return None if self.steps is None else self.steps * self.step

    def _picture(self, unit: str) -> NoisePicture:
        decay = math.exp(-float(self.metric.level) * float(self.step))

        def probability(places: Floats) -> Floats:
            return np.asarray((1 - decay) / (1 + decay) * decay ** np.abs(places))

        label, whole = labelled("released - secret", unit), self.step.denominator == 1
        return steps(probability, float(self.step), self.radius(0.95), label, whole)

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; `docs/containers.md` says what comes back for each type."""
        return release_column(self, secrets)

    def release_cells(
        self, secrets: NDArray[Any], unit: Fraction = Fraction(1), missing: NDArray[np.bool_] | None = None
    ) -> tuple[Integers, None]:
        """See `metricdp.mechanisms.cells.CellMechanism`."""
        refuse_missing(missing)
        grid = Grid.of(self.step / unit)
        return in_blocks(len(secrets), lambda rows: self._noisy(grid.place(secrets[rows]))), None

    def _noisy(self, placed: Placed) -> Integers:
        cells = self._snapped(placed) if self.snap else Grid.of(self.step).on_grid(placed)
        first, last = (-RESULT_CELLS, RESULT_CELLS) if self.steps is None else (0, self.steps)
        if self.steps is not None:
            outside = (cells < 0) | (cells > self.steps)
            if outside.any():
                raise OutOfDomainError(f"outside 0 .. {self.steps} steps of {self.step}", int(np.argmax(outside)))
        noisy: Integers = np.clip(cells + nearest_integers(self._formula, len(cells))[0], first, last)
        return noisy

    def _snapped(self, placed: Placed) -> Integers:
        """The nearest step, half up; what floats cannot tell is compared as rationals."""
        fractions = placed.fractions
        up = np.floor(fractions + 0.5)
        doubtful = np.abs(fractions + 0.5 - np.rint(fractions + 0.5)) <= placed.radius + 2.0**-50
        for row in np.flatnonzero(doubtful):
            up[row] = (placed.exact(int(row)) + Fraction(1, 2)).__floor__()
        return placed.cells + up.astype(np.int64)

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`; for the truncated one."""
        k, rows = self.steps, as_inputs(inputs)
        if k is None:
            return super().law(rows)
        refuse_many(k + 1, "the truncated geometric mechanism", ": take a wider step")
        cells = [self._cell(point, row) for row, point in enumerate(rows)]

        def spread(decay: Any, finish: Callable[[Any], Any]) -> Weights:
            inside, at_end = (1 - decay) / (1 + decay), 1 / (1 + decay)
            powers = [decay**steps for steps in range(k + 1)]
            middle = np.array([finish(power * inside) for power in powers], dtype=object)
            ends = np.array([finish(power * at_end) for power in powers], dtype=object)
            apart = np.abs(np.subtract.outer(cells, np.arange(k + 1)))
            weights = middle[apart]
            weights[:, 0], weights[:, k] = ends[apart[:, 0]], ends[apart[:, k]]
            return weights

        def fixed(bits: int) -> Weights:
            with precision(bits + 64):
                return spread(self._decay(), lambda share: fixed_point(share, bits))

        growth = rational_exponential(self.metric.level, self.step)
        rational = None if growth is None else lambda: spread(1 / growth, lambda share: share)
        least = log2_below(lambda: self._decay() ** k * (1 - self._decay()) / (1 + self._decay()))
        outputs = tuple(exact_point(self.step * place) for place in range(k + 1))
        return Law(rows, outputs, fixed, least, rational)

    def cells_below(self, places: Floats, cuts: Floats) -> Floats:
        """See `metricdp.mechanisms.cells.CellMechanism`; places are whole numbers of steps."""
        decay = float(Real(self._decay))
        ahead = cuts - np.rint(places / float(self.step))[:, None]
        below = np.where(
            ahead <= 0, decay ** np.maximum(1 - ahead, 0) / (1 + decay), 1 - decay ** np.maximum(ahead, 0) / (1 + decay)
        )
        if self.steps is not None:
            below[:, cuts <= 0], below[:, cuts > self.steps] = 0.0, 1.0
        return below

    @property
    def null_shares(self) -> tuple[float, float]:
        """Null is no secret."""
        return 0.0, 1.0

    @property
    def end_cells(self) -> tuple[int, int] | None:
        """0 and ``steps``."""
        return None if self.steps is None else (0, self.steps)

    def _to_be_finite(self) -> str:
        return "; truncated_geometric(metric, steps) has one, and is as private"

    def _cell(self, point: Any, row: int) -> int:
        steps = number(point, row) / self.step
        if self.snap:
            steps = Fraction(math.floor(steps + Fraction(1, 2)))
        if steps.denominator != 1:
            raise OffGridError(f"between two steps of {self.step}", row)
        if not 0 <= steps <= (self.steps or 0):
            raise OutOfDomainError(f"outside 0 .. {self.steps} steps of {self.step}", row)
        return int(steps)

    @cached_property
    def _formula(self) -> LineNoise:
        return LineNoise(Real(self._scale), shift=Real(self._shift))

    def _decay(self) -> arb:
        return (-self.metric.level.ball() * ball(self.step)).exp()

    def _scale(self) -> arb:
        return 1 / (self.metric.level.ball() * ball(self.step))

    def _shift(self) -> arb:
        """``ln(2 / (1 + a)) / (e * step) - 1/2``, which turns floor(E / (e * step)) into the two-sided law.

        With it ``P(|noise| >= j) = 2 a^j / (1 + a)`` for every j >= 1.
        """
        return (2 / (1 + self._decay())).log() * self._scale() - ball(Fraction(1, 2))

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """``1 - 2 a^(j + 1) / (1 + a)`` with j whole steps within the distance; truncation only adds to it."""
        steps = int((distance - self.step / 2 if self.snap else distance) // self.step)
        if steps < 0:
            return 0.0
        return probability_below(lambda: 1 - 2 * self._decay() ** (steps + 1) / (1 + self._decay()))

    def _unit_error(self) -> float:
        return float(self.step) + 1 / float(self.metric.level)

    def _likely_radius(self, confidence: float) -> float:
        """With 1 - 2 a^(j + 1) / (1 + a) solved for j."""
        rate = float(self.metric.level) * float(self.step)
        tail = math.log1p(-confidence) + math.log1p(math.exp(-rate)) - math.log(2)
        steps = max(0.0, float(np.ceil(-tail / rate)) - 1)
        return (steps + (0.5 if self.snap else 0.0)) * float(self.step)


def geometric(metric: Metric, step: LevelLike = 1, *, snap: bool = False) -> Geometric:
    """The geometric mechanism on the multiples of ``step``, for a metric on the line.

    >>> import metricdp as mdp
    >>> K = mdp.geometric(mdp.ln(2) * mdp.metrics.absolute())
    >>> isinstance(K.release(7), int)
    True
    >>> K.probability_within(1)
    0.666...
    """
    return Geometric(on_the_line(metric), _positive(step), None, snap)


def truncated_geometric(metric: Metric, steps: int, step: LevelLike = 1, *, snap: bool = False) -> Geometric:
    """The truncated geometric mechanism on ``0, step, .., steps * step`` (paper 1, Fig. 2 iv).

    >>> import metricdp as mdp
    >>> K = mdp.truncated_geometric(mdp.ln(2) * mdp.metrics.absolute(), steps=10)
    >>> all(0 <= z <= 10 for z in K.release([0, 5, 10]))
    True
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ArgumentError("steps is a positive integer: how many there are")
    if steps > SECRET_CELLS:
        raise ArgumentError("there are at most 2^61 steps; give a coarser one")
    return Geometric(on_the_line(metric), _positive(step), steps, snap)


def _positive(step: LevelLike) -> Fraction:
    width = rational(step, "step")
    if width <= 0:
        raise ArgumentError(f"a step is positive, not {step}")
    return width
