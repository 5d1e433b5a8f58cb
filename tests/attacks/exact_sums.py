"""Sums of rationals and of rational multiples of logarithms, compared exactly: no tie looks like a leak, or hides one.

1 and the logarithms of the primes are independent over the rationals: no power of e is rational, and integers have one
factorisation. So two sums are equal just where their coefficients are, and otherwise balls of ever more bits tell which
is larger.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

from metricdp.exact.balls import ball, decide_sign
from metricdp.exact.level import Level


@functools.cache
def primes(number: int) -> tuple[tuple[int, int], ...]:
    """The primes of a positive integer, each with its power."""
    found: Counter[int] = Counter()
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found[divisor] += 1
            number //= divisor
        divisor += 1
    if number > 1:
        found[number] += 1
    return tuple(sorted(found.items()))


class Sum:
    """``number + Σ logs[p] ln p`` over primes p; ``infinite`` where it is beyond every number."""

    def __init__(self, number: Any = 0, logs: dict[int, Fraction] | None = None, infinite: bool = False) -> None:
        self.number = Fraction(number)
        self.logs = {prime: share for prime, share in (logs or {}).items() if share}
        self.infinite = infinite

    @classmethod
    def of_log(cls, share: Fraction, number: Fraction) -> Sum:
        """``share ln(number)``."""
        logs: Counter[int] = Counter()
        for value, sign in ((number.numerator, 1), (number.denominator, -1)):
            for prime, power in primes(value):
                logs[prime] += sign * power
        return cls(0, {prime: share * power for prime, power in logs.items()})

    @classmethod
    def of_level(cls, level: Level) -> Sum:
        """A level."""
        return cls(level.coefficient) if level.log_of is None else cls.of_log(level.coefficient, level.log_of)

    @classmethod
    def of_distance(cls, metric: Any, one: Any, two: Any) -> Sum:
        """The distance of two values, which must be rational or the logarithm of a root."""
        exact = metric.exactly(one, two)
        if exact is not None:
            return cls(infinite=True) if exact == math.inf else cls(exact)
        root = metric.exponential(one, two)
        if root is None:  # of two floats it can be a root of a degree that nobody writes down
            times = metric.unit.exactly(one, two)
            assert times is not None, "a distance that nobody can compare"
            return cls.of_level(metric.level) * Fraction(times)
        return cls.of_log(Fraction(1, root.degree), root.base)

    def __add__(self, other: Sum) -> Sum:
        logs = {p: self.logs.get(p, Fraction(0)) + other.logs.get(p, Fraction(0)) for p in {*self.logs, *other.logs}}
        return Sum(self.number + other.number, logs, self.infinite or other.infinite)

    def __mul__(self, factor: Fraction | int) -> Sum:
        return Sum(self.number * factor, {p: share * factor for p, share in self.logs.items()}, self.infinite)

    def __le__(self, other: Sum) -> bool:
        if self.infinite or other.infinite:
            return other.infinite
        left = self + other * -1
        if not left.logs:
            return left.number <= 0
        return (
            decide_sign(lambda: sum((ball(s) * ball(p).log() for p, s in left.logs.items()), ball(left.number)), 10**6)
            < 0
        )

    def __float__(self) -> float:
        if self.infinite:
            return math.inf
        return float(self.number) + sum(float(share) * math.log(prime) for prime, share in self.logs.items())


def least(one: Sum, two: Sum) -> Sum:
    """The smaller of two sums."""
    return one if one <= two else two


def most(one: Sum, two: Sum) -> Sum:
    """The larger of two sums."""
    return two if one <= two else one
