"""Functions on [0, T] as secrets: by their samples, or by coefficients in an orthonormal basis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, ShapeError, UnsupportedMetricError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Real
from metricdp.exact.level import LevelLike
from metricdp.exact.results import Result
from metricdp.mechanisms.containers import NotPrivate, marked
from metricdp.mechanisms.continuous.vectors import VectorLaplace
from metricdp.mechanisms.mechanism import Mechanism, resolution_for
from metricdp.mechanisms.picture import NoisePicture
from metricdp.metrics import Guarantee, Metric
from metricdp.metrics.functions import SquareIntegrable, Supremum
from metricdp.metrics.metric import as_metric
from metricdp.metrics.words import Measure

__all__ = [
    "CosineBasis",
    "Expansion",
    "FunctionExpansion",
    "FunctionSamples",
    "function_expansion",
    "function_samples",
]


@dataclass(frozen=True, repr=False)
class FunctionSamples(Mechanism):
    """Samples of a function at fixed times, with the noise of the maximum norm over all of them.

    Two functions' samples are at most as far apart as the functions, ``max |f(t_i) - g(t_i)| <= sup |f - g|``, so
    the guarantee holds for the functions themselves, however many samples are taken.

    Guarantee:
        ``metric``, a level times the supremum distance.

    References:
        Paper 2, Examples 2 and 4; paper 1, section 6.1.
    """

    metric: Metric
    times: tuple[float, ...]
    noise: VectorLaplace

    @property
    def guarantee(self) -> Guarantee:
        """``metric``, with no delta."""
        return Guarantee(self.metric)

    @property
    def resolution(self) -> Fraction:
        """Of each sample."""
        return self.noise.resolution

    def words(self, measure: Measure | None = None) -> str:
        """With the number of samples."""
        return f"{self.noise.words(Measure(self._measure(measure).unit, 'sample'))}"

    def _picture(self, unit: str) -> NoisePicture:
        return self.noise._picture(unit)

    def release(self, secrets: Any) -> Any:
        """A callable or one array of samples gives an array of samples; rows of samples give rows."""
        if callable(secrets):
            return marked(np.array(self.noise.release([secrets(time) for time in self.times]), dtype=np.float64))
        return self.noise.release(secrets)

    def probability_within(self, distance: float) -> float:
        """The probability that no sample is off by more than ``distance``."""
        return self.noise.probability_within(distance)

    def _unit_error(self) -> float:
        return self.noise._unit_error()


@dataclass(frozen=True)
class CosineBasis:
    """``1 / sqrt(T), sqrt(2 / T) cos(k pi t / T)``: orthonormal on [0, T].

    >>> basis = CosineBasis(2.0, 3)
    >>> t = (np.arange(1000) + 0.5) / 500
    >>> np.round(basis(t) @ basis(t).T / 500, 6) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    length: float
    terms: int

    def __call__(self, times: Any) -> Floats:
        """The basis at the times, one row for each of its functions."""
        orders = np.arange(self.terms)[:, np.newaxis]
        values: Floats = np.cos(math.pi * orders * np.asarray(times, dtype=np.float64) / self.length)
        values *= math.sqrt(2 / self.length)
        values[0] /= math.sqrt(2)
        return values


@dataclass(frozen=True)
class Expansion(Result):
    """A function released by its coefficients."""

    coefficients: NDArray[Any]
    basis: Callable[[Any], Floats]

    def __call__(self, times: Any) -> Floats:
        """The function's values."""
        values: Floats = np.asanyarray(self.coefficients, dtype=np.float64) @ self.basis(times)  # a mark is kept
        return values

    def to_json(self) -> dict[str, Any]:
        """The function as plain values for JSON."""
        private = not isinstance(self.coefficients, NotPrivate)
        return {"coefficients": np.asarray(self.coefficients).tolist(), "private": private}


@dataclass(frozen=True, repr=False)
class FunctionExpansion(Mechanism):
    """The coefficients of a function in an orthonormal basis, with the noise of their Euclidean norm.

    By Bessel's inequality the coefficients of two functions are at most as far apart as the functions in L2,
    so the guarantee holds for the functions themselves, however many terms are kept. Coefficients are taken as they are
    given: computing them from samples is the caller's own rounding, before the secret is what it is.

    Guarantee:
        ``metric``, a level times the L2 distance.

    References:
        Paper 2, Example 2.
    """

    metric: Metric
    basis: CosineBasis
    noise: VectorLaplace

    @property
    def guarantee(self) -> Guarantee:
        """``metric``, with no delta."""
        return Guarantee(self.metric)

    @property
    def resolution(self) -> Fraction:
        """Of each coefficient."""
        return self.noise.resolution

    def words(self, measure: Measure | None = None) -> str:
        """With the number of terms."""
        return f"{self.noise.words(Measure(self._measure(measure).unit, 'coefficient'))}"

    def _picture(self, unit: str) -> NoisePicture:
        return self.noise._picture(unit)

    def release(self, secrets: Any) -> Any:
        """Coefficients of one function give an `Expansion`; rows of coefficients a list of them."""
        if not hasattr(secrets, "__len__"):
            raise ShapeError("coefficients are wanted: one row for each function")
        released = self.noise.release(secrets)
        # Of a list, how large its numbers are would decide the type.
        dtype = np.float64 if isinstance(released, list) else None
        rows = marked(np.asarray(released.to_numpy() if hasattr(released, "to_numpy") else released, dtype=dtype))
        if rows.ndim == 1:
            return Expansion(rows, self.basis)
        return [Expansion(row, self.basis) for row in rows]

    def probability_within(self, distance: float) -> float:
        """The probability that the released function is within ``distance`` in L2, if the secret has no other terms."""
        return self.noise.probability_within(distance)

    def _unit_error(self) -> float:
        return self.noise._unit_error()


def function_samples(metric: Metric, times: Sequence[float], resolution: LevelLike | None = None) -> FunctionSamples:
    """Release samples of a function at the given, public, times.

    >>> import metricdp as mdp
    >>> K = function_samples(mdp.metrics.supremum().within(0.5), times=[0, 1, 2])
    >>> K.release(lambda t: t * t).shape
    (3,)
    """
    if not isinstance(as_metric(metric).unit, Supremum):
        raise UnsupportedMetricError("function_samples takes a multiple of supremum()")
    at = tuple(float(time) for time in times)
    if not at:
        raise ArgumentError("at least one time is wanted")
    return FunctionSamples(metric, at, _vector(metric, math.inf, len(at), resolution))


def function_expansion(
    metric: Metric, length: float, terms: int, resolution: LevelLike | None = None
) -> FunctionExpansion:
    """Release a function on [0, length] by its first coefficients in the cosine basis.

    >>> import metricdp as mdp
    >>> K = function_expansion(mdp.metrics.square_integrable().within(0.5), length=24, terms=4)
    >>> K.release([1.0, 0.5, 0.0, 0.25])([0.0, 12.0]).shape
    (2,)
    """
    if not isinstance(as_metric(metric).unit, SquareIntegrable):
        raise UnsupportedMetricError("function_expansion takes a multiple of square_integrable()")
    if not length > 0 or terms < 1:
        raise ArgumentError(f"a positive length and at least one term are wanted, not {length} and {terms}")
    return FunctionExpansion(metric, CosineBasis(float(length), terms), _vector(metric, 2, terms, resolution))


def _vector(metric: Metric, norm: float, dim: int, resolution: LevelLike | None) -> VectorLaplace:
    return VectorLaplace(metric, norm, dim, resolution_for(Real(lambda: 1 / metric.level.ball()), resolution))
