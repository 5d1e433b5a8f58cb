"""Counts that are known from elsewhere, such as a census: estimates agree with them, and other counts get narrower.

What the released rows say of a known count is off by noise that is known then, and the noise of another count goes
along with it as far as the two depend on the same rows. With s the scores of the question, k those of the known counts
and C the covariance of their noise, given the secrets,

    s - C_sk C_kk^-1 (k - truth of k)

has no bias either, and the least variance of all such combinations, ``C_ss - C_sk C_kk^-1 C_ks``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.estimates.conditions import Product, product_of, terms_of
from metricdp.estimates.linear import LinearAnswer, LinearEstimator, Monomial
from metricdp.estimates.reach import noise_reach
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
        if not len(self._shares) or all(one.kind == "count" for one in aggregates):
            return []
        return ["What is known is used for counts alone, not for sums, averages and percentiles."]

    def narrowed(self, products: Sequence[Product], found: LinearAnswer) -> LinearAnswer | None:
        """The share of the rows that the products count, with what is known; None where that says nothing of it."""
        linear, parts = self._linear, list(products)
        if not self._parts or not parts or linear.rows < _FEW or not self._plain(parts) or found.biased:
            return None
        together = [parts, *self._parts]
        scores = np.array([self._scores(one) for one in together])
        counts = linear.counted.tally.counts / linear.rows
        covariance = (scores * counts) @ scores.T
        for row, one in enumerate(together):
            for column, other in enumerate(together[: row + 1]):
                both = [product_of(a, b) for a in one for b in other]
                covariance[row, column] -= float(self._scores(both) @ counts)
                covariance[column, row] = covariance[row, column]
        own, across, among = covariance[0, 0], covariance[0, 1:], covariance[1:, 1:]
        weights = np.linalg.pinv(among, rcond=_NO_NOISE, hermitian=True) @ across
        off = scores[1:] @ counts - self._shares
        value = float(scores[0] @ counts - weights @ off)
        variance = float(own - across @ weights)
        if own <= 0 or variance >= own * (1 - _NO_NOISE):
            return None
        if variance <= own * _NO_NOISE:  # the known counts say it all
            return LinearAnswer(value, value, value, 0.0, False, 0.0)
        variance *= linear.rows / max(1.0, linear.rows - len(self._parts))
        noise = noise_reach(linear.chance, linear.rows) * math.sqrt(variance / linear.rows)
        noise += 0.5 / linear.rows  # half of a step, since counts are whole
        return replace(found, value=value, low=value - noise, high=value + noise, noise=noise, spread=variance**0.5)

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
