"""Scores for the number itself and its square: right for every secret, whatever the noise, the clamping and the nulls.

Noise without clamping is symmetric, so the released number is right on average. What a bound clamps lay beyond it by an
amount whose law does not depend on the secret, since the tail of the noise forgets where it began: so a release at a
bound counts as what it was on average before it was clamped. Nulls that are secret are undone as coins are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from metricdp.estimates.laws import LineLaw
from metricdp.estimates.noise_shape import noise_scale
from metricdp.exact.arrays import Booleans, Floats, Places

__all__ = ["MomentScore"]


@dataclass(frozen=True, eq=False)
class MomentScore:
    """``slope * y + offset`` for a released number y, with offsets of their own at the bounds and for null.

    Attributes:
        slope: 1, or more where numbers are released as null.
        offsets: for y at the lower bound, between, at the upper bound, and null.
        square_slope: the same for the square, ``square_slope * y^2 + square_offset``.
        square_offsets: its offsets.
        ends: the least and the greatest released number where those are bounds; else infinite.
        noise_variance: of one number, before clamping.
    """

    slope: float
    offsets: Floats
    square_slope: float
    square_offsets: Floats
    ends: tuple[float, float]
    noise_variance: float

    @classmethod
    def of(cls, law: LineLaw) -> MomentScore:
        """For a column of numbers that is released with noise."""
        noise, width = law.noise, law.width
        variance = _variance(noise)
        first, last = -math.inf, math.inf
        offsets, squares = np.zeros(4), np.full(4, -variance)
        if noise.end_cells is not None:
            first, last = (cell * width + law.origin for cell in noise.end_cells)
            decay = math.exp(-width / law.scale)
            beyond, squared = width * decay / -math.expm1(-width / law.scale), 0.0
            squared = width**2 * decay * (1 + decay) / math.expm1(-width / law.scale) ** 2
            offsets[0], offsets[2] = -beyond, beyond
            squares[0] += -2 * first * beyond + squared
            squares[2] += 2 * last * beyond + squared
        slope = 1.0
        if law.column.missing != "refuse":
            offsets[3] = squares[3] = 0.0
        if law.column.missing == "secret":
            false, true = noise.null_shares
            centre = float(sum(noise.bounds)) / 2 + law.origin
            slope = 1 / (1 - false)
            for array, at_centre in ((offsets, centre), (squares, centre**2)):
                array[:3] *= slope
                shift = -(1 - true) * at_centre * slope / ((1 - true) - true * (1 - false) / false)
                array[:3] += shift
                array[3] = -(1 - false) * shift / false
        return cls(slope, offsets, slope, squares, (first, last), variance)

    @classmethod
    def without_noise(cls) -> MomentScore:
        """For a column that is released as it is; null counts for nothing."""
        return cls(1.0, np.zeros(4), 1.0, np.zeros(4), (-math.inf, math.inf), 0.0)

    def codes(self, values: Floats, absent: Booleans) -> Places:
        """Which of the four offsets each released number has."""
        room = 1e-9 * max(1.0, *(abs(end) for end in self.ends if math.isfinite(end)), 1.0)
        found = np.ones(len(values), dtype=np.int64)
        found[values <= self.ends[0] + room] = 0
        found[values >= self.ends[1] - room] = 2
        found[absent] = 3
        return found

    def score(self, values: Floats, codes: Places) -> Floats:
        """For each released number one whose average is that of the secrets."""
        return np.asarray(np.where(codes == 3, 0.0, self.slope * values) + self.offsets[codes])

    def square(self, values: Floats, codes: Places) -> Floats:
        """The same for their squares."""
        return np.asarray(np.where(codes == 3, 0.0, self.square_slope * values**2) + self.square_offsets[codes])


def _variance(noise: Any) -> float:
    """Of the noise before clamping: summed over cells, or where those are fine, that of the Laplace law."""
    width, scale = float(noise.resolution), noise_scale(noise)
    if noise.end_cells is not None or scale > 50 * width:
        decay = math.exp(-width / scale)
        if scale > 50 * width:
            return 2 * scale**2 + width**2 / 12
        return 2 * decay * width**2 / (1 - decay) ** 2
    cells = np.arange(-4000, 4002, dtype=np.float64)
    shares = np.diff(noise.cells_below(np.zeros(1), cells)[0])
    return float(shares @ (cells[:-1] * width) ** 2)
