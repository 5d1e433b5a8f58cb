"""Grids: where released numbers live, and how secrets are placed between their points without rounding.

A secret x is an exact rational, whatever type it came in. On a grid with cells of width r it is
``r * (cell + fraction)`` with an integer cell; the split is exact or carries a bound on the fraction's error.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import KindError, LevelError, NotFiniteError, OffGridError, OutOfDomainError
from metricdp.exact.refine import Floats, Integers

__all__ = ["Grid", "Placed"]

FLOAT_CELLS = 1 << 52
"""Cells either side of zero where a secret given or released as a float may lie; results reach twice as far."""
INTEGER_CELLS = 1 << 61
"""The same for integers: nanoseconds since 1970 until 2043."""
INTEGER_RESULTS = 2**62 - 2
"""Where results that are integers saturate."""

_SPLITTER = 134217729.0  # 2^27 + 1: cuts a float into two halves whose products are exact (Veltkamp)


@dataclass(frozen=True)
class Placed:
    """Secrets on a grid: ``secret = width * (cells + fractions)`` up to ``radius`` in the fraction.

    Attributes:
        cells: integers.
        fractions: floats, mostly in [-1/2, 1].
        radius: a bound on the fractions' error; 0 where the split is exact.
        exact: the fraction of one row, as the rational it is.
        aligned: which secrets lie on the grid, decided exactly.
        whole_results: whether results are integers (or datetimes), not floats.
    """

    cells: Integers
    fractions: Floats
    radius: float
    exact: Callable[[int], Fraction]
    aligned: Callable[[], NDArray[np.bool_]]
    whole_results: bool


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
            raise LevelError("a resolution lies between 2^-500 and 2^500")

    @staticmethod
    @functools.lru_cache(maxsize=1024)
    def of(width: Fraction) -> Grid:
        """The grid of that width, kept because every block of rows asks for it."""
        return Grid(width)

    @cached_property
    def _is_power_of_two(self) -> bool:
        top, bottom = self.width.numerator, self.width.denominator
        return top & (top - 1) == 0 and bottom & (bottom - 1) == 0

    def place(self, secrets: NDArray[Any], unit: Fraction = Fraction(1)) -> Placed:
        """Split secrets, counted in multiples of ``unit``, into cells and fractions."""
        kind = secrets.dtype.kind
        if kind == "f" and secrets.dtype.itemsize <= 8:
            return self._place_floats(secrets.astype(np.float64, copy=False))
        if kind == "i" or (kind == "u" and secrets.dtype.itemsize < 8):
            return self._place_integers(secrets.astype(np.int64, copy=False), self.width / unit)
        if kind in "uO":
            return self._place_objects(secrets)
        raise KindError(f"numbers are wanted, not {secrets.dtype.name}")

    def points(self, cells: Integers, placed: Placed, like: NDArray[Any]) -> NDArray[Any]:
        """The grid's points at the cells, in the type of the secrets ``like`` that were placed."""
        if like.dtype == object:
            return self._objects(cells, like)
        if placed.whole_results:
            return self.whole_values(cells)
        values = self.values(cells)
        if like.dtype.kind != "f" or like.dtype == np.float64:
            return values
        ends = np.finfo(like.dtype)
        return np.clip(values, float(ends.min), float(ends.max)).astype(like.dtype)

    def values(self, cells: Integers) -> Floats:
        """The grid's points as floats: the nearest float to ``width * cell``, saturating far out."""
        within = cells.astype(np.float64)
        np.clip(within, -2.0 * FLOAT_CELLS, 2.0 * FLOAT_CELLS, out=within)
        top, bottom = self.width.numerator, self.width.denominator
        if self._is_power_of_two or bottom.bit_length() > 53 or top.bit_length() > 53:
            within *= float(self.width)
        else:
            within *= float(top)
            within /= float(bottom)
        return within

    def whole_values(self, cells: Integers) -> Integers:
        """The grid's points as integers, for an integer width; saturating at the ends of 64 bits."""
        most = min(INTEGER_RESULTS, (2**63 - 1) // self.width.numerator)
        return np.clip(cells, -most, most) * self.width.numerator

    def _objects(self, cells: Integers, like: NDArray[Any]) -> NDArray[Any]:
        """Decimals give Decimals and Fractions Fractions, exactly; other numbers integers or floats."""
        results = np.empty(len(cells), dtype=object)
        within = np.clip(cells, -INTEGER_RESULTS, INTEGER_RESULTS).tolist()
        for row, (cell, secret) in enumerate(zip(within, like.tolist(), strict=True)):
            point = cell * self.width
            if isinstance(secret, Decimal):
                results[row] = _decimal(point)
            elif isinstance(secret, Fraction):
                results[row] = point
            else:
                results[row] = int(point) if self.width.denominator == 1 else float(point)
        return results

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
        finite = np.isfinite(secrets)
        if not finite.all():
            raise NotFiniteError("a finite number is wanted, not NaN or infinity", int(np.argmin(finite)))
        with np.errstate(over="ignore", under="ignore"):
            quotients = secrets * float(1 / self.width) if self._is_power_of_two else secrets / float(self.width)
        self._check(np.abs(quotients) <= FLOAT_CELLS, FLOAT_CELLS)
        cells = np.rint(quotients)

        def exact(row: int) -> Fraction:
            return Fraction(float(secrets[row])) / self.width - int(cells[row])

        if self._is_power_of_two:
            fractions = quotients - cells

            def aligned() -> NDArray[np.bool_]:
                return np.asarray((fractions == 0) & ((quotients != 0) | (secrets == 0)))

            # Exact, but for a quotient so small that it underflows.
            return Placed(cells.astype(np.int64), fractions, 2.0**-1000, exact, aligned, whole_results=False)
        residues = self._residues(secrets, cells)
        return Placed(cells.astype(np.int64), residues, 2.0**-48, exact, _each(exact, cells.size), whole_results=False)

    def _residues(self, secrets: Floats, cells: Floats) -> Floats:
        """``secrets / width - cells`` to full relative accuracy, by products in two floats (Dekker)."""
        high = float(self.width)
        low = float(self.width - Fraction(high))
        product = cells * high
        halves = [_halves(factor) for factor in (cells, np.float64(high))]
        (a, b), (c, d) = halves
        slack = b * d - (((product - a * c) - b * c) - a * d)
        residues: Floats = ((secrets - product) - slack - cells * low) / high
        return residues

    def _place_integers(self, secrets: Integers, width: Fraction) -> Placed:
        top, bottom = width.numerator, width.denominator
        if top == bottom == 1:
            self._check((secrets <= INTEGER_CELLS) & (secrets >= -INTEGER_CELLS), INTEGER_CELLS)
            zeros, everywhere = np.zeros(secrets.size), np.ones(secrets.size, dtype=bool)
            return Placed(secrets, zeros, 0.0, lambda row: Fraction(0), lambda: everywhere, whole_results=True)
        if top * bottom >= 2**62:
            return self._place_objects(secrets.astype(object), width)
        whole, rest = np.divmod(secrets, top)
        limit = INTEGER_CELLS if self.width.denominator == 1 or bottom == 1 else FLOAT_CELLS
        self._check((whole <= limit // bottom) & (whole >= -(limit // bottom)), limit)
        more, remainder = np.divmod(rest * bottom, top)

        def exact(row: int) -> Fraction:
            return Fraction(int(remainder[row]), top)

        fractions = remainder / float(top)
        return Placed(whole * bottom + more, fractions, 2.0**-50, exact, lambda: remainder == 0, bottom == 1)

    def _place_objects(self, secrets: NDArray[Any], width: Fraction | None = None) -> Placed:
        """Decimals, Fractions and integers of any size, one at a time."""
        width = self.width if width is None else width
        quotients: list[Fraction] = []
        for row, secret in enumerate(secrets.tolist()):
            if isinstance(secret, bool) or not isinstance(secret, (int, float, Decimal, Fraction)):
                raise KindError("numbers are wanted: int, float, Decimal or Fraction", row)
            if isinstance(secret, float | Decimal) and not (
                secret.is_finite() if isinstance(secret, Decimal) else math.isfinite(secret)
            ):
                raise NotFiniteError("a finite number is wanted, not NaN or infinity", row)
            quotients.append(Fraction(secret) / width)
        whole_results = width.denominator == 1
        limit = INTEGER_CELLS if whole_results else FLOAT_CELLS
        self._check(np.array([abs(quotient) <= limit for quotient in quotients], dtype=bool), limit)
        cells = [round(quotient) for quotient in quotients]
        fractions = [quotient - cell for quotient, cell in zip(quotients, cells, strict=True)]
        return Placed(
            np.array(cells, dtype=np.int64),
            np.array([float(fraction) for fraction in fractions]),
            2.0**-53,
            fractions.__getitem__,
            _each(fractions.__getitem__, len(fractions)),
            whole_results,
        )

    def _check(self, within: NDArray[np.bool_], limit: int) -> None:
        if not within.all():
            raise OutOfDomainError(
                f"beyond what the resolution can hold: a magnitude above {float(limit * self.width):.3g}; "
                "give a coarser resolution",
                int(np.argmin(within)),
            )


def _each(exact: Callable[[int], Fraction], count: int) -> Callable[[], NDArray[np.bool_]]:
    """Alignment decided row by row, for types whose quotients no array can hold."""
    return lambda: np.array([exact(row) == 0 for row in range(count)], dtype=bool)


def _halves(numbers: Any) -> tuple[Any, Any]:
    """A float as the sum of two with 26 bits each, so that products of halves are exact."""
    scaled = numbers * _SPLITTER
    high = scaled - (scaled - numbers)
    return high, numbers - high


def _decimal(number: Fraction) -> Decimal:
    """A rational as a Decimal: exactly where it has a last digit, else to 50 digits."""
    places = 0
    scaled = number
    while scaled.denominator != 1 and places < 50:
        scaled, places = scaled * 10, places + 1
    return Decimal(round(scaled)).scaleb(-places, Context(prec=400))
