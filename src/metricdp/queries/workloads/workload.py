"""Workloads: linear queries over a histogram, and the universe's metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, KindError, OutOfDomainError, ShapeError
from metricdp.exact.arrays import Floats
from metricdp.exact.refine import Integers
from metricdp.metrics import Space

__all__ = ["Workload", "whole_counts"]

_SAFE_SUM = 1 << 62
_EXACT_IN_FLOAT = 1 << 53


@dataclass(frozen=True, repr=False, eq=False)
class Workload:
    """Linear queries over a histogram: query k has the answer ``sum_i Q[k, i] x[i]`` on the counts x.

    A database is a histogram x over the N cells of the universe, with n records in all. Replacing one record of cell i
    by one of cell j costs ``d(i, j)``, and ``n`` is public; where it is not, absence is a cell of the universe.

    Attributes:
        matrix: Q as floats, K by N, a view that cannot be written to.
        entries: Q exactly, as rows of Fractions. Floats are taken as the rationals they are.
        space: the cells of the universe, in the order of the columns, and the metric d on single records.
        names: one for each query; public, as are the cells.

    Raises:
        ShapeError: the columns are not the universe's cells, or the names are not one for each query.
        NotFiniteError: NaN or infinity in the matrix.

    References:
        Paper 4, sections 2.2 to 2.4.

    >>> from metricdp.metrics import absolute
    >>> workload = Workload([[1, 1, 0], [0, 1, 2]], Space.line(3, absolute()), names=["low", "sum"])
    >>> workload
    Workload(2 queries over 3 cells, |x − y|)
    >>> [int(answer) for answer in workload.truth([5, 0, 2])]
    [5, 4]
    """

    given: NDArray[Any]
    space: Space
    names: tuple[str, ...]

    def __init__(self, matrix: Any, space: Space, names: Sequence[str] | None = None) -> None:
        if not isinstance(space, Space):
            raise ArgumentError(
                f"a workload takes a Space, not {type(space).__name__}: Space(points, metric) makes one"
            )
        given = _read(matrix)
        if given.shape[1] != len(space):
            raise ArgumentError(f"the matrix has {given.shape[1]} columns, and the universe {len(space)} cells")
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "names", _read_names(names, len(given)))
        given.setflags(write=False)
        _ = self.matrix  # refuses numbers beyond floats

    def __len__(self) -> int:
        return len(self.given)

    def __repr__(self) -> str:
        queries = "1 query" if len(self) == 1 else f"{len(self)} queries"
        return f"Workload({queries} over {len(self.space)} cells, {self.space.metric})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Workload):
            return NotImplemented
        same = self.names == other.names and self.space == other.space and self.given.shape == other.given.shape
        return same and self.entries == other.entries

    def __hash__(self) -> int:
        return hash((self.names, self.space, self.matrix.tobytes()))

    def __getstate__(self) -> dict[str, Any]:
        return {"given": self.given, "space": self.space, "names": self.names}  # what is cached stays behind

    @cached_property
    def matrix(self) -> Floats:
        """Q as floats: a view, exact where floats hold the entries."""
        try:
            view: Floats = self.given.astype(np.float64)
        except OverflowError:
            raise ArgumentError("a number of the matrix lies beyond the largest float") from None
        view.setflags(write=False)
        return view

    @cached_property
    def entries(self) -> tuple[tuple[Fraction, ...], ...]:
        """Q exactly."""
        return tuple(tuple(Fraction(value) for value in row) for row in self.given.tolist())

    @property
    def cells(self) -> tuple[Any, ...]:
        """The universe's cells, in the order of the columns."""
        return self.space.points

    def index(self, name: str) -> int:
        """The place of a query."""
        if name not in self.names:
            raise ArgumentError(f"there is no query {name!r}")
        return self.names.index(name)

    def integers(self, query: int) -> tuple[list[int], int]:
        """A query's row as integers over one denominator."""
        known = self._integers.get(query)
        if known is None:
            row = self.given[query].tolist()
            if self.given.dtype.kind == "i":
                known = row, 1
            else:
                fractions = [Fraction(value) for value in row]
                denominator = math.lcm(*{value.denominator for value in fractions})
                known = [int(value * denominator) for value in fractions], denominator
            self._integers[query] = known
        return known

    @cached_property
    def _integers(self) -> dict[int, tuple[list[int], int]]:
        return {}

    def truth(self, counts: Any) -> tuple[Fraction, ...]:
        """The exact answers on a histogram; they are private, and for the curator alone.

        Args:
            counts: whole numbers, one for each cell, or a histogram with such ``counts``.
        """
        whole = whole_counts(counts, len(self.space))
        if self.given.dtype.kind == "i" and self._greatest * int(whole.sum()) < _SAFE_SUM:
            return tuple(Fraction(int(value)) for value in self.given @ whole)
        occupied = np.flatnonzero(whole).tolist()
        numbers = [int(whole[cell]) for cell in occupied]
        answers = []
        for query in range(len(self)):
            row, denominator = self.integers(query)
            total = sum(row[cell] * number for cell, number in zip(occupied, numbers, strict=True))
            answers.append(Fraction(total, denominator))
        return tuple(answers)

    @cached_property
    def _greatest(self) -> int:
        return max(int(self.given.max()), -int(self.given.min()), 1)


def whole_counts(counts: Any, cells: int) -> Integers:
    """A histogram's counts as integers: one for each cell, none negative.

    Raises:
        ShapeError: not one count for each cell.
        KindError: counts that are not whole numbers.
        OutOfDomainError: a negative count. The count itself is never told.
    """
    array = np.asarray(getattr(counts, "counts", counts))
    if array.shape != (cells,):
        raise ShapeError(f"a histogram of this universe has {cells} counts")
    if array.dtype.kind in "fO" and all(_is_count(value) for value in array.tolist()):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise KindError("counts are whole numbers")
    if array.dtype.kind == "u" and bool((array >= _SAFE_SUM).any()):
        raise OutOfDomainError("a count is beyond 64 bits")
    whole: Integers = array.astype(np.int64)
    if bool((whole < 0).any()):
        raise OutOfDomainError("a count is not negative", int(np.argmax(whole < 0)))
    if float(whole.sum(dtype=np.float64)) >= _SAFE_SUM:
        raise OutOfDomainError("the counts add up to more than 64 bits hold")
    return whole


def _is_count(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer() and abs(value) <= _EXACT_IN_FLOAT
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and abs(int(value)) < _SAFE_SUM


def _read(given: Any) -> NDArray[Any]:
    """The matrix as int64, float64 or Fractions, whichever holds it exactly."""
    try:
        array = np.array(given) if hasattr(given, "__array__") else np.array(given, dtype=object)
    except ValueError:
        raise ArgumentError("the rows of the matrix are of different lengths") from None
    if array.ndim == 1 and array.dtype == object and any(isinstance(row, list | tuple) for row in array.tolist()):
        raise ArgumentError("the rows of the matrix are of different lengths")
    if array.ndim == 1:
        array = array[np.newaxis]
    if array.ndim != 2 or not array.size:
        raise ArgumentError("a workload is a matrix with a row for each query and a column for each cell")
    if array.dtype.kind == "b" or array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        finite = np.isfinite(array).all(axis=1)
        if not finite.all():
            raise ArgumentError(f"query {int(np.argmin(finite))}: NaN or infinity in the matrix")
        return array.astype(np.float64)
    return _read_objects(array.astype(object))


def _read_objects(array: NDArray[Any]) -> NDArray[Any]:
    exact = np.empty(array.shape, dtype=object)
    for row, values in enumerate(array.tolist()):
        for column, value in enumerate(values):
            exact[row, column] = _number(value, row)
    flat = exact.ravel().tolist()
    if all(isinstance(value, int) and abs(value) < _SAFE_SUM for value in flat):
        return exact.astype(np.int64)
    if all(isinstance(value, float) or (isinstance(value, int) and abs(value) <= _EXACT_IN_FLOAT) for value in flat):
        return exact.astype(np.float64)
    return np.asarray(np.vectorize(Fraction, otypes=[object])(exact))


def _number(value: Any, row: int) -> int | float | Fraction:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | Fraction):
        return int(value) if isinstance(value, int) else value
    if not isinstance(value, float | Decimal):
        raise ArgumentError(f"query {row}: a workload is a matrix of numbers, not of {type(value).__name__}")
    if not math.isfinite(value):
        raise ArgumentError(f"query {row}: NaN or infinity in the matrix")
    return value if isinstance(value, float) else Fraction(value)


def _read_names(names: Sequence[str] | None, queries: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"q{query}" for query in range(queries))
    if isinstance(names, str):
        raise ArgumentError("names are a list, one for each query")
    read = tuple(str(name) for name in names)
    if len(read) != queries:
        raise ArgumentError(f"{len(read)} names for {queries} queries")
    repeated = [name for place, name in enumerate(read) if name in read[:place]]
    if repeated:
        raise ArgumentError(f"two queries are named {repeated[0]!r}")
    return read
