"""The ends of an interval for a question about one column of numbers, each by a score of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metricdp.estimates.conditions import SecretFunction
from metricdp.estimates.expected_squares import FEW
from metricdp.estimates.laws import LineLaw
from metricdp.estimates.plan import Counted
from metricdp.estimates.reach import agresti_coull, noise_reach, normal_reach
from metricdp.estimates.results import Truth
from metricdp.estimates.scores import OutputScore
from metricdp.estimates.two_scores import BoundingScore, BoundingScores
from metricdp.exact.arrays import Floats

if TYPE_CHECKING:
    from metricdp.estimates.monomials import Monomial

__all__ = ["TwoEnds", "biased_line", "scored_products"]

ScoreOf = Callable[[str, SecretFunction], OutputScore]
"""The score of a function of a column."""


@dataclass(frozen=True, eq=False)
class ScoredProduct:
    """A product of functions of several columns.

    Attributes:
        weight: what it is multiplied by.
        scores: of the columns whose scores are right on average, for each output.
        biased: the functions of the columns of numbers whose scores are not: one of them, at most.
    """

    weight: float
    scores: dict[str, Floats]
    biased: dict[str, SecretFunction]


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
        self._found: dict[tuple[str, int, bytes], BoundingScore] = {}

    def of(self, name: str, monomials: Sequence[Monomial], sides: Sequence[int]) -> tuple[float, float]:
        """The least and the greatest average of a sum of functions of a column.

        Args:
            name: the column, a `LineLaw`.
            monomials: the functions.
            sides: which ends are wanted, -1 the lower and 1 the upper; others are infinite.
        """
        law = self._counted.laws[name]
        low, high = _asked(law, name, monomials)
        least = self._end(law, self._score(name, low, -1), -1) if -1 in sides else -math.inf
        most = self._end(law, self._score(name, high, 1), 1) if 1 in sides else math.inf
        return min(least, most), max(least, most)  # noise may cross them

    def of_products(self, factors: Sequence[ScoredProduct], sides: Sequence[int]) -> tuple[float, float]:
        """The least and the greatest average of a sum of products of functions that are nowhere below 0.

        Where E[u] is at least the function of one column, and the scores of the others are right on average, E of the
        product of all of them is at least the product of the functions. Their variance is no more than that of the
        rows' products, which also holds how the secrets differ.
        """
        least = self._product_end(factors, -1) if -1 in sides else -math.inf
        most = self._product_end(factors, 1) if 1 in sides else math.inf
        return min(least, most), max(least, most)

    def _product_end(self, factors: Sequence[ScoredProduct], side: int) -> float:
        counts, rows = self._counted.tally.counts, self._counted.rows
        total = np.zeros(len(counts))
        for one in factors:
            score = np.full(len(counts), one.weight)
            for name, weights in one.scores.items():
                score = score * weights[self._counted.codes(name)]
            for name, factor in one.biased.items():
                end = side if one.weight > 0 else -side
                found = self._score(name, factor.high if end > 0 else factor.low, end)
                score = score * found.weights[self._counted.codes(name)]
            total += score
        mean = float(counts @ total) / rows
        variance = max(0.0, float(counts @ (total - mean) ** 2) / rows)
        farthest = float(np.abs(total - mean).max())
        return mean + side * noise_reach(self._chance, rows) * math.sqrt((variance + farthest**2 / rows) / rows)

    def _score(self, name: str, question: Floats, side: int) -> BoundingScore:
        """The score of a column that is never too high, or never too low, on average."""
        key = name, side, question.tobytes()
        if name not in self._scores:
            self._scores[name] = BoundingScores(self._counted.laws[name], normal_reach(self._chance))
        if key not in self._found:
            scores = self._scores[name]
            self._found[key] = scores.above(question) if side > 0 else scores.below(question)
        return self._found[key]

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


def biased_line(counted: Counted, monomials: Sequence[Monomial], score_of: ScoreOf) -> str | None:
    """The column of numbers that is asked about, where it is the only one and its scores have some bias."""
    factors = [(name, factor) for one in monomials for name, factor in one.factors.items()]
    names = {name for name, _ in factors}
    if len(names) != 1 or any(one.number is not None for one in monomials):
        return None
    (name,) = names
    law = counted.laws[name]
    if not isinstance(law, LineLaw) or law.is_exact:
        return None
    return None if all(score_of(name, factor).unbiased for _, factor in factors) else name


def scored_products(counted: Counted, monomials: Sequence[Monomial], score_of: ScoreOf) -> list[ScoredProduct] | None:
    """The products where each has one biased column of numbers at most, and some has; None where that is not so."""
    made, some = [], False
    for one in monomials:
        scores, biased = {}, {}
        for name, factor in one.factors.items():
            score, law = score_of(name, factor), counted.laws[name]
            if factor.low.min() < 0 or not (score.unbiased or isinstance(law, LineLaw)):
                return None
            if score.unbiased:
                scores[name] = score.weights
            else:
                biased[name] = factor
        if one.number is not None or len(biased) > 1:
            return None
        some = some or bool(biased)
        made.append(ScoredProduct(one.weight, scores, biased))
    return made if some else None
