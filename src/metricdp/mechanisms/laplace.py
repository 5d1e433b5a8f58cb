"""Which Laplace mechanism serves a metric."""

from __future__ import annotations

from typing import Any

from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.exact.balls import Real
from metricdp.exact.level import LevelLike
from metricdp.mechanisms.continuous._noise_metric import noise_metric, norm_of
from metricdp.mechanisms.continuous.line import line_laplace, parse_bounds
from metricdp.mechanisms.continuous.nulls import nullable_laplace
from metricdp.mechanisms.continuous.sphere import sphere_laplace
from metricdp.mechanisms.continuous.vectors import VectorLaplace
from metricdp.mechanisms.exponential import exponential
from metricdp.mechanisms.mechanism import Mechanism, resolution_for
from metricdp.mechanisms.product import independent
from metricdp.metrics import Metric, Space
from metricdp.metrics.finite import Listed
from metricdp.metrics.nullable import Nullable
from metricdp.metrics.records import Attributes
from metricdp.metrics.sphere import GreatCircle

__all__ = ["laplace"]


def laplace(
    metric: Metric,
    dim: int | None = None,
    resolution: LevelLike | None = None,
    bounds: tuple[Any, Any] | None = None,
) -> Mechanism:
    """The Laplace mechanism for a metric: density proportional to exp(-d(x, z)), rounded exactly to a grid.

    On the line and for dates; in R^n for the L1, L2 and L-infinity norms, and for functions by their samples or
    coefficients; on the globe; for records, attribute by attribute; over the listed points of a matrix, a network or
    a taxonomy (there it is `exponential`). Thresholds, sums and maxima of metrics are served by the noise of a metric
    that is nowhere above them.

    Args:
        metric: with its level, such as ``metrics.great_circle().within(200)``.
        dim: the dimension, for vectors; taken from the data's shape where it is not given.
        resolution: the width of the grid that releases are rounded to. By default a power of two near a millionth
            of the noise's scale; it never depends on the data.
        bounds: for numbers, the declared least and greatest; secrets outside are refused, releases clamped.

    References:
        Paper 1, Definition 6, Fact 7 and Fig. 2.

    >>> import metricdp as mdp
    >>> K = mdp.laplace(mdp.metrics.absolute().within(5))
    >>> K.guarantee.odds(5)
    2.0
    >>> round(K.radius(0.95), 2)
    21.61
    """
    if not isinstance(metric, Metric):
        raise UnsupportedMetricError(f"laplace takes a metric, such as metrics.absolute(), not {type(metric).__name__}")
    unit = metric.unit
    if bounds is not None and not _on_a_line(metric):
        raise ArgumentError("bounds are for numbers and dates on a line")
    if dim is not None and isinstance(unit, Nullable | Listed | Attributes | GreatCircle):
        raise ArgumentError(f"dim is for points of R^n, not {unit}")
    if isinstance(unit, Nullable):
        return nullable_laplace(metric, bounds, resolution)
    if isinstance(unit, Listed):
        return exponential(Space(unit.listed, metric))
    if isinstance(unit, Attributes):
        return independent(*(laplace(metric.level * part) for _, part in unit.metrics))
    metric = noise_metric(metric)
    unit = metric.unit
    if isinstance(unit, GreatCircle):
        return sphere_laplace(metric, resolution)
    if unit.on_line:
        if dim not in (None, 1):
            raise ArgumentError(
                f"{unit} is a metric on the line; use euclidean(), manhattan() or chebyshev() for points"
            )
        return line_laplace(metric, resolution, None if bounds is None else parse_bounds(bounds))
    if dim is not None and (isinstance(dim, bool) or not isinstance(dim, int) or dim < 1):
        raise ArgumentError("dim, the dimension, is a positive integer")
    width = resolution_for(Real(lambda: 1 / metric.level.ball()), resolution)
    return VectorLaplace(metric, norm_of(unit), dim, width)


def _on_a_line(metric: Metric) -> bool:
    unit = metric.unit
    if isinstance(unit, Listed | Attributes):
        return False
    return noise_metric(metric.without_null()).on_line
