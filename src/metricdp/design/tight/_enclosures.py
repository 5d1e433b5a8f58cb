"""The least scale above which a tight-constraints mechanism always exists, by enclosures over intervals of scales.

For ``Q(s) a(s) = 1`` with the entries ``Σ exp(-s t)``, the solution near a scale s0 is close to its Taylor polynomial
``y(τ) = y_0 + y_1 τ + .. + y_p τ^p``, with ``y_k = -R Σ_j q_j y_{k-j}`` for an approximate inverse R of Q(s0) and the
derivatives ``q_j = Q^{(j)}(s0) / j!``. The residual ``r = 1 - Q y`` is bounded over all of ``0 <= τ <= h``, rounding
included, and so is ``ρ >= ‖I - R Q‖``; then every entry of ``a - y`` is at most ``|R| r + ρ / (1 - ρ) ‖ |R| r ‖``.

Far above, where all entries off the diagonal sum to less than 1 in every row, ``a = (I + E² + E⁴ + ..)(I - E) 1 > 0``.
From there intervals are laid downward, each with a proof that ``a > 0`` on all of it, until the first scale at which
an entry is zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from metricdp.design.distance_classes import DistanceClasses
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, float_above, precision
from metricdp.exact.progress import Stopwatch

__all__ = ["Bracket", "least_by_enclosures"]

_ORDER = 4
_UNIT = 2.0**-53
_NEAR = 3e-10
_SMALLEST_STEP = 1e-7
_HIDDEN = 1e-250
"""More than what ``exp(-s t) (s t)^k / k!`` can be where floats cannot hold exp(-s t) well, below 1e-290."""

_LARGEST = 1e50
"""Distances that differ by more than this factor leave floats no room."""

_MOST_BITS = 1 << 16
_MOST_STEPS = 5000


@dataclass(frozen=True)
class Bracket:
    """Where the least scale is.

    Attributes:
        upper: from here on a mechanism always exists: proved.
        lower: here none exists, so the least scale is above: proved. 0 where no such place was found. Nearer to
            ``upper`` than 1e-9 over the least distance.
        steps: how many intervals the proof has.
    """

    upper: Fraction
    lower: Fraction
    steps: int


@dataclass(frozen=True, eq=False)
class _Model:
    """The Taylor polynomial at one scale, with errors over an interval of scales above it.

    Attributes:
        coefficients: ``y_k``, a row for each k.
        steady: what every entry may be off at τ = 0, and its part that does not grow like τ^(p+1).
        growing: the factor of τ^(p+1) of what it may be off on top.
    """

    coefficients: Floats
    steady: Floats
    growing: Floats

    def positive_until(self, step: float) -> bool:
        """Whether every entry is positive for ``0 <= τ <= step``."""
        y = self.coefficients
        powers = step ** np.arange(len(y))
        swing = np.abs(y[2:]).T @ powers[2:] + step ** len(y) * self.growing
        margin = self.steady * 1.001 + 16 * _UNIT * (np.abs(y[0]) + np.abs(y[1]) * step + swing)
        far_from_zero = y[0] - np.abs(y[1]) * step - swing > margin
        rising = (y[0] > margin) & (y[1] * step >= swing * 1.001)
        return bool((far_from_zero | rising).all())

    @property
    def negative(self) -> bool:
        """Whether some entry is negative at τ = 0."""
        return bool((self.coefficients[0] + self.steady * 1.001 < 0).any())


class _Scales:
    """The quotient matrix as a function of the scale.

    Distances are divided by ``2^shift``, so that the least is between 1 and 2, and scales are multiplied by it.
    """

    def __init__(self, classes: DistanceClasses) -> None:
        self.classes = classes
        values = [_near(classes, i, j) if i != j else Fraction(0) for i, j in classes.pairs]
        self.shift = _exponent(min((value for value in values if 0 < value < math.inf), default=Fraction(1)))
        self.distances = np.array([_scaled(value, -self.shift) for value in values])
        order = np.argsort(classes.labels, kind="stable")
        self.codes = classes.codes[np.ix_(classes.leaders, order)]
        self.starts = np.concatenate([[0], np.cumsum(classes.sizes)[:-1]])
        self.finite = np.where(np.isfinite(self.distances), self.distances, 0.0)
        self.terms = len(order) + 16

    def decays(self, scale: float) -> Floats:
        """``exp(-s t)`` for every different distance, within ``(s t + 4) 2^-52`` of it, relatively."""
        with precision(96):
            held = ball(scale)
            falls = [0.0 if math.isinf(t) else float((-held * ball(t)).exp()) for t in self.distances.tolist()]
        return np.array(falls)

    def summed(self, by_code: Floats) -> Floats:
        """One entry for each two classes: the sum over the points of the second."""
        return np.asarray(np.add.reduceat(by_code[self.codes], self.starts, axis=1))

    @cached_property
    def top(self) -> float:
        """A scale from which on all entries off the diagonal sum to less than 1 in every row."""
        low, high = 0.0, 1.0
        while not self._scattered(high):
            low, high = high, 2 * high
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (low, middle) if self._scattered(middle) else (middle, high)
        return high

    def _scattered(self, scale: float) -> bool:
        above = self.decays(scale) * (1 + 4 * _UNIT * (self.terms + scale * self.finite)) + _HIDDEN
        return bool((above[self.codes].sum(axis=1) * (1 + 2 * self.terms * _UNIT) < 2).all())

    def solution(self, scale: float) -> Floats:
        """The solution in floats."""
        matrix = self.summed(self.decays(scale))
        return np.asarray(np.linalg.solve(matrix, np.ones(len(matrix))))

    def model(self, scale: float, step: float) -> _Model | None:
        """The Taylor polynomial at a scale, proved over the interval from there to ``scale + step``."""
        falls, t = self.decays(scale), self.finite
        derivatives = [self.summed(falls * (-t) ** k / math.factorial(k)) for k in range(_ORDER + 1)]
        magnitudes = [np.abs(q) for q in derivatives]  # all terms of one sum have the same sign
        slack = 2 * _UNIT * (scale * t + self.terms + 8)
        hidden = [self.terms * _HIDDEN * max(1.0, 1 / scale) ** k for k in range(_ORDER + 2)]
        errors = [self.summed(falls * t**k / math.factorial(k) * slack) + hidden[k] for k in range(_ORDER + 1)]
        last = self.summed(falls * t ** (_ORDER + 1) / math.factorial(_ORDER + 1)) * 1.001  # falls only shrink above
        last = last + hidden[_ORDER + 1]
        try:
            inverse = np.linalg.inv(derivatives[0])
        except np.linalg.LinAlgError:
            return None
        size = np.abs(inverse)
        ones = np.ones(len(inverse))
        first = inverse @ ones
        first = first + inverse @ (ones - derivatives[0] @ first)
        y = [first]
        for k in range(1, _ORDER + 1):
            y.append(-inverse @ sum((derivatives[j] @ y[k - j] for j in range(1, k + 1)), np.zeros(len(ones))))
        steady = np.zeros(len(ones))
        for k in range(_ORDER + 1):
            residual = np.abs((ones if k == 0 else 0) - sum(derivatives[j] @ y[k - j] for j in range(k + 1)))
            rounding = sum(
                (errors[j] + self.terms * 2 * _UNIT * magnitudes[j]) @ np.abs(y[k - j]) for j in range(k + 1)
            )
            steady += step**k * (residual + rounding + 4 * _UNIT)
        growing = np.zeros(len(ones))
        for k in range(_ORDER + 1):
            growing += step**k * (last @ np.abs(y[k]))
            for j in range(_ORDER + 1):
                if j + k > _ORDER:
                    growing += step ** (j + k - _ORDER - 1) * ((magnitudes[j] + errors[j]) @ np.abs(y[k]))
        rest = np.abs(np.eye(len(ones)) - inverse @ derivatives[0])
        rest += size @ (errors[0] + 4 * self.terms * _UNIT * magnitudes[0])
        for k in range(1, _ORDER + 1):
            rest += step**k * (
                np.abs(inverse @ derivatives[k]) + size @ (errors[k] + self.terms * 4 * _UNIT * magnitudes[k])
            )
        rest += step ** (_ORDER + 1) * (size @ last)
        contraction = float(rest.sum(axis=1).max()) * 1.001
        if not contraction < 0.9:
            return None
        beyond = contraction / (1 - contraction)
        parts = [(size @ part) * 1.001 for part in (steady, growing)]
        return _Model(np.array(y), *(part + beyond * part.max() * 1.001 for part in parts))


def least_by_enclosures(
    classes: DistanceClasses, floor: float = 0.0, gap: float = 0.0, watch: Stopwatch | None = None
) -> Bracket:
    """The least scale above which a mechanism always exists, for any distances.

    Args:
        classes: the distances and the classes of points.
        floor: stop there at the latest, in units of 1 over the largest distance.
        gap: how near to each other, relatively, the ends of the bracket need to be; they are not nearer than 6e-10.
        watch: says when to stop.

    Raises:
        ArgumentError: if two distances differ by a factor too large for floats, or one cannot be enclosed closely.
    """
    clock = watch or Stopwatch()
    scales = _Scales(classes)
    unit = Fraction(2) ** -scales.shift
    floor /= max(1.0, float(scales.finite.max()))
    top, step, steps = float_above(scales.top), 0.05, 1
    while top > floor and steps < _MOST_STEPS and not clock.over:
        clock.tell(steps, unit="intervals", best=float_above(Fraction(top) * unit))
        start = max(top - step, 0.0)
        model = scales.model(start, (top - start) * (1 + 1e-9)) if start else None
        if model is not None and model.positive_until((top - start) * (1 + 1e-9)):
            top, step, steps = start, 1.5 * step, steps + 1
            continue
        crossing = _crossing(scales, start, top) if start else None
        if crossing is not None:
            near = max(_NEAR, 0.3 * gap) * min(1.0, crossing)
            above, below = crossing + near, crossing - near
            reach = (top - above) * (1 + 1e-9)
            model = scales.model(above, reach)
            under = scales.model(below, 0.0)
            if model is not None and model.positive_until(reach) and under is not None and under.negative:
                return Bracket(Fraction(above) * unit, Fraction(below) * unit, steps + 1)
        step /= 2
        if step < _SMALLEST_STEP * min(1.0, top):
            break
    return Bracket(Fraction(top) * unit, Fraction(0), steps)


def _near(classes: DistanceClasses, i: int, j: int) -> Fraction | float:
    """A distance to 60 bits or more; infinity where it is that."""
    points, bits = classes.space.points, 96
    if classes.space.metric.exactly(points[i], points[j]) == math.inf:
        return math.inf
    while bits <= _MOST_BITS:
        with precision(bits):
            distance = classes.space.ball(i, j)
            if distance.is_finite() and distance.rel_accuracy_bits() >= 60:
                return Fraction(Enclosure.of(distance).lower)
        bits *= 2
    raise ArgumentError("two points are so near to each other that their distance cannot be told from zero")


def _exponent(value: Fraction | float) -> int:
    """The power of two that is next below a number."""
    exact = Fraction(value)
    power = exact.numerator.bit_length() - exact.denominator.bit_length()
    return power if Fraction(2) ** power <= exact else power - 1


def _scaled(value: Fraction | float, shift: int) -> float:
    if value == math.inf:
        return math.inf
    scaled = Fraction(value) * Fraction(2) ** shift
    if scaled > _LARGEST:
        raise ArgumentError(f"two distances differ by more than a factor {_LARGEST:.0e}, which is too much for floats")
    return float(scaled)


def _crossing(scales: _Scales, low: float, high: float) -> float | None:
    """A scale between, in floats, at which an entry of the solution changes its sign."""
    if scales.solution(low).min() >= 0:
        return None
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if scales.solution(middle).min() < 0 else (low, middle)
    return high
