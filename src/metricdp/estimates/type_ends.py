"""Noise that the type of a column cuts off: a release beyond what the type holds is its outermost value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from metricdp.estimates.noise_shape import noise_tail
from metricdp.exact.arrays import Floats
from metricdp.policies.types._line import OnALine

if TYPE_CHECKING:
    from metricdp.estimates.outline import Outline

__all__ = ["noise_within"]

_TAIL = 45
"""So many scales from an end, noise is as if there were none."""


@dataclass(frozen=True)
class _CutOff:
    """Noise on a line whose cells end where a type does; all else is that of the noise.

    Attributes:
        noise: of the mechanism.
        end_cells: the outermost cells that are released.
    """

    noise: Any
    end_cells: tuple[int, int]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.noise, name)

    def cells_below(self, places: Floats, cuts: Floats) -> Floats:
        """See `metricdp.mechanisms.cells.CellMechanism`."""
        below: Floats = self.noise.cells_below(places, cuts)
        below[:, cuts <= self.end_cells[0]], below[:, cuts > self.end_cells[1]] = 0.0, 1.0
        return below


def noise_within(noise: Any, column: OnALine, arrow: pa.DataType, outline: Outline, rows: float) -> Any:
    """The noise of a column as it is released in a type, cut off where that ends, if releases come near to it.

    Args:
        noise: of the mechanism.
        column: of the policy.
        arrow: the type of the released column.
        outline: of the released numbers.
        rows: how many there are. Where only one end is near, the other is farther off than so many draws reach.
    """
    ends = column.released_ends(arrow)
    if ends is None:
        return noise
    width, origin = float(noise.resolution), float(column.origin)
    own = noise.end_cells
    seen = (outline.least, outline.greatest) if own is None else tuple(cell * width + origin for cell in own)
    scale = noise_tail(noise)
    if float(ends[0]) < seen[0] - _TAIL * scale and float(ends[1]) > seen[1] + _TAIL * scale:
        return noise
    first, last = (
        math.ceil((ends[0] - column.origin) / noise.resolution),
        math.floor((ends[1] - column.origin) / noise.resolution),
    )
    if own is not None:
        cut = max(first, own[0]), min(last, own[1])
        return noise if cut == own else _CutOff(noise, cut)
    room = (math.log(max(rows, 1.0)) + _TAIL) * scale
    return _CutOff(
        noise,
        (
            max(first, math.floor((seen[0] - room - origin) / width)),
            min(last, math.ceil((seen[1] + room - origin) / width)),
        ),
    )
