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
    with np.errstate(over="ignore"):
        cells = np.clip((values - law.origin) / law.width, -1e300, 1e300)
        room = 1e-3 + np.minimum(np.abs(values) / law.width * 2.0**-22, 1e300)
    nearest = np.rint(cells)
    wrong = (np.abs(cells - nearest) > room) & ~absent & (np.abs(cells) < 2.0**50)
    if law.noise.end_cells is not None:
        first, last = law.noise.end_cells
        room = np.minimum(room, 1e-3 + (max(abs(first), abs(last)) + abs(law.origin) / law.width) * 2.0**-22)
        wrong |= ~absent & ((nearest < first - 0.5 - room) | (nearest > last + 0.5 + room))
    if wrong.any():
        problem: DataError = OutOfDomainError(EDITED, int(np.argmax(wrong)))
        raise ColumnError(law.name, problem)
