"""Advanced composition of metrics: many small charges cost less than their sum, for a delta fixed in advance.

For levels ε_1, .., ε_n between two secrets, the textbook's bound ``sqrt(2 ln(1/δ') Σ ε_i²) + Σ ε_i tanh(ε_i/2)`` is
a number for that pair. Taken for all pairs at once it is no metric: on three points in a row it breaks the triangle
inequality, and with a delta nothing may be chained over the point in the middle. So two things are kept apart here:

- `advanced_metric`, a metric: ``sqrt(2 ln(1/δ')) sqrt(Σ d_i²) + Σ tanh(D_i/2) d_i``, with D_i the greatest distance of
  d_i. It is nowhere below the textbook's bound, for tanh grows. It holds for charges whose levels are fixed in advance.
- `advanced_epsilon`, the textbook's number for stated distances. It is never a `Metric`, never closed, never chained.

A ledger lets levels be chosen one by one, in the light of earlier answers, and stops by what was charged. That is a
filter, and its theorem has ``Σ ε_i²/2`` in place of ``Σ ε_i tanh(ε_i/2)``. So the metric that an account keeps is
``sqrt(2 ln(1/δ')) sqrt(Σ d_i²) + Σ (D_i/2) d_i``, which is nowhere below ``sqrt(2 ln(1/δ') Σ d_i²) + Σ d_i²/2``.

References:
    Dwork, Rothblum, Vadhan 2010, and Kairouz, Oh, Viswanath 2015, for the bound in advance. Whitehouse, Ramdas, Rogers,
    Wu 2023, *Fully-Adaptive Composition in Differential Privacy*, for the filter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from flint import arb

from metricdp.errors import ArgumentError, LevelError, MetricDPError
from metricdp.exact.balls import Enclosure, ball, enclose
from metricdp.exact.level import Level, rational
from metricdp.exact.level_sums import LevelSum
from metricdp.exact.outward import Bound
from metricdp.ledger.terms import MetricTerm, metric_of, terms_of
from metricdp.metrics import Metric
from metricdp.metrics.amounts import exact_ball
from metricdp.metrics.records import Attributes

__all__ = ["advanced_epsilon", "advanced_metric", "combined_level", "greatest_distance", "share"]

_BITS = 256


def advanced_metric(
    metrics: Sequence[Metric], delta: float | str | Fraction | Decimal, *, points: Sequence[Any] | None = None
) -> Metric | None:
    """A metric that bounds all of these together, up to ``delta``, for levels that are fixed in advance.

    Where metrics have several terms, such as attributes, the root is split among them by Minkowski's inequality. Levels
    are rounded up to rationals.

    Args:
        metrics: of the releases, at least one.
        delta: δ', in (0, 1); the deltas of the releases come on top.
        points: the secrets, where they are finitely many; they tell how far apart two secrets can be.

    Returns:
        The metric, or None where a greatest distance is infinite: then nothing is gained over the sum.

    >>> from metricdp.metrics import discrete
    >>> bound = advanced_metric([discrete() / 100] * 200, "1e-6")
    >>> round(bound("a", "b"), 3), round(200 * 0.01, 3)
    (0.753, 2.0)
    """
    if not metrics:
        raise ArgumentError("there are no metrics to compose")
    small = share(delta)
    greatest = [greatest_distance(metric, points) for metric in metrics]
    if math.inf in greatest:
        return None

    def levels(term: MetricTerm) -> Enclosure:
        def value() -> arb:
            squares, drift = ball(0), ball(0)
            for terms, bound in zip(every, greatest, strict=True):
                if term in terms:
                    level = terms[term].ball()
                    squares += level * level
                    drift += level * (exact_ball(bound) / 2).tanh()
            return (2 * (1 / ball(small)).log()).sqrt() * squares.sqrt() + drift

        return enclose(value, _BITS)

    every = [terms_of(metric) for metric in metrics]
    distinct = dict.fromkeys(term for terms in every for term in terms)
    united = {term: LevelSum(Fraction(levels(term).upper)) for term in distinct}
    names = [name for metric in metrics if isinstance(metric.unit, Attributes) for name in metric.unit.names]
    return metric_of(united, list(dict.fromkeys(names)))


def advanced_epsilon(
    distances: Sequence[int | float | Fraction | Level], delta: float | str | Fraction | Decimal
) -> Bound:
    """The epsilon of several releases together, for two secrets at these distances in them, up to ``delta``.

    ``sqrt(2 ln(1/δ') Σ d_i²) + Σ d_i tanh(d_i/2)``, or the sum of the distances where that is less; rounded up. It is a
    number for two secrets, and no metric: for two others it is computed anew, and it is never chained over a third.

    >>> float(round(advanced_epsilon([0.01] * 1000, "1e-6"), 3))
    1.712
    """
    small = share(delta)
    levels = [
        distance if isinstance(distance, Level) else Level(rational(distance, "distance")) for distance in distances
    ]
    if any(level.coefficient < 0 for level in levels):
        raise LevelError("a distance is not negative")

    def value() -> arb:
        balls = [level.ball() for level in levels]
        squares = sum((one * one for one in balls), ball(0))
        drift = sum((one * (one / 2).tanh() for one in balls), ball(0))
        return ((2 * (1 / ball(small)).log() * squares).sqrt() + drift).min(sum(balls, ball(0)))

    return Bound.above(enclose(value, _BITS))


def combined_level(squares: Fraction, drift: Fraction, delta: Fraction) -> Fraction:
    """``sqrt(2 ln(1/δ') squares) + drift``, rounded up: the level of one term of the metric that an account keeps."""
    return Fraction(enclose(lambda: (2 * (1 / ball(delta)).log() * ball(squares)).sqrt() + ball(drift), _BITS).upper)


def greatest_distance(metric: Metric, points: Sequence[Any] | None = None) -> Level | Fraction | float:
    """A number that no distance exceeds, on the points where they are given; infinite where none is known."""
    known = metric.greatest
    if isinstance(known, Level) or points is None:
        return known
    try:
        return metric.enclose(*metric.farthest(points)).upper
    except MetricDPError:  # these points are not what the metric is about
        return math.inf


def share(delta: float | str | Fraction | Decimal) -> Fraction:
    """A δ' that can be used."""
    exact = rational(delta, "delta")
    if not 0 < exact < 1:
        raise LevelError("the delta of advanced composition lies between 0 and 1")
    return exact
