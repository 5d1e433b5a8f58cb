"""Mechanisms on the line from inside: exact numbers go in, whole numbers of cells come out.

What type the secrets had and what type the results will have is the caller's business: cells know of neither.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import NotFiniteError
from metricdp.exact.arrays import Floats
from metricdp.exact.refine import Integers

__all__ = ["CellMechanism", "Missing", "refuse_missing"]

Missing = NDArray[np.bool_]


class CellMechanism(Protocol):
    """A mechanism whose releases are multiples of its ``resolution``.

    Attributes:
        takes_dates: whether secrets are moments, counted in days since 1970.
        takes_null: whether a missing value is a secret like any other.
    """

    @property
    def resolution(self) -> Fraction:
        """The width of a cell, in the metric's unit; in days for dates."""
        ...

    @property
    def takes_dates(self) -> bool:
        """Whether secrets are moments."""
        ...

    @property
    def takes_null(self) -> bool:
        """Whether null is a secret."""
        ...

    def release_cells(
        self, secrets: NDArray[Any], unit: Fraction = Fraction(1), missing: Missing | None = None
    ) -> tuple[Integers, Missing | None]:
        """Release ``unit * secrets`` as multiples of ``resolution``.

        Nothing is rounded on the way in, and what comes out is an exact integer: ``resolution * cell`` is the
        released number. Cells saturate at ``metricdp.exact.grid.RESULT_CELLS`` either side of zero, or at the
        mechanism's own bounds.

        Args:
            secrets: integers of any width, floats, or objects (int, float, Decimal, Fraction), at least one.
            unit: what they are counted in; for dates in days, so that 1/86400 stands for seconds since 1970.
            missing: which of them are null; what stands there instead is not looked at. NaN among floats is null, too.
                Where null is no secret of the mechanism, it is refused.

        Returns:
            The cells, and which of them are null, where the cell is 0: None for a mechanism that takes no null, and
            an array, even if nothing was missing, for one that does.

        Raises:
            DataError: with the row, where a secret lies outside the bounds or beyond
                ``metricdp.exact.grid.SECRET_CELLS`` cells, or is no finite number.
        """
        ...

    def cells_below(self, places: Floats, cuts: Floats) -> Floats:
        """The probability that the released cell lies below each cut, for each place; null left out of account.

        A float view of the exact law, off by less than 2^-40 where places and cuts lie within 2^40 cells: for
        estimates, on which no privacy rests.

        Args:
            places: secrets, in the metric's unit, that the mechanism takes.
            cuts: whole numbers of cells, in increasing order.

        Returns:
            A row for each place, a column for each cut.
        """
        ...

    @property
    def null_shares(self) -> tuple[float, float]:
        """The probability that a number is released as null, and that null is; 0 and 1 where null is no secret."""
        ...

    @property
    def end_cells(self) -> tuple[int, int] | None:
        """The first and the last cell that are released, where what falls beyond is clamped to them; else None."""
        ...


def refuse_missing(missing: Missing | None, dates: bool = False) -> None:
    """Refuse what is missing where that is no secret, and say in which row."""
    if missing is not None and missing.any():
        wanted = "a date is wanted, not NaT or null" if dates else "a finite number is wanted, and this one is missing"
        raise NotFiniteError(f"{wanted}; where null is a secret, use metrics.nullable(..)", int(np.argmax(missing)))
