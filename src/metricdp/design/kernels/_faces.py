"""A column of the cone of private columns as a sum of vertices around it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from metricdp.design.kernels._unit_lengths import UnitLengths
from metricdp.design.kernels._vertex import Vertex
from metricdp.exact.balls import enclose

__all__ = ["Scale", "vertices_around"]

_BITS = 512
_ZERO = Fraction(0)


@dataclass(frozen=True, eq=False)
class Scale:
    """Exponentials of sums of distances as rationals: exactly, or to some hundreds of bits.

    Attributes:
        lengths: the distances by generators.
        exact: whether all exponentials of distances are rational.
        ratios: ``exp(d(i, j))`` for each two points of one part.
    """

    lengths: UnitLengths
    exact: bool
    ratios: dict[tuple[int, int], Fraction] = field(repr=False)

    @classmethod
    def of(cls, lengths: UnitLengths) -> Scale:
        """Looks at every pair of points at a finite distance."""
        ratios, exact = {}, True
        for pair, coefficients in lengths.table.items():
            value = lengths.exactly(coefficients)
            exact &= value is not None
            ratios[pair] = value if value is not None else _near(lengths, coefficients)
        return cls(lengths, exact, ratios)

    @property
    def tolerance(self) -> Fraction:
        """What counts as zero."""
        return _ZERO if self.exact else Fraction(1, 1 << (_BITS // 4))

    def direction(self, vertex: Vertex) -> list[Fraction]:
        """``exp(f)`` of a vertex, zero outside its part."""
        found = []
        for row in vertex.coefficients:
            value = _ZERO if row is None else self.lengths.exactly(row)
            found.append(value if value is not None else _near(self.lengths, row or ()))
        return found

    def rounded(self, value: Fraction) -> Fraction:
        """The value itself where all is exact, else to so many bits."""
        if self.exact or not value:
            return value
        shift = _BITS - value.numerator.bit_length() + value.denominator.bit_length()
        return Fraction(round(value * Fraction(2) ** shift)) / Fraction(2) ** shift


def vertices_around(values: dict[int, Fraction], part: tuple[int, ...], scale: Scale) -> list[tuple[Vertex, Fraction]]:
    """Vertices v and amounts t with ``Σ t exp(f_v) = values`` on one part of the space.

    Args:
        values: a private column, positive at all points of the part.
        part: the points.
        scale: the exponentials of the distances.
    """
    ratios, left = scale.ratios, dict(values)
    pairs = [(i, j) for i in part for j in part if i != j]
    tight = {(i, j) for i, j in pairs if left[i] == ratios[i, j] * left[j]}
    found: list[tuple[Vertex, Fraction]] = []
    for _ in part:
        vertex, spans = _on_face(left, part, tight, scale)
        direction = dict(enumerate(scale.direction(vertex)))
        if spans:
            found.append((vertex, left[part[0]] / direction[part[0]]))
            return found
        amount, new = _most(left, direction, pairs, tight, vertex, scale)
        if amount > 0:
            found.append((vertex, amount))
            left = {place: scale.rounded(left[place] - amount * direction[place]) for place in part}
            if not scale.exact and min(left.values()) <= 0:  # nothing is left but what rounding made
                return found
        tight = {pair for pair in tight if pair in set(vertex.tight)} | {new}
    raise AssertionError("each step puts the column on a smaller face")


def _most(
    left: dict[int, Fraction],
    direction: dict[int, Fraction],
    pairs: list[tuple[int, int]],
    tight: set[tuple[int, int]],
    vertex: Vertex,
    scale: Scale,
) -> tuple[Fraction, tuple[int, int]]:
    """How much of a vertex can be subtracted within the cone, and the pair that is tight then."""
    kept = set(vertex.tight)
    best: tuple[Fraction, tuple[int, int]] | None = None
    for i, j in pairs:
        if (i, j) in kept:
            continue
        ratio = scale.ratios[i, j]
        room = (ratio * left[j] - left[i]) / (ratio * direction[j] - direction[i])
        if best is None or room < best[0]:
            best = (room, (i, j))
    if best is None:
        raise AssertionError("a pair is tight in one direction at most")
    return max(_ZERO, scale.rounded(best[0])), best[1]


def _on_face(
    left: dict[int, Fraction], part: tuple[int, ...], tight: set[tuple[int, int]], scale: Scale
) -> tuple[Vertex, bool]:
    """A vertex on the smallest face that the column is on, and whether the column is a multiple of it.

    All points that tight pairs connect are lifted together until one more pair is tight, and so on.
    """
    table, width = scale.lengths.table, len(scale.lengths.generators)
    values = dict(left)
    logs: dict[int, tuple[int, ...]] = {part[0]: (0,) * width}
    held = set(tight)
    lifted = False
    while True:
        _spread(logs, held, table)
        outside = [place for place in part if place not in logs]
        if not outside:
            break
        lifted = True
        factor, pair = min((scale.ratios[i, j] * values[j] / values[i], (i, j)) for i in logs for j in outside)
        for place in logs:
            values[place] *= factor
        held.add(pair)
    coefficients = tuple(logs.get(twin) for twin in scale.lengths.twins)
    return Vertex(scale.lengths, coefficients), not lifted


def _spread(
    logs: dict[int, tuple[int, ...]], tight: set[tuple[int, int]], table: dict[tuple[int, int], tuple[int, ...]]
) -> None:
    """Gives all points that tight pairs connect to known ones their logarithm: f(i) = f(j) + d(i, j)."""
    grown = True
    while grown:
        grown = False
        for i, j in tight:
            if j in logs and i not in logs:
                logs[i] = tuple(a + b for a, b in zip(logs[j], table[i, j], strict=True))
                grown = True
            elif i in logs and j not in logs:
                logs[j] = tuple(a - b for a, b in zip(logs[i], table[i, j], strict=True))
                grown = True


def _near(lengths: UnitLengths, coefficients: tuple[int, ...]) -> Fraction:
    size = math.ceil(abs(lengths.view(coefficients)) * float(lengths.level) * 1.5)
    return Fraction(enclose(lambda: lengths.exponential(coefficients), _BITS + size).lower)
