"""A vertex of a privacy type: a posterior whose privacy constraints are as tight as they can be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from metricdp.channels.serialize import label_document
from metricdp.design.kernels._unit_lengths import UnitLengths
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, precision
from metricdp.exact.results import Result, number_json

__all__ = ["Vertex"]

_BITS = 64


@dataclass(frozen=True, repr=False)
class Vertex(Result):
    """A vertex of the space of d-private posteriors, by its logarithms.

    ``log v(x) = f(x) - log Σ exp(f)``, where f is 1-Lipschitz and its tight pairs, those with
    ``|f(x) - f(x')| = d(x, x')``, connect all points at finite distances. So f is made of sums and differences of
    distances, whatever the level. Outside one part of the space, f is minus infinity.

    Attributes:
        lengths: the distances by generators.
        coefficients: for each point the integers of f, zero at the first point of its part; None for minus infinity.

    References:
        Paper 5, Definition 4; Section VI.
    """

    lengths: UnitLengths
    coefficients: tuple[tuple[int, ...] | None, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vertex):
            return NotImplemented
        mine, theirs = self.lengths, other.lengths
        same = mine is theirs or (mine.space, mine.generators, mine.denominator) == (
            theirs.space,
            theirs.generators,
            theirs.denominator,
        )
        return same and self.coefficients == other.coefficients

    def __hash__(self) -> int:
        return hash(self.coefficients)

    @cached_property
    def exact_logarithms(self) -> tuple[Fraction | float, ...] | None:
        """The function f in the metric's unit, if it is rational; else None."""
        found: list[Fraction | float] = []
        for row in self.coefficients:
            if row is None:
                found.append(-math.inf)
            elif any(c for c, generator in zip(row, self.lengths.generators, strict=True) if generator != ("root", 1)):
                return None
            else:
                found.append(Fraction(sum(row), self.lengths.denominator))
        return tuple(found)

    @cached_property
    def logarithms(self) -> Floats:
        """The function f in the metric's unit (before the level), as floats; read-only."""
        view = np.array([-math.inf if row is None else self.lengths.view(row) for row in self.coefficients])
        view.setflags(write=False)
        return view

    @property
    def rational(self) -> bool:
        """Whether the posterior is known to be rational."""
        return self.exact is not None

    @cached_property
    def direction(self) -> tuple[Fraction, ...] | None:
        """``exp(f)``, level included, where it is rational; None where it is not known to be."""
        values = [Fraction(0) if row is None else self.lengths.exactly(row) for row in self.coefficients]
        known = tuple(value for value in values if value is not None)
        return known if len(known) == len(values) else None

    @cached_property
    def exact(self) -> tuple[Fraction, ...] | None:
        """The posterior, where it is rational; None where it is not known to be.

        >>> import metricdp as mdp
        >>> from metricdp.design import vertices
        >>> first = next(iter(vertices(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()))))
        >>> [str(probability) for probability in first.exact]
        ['4/7', '2/7', '1/7']
        """
        if (values := self.direction) is None:
            return None
        total = sum(values)
        return tuple(value / total for value in values)

    def balls(self) -> list[arb]:
        """``exp(f)``, level included, as balls at the working precision."""
        return [arb(0) if row is None else self.lengths.exponential(row) for row in self.coefficients]

    def enclose(self, bits: int = _BITS) -> tuple[Enclosure, ...]:
        """The posterior, each probability between two rationals, or exactly."""
        if (exact := self.exact) is not None:
            return tuple(Enclosure(value, value) for value in exact)
        with precision(bits + 32):
            values = self.balls()
            total = sum(values, arb(0))
            return tuple(Enclosure.of(value / total) for value in values)

    @cached_property
    def posterior(self) -> Floats:
        """The posterior as floats; read-only."""
        view = np.array([float(value) for value in self.enclose()])
        view.setflags(write=False)
        return view

    @property
    def tight(self) -> tuple[tuple[int, int], ...]:
        """All pairs of points (i, j) with ``f(i) - f(j) = d(i, j)``, exactly; twins are left out."""
        found = []
        for (i, j), distance in self.lengths.table.items():
            one, two = self.coefficients[i], self.coefficients[j]
            if one is None or two is None:
                continue
            if tuple(a - b for a, b in zip(one, two, strict=True)) == distance:
                found.append((i, j))
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """The points, f in the metric's unit, and the posterior, as text such as "2/7" where it is rational."""
        exact, floats = self.exact, self.posterior.tolist()
        return {
            "points": [label_document(point) for point in self.lengths.space.points],
            "logarithms": [number_json(value) for value in self.logarithms.tolist()],
            "posterior": floats if exact is None else [number_json(value) for value in exact],
        }

    def __repr__(self) -> str:
        return f"Vertex({', '.join(f'{value:.6g}' for value in self.logarithms)})"
