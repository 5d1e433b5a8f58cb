"""Whether weights that balance some points balance one more, identically: a proof that a sign is zero.

Columns S of as many vertices as there are points but one are given, as powers of the exponentials of the generators.
Weights that make the sums at the first points equal make that at the last point equal too if and only if the square
matrix M of the differences of neighbours is singular. As a polynomial, its determinant has more terms than can be
written down. So M is looked at modulo a prime, at one point: where it is regular there, it is regular, and where it is
not, the vectors it maps to zero say where a proof is to be found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mpoly_ctx, nmod_mat
from numpy.typing import NDArray

from metricdp.design.kernels._vertex import Vertex
from metricdp.errors import ArgumentError

__all__ = ["UNDECIDED", "IdenticalZeros"]

UNDECIDED = (
    "whether some vertices make a kernel depends on a number that can neither be told from zero nor proved to be zero; "
    "rational distances at a level such as ln 2 decide it"
)

_PRIME = (1 << 61) - 1
_MOST_PAIRINGS = 64
_MOST_ROWS = 11
"""Of a determinant that is expanded: 2^11 minors."""

Key = int | float
Labels = NDArray[np.int64]


class IdenticalZeros:
    """Decides whether M is singular for every value of the exponentials of the generators.

    Args:
        vertices: one for each column.
        places: the points, in the order of the equations.
    """

    def __init__(self, vertices: Sequence[Vertex], places: Sequence[int]) -> None:
        self.vertices, self.places = list(vertices), list(places)
        self.relations = vertices[0].lengths.relations
        self.ring = fmpz_mpoly_ctx.get([f"x{place}" for place in range(len(self.relations))], "lex")
        self._bases = self._residues()
        self._values: dict[int, NDArray[np.int64]] = {}
        self._keys: dict[int, list[Key]] = {}
        self._columns: dict[tuple[int, int], list[Any]] = {}

    def vanishes(self, subset: Sequence[int]) -> bool:
        """Whether the weights of these columns that balance the first points balance the next one too, identically.

        Raises:
            ArgumentError: if it seems so, and cannot be proved.
        """
        single = list(range(len(subset)))
        if self._bases is None:
            return self._deficient(subset, [*single, len(subset)], single)
        matrix = self._modular(subset)
        if int(matrix.det()):
            return False
        rows, columns = matrix.transpose().nullspace(), matrix.nullspace()
        if rows[1] == 1 and self._by_pairs(subset, _first(rows[0], _PRIME)):
            return True
        kept = [place for place, weight in zip(subset, _first(columns[0], _PRIME), strict=True) if weight]
        return self._by_classes(kept, len(subset) + 1)

    # At one point, modulo a prime

    def _residues(self) -> list[int] | None:
        """A value for each exponential that keeps its relation; None where that takes a root."""
        found = []
        for number, relation in enumerate(self.relations):
            if relation is None:
                found.append(pow(3, 7919 ** (number + 3), _PRIME))
            elif relation[0] != 1 or not relation[1].numerator % _PRIME or not relation[1].denominator % _PRIME:
                return None
            else:
                found.append(relation[1].numerator * pow(relation[1].denominator, -1, _PRIME) % _PRIME)
        return found

    def _value(self, number: int) -> NDArray[np.int64]:
        if number not in self._values:
            values = []
            for place in self.places:
                row = self.vertices[number].coefficients[place]
                value = int(row is not None)
                for base, power in zip(self._bases or (), row or (), strict=False):
                    value = value * pow(base, power, _PRIME) % _PRIME
                values.append(value)
            self._values[number] = np.array(values, dtype=np.int64)
        return self._values[number]

    def _modular(self, subset: Sequence[int]) -> nmod_mat:
        size = len(subset)
        values = np.array([self._value(number)[: size + 1] for number in subset])
        differences = (values[:, 1:] - values[:, :-1]) % _PRIME
        return nmod_mat(size, size, differences.T.ravel().tolist(), _PRIME)

    # Proofs that look at which entries are the same

    def _key(self, number: int) -> list[Key]:
        """The powers in each row as one integer, infinity for an entry of zero; integers add as the powers do."""
        if number not in self._keys:
            rows = self.vertices[number].coefficients
            self._keys[number] = [
                math.inf if (row := rows[place]) is None else sum(c << (64 * g) for g, c in enumerate(row))
                for place in self.places
            ]
        return self._keys[number]

    def _by_pairs(self, subset: Sequence[int], rows: list[int]) -> bool:
        """Whether differences of pairs of points have fewer directions than there are pairs.

        Then rows of M depend on each other. It is so where a reflection swaps the points of each pair and most columns:
        a column and its image give the same direction, and a column that is its own image gives none. Rows that depend
        have opposite weights on the points of a pair, so the weights say what the pairs are.
        """
        weights = [-rows[0], *(one - two for one, two in itertools.pairwise(rows)), rows[-1]]
        places: dict[int, list[int]] = {}
        for place, weight in enumerate(weights):
            if weight % _PRIME:
                places.setdefault(weight % _PRIME, []).append(place)
        keys = [self._key(number) for number in subset]
        for pairs in itertools.islice(_pairings(places), _MOST_PAIRINGS):
            if len({direction for key in keys if (direction := _direction(key, pairs))}) < len(pairs):
                return True
        return False

    def _by_classes(self, subset: Sequence[int], count: int) -> bool:
        """Whether some weights, the same for columns of one class, balance all points.

        Points and columns are classed such that the points of a class see the same entries in each class of columns, up
        to a factor for each column. Then the sums at all points of a class are the same, and there is one equation for
        each class of points but one. With fewer of these than classes of columns, that is all; else the minors of the
        small matrix that is left are expanded. Positive weights that balance the points can be averaged over classes,
        so they are found; others may not be, and then the whole matrix is expanded.
        """
        keys = [_scaled(self._key(number)[:count]) for number in subset]
        ranks = {key: rank for rank, key in enumerate(sorted({key for column in keys for key in column}))}
        points, columns = _classes(np.array([[ranks[key] for key in column] for column in keys], dtype=np.int64))
        if columns.max() >= points.max() or self._deficient(subset, points.tolist(), columns.tolist()):
            return True
        return self._deficient(subset, range(count), range(len(subset)))

    # Proofs that expand a determinant

    def _deficient(self, subset: Sequence[int], points: Sequence[int], columns: Sequence[int]) -> bool:
        """Whether the sums over classes of columns, as differences of classes of points, have less than full rank."""
        first = [points.index(label) for label in range(max(points) + 1)]
        table: list[list[Any]] = [[self.ring.constant(0)] * (max(columns) + 1) for _ in first[1:]]
        for number, label in zip(subset, columns, strict=True):
            entries = self._polynomials(number, len(points))
            for row, (one, two) in zip(table, itertools.pairwise(first), strict=True):
                row[label] += entries[two] - entries[one]
        if self._bases is None:
            return self._zero(_determinant(table, self.ring.constant(0)))
        residues = np.array([[self._at_bases(entry) for entry in row] for row in table], dtype=object)
        rows, across = _pivots(residues.T), _pivots(residues)
        if len(across) == residues.shape[1]:
            return False
        if len(rows) >= _MOST_ROWS:
            raise ArgumentError(UNDECIDED)
        # The rank is that of the pivots where every minor with one more row and one more column is zero.
        others = [row for number, row in enumerate(table) if number not in rows]
        for column in set(range(residues.shape[1])).difference(across):
            for row in others:
                minor = [[held[c] for c in [*across, column]] for held in [*(table[r] for r in rows), row]]
                if not self._zero(_determinant(minor, self.ring.constant(0))):
                    return False
        return True

    def _at_bases(self, polynomial: Any) -> int:
        total = 0
        for powers, coefficient in polynomial.to_dict().items():
            term = int(coefficient)
            for base, power in zip(self._bases or (), powers, strict=False):
                term = term * pow(base, int(power), _PRIME) % _PRIME
            total += term
        return total % _PRIME

    def _polynomials(self, number: int, count: int) -> list[Any]:
        """The entries at the first points as polynomials, times what makes them so; that is the same within a class.

        Exponentials that are rational are put in as they are; powers of the others are shifted to be nonnegative.
        """
        if (number, count) in self._columns:
            return self._columns[number, count]
        rows = [self.vertices[number].coefficients[place] for place in self.places[:count]]
        known = [row for row in rows if row is not None]
        shift = [min(row[g] for row in known) if known else 0 for g in range(len(self.relations))]
        factors, powers = [], []
        for row in rows:
            factor, left = Fraction(row is not None), [0] * len(self.relations)
            for g, relation in enumerate(self.relations if row is not None else ()):
                power = (row or shift)[g] - shift[g]
                if relation is not None and relation[0] == 1:
                    factor *= relation[1] ** power
                else:
                    left[g] = power
            factors.append(factor)
            powers.append(tuple(left))
        common = math.lcm(*(factor.denominator for factor in factors))
        self._columns[number, count] = [
            self.ring.from_dict({power: int(factor * common)} if factor else {})
            for factor, power in zip(factors, powers, strict=True)
        ]
        return self._columns[number, count]

    def _zero(self, polynomial: Any) -> bool:
        """Whether a polynomial is zero once the powers of exponentials that are roots are reduced."""
        held: dict[tuple[int, ...], Fraction] = {}
        for powers, coefficient in polynomial.to_dict().items():
            value, left = Fraction(int(coefficient)), []
            for power, relation in zip(map(int, powers), self.relations, strict=True):
                if relation is None:
                    left.append(power)
                else:
                    value *= relation[1] ** (power // relation[0])
                    left.append(power % relation[0])
            held[tuple(left)] = held.get(tuple(left), Fraction(0)) + value
        return not any(held.values())


def _first(vectors: nmod_mat, prime: int) -> list[int]:
    """The first column."""
    return [int(vectors[row, 0]) % prime for row in range(vectors.nrows())]


def _pivots(residues: NDArray[Any]) -> list[int]:
    """The first columns that span the others."""
    rows, columns = residues.shape
    reduced, rank = nmod_mat(rows, columns, residues.ravel().tolist(), _PRIME).rref()
    return [next(column for column in range(columns) if int(reduced[row, column])) for row in range(rank)]


def _pairings(places: dict[int, list[int]]) -> Iterator[list[tuple[int, int]]]:
    """All ways to pair points of opposite weight; none where some are left over."""
    halves = []
    for weight, one in places.items():
        two = places.get(-weight % _PRIME, [])
        if len(one) != len(two):
            return
        if weight < -weight % _PRIME:
            halves.append((one, two))
    for orders in itertools.product(*(itertools.permutations(two) for _, two in halves)):
        yield [pair for (one, _), order in zip(halves, orders, strict=True) for pair in zip(one, order, strict=True)]


def _scaled(keys: Sequence[Key]) -> list[Key]:
    """Keys that are the same for a column times a factor: with a sum of zero."""
    finite = [key for key in keys if key != math.inf]
    total, count = sum(finite), max(1, len(finite))
    return [count * key - total if key != math.inf else key for key in keys]


def _direction(keys: Sequence[Key], pairs: Sequence[tuple[int, int]]) -> tuple[Any, ...] | None:
    """The differences of pairs, the same for what differs by a factor or a sign; None where all are zero."""
    apart = [number for number, (one, two) in enumerate(pairs) if keys[one] != keys[two]]
    if not apart:
        return None
    scaled = _scaled([keys[place] for number in apart for place in pairs[number]])
    turned = [scaled[place ^ 1] for place in range(len(scaled))]
    return (*apart, *min(scaled, turned))


def _classes(entries: Labels) -> tuple[Labels, Labels]:
    """The coarsest classes of points and of columns, from the entries of each column (a row here), by refinement."""
    points, columns = np.zeros(entries.shape[1], dtype=np.int64), np.zeros(len(entries), dtype=np.int64)
    width = int(entries.max()) + 1
    while True:
        found = _labelled(np.sort(entries.T + width * columns, axis=1), points)
        split = _labelled(np.sort(entries + width * found, axis=1), columns)
        if found.max() == points.max() and split.max() == columns.max():
            return found, split
        points, columns = found, split


def _labelled(seen: Labels, labels: Labels) -> Labels:
    """One label for each different row, given what was told apart before."""
    known: dict[tuple[int, ...], int] = {}
    rows = zip(labels.tolist(), seen.tolist(), strict=True)
    return np.array([known.setdefault((label, *row), len(known)) for label, row in rows], dtype=np.int64)


def _determinant(matrix: list[list[Any]], zero: Any) -> Any:
    """By minors of the first rows, for entries that are not divided."""
    size = len(matrix)
    minors: dict[tuple[int, ...], Any] = {(column,): matrix[0][column] for column in range(size)}
    for row in matrix[1:]:
        grown: dict[tuple[int, ...], Any] = {}
        for chosen, minor in minors.items():
            if minor == zero:
                continue
            for column in range(size):
                if column in chosen:
                    continue
                after = sum(other > column for other in chosen)
                term = row[column] * minor
                key = tuple(sorted((*chosen, column)))
                grown[key] = grown.get(key, zero) + (-term if after % 2 else term)
        minors = grown
    return minors.get(tuple(range(size)), zero)
