"""Grids: where released numbers live, and how secrets are placed between their points without rounding.

A secret x is an exact rational, whatever type it came in. On a grid with cells of width r it is
``r * (cell + fraction)`` with an integer cell; the split is exact or carries a bound on the fraction's error. There are
quick ways for arrays of integers and of floats, and one way for everything; which of them was taken shows nowhere: not
in the range, not in the cells.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, DataError, KindError, NotFiniteError, OffGridError, OutOfDomainError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import float_below
from metricdp.exact.refine import Integers

__all__ = ["Grid", "Placed", "place_all"]

SECRET_CELLS = 1 << 61
"""Cells either side of zero where a secret may lie, whatever its type: nanoseconds since 1970 until 2043."""
RESULT_CELLS = 2**62 - 2
"""Where results saturate, whatever their type; a type that ends before that ends them sooner."""
FLOAT_CELLS = 1 << 52
"""Cells that floats count exactly, with one bit to spare: a grid for floats is best chosen so that they suffice."""

_MOST_DIGITS = 1100
"""Digits after the point, and more than enough before it, that a Decimal may have; floats have up to 1074."""
_SPLITTER = 134217729.0  # 2^27 + 1: cuts a float into two halves whose products are exact (Veltkamp)
_TOP = 2**63


@dataclass(frozen=True)
class Placed:
    """Secrets on a grid: ``secret = width * (cells + fractions)`` up to ``radius`` in the fraction.

    Attributes:
        cells: integers.
        fractions: floats in [-1/2, 1].
        radius: a bound on the fractions' error; 0 where the split is exact.
        exact: the fraction of one row, as the rational it is.
        aligned: which secrets lie on the grid, decided exactly.
        secrets: what was placed, where equal numbers are equal entries; otherwise None.
    """

    cells: Integers
    fractions: Floats
    radius: float
    exact: Callable[[int], Fraction]
    aligned: Callable[[], NDArray[np.bool_]]
    secrets: NDArray[Any] | None = None

    def outside(self, first: Fraction, last: Fraction, among: NDArray[np.bool_] | None = None) -> int | None:
        """The first row, of some or all, whose secret is not within so many cells, decided exactly; None if all are."""
        near = (self.cells <= _int64(math.ceil(first))) | (self.cells >= _int64(math.floor(last)))
        rows = np.flatnonzero(near if among is None else near & among)
        if self.secrets is not None:  # a bound is a value that many rows may share
            rows = np.sort(rows[np.unique(self.secrets[rows], return_index=True)[1]])
        for row in rows.tolist():
            if not first <= int(self.cells[row]) + self.exact(row) <= last:
                return int(row)
        return None

    def part(self, start: int, count: int) -> Placed:
        """Some of its rows, one after the other."""
        rows = slice(start, start + count)
        return Placed(
            self.cells[rows],
            self.fractions[rows],
            self.radius,
            lambda row: self.exact(start + row),
            lambda: self.aligned()[rows],
            None if self.secrets is None else self.secrets[rows],
        )

    def moved(self, rows: NDArray[np.bool_], to: Placed) -> Placed:
        """The same with the secrets of some rows replaced by one, the first of ``to``."""
        fraction = to.exact(0)
        return Placed(
            np.where(rows, to.cells[0], self.cells),
            np.where(rows, to.fractions[0], self.fractions),
            max(self.radius, to.radius),
            lambda row: fraction if rows[row] else self.exact(row),
            lambda: np.where(rows, fraction == 0, self.aligned()),
        )


@dataclass(frozen=True)
class Grid:
    """The multiples of ``width``, an exact positive rational.

    >>> placed = Grid(Fraction(1, 4)).place(np.array([0.3]))
    >>> placed.cells, placed.fractions.round(6)
    (array([1]), array([0.2]))
    >>> Grid(Fraction(1, 100)).values(np.array([3]))
    array([0.03])
    """

    width: Fraction

    def __post_init__(self) -> None:
        if not Fraction(1, 2**500) < self.width < 2**500:
            raise ArgumentError("a resolution lies between 2^-500 and 2^500")

    @staticmethod
    @functools.lru_cache(maxsize=1024)
    def of(width: Fraction) -> Grid:
        """The grid of that width, kept because every block of rows asks for it."""
        return Grid(width)

    @cached_property
    def _is_power_of_two(self) -> bool:
        top, bottom = self.width.numerator, self.width.denominator
        return top & (top - 1) == 0 and bottom & (bottom - 1) == 0

    def place(self, secrets: NDArray[Any]) -> Placed:
        """Split secrets into cells and fractions.

        They are integers or floats of any width up to 64 bits, or objects: int, float, Decimal, Fraction and numpy's
        own numbers. Beyond `SECRET_CELLS` they are refused, whatever they are.
        """
        kind, size = secrets.dtype.kind, secrets.dtype.itemsize
        with np.errstate(all="ignore"):
            if kind == "f" and size <= 8:
                return self._place_floats(secrets.astype(np.float64, copy=False))
            if kind == "u" and size == 8 and secrets.size and int(secrets.max()) >= _TOP:
                return self._place_objects(secrets.astype(object))
            if kind in "iu":
                return self._place_integers(secrets.astype(np.int64, copy=False))
            if kind == "O":
                return self._place_objects(secrets)
        raise KindError(f"numbers are wanted, not {secrets.dtype.name}")

    def place_matrix(self, secrets: NDArray[Any]) -> list[Placed]:
        """The columns of a matrix of numbers, all at once; an error names the row of the matrix."""
        rows, columns = secrets.shape
        try:
            whole = self.place(np.ascontiguousarray(secrets.T).ravel())
        except DataError:
            return place_all([self] * columns, list(secrets.T))  # which raises the first row's
        return [whole.part(column * rows, rows) for column in range(columns)]

    def values(self, cells: Integers) -> Floats:
        """The grid's points as floats: next to ``width * cell``, and the nearest up to `FLOAT_CELLS`."""
        within = np.clip(cells, -RESULT_CELLS, RESULT_CELLS).astype(np.float64)
        top, bottom = self.width.numerator, self.width.denominator
        if self._is_power_of_two or bottom.bit_length() > 53 or top.bit_length() > 53:
            within *= float(self.width)
        else:
            within *= float(top)
            within /= float(bottom)
        return within

    def whole_values(self, cells: Integers) -> Integers:
        """The grid's points as integers of 64 bits, for an integer width; they saturate at the last multiples."""
        return self.within(cells, -(_TOP - 1), _TOP - 1)

    def within(self, cells: Integers, least: int, greatest: int) -> Integers:
        """The same, saturating at the last multiples of the width between two integers of 64 bits."""
        step = self.width.numerator
        first, last = max(-RESULT_CELLS, -(-least // step)), min(RESULT_CELLS, greatest // step)
        if self.width.denominator != 1 or step >= _TOP or first > last:
            raise ArgumentError("a type of integers holds no multiple of this resolution but zero; give another one")
        return np.clip(cells, first, last) * step

    def numbers(self, cells: Integers) -> list[Any]:
        """The grid's points as Python's numbers: integers, of any size, where the width is whole, otherwise floats."""
        if self.width.denominator != 1:
            return list(self.values(cells).tolist())
        within = np.clip(cells, -RESULT_CELLS, RESULT_CELLS)
        step = self.width.numerator
        if step < _TOP and (not within.size or int(np.abs(within).max()) * step < _TOP):
            return list((within * step).tolist())
        return [cell * step for cell in within.tolist()]

    def on_grid(self, placed: Placed) -> Integers:
        """The cells of secrets that must lie on the grid; refuses any that lies between two points."""
        aligned = placed.aligned()
        if not aligned.all():
            raise OffGridError(
                f"not a multiple of the declared step {self.width}; declare snap=True to round it, at its cost",
                int(np.argmin(aligned)),
            )
        return placed.cells

    def _place_floats(self, secrets: Floats) -> Placed:
        most, sizes = float_below(SECRET_CELLS * self.width), np.abs(secrets)
        if secrets.size and not sizes.max() <= most:  # nor where one is NaN
            finite = np.isfinite(secrets)
            if not finite.all():
                raise NotFiniteError(_NOT_FINITE, int(np.argmin(finite)))
            self._check(sizes <= most)
        return self._place_by_powers(secrets) if self._is_power_of_two else self._place_by_residues(secrets)

    def _place_by_powers(self, secrets: Floats) -> Placed:
        quotients = secrets * float(1 / self.width)
        cells = np.rint(quotients)
        fractions = quotients - cells
        whole = cells.astype(np.int64)

        def aligned() -> NDArray[np.bool_]:
            return np.asarray((fractions == 0) & ((quotients != 0) | (secrets == 0)))

        # Exact, but for a quotient so small that it underflows.
        return Placed(whole, fractions, 2.0**-1000, self._rest_of(secrets, whole), aligned, secrets)

    def _place_by_residues(self, secrets: Floats) -> Placed:
        cells = np.rint(secrets / float(self.width))
        fractions = self._residues(secrets, cells)
        more = np.rint(fractions)  # far out, the quotient's last bit is worth many cells
        fractions -= more
        whole = cells.astype(np.int64) + more.astype(np.int64)
        exact = self._rest_of(secrets, whole)
        radius = 2.0**-40 if whole.size and int(np.abs(whole).max()) > FLOAT_CELLS else 2.0**-48
        return Placed(whole, fractions, radius, exact, _each(exact, whole.size), secrets)

    def _rest_of(self, secrets: Floats, cells: Integers) -> Callable[[int], Fraction]:
        return lambda row: Fraction(float(secrets[row])) / self.width - int(cells[row])

    def _residues(self, secrets: Floats, cells: Floats) -> Floats:
        """``secrets / width - cells`` to full relative accuracy, by products in two floats (Dekker).

        Up to 2^52 cells its error is below 2^-48. Up to 2^61 the residue is below 2^10 and its terms below 2^11, each
        with a relative 2^-52: together less than 2^-40.
        """
        high = float(self.width)
        low = float(self.width - Fraction(high))
        product = cells * high
        halves = [_halves(factor) for factor in (cells, np.float64(high))]
        (a, b), (c, d) = halves
        slack = b * d - (((product - a * c) - b * c) - a * d)
        residues: Floats = ((secrets - product) - slack - cells * low) / high
        return residues

    def _place_integers(self, secrets: Integers) -> Placed:
        top, bottom = self.width.numerator, self.width.denominator
        factors = _factors(top, bottom)
        if factors is None:
            return self._place_objects(secrets.astype(object))
        most = SECRET_CELLS * top // bottom
        if most < _TOP:
            self._check((secrets <= most) & (secrets >= -most))
        if top == 1:
            zeros, everywhere = np.zeros(secrets.size), np.ones(secrets.size, dtype=bool)
            cells = secrets * bottom if bottom < _TOP else secrets  # of a grid so fine nothing but zeros is left
            return Placed(cells, zeros, 0.0, lambda row: Fraction(0), lambda: everywhere, secrets)
        cells = secrets // top
        rest = secrets - cells * top
        for factor in factors:  # long division, by digits that fit 64 bits
            rest = rest * factor
            digit = rest // top
            cells = cells * factor + digit
            rest = rest - digit * top

        def exact(row: int) -> Fraction:
            return Fraction(int(rest[row]), top)

        return Placed(cells, rest / float(top), 2.0**-50, exact, lambda: rest == 0, secrets)

    def _place_objects(self, secrets: NDArray[Any]) -> Placed:
        """Integers of any size, floats, Decimals and Fractions, one at a time."""
        top, bottom = self.width.numerator, self.width.denominator
        cells, rests, wholes = [], [], []
        for row, secret in enumerate(secrets.tolist()):
            number, parts = (secret, 1) if type(secret) is int else _ratio(secret, row)
            whole = parts * top
            cell, rest = divmod(number * bottom, whole)
            if not -SECRET_CELLS <= cell <= SECRET_CELLS or (cell == SECRET_CELLS and rest):
                raise self._too_far(row)
            cells.append(cell)
            rests.append(rest)
            wholes.append(whole)
        return Placed(
            np.array(cells, dtype=np.int64),
            np.array([rest / whole for rest, whole in zip(rests, wholes, strict=True)], dtype=np.float64),
            2.0**-52,
            lambda row: Fraction(rests[row], wholes[row]),
            lambda: np.array([rest == 0 for rest in rests], dtype=bool),
        )

    def _check(self, within: NDArray[np.bool_]) -> None:
        if not within.all():
            raise self._too_far(int(np.argmin(within)))

    def _too_far(self, row: int) -> OutOfDomainError:
        return OutOfDomainError(
            "beyond what the resolution can hold: more than 2^61 steps of it from zero; give a coarser resolution",
            row,
        )


def place_all(grids: Sequence[Grid], columns: Sequence[NDArray[Any]]) -> list[Placed]:
    """Every column on its grid; of several errors the one in the first row is raised."""
    placed, errors = [], []
    for grid, column in zip(grids, columns, strict=True):
        try:
            placed.append(grid.place(column))
        except DataError as error:
            errors.append(error)
    if errors:
        raise min(errors, key=lambda error: -1 if error.row is None else error.row)
    return placed


_NOT_FINITE = "a finite number is wanted, not NaN or infinity"


def _ratio(secret: Any, row: int) -> tuple[int, int]:
    """A number as the quotient of two integers that it is."""
    kinds = int | float | Decimal | Fraction | np.integer | np.floating
    if isinstance(secret, bool | np.timedelta64) or not isinstance(secret, kinds):  # numpy calls a time an integer
        raise KindError("numbers are wanted: int, float, Decimal or Fraction", row)
    if isinstance(secret, int | np.integer):
        return int(secret), 1
    if isinstance(secret, Fraction):
        return secret.numerator, secret.denominator
    if isinstance(secret, Decimal):
        if not secret.is_finite():
            raise NotFiniteError(_NOT_FINITE, row)
        if secret and not -_MOST_DIGITS <= secret.as_tuple().exponent <= secret.adjusted() <= _MOST_DIGITS:  # type: ignore[operator]
            raise OutOfDomainError(f"a number with more than {_MOST_DIGITS} digits before or after its point", row)
    elif not np.isfinite(secret):
        raise NotFiniteError(_NOT_FINITE, row)
    number, parts = secret.as_integer_ratio()
    return int(number), int(parts)


@functools.lru_cache(maxsize=1024)
def _factors(top: int, bottom: int) -> tuple[int, ...] | None:
    """Factors of ``bottom``, each of which times ``top`` fits 64 bits; None where there are none such."""
    most = (_TOP - 1) // top
    found, rest = [1], bottom
    for prime in (2, 5, 3, 7, 11, 13, 17, 19, 23, 29, 31):
        while rest % prime == 0:
            rest //= prime
            if found[-1] * prime <= most:
                found[-1] *= prime
            else:
                found.append(prime)
    found.append(rest)
    return tuple(factor for factor in found if factor > 1) if max(found) <= most else None


def _int64(number: int) -> int:
    """The nearest integer of 64 bits."""
    return max(-_TOP, min(_TOP - 1, number))


def _each(exact: Callable[[int], Fraction], count: int) -> Callable[[], NDArray[np.bool_]]:
    """Alignment decided row by row, for types whose quotients no array can hold."""
    return lambda: np.array([exact(row) == 0 for row in range(count)], dtype=bool)


def _halves(numbers: Any) -> tuple[Any, Any]:
    """A float as the sum of two with 26 bits each, so that products of halves are exact."""
    scaled = numbers * _SPLITTER
    high = scaled - (scaled - numbers)
    return high, numbers - high
