"""The exact factor near a float one.

The problem: A, B and the places where a stochastic R with ``B R = A`` may be positive are given, and floats that nearly
solve it. Find rationals that do.

Each column z of R solves ``B R_z = A_z`` on its own support: of the columns of B there, a basis is solved for exactly,
while the others take their values from the floats. The columns of R meet only in its row sums. What these miss lies in
the kernel of B, and is made up for by kernel vectors of the supports, again by exact elimination. A vertex that the
simplex method found has as much freedom as that needs and no more; a point in the interior has plenty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from metricdp.exact.weights import Weights
from metricdp.programs import Echelon

__all__ = ["exact_factor", "integer_rows", "stochastic_rows"]

Floats = NDArray[np.float64]

_BITS = 50


def exact_factor(
    a: Weights, a_total: int, b: Weights, b_total: int, guess: Floats, support: NDArray[np.bool_]
) -> tuple[Weights, int] | None:
    """Integers and the total of their rows that solve the equations on this support; None where elimination finds none.

    The equations ``B R = A`` and ``R 1 = 1`` hold; that no entry is negative remains to be seen.
    """
    columns, outputs = guess.shape
    if not support.any(axis=1).all() or not support.any(axis=0).all():
        return None
    rounded = integer_rows(np.where(support, guess, 0), _BITS)
    blocks = [
        _Block(a, a_total, b, b_total, rounded, guess, places, together)
        for places, together in _groups(support).items()
    ]
    if not all(block.held.consistent for block in blocks):
        return None
    common = math.lcm(*(block.held.divisor for block in blocks))
    total = (a_total << _BITS) * common
    weights = np.zeros((columns, outputs), dtype=object)
    for block in blocks:
        block.fill(weights, common // block.held.divisor)
    missed = [total - sum(row) for row in weights.tolist()]
    if any(missed):
        kernels = [kernel for block in blocks for kernel in block.kernels()]
        if not kernels:
            return None
        matrix = fmpz_mat([list(entries) for entries in zip(*(vector for _, vector in kernels), strict=True)])
        held = Echelon.of(matrix, fmpz_mat([[value] for value in missed]))
        if not held.consistent:
            return None
        weights, total = weights * held.divisor, total * held.divisor
        for row, pivot in enumerate(held.pivots):
            output, vector = kernels[pivot]
            weights[:, output] += np.array(vector, dtype=object) * int(held.reduced[row, held.columns])
    return weights, total


class _Block:
    """The columns of R that share one support."""

    def __init__(
        self,
        a: Weights,
        a_total: int,
        b: Weights,
        b_total: int,
        rounded: Weights,
        guess: Floats,
        places: Sequence[int],
        together: list[int],
    ) -> None:
        least = guess[:, together].min(axis=1)
        self.places = sorted(places, key=lambda place: -least[place])  # solved for first: those with most room
        self.outputs = together
        self.guess = guess
        self.held = Echelon.of(fmpz_mat(b[:, self.places].tolist()), fmpz_mat(a[:, together].tolist()))
        self.scale = b_total << _BITS
        self.taken = rounded[[self.places[free] for free in self.held.free]][:, together] * a_total

    def fill(self, weights: Weights, factor: int) -> None:
        """Write the columns, times ``factor``, into the matrix."""
        held, rank = self.held, len(self.held.pivots)
        rows: list[Any] = held.reduced.table()[:rank]
        solved = fmpz_mat([row[held.columns :] for row in rows]) * self.scale
        if held.free:
            across = fmpz_mat([[row[free] for free in held.free] for row in rows])
            solved -= across * fmpz_mat(self.taken.tolist())
        for pivot, entries in zip(held.pivots, solved.table(), strict=True):
            weights[self.places[pivot], self.outputs] = [int(entry) * factor for entry in entries]
        for free, taken in zip(held.free, self.taken * (held.divisor * factor), strict=True):
            weights[self.places[free], self.outputs] = taken

    def kernels(self) -> list[tuple[int, list[int]]]:
        """Vectors v on the support with ``B v = 0``, each with the column of R that has most room for it."""
        found = []
        for free in self.held.free:
            vector = [0] * self.guess.shape[0]
            vector[self.places[free]] = self.held.divisor
            for row, pivot in enumerate(self.held.pivots):
                vector[self.places[pivot]] = -int(self.held.reduced[row, free])
            used = [place for place, value in enumerate(vector) if value]
            room = self.guess[used][:, self.outputs].min(axis=0)
            found.append((self.outputs[int(room.argmax())], vector))
        return found


def integer_rows(rows: Floats, bits: int) -> Weights:
    """Rows of nonnegative floats as integers in the same proportion, each row summing to ``2**bits`` exactly.

    >>> integer_rows(np.array([[1.0, 1.0, 1.0]]), 4).tolist()
    [[6, 5, 5]]
    """
    total = 1 << bits
    held = np.maximum(rows, 0)
    held = held / held.sum(axis=1, keepdims=True)
    weights = np.empty(held.shape, dtype=object)
    for place, row in enumerate(held.tolist()):
        whole = [round(math.ldexp(value, bits)) for value in row]
        whole[max(range(len(whole)), key=whole.__getitem__)] += total - sum(whole)
        weights[place] = whole
    return weights


def stochastic_rows(rows: Sequence[Sequence[int]]) -> tuple[Weights, int]:
    """Rows of integers in the same proportion, without negative ones, and the power of two that each then sums to.

    >>> weights, total = stochastic_rows([[1, 2, -5], [0, 0, 7]])
    >>> weights.tolist(), total
    ([[10, 22, 0], [0, 0, 32]], 32)
    """
    bits = max(max(map(abs, row)) for row in rows).bit_length() + 2
    total = 1 << bits
    weights = np.empty((len(rows), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        held = [max(value, 0) for value in row]
        whole = sum(held)
        scaled = [(value << bits) // whole for value in held] if whole else [0] * len(held)
        scaled[max(range(len(held)), key=held.__getitem__)] += total - sum(scaled)
        weights[place] = scaled
    return weights, total


def _groups(support: NDArray[np.bool_]) -> dict[tuple[int, ...], list[int]]:
    groups: dict[tuple[int, ...], list[int]] = {}
    for output in range(support.shape[1]):
        groups.setdefault(tuple(np.flatnonzero(support[:, output]).tolist()), []).append(output)
    return groups
