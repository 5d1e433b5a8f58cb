"""The privacy-constraints matrix of a space, exactly where it is rational and in balls where it is not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq_mat
from numpy.typing import NDArray

from metricdp.channels.arguments import as_space
from metricdp.channels.cells import number_text
from metricdp.channels.serialize import label_document
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball
from metricdp.exact.rationals import flint_rational
from metricdp.exact.results import Result
from metricdp.metrics import Metric, Space

__all__ = ["ConstraintsMatrix", "MatrixBlock", "constraints_matrix", "decay"]


@dataclass(frozen=True, repr=False)
class ConstraintsMatrix(Result):
    """The matrix ``Φ`` with the entries ``φ(i, h) = exp(-d(i, h))``: a private column falls no faster than its rows.

    Attributes:
        space: the points i, h and their metric d.

    References:
        Paper 3, Definition 4.

    >>> from metricdp.exact.level import ln
    >>> phi = constraints_matrix(Space.line(3, ln(2) * Space.line(3).metric))
    >>> phi.matrix[0].tolist(), phi.exactly(0, 2), phi.rational
    ([1.0, 0.5, 0.25], Fraction(1, 4), True)
    """

    space: Space

    def __len__(self) -> int:
        return len(self.space)

    def __repr__(self) -> str:
        return f"ConstraintsMatrix({len(self)} points, {self.space.metric})"

    def __str__(self) -> str:
        return f"{self!r}\n{np.array2string(self.matrix, precision=6, threshold=200)}"

    def to_json(self) -> dict[str, Any]:
        """The matrix as plain values for JSON: exact numbers as text where all are rational, else floats."""
        points = [label_document(point) for point in self.space.points]
        exact = self.exact
        rows = self.matrix.tolist() if exact is None else [[number_text(value) for value in row] for row in exact]
        return {"points": points, "metric": str(self.space.metric), "matrix": rows}

    @cached_property
    def matrix(self) -> Floats:
        """The entries as floats, a view that cannot be written to."""
        view: Floats = np.exp(-self.space.distances)
        view.setflags(write=False)
        return view

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.matrix, dtype=dtype, copy=copy)

    def exactly(self, i: int, h: int) -> Fraction | None:
        """An entry where it is rational and known to be, such as a power of b at the level ``c ln b``."""
        if self._whole is None:
            return decay(self.space.metric, self.space.points[i], self.space.points[h])
        place = self._alike(i, h)
        if place not in self._entries:
            self._entries[place] = decay(self.space.metric, *(self.space.points[one] for one in place))
        return self._entries[place]

    def ball(self, i: int, h: int) -> arb:
        """An entry as a ball at the working precision."""
        exact = self.exactly(i, h)
        if exact is not None:
            return ball(exact)
        if self._whole is None:
            return (-self.space.ball(i, h)).exp()
        place = (*self._alike(i, h), ctx.prec)
        if place not in self._balls:
            self._balls[place] = (-self.space.ball(*place[:2])).exp()
        return self._balls[place]

    def _alike(self, i: int, h: int) -> tuple[int, int]:
        """A pair at the same distance, where distances are integers: what is known of one is known of all."""
        assert self._whole is not None
        return self._first[int(self._whole[i, h])]

    @cached_property
    def _whole(self) -> NDArray[np.int64] | None:
        return self.space.metric.unit.integers(self.space.points)

    @cached_property
    def _first(self) -> dict[int, tuple[int, int]]:
        assert self._whole is not None
        values, places = np.unique(self._whole, return_index=True)
        pairs = (divmod(place, len(self)) for place in places.tolist())
        return dict(zip(values.tolist(), pairs, strict=True))

    @cached_property
    def _entries(self) -> dict[tuple[int, int], Fraction | None]:
        return {}

    @cached_property
    def _balls(self) -> dict[tuple[int, int, int], arb]:
        return {}

    @cached_property
    def rational(self) -> bool:
        """Whether every entry is rational and known to be."""
        return all(block.rational for block in self.blocks)

    @property
    def exact(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """All entries as Fractions; None where one is not rational."""
        places = range(len(self))
        rows = []
        for i in places:
            row = tuple(value for h in places if (value := self.exactly(i, h)) is not None)
            if len(row) < len(self):
                return None
            rows.append(row)
        return tuple(rows)

    # What makes it quick and never singular without need

    @cached_property
    def representatives(self) -> tuple[int, ...]:
        """For each point the first one at distance zero from it, most often itself."""
        first = list(range(len(self)))
        for i, j in np.argwhere(np.triu(self.space.enclosures.zero, 1)).tolist():
            if first[j] == j:
                first[j] = first[i]
        return tuple(first)

    @cached_property
    def blocks(self) -> tuple[MatrixBlock, ...]:
        """The points, one for each class at distance zero, in sets at infinite distance from each other."""
        axes = _axes(self.space)
        if axes is not None:
            return (MatrixBlock(self, tuple(range(len(self))), axes),)
        left = [i for i in range(len(self)) if self.representatives[i] == i]
        blocks = []
        while left:
            near = [j for j in left if not self.space.enclosures.infinite[left[0], j]]
            blocks.append(MatrixBlock(self, tuple(near), (tuple(near),)))
            inside = set(near)
            left = [j for j in left if j not in inside]
        return tuple(blocks)


@dataclass(frozen=True)
class MatrixBlock:
    """A part of the matrix that stands by itself: the product, by Kronecker, of smaller matrices.

    On all tuples of a Cartesian product, a metric that adds up the positions has a Φ that is the product of the
    positions' own matrices, and to solve with it is to solve along each axis: 4^5 points cost five systems of 4.

    Attributes:
        phi: the whole matrix.
        places: the points of this part.
        axes: for each factor, points that differ in that position alone; one axis with all points where there is no
            structure.
    """

    phi: ConstraintsMatrix
    places: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]

    @cached_property
    def _exact(self) -> tuple[fmpq_mat, ...] | None:
        factors = []
        for axis in self.axes:
            rationals = []
            for i in axis:
                for h in axis:
                    if (value := self.phi.exactly(i, h)) is None:
                        return None
                    rationals.append(flint_rational(value))
            factors.append(fmpq_mat(len(axis), len(axis), rationals))
        return tuple(factors)

    @property
    def rational(self) -> bool:
        """Whether its entries are rational and known to be."""
        return self._exact is not None

    @property
    def largest_factor(self) -> int:
        """The number of points of the longest axis."""
        return max(map(len, self.axes))

    def factors(self, exact: bool) -> Sequence[Any]:
        """The smaller matrices: of rationals, or of balls at the working precision."""
        if exact:
            if self._exact is None:
                raise ArgumentError("the block is not rational")
            return self._exact
        return [self._balls(axis) for axis in self.axes]

    def _balls(self, axis: Sequence[int]) -> arb_mat:
        lower = [[self.phi.ball(i, h) for h in axis[: place + 1]] for place, i in enumerate(axis)]  # Φ is symmetric
        size = range(len(axis))
        return arb_mat([[lower[max(i, h)][min(i, h)] for h in size] for i in size])

    def times(self, factors: Sequence[Any], vector: Sequence[Any]) -> list[Any]:
        """``Φ · vector``, of the numbers that the factors are made of."""
        return _along_axes(factors, vector, solve=False)

    def solve(self, factors: Sequence[Any], vector: Sequence[Any]) -> list[Any]:
        """The one x with ``Φ · x = vector``.

        Raises:
            ZeroDivisionError: Φ is singular, or too nearly so for these balls.
        """
        return _along_axes(factors, vector, solve=True)


def constraints_matrix(space: Space) -> ConstraintsMatrix:
    """The privacy-constraints matrix of a space; see `ConstraintsMatrix`.

    References:
        Paper 3, Definition 4.

    >>> from metricdp.exact import ln
    >>> from metricdp.metrics import absolute
    >>> constraints_matrix(Space.line(2, ln(2) * absolute())).space.points
    (0, 1)
    """
    return ConstraintsMatrix(as_space(space, "constraints_matrix"))


def decay(metric: Metric, x: Any, y: Any) -> Fraction | None:
    """``exp(-d(x, y))`` where it is rational and known to be.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> decay(ln(4) * absolute(), 0, 1.5), decay(ln(2) * absolute(), 0, 1.5)
    (Fraction(1, 8), None)
    """
    if metric.exactly(x, y) == math.inf:
        return Fraction(0)
    ratio = metric.exponential(x, y)
    exact = None if ratio is None else ratio.rational
    return None if exact is None else 1 / exact


def _along_axes(factors: Sequence[Any], vector: Sequence[Any], solve: bool) -> list[Any]:
    """(A ⊗ B ⊗ ...) applied to a vector: each factor in turn to the leading axis, which then moves to the end."""
    entries = list(vector)
    for factor in factors:
        size = factor.nrows()
        table = type(factor)(size, len(entries) // size, entries)
        entries = (factor.solve(table) if solve else factor * table).transpose().entries()
    return entries


def _axes(space: Space) -> tuple[tuple[int, ...], ...] | None:
    """The axes of a Cartesian product in lexicographic order whose metric adds up the positions."""
    unit, points = space.metric.unit, space.points
    if not unit.adds_up or not all(isinstance(point, tuple) for point in points):
        return None
    values = [list(dict.fromkeys(column)) for column in zip(*points, strict=True)]
    sizes = [len(column) for column in values]
    if sum(size > 1 for size in sizes) < 2 or math.prod(sizes) != len(points):
        return None
    if tuple(itertools.product(*values)) != points:
        return None
    axes, stride = [], len(points)
    for size in sizes:
        stride //= size
        if size > 1:
            axes.append(tuple(range(0, size * stride, stride)))
    inside = [space.metric.enclosures([points[place] for place in axis]) for axis in axes]
    strict = all(bool((part.constrained | np.eye(len(part.lower), dtype=bool)).all()) for part in inside)
    # else classes and parts first
    return tuple(axes) if strict else None
