"""The metric that noise is drawn for, where that is not the metric asked for."""

from __future__ import annotations

from metricdp.errors import UnsupportedMetricError
from metricdp.metrics import Added, Metric, records
from metricdp.metrics.algebra import Maximum
from metricdp.metrics.blowfish import Hops, Smooth
from metricdp.metrics.dates import Dates
from metricdp.metrics.metric import as_metric
from metricdp.metrics.records import Records
from metricdp.metrics.sphere import GreatCircle
from metricdp.metrics.vectors import Absolute, Norm

__all__ = ["noise_metric", "norm_of", "on_the_line"]


def noise_metric(metric: Metric) -> Metric:
    """A metric that is nowhere above the given one, and for which exp(-d(x, z)) is a density on the whole space.

    A mechanism that is private for the smaller metric is private for the larger (paper 1, Proposition 1).

    >>> from metricdp.metrics import absolute, smooth
    >>> print(noise_metric(smooth(absolute(), 10, 1)))
    0.1·|x − y|
    """
    unit = as_metric(metric).unit
    if isinstance(unit, (Norm, GreatCircle, Dates)):
        return metric
    if isinstance(unit, Records) and isinstance(unit.base.unit, Absolute):
        return metric.level * unit.base.level * records(unit.base.unit, unit.p)
    if isinstance(unit, (Smooth, Hops)):
        # Within the threshold the distance is 1, beyond it at least base / threshold.
        return noise_metric(metric.level / unit.threshold * unit.base)
    if isinstance(unit, (Added, Maximum)):
        for part in unit.parts:
            try:
                return noise_metric(metric.level * part)
            except UnsupportedMetricError:
                continue
    raise UnsupportedMetricError(
        f"no Laplace density on a whole space for {unit}: for a declared list of values use exponential(Space(values, "
        "metric)), randomized_response or set_response"
    )


def norm_of(unit: Metric) -> float:
    """1, 2 or infinity: the norm that an unscaled noise metric is."""
    if isinstance(unit, (Norm, Records)):
        return unit.p
    raise UnsupportedMetricError(f"{unit} is not the norm of a difference")


def on_the_line(metric: Metric) -> Metric:
    """The noise metric of a metric between numbers; refuses any other."""
    found = noise_metric(metric)
    if not isinstance(found.unit, Absolute):
        raise UnsupportedMetricError(f"a metric between numbers is wanted, such as absolute(), not {metric.unit}")
    return found
