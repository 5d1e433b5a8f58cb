"""Released numbers that no release can have: the table was edited, or it is another policy's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metricdp.errors import ColumnError, DataError, NotFiniteError, OutOfDomainError
from metricdp.exact.arrays import Booleans, Floats

if TYPE_CHECKING:
    from metricdp.estimates.laws import LineLaw

__all__ = ["EDITED", "check_values"]

EDITED = "no release under this policy has such a value: the table was edited, or released under another policy"


def check_values(law: LineLaw, values: Floats, absent: Booleans) -> None:
    """Refuse them by the row of the first."""
    if absent.any() and law.column.missing == "refuse":
        raise ColumnError(law.name, NotFiniteError("a value is missing, which is refused", int(np.argmax(absent))))
    cells = (values - law.origin) / law.width
    nearest = np.rint(cells)
    room = 1e-3 + np.abs(values) / law.width * 2.0**-22
    wrong = (np.abs(cells - nearest) > room) & ~absent & (np.abs(cells) < 2.0**50)
    if law.noise.end_cells is not None:
        first, last = law.noise.end_cells
        wrong |= ~absent & ((nearest < first - 0.5 - room) | (nearest > last + 0.5 + room))
    if wrong.any():
        problem: DataError = OutOfDomainError(EDITED, int(np.argmax(wrong)))
        raise ColumnError(law.name, problem)
