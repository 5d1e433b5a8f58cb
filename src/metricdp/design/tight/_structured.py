"""Lines and products of any size: their tight-constraints mechanisms without any matrix.

On a line with the gaps g_0, g_1, .. between neighbours and ``b_i = exp(-g_i)``, the equations ``Φ a = 1`` solve to

    a_0 = 1 / (1 + b_0),  a_i = 1 / (1 + b_{i-1}) + 1 / (1 + b_i) - 1,  a_{n-1} = 1 / (1 + b_{n-2}),

which is positive always. On a product whose metric adds up the positions, Φ is a Kronecker product, and a the product
of the factors' own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from metricdp.adversaries.constraints_matrix import decay
from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, precision
from metricdp.exact.level import rational
from metricdp.exact.outward import Bound
from metricdp.exact.progress import Stopwatch
from metricdp.exact.results import Result, enclosure_json
from metricdp.metrics import Metric, Space, absolute

__all__ = ["Line", "Product", "StructuredTight", "check_tight_space", "structured_tight"]

_BITS = 96


@dataclass(frozen=True)
class Line:
    """Numbers with a multiple of their difference as the metric, as many as you like: no distances are stored.

    Attributes:
        points: the numbers, rising.
        metric: ``level * absolute()``.

    Raises:
        ArgumentError: if the numbers do not rise (names the place), or the metric is another.

    >>> len(Line(range(100_000)))
    100000
    """

    points: tuple[Any, ...]
    metric: Metric

    def __init__(self, points: Iterable[Any], metric: Metric | None = None) -> None:
        chosen = metric if metric is not None else absolute()
        if not isinstance(chosen, Metric) or not chosen.on_line or chosen.moments:
            raise ArgumentError("the metric of a Line must be a multiple of absolute(); for others make a Space")
        object.__setattr__(self, "points", tuple(points))
        object.__setattr__(self, "metric", chosen)
        if not self.points:
            raise ArgumentError("a Line needs at least one point")
        for place, gap in enumerate(self._gaps):
            if gap <= 0:
                raise ArgumentError(f"the points of a Line must rise; point {place + 1} (counted from 0) does not")

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"Line({len(self)} points, {self.metric!r})"

    @cached_property
    def _gaps(self) -> list[Fraction]:
        numbers = [rational(point, "point") for point in self.points]
        return [high - low for low, high in pairwise(numbers)]

    def distances_from(self, place: int) -> Floats:
        """The distances of one point from all, as floats."""
        here = np.array([self.points[place]], dtype=object)
        numbers = np.array(self.points, dtype=object)
        return np.asarray(np.abs(numbers - here).astype(np.float64) * float(self.metric.level))

    @cached_property
    def diagonal(self) -> tuple[Enclosure, ...]:
        """The solution a, by the formula: exact where every ``exp(-gap)`` is rational, else enclosed."""
        if len(self) == 1:
            return (Enclosure(Fraction(1), Fraction(1)),)
        known = {gap: self._share(gap) for gap in set(self._gaps)}
        shares = [known[gap] for gap in self._gaps]
        ends = [shares[0], *(_plus(one, two) for one, two in pairwise(shares)), shares[-1]]
        return tuple(ends)

    def _share(self, gap: Fraction) -> Enclosure:
        """``1 / (1 + exp(-gap))``."""
        exact = decay(self.metric, Fraction(0), gap)
        if exact is not None:
            share = 1 / (1 + exact)
            return Enclosure(share, share)
        with precision(_BITS):
            return Enclosure.of(1 / (1 + (-self.metric.level.ball() * ball(gap)).exp()))


@dataclass(frozen=True)
class Product:
    """All tuples of points of the parts, first part first, with the sum of the parts' metrics; nothing is stored.

    Attributes:
        parts: lines and spaces.

    >>> len(Product(Line(range(400)), Line(range(400))))
    160000
    """

    parts: tuple[Line | Space, ...]

    def __init__(self, *parts: Line | Space) -> None:
        if not parts or not all(isinstance(part, (Line, Space)) for part in parts):
            raise ArgumentError("a Product is made of one or more Lines and Spaces")
        object.__setattr__(self, "parts", parts)

    def __len__(self) -> int:
        return math.prod(map(len, self.parts))

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.parts))})"


@dataclass(frozen=True, eq=False, repr=False)
class StructuredTight(Result):
    """The tight-constraints mechanism of a line or a product, by its factors; it exists, so it is always true.

    ``X(i, k) = exp(-d(i, k)) a(k)`` and ``a = a_1 ⊗ a_2 ⊗ ..``: each part of a point is released by itself.

    Attributes:
        factors: for each part, its points and its diagonal.

    References:
        Paper 3, Definition 7; section 5.1, where the tight-constraints mechanism of a counting query is the truncated
        geometric one.

    >>> found = structured_tight(Product(Line(range(400)), Line(range(300))))
    >>> len(found), round(float(found.utility), 6), round(float(found.row((3, 5)).sum()), 9)
    (120000, 0.215005, 1.0)
    """

    factors: tuple[tuple[Line | Space, tuple[Enclosure, ...]], ...]

    @property
    def holds(self) -> bool:
        """Whether it exists, which it does."""
        return True

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return math.prod(len(part) for part, _ in self.factors)

    def to_json(self) -> dict[str, Any]:
        """The number of points and the utility between bounds."""
        return {
            "points": len(self),
            "factors": [len(part) for part, _ in self.factors],
            "holds": True,
            "utility": enclosure_json(self.utility.enclosure),
        }

    def __repr__(self) -> str:
        return f"StructuredTight({self})"

    @cached_property
    def diagonal(self) -> Floats:
        """The diagonal a as floats, one for each point in the product's order."""
        return _kron([np.array([float(entry) for entry in held]) for _, held in self.factors])

    def entry(self, point: Any) -> Enclosure:
        """The diagonal entry of one point, enclosed; exact where the factors' are."""
        held = [values[place] for (_, values), place in zip(self.factors, self._places(point), strict=True)]
        return reduce(_times, held)

    @property
    def total(self) -> Enclosure:
        """``Σ a``, the multiplicative capacity: the product of the factors' sums."""
        return reduce(_times, (reduce(_sum, held) for _, held in self.factors))

    @property
    def utility(self) -> Bound:
        """The probability of the right guess under the uniform prior, ``Σ a / n``: no private mechanism has more."""
        total = self.total
        return Bound.below(Enclosure(total.lower / len(self), total.upper / len(self)))

    def row(self, point: Any) -> Floats:
        """The probabilities of all outputs for one point, as floats; a view."""
        parts = []
        for (part, held), place in zip(self.factors, self._places(point), strict=True):
            apart = part.distances[place] if isinstance(part, Space) else part.distances_from(place)
            parts.append(np.exp(-apart) * np.array([float(entry) for entry in held]))
        return _kron(parts)

    def _places(self, point: Any) -> list[int]:
        values: Sequence[Any] = point if len(self.factors) > 1 else (point,)
        if not isinstance(values, (tuple, list)) or len(values) != len(self.factors):
            raise ArgumentError(f"a point of this product is a tuple of {len(self.factors)} parts")
        return [_place(part, value) for (part, _), value in zip(self.factors, values, strict=True)]

    def __str__(self) -> str:
        return f"exists, on {len(self)} points; right with probability {self.utility:.6g} under the uniform prior"


def check_tight_space(space: Any, function: str, most: int) -> None:
    """Refuse what is no Space, and a Space that is too large.

    Raises:
        ArgumentError: if it is no Space.
        TooLargeError: if it has more than ``most`` points.
    """
    if not isinstance(space, Space):
        raise ArgumentError(
            f"{function} takes a Space, a Line or a Product, not {type(space).__name__!r}; make one: "
            "mdp.Space(points, metric)"
        )
    if len(space) > most:
        memory = f"about {len(space) ** 2 * 200 / 1e9:,.0f} GB"
        raise TooLargeError(
            f"at most {most:,} points are possible here, not {len(space):,}; a Line or a Product may have more",
            memory,
        )


def structured_tight(space: Line | Product, watch: Stopwatch | None = None) -> StructuredTight:
    """The tight-constraints mechanism of a line or a product.

    Raises:
        ImpossibleError: if a factor has none. Then the product has none either: for Z >= 0 with ``Φ_1 Z Φ_2 = 1 1ᵀ``,
            each column of ``Z Φ_2`` would be a solution for the first.
        TooLargeError: if the time limit is reached.
    """
    from metricdp.design.tight._tight_constraints import TightConstraints, tight_constraints

    factors: list[tuple[Line | Space, tuple[Enclosure, ...]]] = []
    for part in space.parts if isinstance(space, Product) else (space,):
        if isinstance(part, Line):
            factors.append((part, part.diagonal))
            continue
        left = None if watch is None or watch.time_limit is None else max(watch.left, 1e-3)
        found = tight_constraints(part, time_limit=left)
        assert isinstance(found, TightConstraints)
        if found.diagonal is None:
            raise ImpossibleError(f"the factor {part!r} has no tight-constraints mechanism: {found}")
        factors.append((part, found.diagonal))
    return StructuredTight(tuple(factors))


def _place(part: Line | Space, value: Any) -> int:
    if isinstance(part, Space):
        return part.index(value)
    place = int(np.searchsorted(np.array(part.points, dtype=object), value))
    if place == len(part) or part.points[place] != value:
        raise ArgumentError(f"the point {value!r} is not on this line")
    return place


def _kron(parts: Sequence[Floats]) -> Floats:
    """The products of one entry of each part, the last part running fastest."""
    result = np.ones(1)
    for part in parts:
        result = np.multiply.outer(result, part).ravel()
    return result


def _plus(one: Enclosure, two: Enclosure) -> Enclosure:
    """``one + two - 1``; never below zero, since both are at least 1/2."""
    return Enclosure(max(Fraction(one.lower) + Fraction(two.lower) - 1, Fraction(0)), one.upper + two.upper - 1)


def _sum(one: Enclosure, two: Enclosure) -> Enclosure:
    return Enclosure(one.lower + two.lower, one.upper + two.upper)


def _times(one: Enclosure, two: Enclosure) -> Enclosure:
    """The product of two nonnegative numbers."""
    return Enclosure(one.lower * two.lower, one.upper * two.upper)
