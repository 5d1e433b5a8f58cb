"""The ends of an interval for a question about one column of numbers, each by a score of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from metricdp.estimates.expected_squares import FEW
from metricdp.estimates.laws import LineLaw
from metricdp.estimates.plan import Counted
from metricdp.estimates.reach import agresti_coull, noise_reach, normal_reach
from metricdp.estimates.results import Truth
from metricdp.estimates.two_scores import BoundingScore, BoundingScores
from metricdp.exact.arrays import Floats

if TYPE_CHECKING:
    from metricdp.estimates.monomials import Monomial

__all__ = ["TwoEnds"]


class TwoEnds:
    """Bounds on the average of a function of a column of numbers.

    Args:
        counted: the laws and the tally.
        chance: that the truth is beyond either end.
        truth: of the table, or of a population.
    """

    def __init__(self, counted: Counted, chance: float, truth: Truth) -> None:
        self._counted, self._chance, self._truth = counted, chance, truth
        self._scores: dict[str, BoundingScores] = {}

    def of(self, name: str, monomials: Sequence[Monomial], sides: Sequence[int]) -> tuple[float, float]:
        """The least and the greatest average of a sum of functions of a column.

        Args:
            name: the column, a `LineLaw`.
            monomials: the functions.
            sides: which ends are wanted, -1 the lower and 1 the upper; others are infinite.
        """
        law = self._counted.laws[name]
        if name not in self._scores:
            self._scores[name] = BoundingScores(law, normal_reach(self._chance))
        low, high = _asked(law, name, monomials)
        least = self._end(law, self._scores[name].below(low), -1) if -1 in sides else -math.inf
        most = self._end(law, self._scores[name].above(high), 1) if 1 in sides else math.inf
        return min(least, most), max(least, most)  # noise may cross them

    def _end(self, law: LineLaw, score: BoundingScore, side: int) -> float:
        """The average score and its noise, on one side; of few rows one more counts, whose score lies farthest off."""
        weights, rows = score.weights, self._counted.rows
        mean = float(law.counts @ weights) / rows
        if self._truth == "population":
            second, ends = float(law.counts @ weights**2) / rows, (float(weights.min()), float(weights.max()))
            centre, reach = agresti_coull(mean, second, rows, *ends, normal_reach(self._chance))
            return centre + side * reach
        within = law.fitted.shares @ score.variances if rows >= FEW else score.variances.max()
        farthest = float(np.abs(weights - mean).max())
        return mean + side * noise_reach(self._chance, rows) * math.sqrt((within + farthest**2 / rows) / rows)


def _asked(law: LineLaw, name: str, monomials: Sequence[Monomial]) -> tuple[Floats, Floats]:
    """The least and the most that is asked about each secret."""
    low, high = np.zeros(len(law.matrix)), np.zeros(len(law.matrix))
    for one in monomials:
        factor = one.factors.get(name)
        least, most = (1.0, 1.0) if factor is None else (factor.low, factor.high)
        low, high = (low + one.weight * least, high + one.weight * most) if one.weight > 0 else (
            low + one.weight * most, high + one.weight * least
        )  # fmt: skip
    return low, high
