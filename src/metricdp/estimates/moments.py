"""Scores for the number itself and its square: right for every secret, whatever the noise, the clamping and the nulls.

Noise without clamping is symmetric, so the released number is right on average. What a bound clamps lay beyond it by an
amount whose law does not depend on the secret, since the tail of the noise forgets where it began: so a release at a
bound counts as what it was on average before it was clamped. Nulls that are secret are undone as coins are.

Where releases are rounded coarsely beside the noise, none of that is quite so: what is left of a bias is worked out for
each place within a step, and is no more than what the worst of them has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from metricdp.estimates.laws import LineLaw
from metricdp.exact.arrays import Booleans, Floats, Places

__all__ = ["FINE", "MomentScore"]


@dataclass(frozen=True, eq=False)
class MomentScore:
    """``slope * y + offset`` for a released number y, with offsets of their own at the bounds and for null.

    Attributes:
        slope: 1, or more where numbers are released as null.
        offsets: for y at the lower bound, between, at the upper bound, and null.
        around: offsets for ``x - centre``, in which y is less the centre, too.
        squares: the same for its square, ``slope * (y - centre)^2 + offset``.
        ends: the least and the greatest released number where those are bounds; else infinite.
        noise_variance: of one number, before clamping.
        centre: what squares are taken around: those of seconds since 1970 would drown what they differ by.
        bias: the least and the greatest amount by which the score is too high on average, whatever the secret.
    """

    slope: float
    offsets: Floats
    around: Floats
    squares: Floats
    ends: tuple[float, float]
    noise_variance: float
    centre: float = 0.0
    bias: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, law: LineLaw, centre: float = 0.0) -> MomentScore:
        """For a column of numbers that is released with noise."""
        variance = _variance(law)
        ends = -math.inf, math.inf
        if law.noise.end_cells is not None:
            first, last = law.noise.end_cells
            ends = first * law.width + law.origin, last * law.width + law.origin
        slope = 1 / (1 - law.noise.null_shares[0]) if law.column.missing == "secret" else 1.0
        (offsets, _), (around, squares) = (_offsets(law, variance, ends, about) for about in (0.0, centre))
        made = cls(slope, offsets, around, squares, ends, variance, centre)
        if law.is_geometric or law.width <= FINE * law.tail:
            return made
        bias, most = _rounded(law, made)
        return replace(made, noise_variance=max(variance, most), bias=bias)

    @classmethod
    def without_noise(cls, centre: float = 0.0) -> MomentScore:
        """For a column that is released as it is; null counts for nothing."""
        zeros = np.zeros(4)
        return cls(1.0, zeros, zeros, zeros, (-math.inf, math.inf), 0.0, centre)

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

    def pair(self, values: Floats, codes: Places) -> tuple[Floats, Floats]:
        """The same for what the secrets lie above the centre, and for its square."""
        far = np.where(codes == 3, 0.0, values - self.centre)
        return self.slope * far + self.around[codes], self.slope * far**2 + self.squares[codes]


def _offsets(law: LineLaw, variance: float, ends: tuple[float, float], about: float) -> tuple[Floats, Floats]:
    """The offsets of the score of ``x - about`` for a release less that, and of its square."""
    width = law.width
    offsets, squares = np.zeros(4), np.full(4, -variance)
    if law.noise.end_cells is not None:
        decay = math.exp(-width / law.tail)
        beyond = width * decay / -math.expm1(-width / law.tail)
        squared = width**2 * decay * (1 + decay) / math.expm1(-width / law.tail) ** 2
        offsets[0], offsets[2] = -beyond, beyond
        squares[0] += -2 * (ends[0] - about) * beyond + squared
        squares[2] += 2 * (ends[1] - about) * beyond + squared
    if law.column.missing != "refuse":
        offsets[3] = squares[3] = 0.0
    if law.column.missing == "secret":
        false, true = law.noise.null_shares
        middle = float(sum(law.noise.bounds)) / 2 + law.origin - about
        slope = 1 / (1 - false)
        for array, there in ((offsets, middle), (squares, middle**2)):
            absent = -(1 - true) * there * slope / (true - (1 - true) * false / (1 - false))
            array[:3] = array[:3] * slope - false * absent / (1 - false)
            array[3] = absent
    return offsets, squares


def _variance(law: LineLaw) -> float:
    """Of the noise before clamping: that of the geometric law, or of the Laplace law and of rounding."""
    if law.is_geometric:
        decay = math.exp(-law.width / law.tail)
        return 2 * decay * law.width**2 / (1 - decay) ** 2
    return 2 * law.tail**2 + law.width**2 / 12


def _rounded(law: LineLaw, made: MomentScore) -> tuple[tuple[float, float], float]:
    """The least and the greatest bias of the score, and the greatest variance of a release, for coarse steps."""
    biases, most = [0.0], 0.0
    reach = math.ceil(_TAIL * law.tail / law.width)
    for start in _places(law):
        secrets = start + law.width * np.arange(_PHASES + 1) / _PHASES
        bounds = getattr(law.noise, "bounds", None)
        if bounds is not None:
            secrets = np.clip(secrets, float(bounds[0]) + law.origin, float(bounds[1]) + law.origin)
        home = round((start - law.origin) / law.width)
        cells = np.arange(home - reach, home + reach + 1, dtype=np.float64)
        if law.noise.end_cells is not None:
            cells = cells[(cells >= law.noise.end_cells[0]) & (cells <= law.noise.end_cells[1])]
        shares = np.diff(law.noise.cells_below(secrets - law.origin, np.append(cells, cells[-1] + 1)), axis=1)
        values = cells * law.width + law.origin
        scores = made.score(values, made.codes(values, np.zeros(len(values), dtype=bool)))
        false = law.noise.null_shares[0] if law.column.missing == "secret" else 0.0
        biases += ((1 - false) * (shares @ scores) + false * made.offsets[3] - secrets).tolist()
        most = max(most, float((shares @ values**2 - (shares @ values) ** 2).max()))
    return (min(biases), max(biases)), most


def _places(law: LineLaw) -> list[float]:
    """Where biases are looked at over a step: in the middle, and for bounds from either of them on."""
    low, high = law.ends
    middle = law.origin + law.width * round(((low + high) / 2 - law.origin) / law.width)
    if law.noise.end_cells is None:
        return [middle]
    return [low, low + law.width, middle, high - 2 * law.width, high - law.width]


FINE = 0.02
"""Steps that are finer than so many scales of the noise leave no bias to speak of."""

_PHASES = 40
_TAIL = 45
