"""Distances as whole-number combinations of lengths that no rational relation ties, so that ties are decided exactly.

The distances of a space are written as ``Σ c_g γ_g / q`` with integers c_g and one integer q. The lengths γ are square
roots of square-free numbers (for rational and Euclidean distances) or logarithms of primes (for sums of logarithms),
which are linearly independent over the rationals: two sums of distances are equal if and only if their integers are.
Distances of any other kind are lengths of their own, and then a sum that cannot be told from another is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, fmpz

from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.errors import ArgumentError
from metricdp.exact.balls import Enclosure, ball, enclose, precision
from metricdp.exact.level import Level
from metricdp.metrics import Euclidean, Space
from metricdp.metrics.coordinates import vector

__all__ = ["Generator", "UnitLengths"]

_FACTORABLE = 1 << 80
_MOST_BITS = 1 << 15

Generator = tuple[Any, ...]
"""``("root", m)`` for √m, ``("log", p)`` for ln p, ``("pair", i, j)`` for the distance of two points."""

Sparse = dict[Generator, Fraction]


@dataclass(frozen=True, eq=False)
class UnitLengths:
    """The distances of a space by generators.

    Attributes:
        space: the points and the metric.
        level: what the lengths are multiplied by to give the metric's distances.
        parts: the points, one for each class at distance zero, in sets at infinite distance from each other.
        twins: for each point the first one at distance zero from it.
        generators: the lengths γ.
        denominator: the integer q.
        table: for each two points of one part, the integers c.

    >>> from metricdp.metrics import euclidean
    >>> found = UnitLengths.of(Space([(0, 0), (1, 1), (3, 1)], euclidean()))
    >>> found.generators, found.table[0, 1], found.table[1, 2], found.table[0, 2]
    ((('root', 1), ('root', 2), ('root', 10)), (0, 1, 0), (2, 0, 0), (0, 0, 1))
    """

    space: Space
    level: Level
    parts: tuple[tuple[int, ...], ...]
    twins: tuple[int, ...]
    generators: tuple[Generator, ...]
    denominator: int
    table: dict[tuple[int, int], tuple[int, ...]]

    @classmethod
    def of(cls, space: Space) -> UnitLengths:
        """Looks at every pair of points at a finite distance."""
        twins = constraints_matrix(space).representatives
        parts = _parts(space, [place for place in range(len(space)) if twins[place] == place])
        pairs = [(i, j) for part in parts for a, i in enumerate(part) for j in part[a + 1 :]]
        level, sparse = space.metric.level, [_in_units(space, i, j) for i, j in pairs]
        if None in sparse:
            whole = [_in_logarithms(space, i, j) for i, j in pairs]
            if None not in whole:
                level, sparse = Level(Fraction(1)), whole
        known = [
            value if value is not None else {("pair", *pair): Fraction(1)}
            for value, pair in zip(sparse, pairs, strict=True)
        ]
        generators = tuple(sorted({generator for value in known for generator in value}))
        denominator = math.lcm(*(part.denominator for value in known for part in value.values()))
        table = {}
        for (i, j), value in zip(pairs, known, strict=True):
            table[i, j] = table[j, i] = tuple(int(value.get(one, 0) * denominator) for one in generators)
        return cls(space, level, parts, twins, generators, denominator, table)

    def length(self, generator: Generator) -> arb:
        """One γ as a ball at the working precision."""
        kind = generator[0]
        if kind == "root":
            return ball(generator[1]).sqrt()
        if kind == "log":
            return ball(generator[1]).log()
        points = self.space.points
        return self.space.metric.unit.ball(points[generator[1]], points[generator[2]])

    def ball(self, coefficients: Sequence[int]) -> arb:
        """``Σ c γ / q`` as a ball at the working precision, before the level."""
        total = arb(0)
        for generator, coefficient in zip(self.generators, coefficients, strict=True):
            if coefficient:
                total += coefficient * self.length(generator)
        return total / self.denominator

    def view(self, coefficients: Sequence[int]) -> float:
        """``Σ c γ / q`` as a float, within a relative 2^-52."""
        if not any(coefficients):
            return 0.0
        bits = 80
        while bits <= _MOST_BITS:
            with precision(bits):
                value = self.ball(coefficients)
                if value.rel_accuracy_bits() > 60:
                    return float(Enclosure.of(value))
            bits *= 2
        return 0.0

    def sign(self, coefficients: Sequence[int]) -> int:
        """The sign of ``Σ c γ / q``, decided.

        Raises:
            ArgumentError: if it can neither be told from zero nor proved to be zero.
        """
        if not any(coefficients):
            return 0
        bits = 64
        while bits <= _MOST_BITS:
            with precision(bits):
                value = self.ball(coefficients)
                if value > 0:
                    return 1
                if value < 0:
                    return -1
            bits *= 2
        raise ArgumentError(
            "two sums of distances cannot be told apart, nor proved equal; use a metric with rational distances"
        )

    # Exponentials

    @cached_property
    def relations(self) -> tuple[tuple[int, Fraction] | None, ...]:
        """For each generator, (k, r) where ``exp(level γ / q)^k = r`` is the least rational power; else None."""
        found: list[tuple[int, Fraction] | None] = []
        for generator in self.generators:
            power, base = Fraction(1, self.denominator) * self.level.coefficient, self.level.log_of
            if generator == ("root", 1) and base is not None:
                found.append((power.denominator, base**power.numerator))
            elif generator[0] == "log" and base is None:  # then the level is one
                found.append((power.denominator, Fraction(generator[1]) ** power.numerator))
            else:
                found.append(None)
        return tuple(found)

    def exactly(self, coefficients: Sequence[int]) -> Fraction | None:
        """``exp(level Σ c γ / q)`` where it is rational and known to be."""
        value = Fraction(1)
        for coefficient, relation in zip(coefficients, self.relations, strict=True):
            if not coefficient:
                continue
            if relation is None or coefficient % relation[0]:
                return None
            value *= relation[1] ** (coefficient // relation[0])
        return value

    def exponential(self, coefficients: Sequence[int]) -> arb:
        """``exp(level Σ c γ / q)`` as a ball at the working precision."""
        exact = self.exactly(coefficients)
        return ball(exact) if exact is not None else (self.level.ball() * self.ball(coefficients)).exp()

    def enclose(self, coefficients: Sequence[int], bits: int = 64) -> Enclosure:
        """``exp(level Σ c γ / q)`` between two rationals."""
        exact = self.exactly(coefficients)
        return Enclosure(exact, exact) if exact is not None else enclose(lambda: self.exponential(coefficients), bits)


def _parts(space: Space, left: list[int]) -> tuple[tuple[int, ...], ...]:
    parts = []
    while left:
        apart = [space.metric.exactly(space.points[left[0]], space.points[j]) for j in left]
        near = tuple(j for j, distance in zip(left, apart, strict=True) if distance != math.inf)
        parts.append(near)
        left = [j for j in left if j not in set(near)]
    return tuple(parts)


def _in_units(space: Space, i: int, j: int) -> Sparse | None:
    """The distance in the metric's unit, where it is rational or the root of a rational."""
    unit, x, y = space.metric.unit, space.points[i], space.points[j]
    exact = unit.exactly(x, y)
    if isinstance(exact, Fraction):
        return {("root", 1): exact}
    if not isinstance(unit, Euclidean):
        return None
    square = sum((Fraction(a - b) ** 2 for a, b in zip(vector(x), vector(y), strict=True)), Fraction(0))
    number = square.numerator * square.denominator  # √(p/q) = √(pq) / q
    if number > _FACTORABLE:
        return None
    free, outside = 1, 1
    for prime, times in fmpz(number).factor():
        outside *= int(prime) ** (int(times) // 2)
        free *= int(prime) ** (int(times) % 2)
    return {("root", free): Fraction(outside, square.denominator)}


def _in_logarithms(space: Space, i: int, j: int) -> Sparse | None:
    """The distance as a sum of logarithms of primes, where its exponential is a root of a rational."""
    root = space.metric.exponential(space.points[i], space.points[j])
    if root is None or max(root.base.numerator, root.base.denominator) > _FACTORABLE:
        return None
    found: Sparse = {}
    for number, side in ((root.base.numerator, 1), (root.base.denominator, -1)):
        for prime, times in fmpz(number).factor():
            found["log", int(prime)] = Fraction(side * int(times), root.degree)
    return found


def packed(rows: np.ndarray[Any, Any], spread: int) -> np.ndarray[Any, Any]:
    """Rows of integers up to ``spread`` in size as one integer each; sums and differences stay sums and differences."""
    base = 2 * spread + 1
    dtype: Any = np.int64 if base ** rows.shape[-1] < 1 << 62 else object
    powers = np.array([base**place for place in range(rows.shape[-1])], dtype=dtype)
    return np.asarray((rows.astype(dtype) * powers).sum(axis=-1))


def unpacked(key: int, length: int, spread: int) -> tuple[int, ...]:
    """The row that a packed integer stands for."""
    base, row, left = 2 * spread + 1, [], int(key)
    for _ in range(length):
        digit = (left + spread) % base - spread
        row.append(digit)
        left = (left - digit) // base
    return tuple(row)
