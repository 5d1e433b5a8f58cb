"""Counts that are known from elsewhere, such as a census: estimates agree with them, and others get narrower.

What the released rows say of a known count is off by noise that is known then, and the noise of another count or sum
goes along with it as far as the two depend on the same rows. With s the scores of the question, k those of the known
counts and C the covariance of their noise, given the secrets,

    s - C_sk C_kk^-1 (k - truth of k)

has no bias either, and the least variance of all such combinations, ``C_ss - C_sk C_kk^-1 C_ks``. An average is such a
sum by such a count, and so gets narrower with both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.estimates.conditions import Product, product_of, terms_of
from metricdp.estimates.linear import LinearEstimator
from metricdp.estimates.monomials import LinearAnswer, Monomial
from metricdp.estimates.plan import presence_of
from metricdp.estimates.reach import noise_reach
from metricdp.estimates.score_ends import are_shares, moved_by_one
from metricdp.exact.arrays import Floats
from metricdp.policies.sql.predicates import Predicate

__all__ = ["KNOWN", "KnownCount", "KnownCounts", "read_known"]

KNOWN = "inversion of the noise, with its covariance and the counts that are known"
"""How an answer was made where known counts made it narrower."""

_FEW = 30
_NO_NOISE = 1e-9
_TOO_FAR = 6.0
"""Standard deviations that a known count may be off what the released rows say of it."""


@dataclass(frozen=True)
class KnownCount:
    """How many rows of the secret table meet a condition, as somebody knows.

    Attributes:
        text: the condition as it was written.
        where: the condition.
        count: how many.
    """

    text: str
    where: Predicate
    count: float


def read_known(known: Mapping[str, Any] | None, read: Any) -> tuple[KnownCount, ...]:
    """Known counts by their conditions.

    Args:
        known: the number of rows by conditions in SQL, such as ``{"sex = 'female'": 2911}``.
        read: reads a question.

    Raises:
        ArgumentError: a condition or a count that is none.
    """
    if known is None:
        return ()
    if not isinstance(known, Mapping):
        raise ArgumentError(
            f"known counts are a dict of conditions and numbers of rows, such as {{\"sex = 'female'\": 2911}}, "
            f"not {type(known).__name__!r}"
        )
    found = []
    for text, number in known.items():
        if not isinstance(text, str) or not text.strip():
            raise ArgumentError(f"a known count has a condition in SQL, such as \"sex = 'female'\", not {text!r}")
        if isinstance(number, bool) or not isinstance(number, int | float | np.number) or not float(number) >= 0:
            raise ArgumentError(f"the known count of {text!r} is a number of rows, not {number!r}")
        where = read(f"select count(*) where {text}").where
        found.append(KnownCount(text, where, float(number)))
    return tuple(found)


class KnownCounts:
    """What known counts say of other counts of the same released table.

    Args:
        linear: estimates of one tally, whose laws include those of all columns in the conditions.
        known: the counts.

    Raises:
        ArgumentError: intervals are asked for the population, or a count is far from what the released rows say.
    """

    def __init__(self, linear: LinearEstimator, known: Sequence[KnownCount]) -> None:
        self._linear = linear
        if known and linear.truth != "table":
            raise ArgumentError("known counts are of this table's own rows: they say nothing of a population")
        self._parts = [terms_of(one.where, linear.counted) for one in known]
        self._shares = np.array([one.count / linear.rows for one in known])
        usable = [self._plain(parts) for parts in self._parts]
        for one, parts, share, plain in zip(known, self._parts, self._shares, usable, strict=True):
            self._check(one, parts, float(share), plain)
        self._parts = [parts for parts, plain in zip(self._parts, usable, strict=True) if plain]
        self._shares = self._shares[np.array(usable, dtype=bool)] if known else self._shares

    def notes(self, aggregates: Sequence[Any]) -> list[str]:
        """What to know of answers that they do not make narrower."""
        if not len(self._shares) or all(one.kind != "percentile" for one in aggregates):
            return []
        return ["What is known is used for counts, sums and averages, not for percentiles."]

    def narrowed(self, monomials: Sequence[Monomial], found: LinearAnswer) -> LinearAnswer | None:
        """The average of a sum of products over the rows, with what is known; None where that says nothing of it."""
        linear = self._linear
        parts, shares = self._telling(monomials)
        if not parts or linear.rows < _FEW or found.biased or not self._plain([one.factors for one in monomials]):
            return None
        counts, totals = linear.counted.tally.counts / linear.rows, linear.totals(monomials) / linear.rows
        scores = np.array([self._scores(one) for one in parts])
        among, across = (scores * counts) @ scores.T, scores @ totals
        for row, one in enumerate(parts):
            for column, other in enumerate(parts[: row + 1]):
                among[row, column] -= float(self._scores([product_of(a, b) for a in one for b in other]) @ counts)
                among[column, row] = among[row, column]
            across[row] -= self._times(monomials, [Monomial(part) for part in one])
        counting = all(one.number is None for one in monomials)
        own = found.spread**2
        if counting:
            own = float(totals @ (totals / counts)) - self._times(monomials, monomials)
        weights = np.linalg.pinv(among, rcond=_NO_NOISE, hermitian=True) @ across
        value = float(totals.sum() - weights @ (scores @ counts - shares))
        variance = float(own - across @ weights)
        if own <= 0 or variance >= own * (1 - _NO_NOISE):
            return None
        if variance <= own * _NO_NOISE:  # the known counts say it all
            return LinearAnswer(value, value, value, 0.0, False, 0.0, value, narrowed=True)
        variance *= linear.rows / max(1.0, linear.rows - len(parts))
        noise = noise_reach(linear.chance, linear.rows) * math.sqrt(variance / linear.rows)
        step = 1.0 if are_shares(monomials) else moved_by_one(linear.counted, monomials, linear.weights)
        noise += step / 2 / linear.rows
        return LinearAnswer(value, value - noise, value + noise, noise, False, variance**0.5, value, narrowed=True)

    def _telling(self, monomials: Sequence[Monomial]) -> tuple[list[list[Product]], Floats]:
        """The known counts that do not hang on the number that is summed, whose noise would be that of both."""
        numbers = {one.number for one in monomials if one.number is not None}
        taken = numbers | {presence_of(name) for name in numbers}
        chosen = [not any(taken & set(part) for part in parts) for parts in self._parts]
        parts = [one for one, good in zip(self._parts, chosen, strict=True) if good]
        shares: Floats = self._shares[np.array(chosen, dtype=bool)]
        return parts, shares

    def _times(self, monomials: Sequence[Monomial], others: Sequence[Monomial]) -> float:
        """The average over the rows of a sum of products times another, in which there is no number."""
        both = [
            Monomial(product_of(one.factors, other.factors), one.number, one.weight * other.weight)
            for one in monomials
            for other in others
        ]
        return float(self._linear.totals(both).sum()) / self._linear.rows

    def _check(self, one: KnownCount, parts: Sequence[Product], share: float, plain: bool) -> None:
        rows = self._linear.rows
        if one.count > rows:
            raise ArgumentError(f"the known count of {one.text!r} is more than the {rows:,.0f} rows of the table")
        if not parts or not plain:
            return
        said = self._linear.answer([Monomial(part) for part in parts])
        reach = max(said.high - said.value, said.value - said.low) / self._linear.z
        if abs(said.value - share) > _TOO_FAR * reach + 0.5 / rows:
            raise ArgumentError(
                f"the known count of {one.text!r} does not fit the released table, which says {rows * said.value:,.0f} "
                f"({rows * said.low:,.0f} to {rows * said.high:,.0f}): is it of the same rows?"
            )

    def _plain(self, parts: Sequence[Product]) -> bool:
        """Whether all its scores are without bias, so that covariances say all of their errors."""
        linear = self._linear
        return all(linear.score(name, factor).unbiased for part in parts for name, factor in part.items())

    def _scores(self, parts: Sequence[Product]) -> Floats:
        """For each combination of outputs, the score of a sum of products."""
        found = np.zeros(len(self._linear.counted.tally.counts))
        for part in parts:
            found = found + self._linear.row_scores(Monomial(part))[0]
        return found
