"""The Laplace mechanism in R^n, for the L1, L2 and L-infinity norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, ShapeError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Real, ball
from metricdp.exact.grid import RESULT_CELLS, Grid, Placed, place_all
from metricdp.exact.refine import Integers, nearest_integers
from metricdp.mechanisms.blocks import in_blocks
from metricdp.mechanisms.columns import release_points
from metricdp.mechanisms.continuous._noise import CubeNoise, EuclideanNoise, LineNoise, PlaneNoise
from metricdp.mechanisms.mechanism import ExpectedError, Mechanism, at_distance, probability_below
from metricdp.mechanisms.picture import NoisePicture, distances_from
from metricdp.metrics import Guarantee, Metric
from metricdp.metrics.words import Measure

__all__ = ["VectorLaplace"]


@dataclass(frozen=True, repr=False)
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

    @property
    def name(self) -> str:
        """Laplace noise and its norm."""
        norms = {1.0: "sum norm", 2.0: "Euclidean norm"}
        return f"Laplace noise in the {norms.get(self.norm, 'maximum norm')}"

    def words(self, measure: Measure | None = None) -> str:
        """With the number of coordinates."""
        each = self._measure(measure).each
        return f"{self.name}, on all {f'{self.dim} ' if self.dim else ''}{each}s at once"

    def expected_error(self, measure: Measure | None = None) -> ExpectedError:
        """Of the norm; for the maximum norm that is the worst coordinate."""
        error = super().expected_error(measure)
        if self.norm != math.inf:
            return error
        (words,) = error.words
        return replace(error, words=(f"the worst {self._measure(measure).each}: {words}",))

    def _picture(self, unit: str) -> NoisePicture:
        level, dimension = float(self.metric.level), self._dimension()

        def density(lengths: Floats) -> Floats:
            with np.errstate(divide="ignore"):
                logs = (dimension - 1) * np.log(level * lengths) - level * lengths
            return np.asarray(np.exp(logs - logs.max()))

        return distances_from(density, self.radius(0.95), "length of the noise", unit)

    def density(self, secret: Any, release: Any) -> float:
        """The density ``c exp(-e norm(x - z))`` of the noisy point before it is rounded; a float view.

        The constant c is ``e^n / (n! V)``, where V is the volume of the norm's unit ball: for the plane ``e^2 / 4``
        with the sum norm, ``e^2 / (2 pi)`` with the Euclidean norm.

        Args:
            secret: x.
            release: z.

        References:
            Paper 1, Definition 6 and Fig. 2 (ii) and (iii).

        >>> import metricdp as mdp
        >>> mdp.laplace(mdp.metrics.manhattan(), dim=2).density((0, 0), (0, 0))
        0.25
        """
        one, other = (np.asarray(point, dtype=np.float64) for point in (secret, release))
        if one.ndim != 1 or one.shape != other.shape or self.dim not in (None, len(one)):
            raise ShapeError(f"two points of dimension {self.dim or len(np.atleast_1d(one))} are wanted")
        n, level = len(one), float(self.metric.level)
        ball_volume = {1.0: 2.0**n / math.factorial(n), 2.0: math.pi ** (n / 2) / math.gamma(n / 2 + 1)}
        constant = level**n / (math.factorial(n) * ball_volume.get(self.norm, 2.0**n))
        return float(constant * math.exp(-level * float(np.linalg.norm(one - other, ord=self.norm))))

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`. A point gives a point, rows of points give rows."""
        return release_points(self, secrets, self.dim)

    def release_cells(
        self, secrets: NDArray[Any] | Sequence[NDArray[Any]], units: Sequence[Fraction] | None = None
    ) -> Integers:
        """Release points as multiples of ``resolution``: a row of integers for each.

        Args:
            secrets: a matrix with a row for each point, or a list with an array for each coordinate, whose types may
                differ: integers of any width, floats, or objects that are exact numbers.
            units: what each coordinate is counted in; by default 1.
        """
        matrix = secrets if isinstance(secrets, np.ndarray) else None
        dimension = len(secrets) if matrix is None else matrix.shape[1]
        if self.dim is not None and dimension != self.dim:
            raise ShapeError(f"points of dimension {self.dim} are wanted, not {dimension}")
        grids = [Grid.of(self.resolution / unit) for unit in units or [Fraction(1)] * dimension]

        def draw(rows: slice) -> Integers:
            if matrix is not None and len(set(grids)) == 1:
                placed = grids[0].place_matrix(matrix[rows])
            else:
                columns = secrets if matrix is None else list(matrix.T)
                placed = place_all(grids, [column[rows] for column in columns])
            drawn = self._noise(placed, len(placed[0].cells))
            for place, cells in zip(placed, drawn, strict=True):
                cells += place.cells
            return np.clip(drawn, -RESULT_CELLS, RESULT_CELLS, out=drawn).T

        return in_blocks(len(secrets[0]) if matrix is None else len(matrix), draw, dimension)

    def _noise(self, placed: Sequence[Placed], count: int) -> Integers:
        """Noise around the secrets, in cells: a row for each coordinate."""
        if self.norm == 1 or len(placed) == 1:
            return np.stack([nearest_integers(LineNoise(self._scale, place), count)[0] for place in placed])
        if self.norm == 2:
            plane = len(placed) == 2
            formula = PlaneNoise(self._scale, placed) if plane else EuclideanNoise(self._scale, placed)
            return nearest_integers(formula, count)
        return nearest_integers(CubeNoise(self._scale, placed), count)

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
            raise ArgumentError("the error depends on the dimension: give dim= to laplace")
        return self.dim

    def _explain_error(self) -> str:
        if self.dim is None:
            return "Error to expect: it depends on the dimension; give dim= to laplace."
        return super()._explain_error()
