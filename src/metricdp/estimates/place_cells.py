"""Released places, checked, and the rectangles of a map that they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.errors import ColumnError, NotFiniteError, OutOfDomainError
from metricdp.estimates.edited_values import EDITED
from metricdp.exact.arrays import Booleans, Floats, Places

__all__ = ["PlaceCells", "ReleasedPlaces"]


@dataclass(frozen=True, eq=False)
class ReleasedPlaces:
    """Places of a batch of released rows.

    Attributes:
        north: latitudes; 0 for those that are missing.
        east: longitudes; the same.
        absent: which are missing.
        resolution: of the grid that they lie on, in degrees.
    """

    north: Floats
    east: Floats
    absent: Booleans
    resolution: float

    @classmethod
    def of(cls, column: Any, arrays: Sequence[pa.Array]) -> ReleasedPlaces:
        """Read from latitudes and longitudes.

        Raises:
            ColumnError: a place that no release has; names the column and the row.
        """
        values = [array.cast(pa.float64()).to_numpy(zero_copy_only=False) for array in arrays]
        absent = np.isnan(values[0]) | np.isnan(values[1])
        if absent.any() and column.missing == "refuse":
            raise ColumnError(
                column.columns[0], NotFiniteError("a value is missing, which is refused", int(np.argmax(absent)))
            )
        resolution = float(column.mechanism.resolution)
        for name, numbers, most, given in zip(column.columns, values, (90.0, 180.0), arrays, strict=True):
            wrong = ~absent & ~(np.abs(numbers) <= most)
            if wrong.any():
                raise ColumnError(name, OutOfDomainError(f"degrees lie within {most:g} of 0", int(np.argmax(wrong))))
            cells = numbers / resolution
            digits = 2.0**-50 if given.type == pa.float64() else 2.0**-8 if given.type == pa.float16() else 2.0**-22
            wrong = ~absent & (np.abs(cells - np.rint(cells)) > 1e-3 + np.abs(cells) * digits)
            if wrong.any():
                raise ColumnError(name, OutOfDomainError(EDITED, int(np.argmax(wrong))))
        north, east = (np.where(absent, 0.0, part) for part in values)
        return cls(north, east, absent, resolution)


@dataclass(frozen=True, eq=False)
class PlaceCells:
    """Rectangles between lines on a map; all that lies beyond the outermost is one more cell, and so is the missing.

    Attributes:
        north_cuts: latitudes of the lines.
        east_cuts: longitudes.
    """

    north_cuts: Floats
    east_cuts: Floats

    def codes(self, places: ReleasedPlaces) -> Places:
        """In which rectangle each place lies; then comes what is outside, and last what is missing."""
        centre = (self.east_cuts[0] + self.east_cuts[-1]) / 2
        turned = (places.east - centre + 180) % 360 - 180 + centre
        rooms = places.resolution * 1e-6
        row = np.searchsorted(self.north_cuts, places.north + rooms, side="right") - 1
        column = np.searchsorted(self.east_cuts, turned + rooms, side="right") - 1
        high, wide = len(self.north_cuts) - 1, len(self.east_cuts) - 1
        outside = (row < 0) | (row >= high) | (column < 0) | (column >= wide)
        found = np.where(outside, high * wide, row * wide + column).astype(np.int64)
        found[places.absent] = high * wide + 1
        return np.asarray(found)
