"""Columns of the cone by the few points they rise from: thousands of them, in little memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metricdp.exact.arrays import Floats, Places

__all__ = ["Lifted"]

_TOGETHER = 256


@dataclass(frozen=True, eq=False)
class Lifted:
    """The least column of the cone with at least these values at these points: ``max over k of values_k exp(-d_ik)``.

    Attributes:
        places: some of the points.
        values: one for each of them.
    """

    places: Places
    values: Floats

    def column(self, decay: Floats) -> Floats:
        """Its values at all points, with sum one.

        >>> decay = np.array([[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]])
        >>> Lifted(np.array([0, 2]), np.array([1.0, 1.0])).column(decay).tolist()
        [0.4, 0.2, 0.4]
        """
        column = np.zeros(len(decay))
        for start in range(0, len(self.places), _TOGETHER):
            some = slice(start, start + _TOGETHER)
            np.maximum(column, (self.values[some, None] * decay[self.places[some]]).max(axis=0), out=column)
        column /= column.sum()
        return column
