"""Averages of products of functions, one for each column: estimated by scores, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.estimates.conditions import SecretFunction
from metricdp.estimates.expected_squares import FEW, alike, expected_squares
from metricdp.estimates.fitting_region import FittingRegion
from metricdp.estimates.laws import LineLaw, ListedLaw
from metricdp.estimates.monomials import LinearAnswer, Monomial
from metricdp.estimates.plan import Counted, presence_of
from metricdp.estimates.reach import agresti_coull, noise_reach, normal_reach, student_reach
from metricdp.estimates.results import Truth
from metricdp.estimates.score_ends import are_shares, is_still, moved_by_one, rows_behind, score_ends
from metricdp.estimates.scores import OutputScore
from metricdp.estimates.two_ends import TwoEnds, biased_line, scored_products
from metricdp.exact.arrays import Floats

__all__ = ["LinearEstimator"]

_REGION_SHARE = 0.1
_MISFIT = 1e-9


class LinearEstimator:
    """LinearEstimator questions about one tally.

    Args:
        counted: the laws and the tally.
        confidence: of each interval by itself.
        truth: whether intervals are about the table's own secrets, or the population they were drawn from.
    """

    def __init__(self, counted: Counted, confidence: float, truth: Truth) -> None:
        self.counted, self.truth = counted, truth
        self.chance = 1 - confidence
        self.z = normal_reach(self.chance)
        self._scores: dict[tuple[str, bytes], OutputScore] = {}
        self._regions: dict[str, FittingRegion] = {}
        self._offs: dict[tuple[str, bytes], float] = {}
        self._ends = TwoEnds(counted, self.chance, truth)

    @property
    def rows(self) -> float:
        """How many rows there are."""
        return self.counted.rows

    def check_fit(self) -> None:
        """Refuse counts that no table could have led to under the policy.

        Raises:
            ArgumentError: a column does not fit its law.
        """
        for name, law in self.counted.laws.items():
            if law.is_exact or law.rows < 100:
                continue
            fitted = law.fitted
            if fitted.deviance <= fitted.expected_deviance + 8 * math.sqrt(2 * len(law.counts)):
                continue
            if FittingRegion(law.matrix, law.counts, _MISFIT, law.path.directions, law.slack).is_empty:
                raise ArgumentError(
                    f"column {name!r}: no table at all leads to such released values under this policy; it was "
                    "released under another one, or was changed since"
                )

    # Scores

    def score(self, name: str, factor: SecretFunction) -> OutputScore:
        """The score of a function of one column."""
        key = name, factor.key
        if key not in self._scores:
            law = self.counted.laws[name]
            if law.is_exact:
                zeros = np.zeros(len(factor.low))
                self._scores[key] = OutputScore(factor.low, zeros, zeros, 0.0, 0.0, zeros)
            else:
                self._scores[key] = law.path.score(factor.low, factor.high, self.z)
        return self._scores[key]

    def weights(self, name: str, factor: SecretFunction) -> Floats:
        """The score of each output, for a function of one column."""
        return self.score(name, factor).weights

    def region(self, name: str) -> FittingRegion:
        """The distributions of a column that fit."""
        if name not in self._regions:
            self._regions[name] = self.counted.laws[name].region(_REGION_SHARE * self.chance)
        return self._regions[name]

    # Answers

    def answer(self, monomials: Sequence[Monomial], sides: Sequence[int] = (-1, 1)) -> LinearAnswer:
        """The average over all rows of a sum of products.

        Args:
            monomials: the products.
            sides: which ends of the interval are wanted, -1 the lower and 1 the upper; others may be infinite.
        """
        mean, variance = self._measured(monomials)
        columns = {name for one in monomials for name in one.factors}
        columns |= {one.number for one in monomials if one.number is not None}
        if all(self.is_exact(name) for name in columns) and self.truth == "table":
            return LinearAnswer(mean, mean, mean, 0.0, False, 0.0, mean)
        column = biased_line(self.counted, monomials, self.score)
        if column is not None:
            low, high = self._ends.of(column, monomials, sides)
            plain = mean - self._likely_bias(monomials)
            _, noise = self._reach(monomials, mean, variance, self.chance)
            return LinearAnswer(
                min(max(plain, low), high), low, high, noise, True, math.sqrt(variance), plain, by_two_scores=True
            )
        products = scored_products(self.counted, monomials, self.score)
        if products is not None:
            low, high = self._ends.of_products(products, sides)
            _, noise = self._reach(monomials, mean, variance, self.chance)
            return LinearAnswer(
                min(max(mean, low), high), low, high, noise, True, math.sqrt(variance), mean, by_two_scores=True
            )
        low, middle, high = self._bias(monomials)
        biased = high > low
        chance = self.chance * (1 - _REGION_SHARE) if biased else self.chance
        centre, noise = self._reach(monomials, mean, variance, chance)
        likeliest, plain = self._likeliest(monomials), mean - middle
        ends = centre - noise - high, centre + noise - low
        return LinearAnswer(plain if likeliest is None else likeliest, *ends, noise, biased, math.sqrt(variance), plain)

    def _reach(self, monomials: Sequence[Monomial], mean: float, variance: float, chance: float) -> tuple[float, float]:
        """The middle of the interval before its bias, and half its width: by laws that also hold for few rows."""
        if self.truth == "table":
            noise = noise_reach(chance, self.rows) * math.sqrt(variance / self.rows)
            return mean, noise + moved_by_one(self.counted, monomials, self.weights) / 2 / self.rows
        if are_shares(monomials):
            least, most = score_ends(self.counted, monomials, self.weights)
            return agresti_coull(mean, variance + mean**2, self.rows, least, most, normal_reach(chance))
        behind = self.rows_behind(monomials)
        if behind < 2:
            return mean, math.inf
        variance = max(variance * behind / (behind - 1), self._noise_floor(monomials))
        return mean, student_reach(chance, behind - 1) * math.sqrt(variance / self.rows)

    def likely(self, one: Monomial) -> tuple[float, float]:
        """The average of a product without bounds on its bias, and half the width that is due to noise."""
        mean, variance = self._measured([one])
        if len(one.factors) == 1 and one.number is None:
            ((name, factor),) = one.factors.items()
            mean -= one.weight * self.score(name, factor).bias(self.counted.laws[name].fitted.shares)
        return mean, self.z * math.sqrt(variance / self.rows)

    def _measured(self, monomials: Sequence[Monomial]) -> tuple[float, float]:
        """The average score, and the variance of one row's."""
        rows = self.rows
        total, squares, expected_squares = self._summed(monomials)
        mean, second = float(total.sum()) / rows, squares / rows
        if self.truth == "population":
            return mean, max(0.0, second - mean**2)
        variance = second - min(expected_squares / rows, second)
        variance = max(variance, 1e-3 * second, self._noise_floor(monomials)) + self._one_more(monomials) / rows
        return mean, min(variance, self._noise_ceiling(monomials))

    def _likeliest(self, monomials: Sequence[Monomial]) -> float | None:
        """The answer under the likeliest shares, where inversion finds shares below 0; None where it does not."""
        names = {name for one in monomials for name in one.factors}
        if len(names) != 1 or any(one.number is not None for one in monomials):
            return None
        law = self.counted.laws[names.pop()]
        if not isinstance(law, ListedLaw) or not law.leaves_simplex:
            return None
        shares = law.likely_shares
        return sum(
            one.weight * math.prod(float(shares @ factor.low) for factor in one.factors.values()) for one in monomials
        )

    def _noise_floor(self, monomials: Sequence[Monomial]) -> float:
        """The variance that noise has, however few rows; of a summed number within bounds half of it, where many."""
        found, few = 0.0, self.rows_behind(monomials) < FEW
        for one in monomials:
            if one.number is not None:
                scale, slope, _ = self.row_scores(one)
                moment = self.counted.moments[one.number]
                noise = slope**2 * moment.noise_variance * (1.0 if few or math.isinf(moment.ends[0]) else 0.5)
                found += noise * float(scale**2 @ self.counted.tally.counts) / self.rows
            elif few and sum(not self.is_exact(name) for name in one.factors) == 1:
                found += self._most_varied(one)
        return found

    def _most_varied(self, one: Monomial) -> float:
        """The variance of a product with one noisy column, if its secrets were those whose score varies most."""
        (name,) = (name for name in one.factors if not self.is_exact(name))
        score = self.score(name, one.factors[name])
        scale = np.full(len(self.counted.tally.counts), one.weight)
        for other, factor in one.factors.items():
            if other != name:
                scale = scale * self.weights(other, factor)[self.counted.codes(other)]
        return float(score.variances.max() * (scale**2 @ self.counted.tally.counts)) / self.rows

    def _one_more(self, monomials: Sequence[Monomial]) -> float:
        """The square of the score that lies farthest from 0, for products of several noisy columns.

        How far their noise moves an average is told by squares of scores, which few rows tell badly: just where they
        tell too little, the average is off, too. One more row of that kind makes up for it.
        """
        if len(self._noisy(monomials)) < 2:
            return 0.0
        slopes, offsets, number = self._row_scores_of(monomials)
        ends = (0.0, 0.0) if number is None else self.number_ends(number, 0.0)
        centre = 0.0 if number is None else self.counted.moments[number].centre
        return max(float(np.abs(slopes * (end - centre) + offsets).max()) for end in ends) ** 2

    def _noisy(self, monomials: Sequence[Monomial]) -> set[str]:
        """The columns with noise on which a sum of products hangs."""
        laws = self.counted.laws
        names = {laws[name].name for one in monomials for name in one.factors if not laws[name].is_exact}
        return names | {one.number for one in monomials if one.number is not None and not self.is_exact(one.number)}

    def _noise_ceiling(self, monomials: Sequence[Monomial]) -> float:
        """What the variance cannot exceed: that of the noise itself, where nothing but a number has any."""
        numbers = [one for one in monomials if one.number is not None]
        if len(numbers) != 1 or len(alike(monomials)) != 1:
            return math.inf
        name = str(numbers[0].number)
        moment, laws = self.counted.moments[name], self.counted.laws
        others = {presence_of(name)} & set(laws) | {key for one in monomials for key in one.factors}
        if not all(is_still(laws[key]) for key in others):
            return math.inf
        scale = self.row_scores(numbers[0])[0]
        return moment.slope**2 * moment.noise_variance * float(scale**2 @ self.counted.tally.counts) / self.rows

    def is_exact(self, name: str) -> bool:
        """Whether what is released of a column is the truth."""
        if name in self.counted.laws:
            return bool(self.counted.laws[name].is_exact)
        return bool(self.counted.table.column(name).release == "keep")

    def row_scores(self, one: Monomial) -> tuple[Floats, float, Floats]:
        """For each combination of outputs its score: ``scale * (slope * number + offset)``, numbers less the centre."""
        scale = np.full(len(self.counted.tally.counts), one.weight)
        for name, factor in one.factors.items():
            scale = scale * self.score(name, factor).weights[self.counted.codes(name)]
        if one.number is None:
            return scale, 0.0, np.ones(len(scale))
        moment = self.counted.moments[one.number]
        offsets = moment.offsets + moment.slope * moment.centre * np.array([1.0, 1.0, 1.0, 0.0])
        return scale, moment.slope, offsets[self.counted.offsets(one.number)]

    def _summed(self, monomials: Sequence[Monomial]) -> tuple[Floats, float, float]:
        """For each combination the sum of scores; over all rows the sum of their squares, and of what is expected.

        All monomials with a number have the same one.
        """
        slopes, offsets, number = self._row_scores_of(monomials)
        counts = self.counted.tally.counts
        sums, squared = (np.zeros_like(slopes), np.zeros_like(slopes)) if number is None else self.counted.sums(number)
        squares = slopes**2 * squared + 2 * slopes * offsets * sums + offsets**2 * counts
        return slopes * sums + offsets * counts, float(squares.sum()), expected_squares(self, monomials, number)

    def totals(self, monomials: Sequence[Monomial]) -> Floats:
        """For each combination of outputs the sum of scores over its rows."""
        slopes, offsets, number = self._row_scores_of(monomials)
        counted: Floats = offsets * self.counted.tally.counts
        return counted if number is None else counted + slopes * self.counted.sums(number)[0]

    def _row_scores_of(self, monomials: Sequence[Monomial]) -> tuple[Floats, Floats, str | None]:
        """For each combination the score of a sum of products as ``slope * number + offset``, and which number."""
        slopes, offsets = np.zeros(len(self.counted.tally.counts)), np.zeros(len(self.counted.tally.counts))
        number = None
        for one in monomials:
            scale, slope, offset = self.row_scores(one)
            slopes, offsets = slopes + scale * slope, offsets + scale * offset
            number = number or one.number
        return slopes if number is None else np.where(self.counted.offsets(number) == 3, 0.0, slopes), offsets, number

    def rows_behind(self, monomials: Sequence[Monomial]) -> float:
        """How many rows an answer is made of: those that the columns without noise leave."""
        return rows_behind(self.counted, monomials, self.weights)

    # What the counts cannot tell

    def _likely_bias(self, monomials: Sequence[Monomial]) -> float:
        """By how much the average score of a column is too high, if its fitted shares are right."""
        found = 0.0
        for one in monomials:
            for name, factor in one.factors.items():
                found += one.weight * self.score(name, factor).bias(self.counted.laws[name].fitted.shares)
        return found

    def _bias(self, monomials: Sequence[Monomial]) -> tuple[float, float, float]:
        """The least, the likely and the greatest amount by which the average score is too high."""
        names = {name for one in monomials for name in one.factors}
        if len(names) == 1 and all(one.number is None for one in monomials):
            (name,) = names
            scores = [(one.weight, self.score(name, one.factors[name])) for one in monomials if one.factors]
            if all(score.unbiased for _, score in scores):
                return 0.0, 0.0, 0.0
            most = sum(
                (weight * (score.excess_low if weight > 0 else score.excess_high) for weight, score in scores),
                start=np.zeros(1),
            )
            least = sum(
                (weight * (score.excess_high if weight > 0 else score.excess_low) for weight, score in scores),
                start=np.zeros(1),
            )
            region = self.region(name)
            low, high = region.least(least), region.most(most)
            return low, min(max(self._likely_bias(monomials), low), high), high
        reach = sum(self._product_bias(same) for same in alike(monomials))
        rounded = [self._rounding_bias(one) for one in monomials]
        return sum(low for low, _ in rounded) - reach, 0.0, sum(high for _, high in rounded) + reach

    def _rounding_bias(self, one: Monomial) -> tuple[float, float]:
        """What rounding to coarse steps leaves in the score of a number, for the most rows that there can be."""
        if one.number is None or not any(self.counted.moments[one.number].bias):
            return 0.0, 0.0
        most = abs(one.weight) * math.prod(self._most(name, factor) for name, factor in one.factors.items())
        low, high = (most * end for end in self.counted.moments[one.number].bias)
        if one.factors:
            low, high = -max(-low, high), max(-low, high)
        return (low, high) if one.weight > 0 else (-high, -low)

    def _product_bias(self, same: Sequence[Monomial]) -> float:
        """A bound on the bias of a product: that of each column in turn, times the most that the others can be.

        A number comes with what is taken from it, so that it is how far the two are apart that counts.
        """
        one = max(same, key=lambda product: len(product.factors))
        biased = {name: self.score(name, factor) for name, factor in one.factors.items()}
        biased = {name: score for name, score in biased.items() if not score.unbiased}
        if not biased:
            return 0.0
        bound = 0.0
        for name, score in biased.items():
            off = np.maximum(np.abs(score.excess_low), np.abs(score.excess_high))
            others = [self._most(other, factor) for other, factor in one.factors.items() if other != name]
            bound += self._mean_off(name, off) * math.prod(others)
        return bound * self._farthest(same)

    def _mean_off(self, name: str, off: Floats) -> float:
        key = name, off.tobytes()
        if key not in self._offs:
            self._offs[key] = max(0.0, self.region(name).most(off))
        return self._offs[key]

    def _most(self, name: str, factor: SecretFunction) -> float:
        law, score = self.counted.laws[name], self.score(name, factor)
        if law.is_exact:
            return float(np.abs(score.weights).max())
        return float(np.abs(law.matrix @ score.weights).max())

    def _farthest(self, same: Sequence[Monomial]) -> float:
        """The most that the numbers of a product can be, less what is taken from them."""
        slope = sum(one.weight for one in same if one.number is not None)
        constant = sum(one.weight for one in same if one.number is None)
        number = next((one.number for one in same if one.number is not None), None)
        ends = (0.0, 0.0) if number is None else self.number_ends(number, 3.0)
        return max(abs(slope * end + constant) for end in ends)

    def number_ends(self, name: str, room: float | None = None) -> tuple[float, float]:
        """Between which numbers a column lies: its bounds, its values, or what was seen of it and as far as noise goes.

        Args:
            name: of the column.
            room: how far noise goes, in units of its scale; by default as far as it goes but once in a million tables.
        """
        column: Any = self.counted.table.column(name)
        bounds = getattr(column, "bounds", None)
        if bounds is not None:
            return float(bounds[0]), float(bounds[1])
        law = self.counted.laws.get(name)
        if self.truth == "population" and room is None and not isinstance(law, ListedLaw):
            return -math.inf, math.inf
        if law is not None and not isinstance(law, LineLaw):
            numbers = self.counted.numbers(name)[~law.missing]
            return (float(numbers.min()), float(numbers.max())) if len(numbers) else (-math.inf, math.inf)
        outline = self.counted.outlines[name]
        scale = law.scale if law is not None else math.sqrt(self.counted.moments[name].noise_variance / 2)
        reach = scale * (math.log(self.rows) + 14 if room is None else room)
        return outline.least - reach, outline.greatest + reach

    @cached_property
    def exact_only(self) -> bool:
        """Whether every column of the tally is released as it is."""
        return all(self.is_exact(name) for name in (*self.counted.laws, *self.counted.moments))
