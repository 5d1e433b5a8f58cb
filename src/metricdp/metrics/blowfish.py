"""Metrics that protect within a threshold: Blowfish's, and the one that goes on smoothly beyond it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball, decide_sign, float_above, float_below, precision
from metricdp.exact.level import LevelLike
from metricdp.metrics.amounts import Exact, formula, positive
from metricdp.metrics.coordinates import frozen
from metricdp.metrics.enclosures import Enclosures, amount_bounds
from metricdp.metrics.graph import Graph
from metricdp.metrics.metric import Metric, as_metric

__all__ = ["Hops", "Smooth", "blowfish", "smooth"]

_BITS = (64, 256, 1024, 4096)


@dataclass(frozen=True, repr=False)
class Hops(Metric):
    """How many hops of length at most ``threshold`` it takes; see `blowfish`.

    Where the base is geodesic, there is always a place to land and it takes ⌈d/T⌉. Elsewhere nothing is known of the
    places in between, so that it is one hop or none can be had: then only its closure over given points is a metric.

    Attributes:
        base: the length of a hop.
        threshold: the longest hop T.
    """

    base: Metric
    threshold: Fraction
    kind: ClassVar[str] = "blowfish"
    typical: ClassVar[tuple[int, ...]] = (1, 2, 5)
    _unit_name: ClassVar[str | None] = "hops"

    @property
    def grows(self) -> bool:
        """Whether the base does."""
        return self.base.grows

    @property
    def proven(self) -> bool:
        """Whether there is always a place to land."""
        return self.base.geodesic and self.base.proven

    def _pairwise(self, points: Any, others: Any) -> Floats:
        left, right = list(points), list(others)
        ratio = self.base.pairwise(left, right) / float_below(self.threshold)
        hops = np.ceil(ratio) if self.base.geodesic else np.where(ratio > 1, math.inf, np.ceil(ratio))
        with np.errstate(invalid="ignore"):
            undecided = abs(ratio - np.round(ratio)) <= 1e-9 * np.maximum(ratio, 1)  # a float may be on the wrong side
        for i, j in np.argwhere(undecided & np.isfinite(ratio)).tolist():
            hops[i, j] = float(self.enclose(left[i], right[j]))
        return hops

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        ratio = self.base._enclosures(points, others).times(amount_bounds(1 / self.threshold))
        lower, upper = np.ceil(ratio.lower), np.ceil(ratio.upper)
        if not self.base.geodesic:
            lower, upper = np.where(lower > 1, math.inf, lower), np.where(upper > 1, math.inf, upper)
        return Enclosures(lower, upper)

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        distance = self.base.exactly(x, y)
        if distance == math.inf:
            return distance
        if distance is not None:
            return self._landed(math.ceil(distance / self.threshold))
        for bits in _BITS:
            with precision(bits):
                hops = self._ratio(x, y).ceil().unique_fmpz()
            if hops is not None:
                return self._landed(int(hops))
        return None

    def integers(self, points: Sequence[Any]) -> NDArray[np.int64] | None:
        """Where the base has them, and there is always a place to land."""
        base = self.base.integers(points) if self.base.geodesic else None
        long, short = self.threshold.numerator, self.threshold.denominator
        if base is None or max(long, int(base.max(initial=0)) * short) >= 1 << 62:
            return None
        hops: NDArray[np.int64] = -(-(base * short) // long)
        return hops

    def _irrational(self, x: Any, y: Any) -> arb:
        return self._ratio(x, y).ceil()

    def _ratio(self, x: Any, y: Any) -> arb:
        return self.base.ball(x, y) / ball(self.threshold)

    def _landed(self, hops: int) -> Exact:
        return math.inf if hops > 1 and not self.base.geodesic else Fraction(hops)

    def _formula(self) -> str:
        return f"⌈{self.base.bracketed}/{formula(self.threshold)}⌉"


@dataclass(frozen=True, repr=False)
class Smooth(Metric):
    """See `smooth`.

    Attributes:
        base: the metric beyond the threshold.
        threshold: the distance T within which all secrets are equally far apart.
    """

    base: Metric
    threshold: Fraction
    kind: ClassVar[str] = "smooth"
    sound: ClassVar[bool] = True
    _unit_name: ClassVar[str | None] = ""

    @property
    def grows(self) -> bool:
        """Whether the base does."""
        return self.base.grows

    def _pairwise(self, points: Any, others: Any) -> Floats:
        distances = self.base.pairwise(points, others)
        return np.where(distances > 0, np.maximum(distances / float_below(self.threshold), 1.0), 0.0)

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        ratio = self.base._enclosures(points, others).times(amount_bounds(1 / self.threshold))
        lower, upper = (np.where(end > 0, np.maximum(end, 1.0), end) for end in (ratio.lower, ratio.upper))
        return Enclosures(lower, upper)

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        distance = self.base.exactly(x, y)
        if distance in (0, math.inf):
            return distance
        if distance is not None:
            return max(Fraction(1), Fraction(distance) / self.threshold)
        beyond = decide_sign(lambda: self.base.ball(x, y) - ball(self.threshold)) > 0
        return None if beyond else Fraction(1)

    def _irrational(self, x: Any, y: Any) -> arb:
        return (self.base.ball(x, y) / ball(self.threshold)).max(ball(1))

    def _formula(self) -> str:
        return f"max([x ≠ y], {self.base.bracketed}/{formula(self.threshold)})"


def blowfish(
    base: Metric,
    threshold: int | float | Fraction,
    epsilon: LevelLike = 1,
    universe: Sequence[Any] | None = None,
) -> Metric:
    """``ε`` between secrets within the threshold T, and ``ε`` for every further hop of length at most T.

    "ε within T, infinite beyond" is not a metric: two hops give 2ε. The largest metric that grants ε within T is ε
    times the fewest hops. On the whole of a geodesic space (the line, R^n, the sphere, time) that is ε·⌈d/T⌉. Over a
    finite ``universe`` hops land on its points only, so that distances are larger, or infinite.

    Without a universe, a base that is not geodesic gives "ε within T, infinite beyond", to be closed over points
    with ``closure(points)``.

    References:
        Paper 4, Section 4.4.

    >>> from metricdp.metrics import absolute
    >>> blowfish(absolute(), 5, 0.5)(0, 12)
    1.5
    >>> blowfish(absolute(), 5, 0.5, universe=[0, 4, 8, 12])(0, 12)
    1.5
    >>> blowfish(absolute(), 5, 0.5, universe=[0, 6, 12])(0, 12)
    inf
    """
    longest = positive(threshold, "threshold")
    if universe is None:
        return Hops(as_metric(base), longest) * epsilon
    points = tuple(frozen(point) for point in universe)
    apart = as_metric(base).enclosures(points)
    # A tie that cannot be decided counts as a hop: a shorter distance promises more privacy, never less.
    edges = tuple(
        (i, j, Fraction(1))
        for i, j in np.argwhere(np.triu(apart.lower <= float_above(longest), 1)).tolist()
        if apart.upper[i, j] < float_below(longest) or _within(base, points[i], points[j], longest)
    )
    return Graph(points, edges) * epsilon


def smooth(base: Metric, threshold: int | float | Fraction, epsilon: LevelLike = 1) -> Metric:
    """``ε`` between different secrets within the threshold T, and ``ε·d/T`` beyond it.

    References:
        Paper 4, Section 4.4.

    >>> from metricdp.metrics import absolute
    >>> d = smooth(absolute(), 5, 0.5)
    >>> d(0, 0), d(0, 1), d(0, 5), d(0, 20)
    (0.0, 0.5, 0.5, 2.0)
    """
    return Smooth(as_metric(base), positive(threshold, "threshold")) * epsilon


def _within(base: Metric, x: Any, y: Any, radius: Fraction) -> bool:
    return decide_sign(lambda: base.ball(x, y) - ball(radius)) <= 0
