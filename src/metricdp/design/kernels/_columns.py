"""The columns that kernels are made of, and the signs that decide which of them make one.

Vertices are the columns of V, and kernels the vertices of ``{a >= 0 : V a = 1}``. Row operations leave that set as it
is: the first row becomes the sum of all, and each other row the difference of two neighbours, so that all equations but
the first read ``row · a = 0``.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from metricdp.design.kernels._vertex import Vertex
from metricdp.design.kernels._zeros import UNDECIDED, IdenticalZeros
from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.arrays import Floats, Places
from metricdp.exact.balls import precision

__all__ = ["Columns", "EnclosedColumns", "IntegerColumns", "columns_of"]

_SAFE = 2.0**62
_FIRST_BITS = 128
_MOST_BITS = 1 << 14
_UNIT = 2.0**-52
_LEAST = 1e-280


class Columns(ABC):
    """The transformed columns, and the arithmetic of the weights on them.

    Weights a of a set of columns come as rows of an array ``weights`` with one slack number each in ``slack``.

    Attributes:
        points: how many rows V has, twins left out.
        vertices: the vertices, one for each column.
    """

    def __init__(self, vertices: Sequence[Vertex]) -> None:
        self.vertices = list(vertices)
        twins = vertices[0].lengths.twins
        self.places = [place for place, twin in enumerate(twins) if place == twin]
        self.points = len(self.places)

    def start(self) -> tuple[NDArray[Any], Floats]:
        """The weights of single columns for the first equation."""
        return self._start(), np.zeros(len(self.vertices))

    @abstractmethod
    def _start(self) -> NDArray[Any]: ...

    @abstractmethod
    def heights(
        self, row: int, subsets: Places, weights: NDArray[Any], slack: Floats
    ) -> tuple[NDArray[Any], NDArray[Any], Floats, Floats]:
        """The heights ``row · a`` of many subsets.

        Returns:
            The heights, with exact zeros as zeros; weights and slack, made better where it took that; and the relative
            errors of the heights.
        """

    @abstractmethod
    def combine(self, below: NDArray[Any], above: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
        """``low · below + high · above``, row by row, scaled as one likes."""


class IntegerColumns(Columns):
    """Rational vertices as integers; weights are integers without a common divisor."""

    def __init__(self, vertices: Sequence[Vertex]) -> None:
        super().__init__(vertices)
        self.scaled = [_primitive(vertex.direction or ()) for vertex in vertices]
        table = [[column[place] for place in self.places] for column in self.scaled]
        rows = [[sum(column), *(two - one for one, two in itertools.pairwise(column))] for column in table]
        largest = max(abs(entry) for row in rows for entry in row)
        self.table = np.array(rows, dtype=np.int64 if largest < 1 << 31 else object).T
        self.views = np.abs(self.table).astype(np.float64)

    def _start(self) -> NDArray[Any]:
        return np.ones((len(self.vertices), 1), dtype=np.int64)

    def heights(
        self, row: int, subsets: Places, weights: NDArray[Any], slack: Floats
    ) -> tuple[NDArray[Any], NDArray[Any], Floats, Floats]:
        """See `Columns.heights`."""
        entries = self.table[row][subsets]
        if weights.dtype != object and not (_largest(weights) * _largest(entries) * weights.shape[1] < _SAFE):
            weights = weights.astype(object)
        return (weights * entries).sum(axis=1), weights, slack, slack

    def combine(self, below: NDArray[Any], above: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
        """See `Columns.combine`."""
        shared = np.gcd(low, high)
        low, high = low // shared, high // shared
        if object not in (below.dtype, above.dtype, low.dtype, high.dtype):
            bound = low.astype(float) * below.max(axis=1) + high.astype(float) * above.max(axis=1)
            if not bound.max(initial=0.0) < _SAFE:
                below, above = below.astype(object), above.astype(object)
                low, high = low.astype(object), high.astype(object)
        result = low[:, None] * below + high[:, None] * above
        result //= np.gcd.reduce(result, axis=1)[:, None]
        if result.dtype == object and (not result.size or max(map(max, result.tolist())) < _SAFE):
            return np.asarray(result.astype(np.int64))
        return np.asarray(result)


class EnclosedColumns(Columns):
    """Irrational vertices: floats with proved relative errors; where these do not decide, a proof of zero, or balls."""

    def __init__(self, vertices: Sequence[Vertex]) -> None:
        super().__init__(vertices)
        with precision(160):
            columns = [self._row_balls(vertex) for vertex in self.vertices]
            self.table = np.array([[_float(value) for value in column] for column in columns]).T
        self.ties = IdenticalZeros(self.vertices, self.places)

    def _row_balls(self, vertex: Vertex) -> list[arb]:
        """A column after the row operations, as balls at the working precision; equal neighbours differ by zero."""
        values, rows = vertex.balls(), vertex.coefficients
        kept = [values[place] for place in self.places]
        found = [sum(kept, arb(0))]
        for one, two in zip(self.places, self.places[1:], strict=False):
            found.append(arb(0) if rows[one] == rows[two] else values[two] - values[one])
        return found

    def _start(self) -> NDArray[Any]:
        return np.asarray(1.0 / self.table[0][:, None])

    def heights(
        self, row: int, subsets: Places, weights: NDArray[Any], slack: Floats
    ) -> tuple[NDArray[Any], NDArray[Any], Floats, Floats]:
        """See `Columns.heights`."""
        terms = weights * self.table[row][subsets]
        found = terms.sum(axis=1)
        # Each term is off by the weights' relative error and three roundings, the sum by one for each addition.
        error = (slack + (subsets.shape[1] + 4) * _UNIT) * np.abs(terms).sum(axis=1) * (1 + 1e-9) + 1e-300
        undecided = np.flatnonzero(~(np.abs(found) > 4 * error))
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = error / (np.abs(found) - error)
        with precision(_FIRST_BITS):
            known: dict[int, list[arb]] = {}  # balls of this precision, which stay in this block
            for place in undecided.tolist():
                subset = tuple(subsets[place].tolist())
                if self.ties.vanishes(subset):
                    found[place] = relative[place] = 0.0
                else:
                    found[place], weights[place] = self._decide(row, subset, weights[place], known)
                    slack[place] = relative[place] = 8 * _UNIT
        return found, weights, slack, relative

    def combine(self, below: NDArray[Any], above: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
        """See `Columns.combine`."""
        result = low[:, None] * below + high[:, None] * above
        result /= result.max(axis=1)[:, None]
        if (result[result > 0] < _LEAST).any():
            raise LevelError("the weights of a kernel differ by more than floats can hold; use a smaller level")
        return np.asarray(result)

    def _decide(
        self, row: int, subset: tuple[int, ...], weights: Floats, known: dict[int, list[arb]]
    ) -> tuple[float, Floats]:
        """The height, which is not zero, and the weights from balls of any precision."""
        bits = _FIRST_BITS
        while bits <= _MOST_BITS:
            with precision(bits):
                for place in subset:
                    if place not in known:
                        known[place] = self._row_balls(self.vertices[place])
                columns = [known[place] for place in subset]
                size = len(subset)
                matrix = arb_mat([[columns[c][r] for c in range(size)] for r in range(size)])
                right = arb_mat(size, 1, [1] + [0] * (size - 1))
                try:
                    solved = matrix.solve(right)
                except ZeroDivisionError:
                    bits, known = 2 * bits, {}
                    continue
                fresh = [solved[place, 0] for place in range(size)]
                height = sum((a * column[row] for a, column in zip(fresh, columns, strict=True)), arb(0))
                if _narrow(height) and all(_narrow(a) for a, w in zip(fresh, weights, strict=True) if w):
                    close = [0.0 if w == 0 else _float(a) for a, w in zip(fresh, weights, strict=True)]
                    return _float(height), np.array(close)
            bits, known = 2 * bits, {}
        raise ArgumentError(UNDECIDED)


def columns_of(vertices: Sequence[Vertex]) -> Columns:
    """The columns of vertices: integers where all are rational, else enclosed."""
    if all(vertex.direction is not None for vertex in vertices):
        return IntegerColumns(vertices)
    return EnclosedColumns(vertices)


def _primitive(values: Sequence[Fraction]) -> list[int]:
    common = math.lcm(*(value.denominator for value in values))
    whole = [int(value * common) for value in values]
    divisor = math.gcd(*whole)
    return [value // divisor for value in whole]


def _largest(values: NDArray[Any]) -> float:
    return float(np.abs(values).max(initial=0))


def _float(value: arb) -> float:
    """The float nearest to a ball's middle; within 2^-52 of a narrow ball's value."""
    return float(value.mid())


def _narrow(value: arb) -> bool:
    return bool(value.rel_accuracy_bits() > 60)
