"""The geometric mechanisms: integer noise on a stepped grid, tight for every pair of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import LevelError, OutOfDomainError
from metricdp.exact.balls import Real, ball
from metricdp.exact.grid import Grid
from metricdp.exact.level import LevelLike, rational
from metricdp.exact.refine import Integers, nearest_integers
from metricdp.mechanisms.containers import unpack_numbers
from metricdp.mechanisms.mechanism import Mechanism, at_distance, in_blocks, probability_below
from metricdp.mechanisms.noise import LineNoise
from metricdp.mechanisms.noise_metric import on_the_line
from metricdp.metrics import Guarantee, Metric, discrete

__all__ = ["Geometric", "geometric", "truncated_geometric"]


@dataclass(frozen=True)
class Geometric(Mechanism):
    """Two-sided geometric noise on the multiples of ``step``, truncated to [0, k] steps if ``k`` is given.

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
    k: int | None = None
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

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`."""
        batch = unpack_numbers(secrets)
        return batch.pack(in_blocks(batch.rows, self._draw))

    def _draw(self, secrets: NDArray[Any]) -> NDArray[Any]:
        grid = Grid.of(self.step)
        placed = grid.place(secrets)
        cells = self._snapped(placed.cells, placed.fractions, placed) if self.snap else grid.on_grid(placed)
        if self.k is not None:
            outside = (cells < 0) | (cells > self.k)
            if outside.any():
                raise OutOfDomainError(f"outside 0 .. {self.k} steps of {self.step}", int(np.argmax(outside)))
        noisy = cells + nearest_integers(self._formula, len(cells))[0]
        if self.k is not None:
            noisy = np.clip(noisy, 0, self.k)
        return grid.points(noisy, placed, secrets)

    def _snapped(self, cells: Integers, fractions: NDArray[np.float64], placed: Any) -> Integers:
        """The nearest step, half up; what floats cannot tell is compared as rationals."""
        up = np.floor(fractions + 0.5)
        doubtful = np.abs(fractions + 0.5 - np.rint(fractions + 0.5)) <= placed.radius + 2.0**-50
        for row in np.flatnonzero(doubtful):
            up[row] = (placed.exact(int(row)) + Fraction(1, 2)).__floor__()
        return cells + up.astype(np.int64)

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


def geometric(metric: Metric, step: LevelLike = 1, snap: bool = False) -> Geometric:
    """The geometric mechanism on the multiples of ``step``, for a metric on the line.

    >>> import metricdp as mdp
    >>> K = mdp.geometric(mdp.ln(2) * mdp.metrics.absolute())
    >>> isinstance(K.release(7), int)
    True
    >>> K.probability_within(1)
    0.666...
    """
    return Geometric(on_the_line(metric), _positive(step), None, snap)


def truncated_geometric(metric: Metric, k: int, step: LevelLike = 1, snap: bool = False) -> Geometric:
    """The truncated geometric mechanism on ``0, step, .., k * step`` (paper 1, Fig. 2 iv).

    >>> import metricdp as mdp
    >>> K = mdp.truncated_geometric(mdp.ln(2) * mdp.metrics.absolute(), k=10)
    >>> all(0 <= z <= 10 for z in K.release([0, 5, 10]))
    True
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise LevelError("k, the number of steps, is a positive integer")
    return Geometric(on_the_line(metric), _positive(step), k, snap)


def _positive(step: LevelLike) -> Fraction:
    width = rational(step, "step")  # type: ignore[arg-type]
    if width <= 0:
        raise LevelError("a step is positive")
    return width
