"""Linear queries over a histogram: what the mechanisms ask of a workload, and its answers without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from metricdp.errors import ArgumentError, OutOfDomainError
from metricdp.exact.arrays import Floats
from metricdp.exact.refine import Integers
from metricdp.metrics import Space
from metricdp.queries.workloads.workload import whole_counts

__all__ = ["LinearQueries", "exact_answers", "query_names", "read_counts", "read_queries"]

_MOST_RECORDS = 1 << 50
_LEAST_ENTRY, _LARGEST_ENTRY = 1e-150, 1e150  # between these, scaling by powers of two loses no bit


class LinearQueries(Protocol):
    """A workload: K queries over the N cells of a universe.

    The entries of `matrix` are floats, taken as the exact rationals they are.
    """

    @property
    def matrix(self) -> Floats:
        """One row for each query, one column for each cell."""
        ...

    @property
    def space(self) -> Space:
        """The cells, with the metric on single records."""
        ...


def read_queries(workload: LinearQueries) -> Floats:
    """The matrix of a workload, refused where it is none."""
    if not hasattr(workload, "matrix") or not isinstance(getattr(workload, "space", None), Space):
        raise ArgumentError(f"a workload is wanted, with a matrix and a space, not {type(workload).__name__}")
    matrix = np.asarray(workload.matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] < 1 or matrix.shape[1] != len(workload.space):
        raise ArgumentError(
            f"a workload has one row for each query and {len(workload.space)} columns, one for each cell of its space"
        )
    bad = ~np.isfinite(matrix).all(axis=1)
    if bad.any():
        raise ArgumentError(f"query {int(bad.argmax())}: NaN or infinity in it")
    return matrix


def query_names(workload: LinearQueries) -> tuple[Any, ...]:
    """The names of the queries; their numbers where they have none."""
    names: Sequence[Any] | None = getattr(workload, "names", None)
    return tuple(range(len(workload.matrix))) if names is None else tuple(names)


def read_counts(workload: LinearQueries, counts: Any) -> Integers:
    """The records in each cell, as integers; refuses anything else without naming a value."""
    values = whole_counts(counts, len(workload.space))
    if int(values.sum()) >= _MOST_RECORDS:
        raise OutOfDomainError("a histogram holds fewer than 2^50 records")
    return values


def exact_answers(matrix: Floats, counts: Integers) -> list[Fraction]:
    """``Q x`` without rounding.

    Every entry is cut into limbs of w bits. The products of a limb with the counts sum to integers below 2^53, which
    floats add up exactly in any order.

    >>> exact_answers(np.array([[0.1, 1.0]]), np.array([3, 1])) == [3 * Fraction(0.1) + 1]
    True
    """
    present = np.flatnonzero(counts)
    entries, records = matrix[:, present], counts[present]
    size = np.abs(entries)
    if not ((size == 0) | ((size > _LEAST_ENTRY) & (size < _LARGEST_ENTRY))).all():
        exact = [int(count) for count in records]
        rows = [zip(row, exact, strict=True) for row in entries.tolist()]
        return [sum((Fraction(value) * count for value, count in row), Fraction(0)) for row in rows]
    width = 52 - int(records.sum()).bit_length()
    top = int(np.frexp(size.max(initial=1.0))[1])
    rest, weights = np.ldexp(entries, -top), records.astype(np.float64)
    totals, bits = [0] * len(matrix), 0
    while rest.any():
        rest = np.ldexp(rest, width)
        limbs = np.rint(rest)
        rest -= limbs
        totals = [(total << width) + int(part) for total, part in zip(totals, limbs @ weights, strict=True)]
        bits += width
    return [Fraction(total) * Fraction(2) ** (top - bits) for total in totals]
