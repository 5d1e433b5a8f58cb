"""What the score of one row can be, and how far one row can move it: what few rows do not show by themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.estimates.expected_squares import alike
from metricdp.estimates.laws import LineLaw
from metricdp.exact.arrays import Floats

if TYPE_CHECKING:
    from metricdp.estimates.monomials import Monomial
    from metricdp.estimates.plan import Counted

__all__ = ["are_shares", "is_still", "moved_by_one", "rows_behind", "score_ends"]

_NEVER = 1e-3
"""Where noise moves fewer rows than this, it moves none but in one table of a thousand."""

Weights = Callable[[str, Any], Floats]
"""The score of each output, for a function of a column."""


def are_shares(monomials: Sequence[Monomial]) -> bool:
    """Whether shares of rows are asked for: no numbers, and functions that are nowhere beyond 1."""
    factors = [factor for one in monomials for factor in one.factors.values()]
    if any(one.number is not None for one in monomials):
        return False
    return all(max(float(np.abs(part).max()) for part in (one.low, one.high)) <= 1 + 1e-9 for one in factors)


def score_ends(counted: Counted, monomials: Sequence[Monomial], weights: Weights) -> tuple[float, float]:
    """Between which numbers the score of one row lies, at least 1 apart: there may be values that were not seen."""
    low, high = 0.0, 0.0
    for one in monomials:
        least, most = 1.0, 1.0
        for name, factor in one.factors.items():
            scores = weights(name, factor)
            ends = float(scores.min()), float(scores.max())
            ends = (ends[0], max(ends[1], ends[0] + 1)) if ends[0] <= 0 else (min(ends[0], ends[1] - 1), ends[1])
            products = [least * ends[0], least * ends[1], most * ends[0], most * ends[1]]
            least, most = min(products), max(products)
        low, high = low + min(one.weight * least, one.weight * most), high + max(one.weight * least, one.weight * most)
    return low, high


def moved_by_one(counted: Counted, monomials: Sequence[Monomial], weights: Weights) -> float:
    """By how much the sum of scores moves, at most, where the noise of one row takes another of its steps.

    A count moves by steps, and half of one belongs to its interval, since the normal law knows none. Numbers move by
    steps of their grid; in a group, a row moves them by as much as it typically is, less what is taken from it.
    """
    found = 0.0
    for same in alike(monomials):
        one = max(same, key=lambda product: len(product.factors))
        slope = sum(part.weight for part in same if part.number is not None)
        size = abs(sum(part.weight for part in same if part.number is None))
        number = next((part.number for part in same if part.number is not None), None)
        if number is not None:
            line = counted.lines[number]
            if not one.factors:
                found += 0.0 if line is None else abs(slope) * counted.moments[number].slope * line.width
                continue
            size = _typical(counted, number, slope, sum(part.weight for part in same if part.number is None))
        parts = [(counted.laws[name], weights(name, factor)) for name, factor in one.factors.items()]
        sizes = [float(np.abs(scores).max()) for _, scores in parts]
        for place, (law, scores) in enumerate(parts):
            if not is_still(law):
                others = math.prod(sizes[:place] + sizes[place + 1 :])
                found += size * _step(law, scores) * others
    return found


def is_still(law: Any) -> bool:
    """Whether no row is taken elsewhere than where noise takes it most often: there is none, or it is rare."""
    return bool(law.is_exact or law.rows * (1 - law.matrix.max(axis=1).min()) <= _NEVER)


def _typical(counted: Counted, number: str, slope: float, constant: float) -> float:
    """The root of the mean square of ``slope * y + constant`` over the released numbers."""
    sums, squares = (part.sum() / max(1.0, counted.rows) for part in counted.sums(number))
    constant += slope * counted.moments[number].centre
    return math.sqrt(max(0.0, slope**2 * squares + 2 * slope * constant * sums + constant**2))


def _step(law: Any, scores: Floats) -> float:
    """Between the scores of any two outputs; on a line of two neighbours, where noise goes from one to the next."""
    if not isinstance(law, LineLaw):
        return float(scores.max() - scores.min())
    if not law.is_lattice:
        return 0.0
    line = scores[: len(law.cuts) + 1]
    return float(np.abs(np.diff(line)).max()) if len(line) > 1 else 0.0


def rows_behind(counted: Counted, monomials: Sequence[Monomial], weights: Weights) -> float:
    """How many rows the answer is made of: those that the columns without noise leave."""
    kept = np.zeros(len(counted.tally.counts), dtype=bool)
    for one in monomials:
        inside = np.ones(len(kept), dtype=bool)
        for name, factor in one.factors.items():
            if counted.laws[name].is_exact:
                inside &= weights(name, factor)[counted.codes(name)] != 0
        kept |= inside
    return float(counted.tally.counts[kept].sum())
