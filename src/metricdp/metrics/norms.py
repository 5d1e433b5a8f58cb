"""Many distances combined into one by the norms 1, 2 and infinity: in floats, exactly, and in balls."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, fmpz

from metricdp.exact.arrays import Floats
from metricdp.exact.level import Level
from metricdp.metrics.amounts import Exact

__all__ = ["COMBINE", "Root", "ball_norm", "exact_norm", "exact_sum", "root_norm"]

_LONGEST = 1 << 16  # bits of a base
_HIGHEST = 1 << 10

COMBINE: dict[float, Callable[[Floats, Floats], Floats]] = {1: np.add, 2: np.hypot, math.inf: np.maximum}
"""For each norm, how to add one more distance."""


def exact_norm(distances: Sequence[Exact | None], p: float) -> Exact | None:
    """The norm of distances, where it is rational or infinite.

    >>> exact_norm([Fraction(3), Fraction(4)], 2)
    Fraction(5, 1)
    """
    if math.inf in distances:
        return math.inf
    rationals = [distance for distance in distances if isinstance(distance, Fraction)]
    if len(rationals) < len(distances):
        return None
    if p == 1:
        return sum(rationals, Fraction(0))
    if p == math.inf or len(rationals) == 1:
        return max(rationals)
    return _rational_root(sum((distance**2 for distance in rationals), Fraction(0)))


def exact_sum(distances: Sequence[Exact | None]) -> Exact | None:
    """Their sum, where it is rational or infinite."""
    return exact_norm(distances, 1)


@dataclass(frozen=True)
class Root:
    """The real number ``base ** (1 / degree)``, for a positive rational base: exp of a sum of rational logarithms.

    >>> Root(Fraction(2), 2) * Root(Fraction(8), 2) == Root(Fraction(4)), Root(Fraction(2), 2) < Root(Fraction(3, 2))
    (True, True)
    """

    base: Fraction
    degree: int = 1

    @classmethod
    def of(cls, logarithm: Level) -> Root | None:
        """The exponential of a rational multiple of a logarithm; None of another number, or where it is too long."""
        return None if logarithm.log_of is None else cls(logarithm.log_of).to_the(logarithm.coefficient)

    @property
    def rational(self) -> Fraction | None:
        """The number as a Fraction, where it is one.

        >>> Root(Fraction(4, 9), 2).rational, Root(Fraction(2), 2).rational
        (Fraction(2, 3), None)
        """
        top, bottom = (int(fmpz(part).root(self.degree)) for part in (self.base.numerator, self.base.denominator))
        root = Fraction(top, bottom)
        return root if root**self.degree == self.base else None

    def to_the(self, power: Fraction) -> Root | None:
        """This number to a positive power; None where it is too long."""
        degree = self.degree * power.denominator
        length = power.numerator * max(self.base.numerator, self.base.denominator).bit_length()
        return None if length > _LONGEST or degree > _HIGHEST else Root(self.base**power.numerator, degree)

    def __mul__(self, other: Root) -> Root:
        degree = math.lcm(self.degree, other.degree)
        return Root(self.base ** (degree // self.degree) * other.base ** (degree // other.degree), degree)

    def __lt__(self, other: Root) -> bool:
        return self.base**other.degree < other.base**self.degree

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and self.base**other.degree == other.base**self.degree

    __hash__ = None  # type: ignore[assignment]


def root_norm(roots: Sequence[Root | None], p: float) -> Root | None:
    """The exponential of a norm of distances, from that of each, where it is a root.

    >>> root_norm([Root(Fraction(2)), Root(Fraction(3))], 1)
    Root(base=Fraction(6, 1), degree=1)
    """
    known = [root for root in roots if root is not None]
    if len(known) < len(roots):
        return None
    if p == math.inf:
        return functools.reduce(lambda one, two: two if one < two else one, known)
    changed = [root for root in known if root.base != 1]
    if p != 1 and len(changed) > 1:
        return None
    product = functools.reduce(operator.mul, changed, Root(Fraction(1)))
    return product if product.degree <= _HIGHEST else None


def ball_norm(distances: Sequence[arb], p: float) -> arb:
    """The norm of distances that are balls."""
    if p == math.inf:
        largest = distances[0]
        for distance in distances[1:]:
            largest = largest.max(distance)
        return largest
    if p == 1:
        return sum(distances, arb(0))
    return sum((distance * distance for distance in distances), arb(0)).sqrt()


def _rational_root(square: Fraction) -> Fraction | None:
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    return Fraction(top, bottom) if top**2 == square.numerator and bottom**2 == square.denominator else None
