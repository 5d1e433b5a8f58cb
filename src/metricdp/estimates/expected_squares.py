"""What the secrets themselves add to the squares of scores: the rest of the squares is noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from metricdp.estimates.conditions import SecretFunction
from metricdp.estimates.plan import presence_of

if TYPE_CHECKING:
    from metricdp.estimates.linear import LinearEstimator
    from metricdp.estimates.monomials import Monomial

__all__ = ["FEW", "alike", "expected_squares"]

FEW = 30
"""Below so many rows the fitted shares say too little, and the secret whose score varies most stands for all."""


def expected_squares(linear: LinearEstimator, monomials: Sequence[Monomial], number: str | None) -> float:
    """An estimate of the sum over rows of the squared expected score: what the secrets add to the squares.

    For one column it is what the variance within secrets leaves, which hangs little on the fitted shares.
    For several, products of different cases exclude each other, so
    the square of a sum is the sum of squares, and each is a product again.
    """
    names = {name for one in monomials for name in one.factors}
    if number is None and len(names) == 1:
        (name,) = names
        law = linear.counted.laws[name]
        if len(monomials) == 1 and not law.is_exact:
            score, weight = linear.score(name, monomials[0].factors[name]), monomials[0].weight
            within = law.fitted.shares @ score.variances if linear.rows >= FEW else score.variances.max()
            return float(weight**2 * (law.counts @ score.weights**2 - linear.rows * within))
        weights = sum(one.weight * linear.score(name, one.factors[name]).weights for one in monomials if one.factors)
        constant = sum(one.weight for one in monomials if not one.factors)
        if law.is_exact:
            return float(law.counts @ (weights + constant) ** 2)
        whole = weights + constant
        spread = law.matrix @ whole**2 - (law.matrix @ whole) ** 2
        within = law.fitted.shares @ spread if linear.rows >= FEW else spread.max()
        return float(law.counts @ whole**2 - linear.rows * within)
    return max(0.0, sum(_square(linear, same) for same in alike(monomials)))


def alike(monomials: Sequence[Monomial]) -> list[list[Monomial]]:
    """Those of the same functions together: one with a number, and one with what is taken from it."""
    merged: dict[bytes, list[Monomial]] = {}
    there = {presence_of(one.number) for one in monomials if one.number is not None}
    for one in monomials:
        parts = [(name, one.factors[name]) for name in sorted(one.factors) if name not in there]
        key = b"|".join(name.encode() + factor.key for name, factor in parts)
        merged.setdefault(key, []).append(one)
    return list(merged.values())


def _square(linear: LinearEstimator, same: list[Monomial]) -> float:
    """The sum over rows of (a number, less a constant)^2 times the squares of the other functions."""
    tally, first = linear.counted.tally, min(same, key=lambda one: len(one.factors))
    scale = np.ones(len(tally.counts))
    for name, factor in first.factors.items():
        squared = SecretFunction(factor.low**2, factor.low**2) if np.array_equal(factor.low, factor.high) else factor
        scale = scale * linear.score(name, squared).weights[linear.counted.codes(name)]
    slope = sum(one.weight for one in same if one.number is not None)
    constant = sum(one.weight for one in same if one.number is None)
    if slope == 0:
        return float((scale * constant**2) @ tally.counts)
    number = next(one.number for one in same if one.number is not None)
    moment = linear.counted.moments[number]
    constant += slope * moment.centre  # numbers and squares are those around the centre
    sums, squares = linear.counted.sums(number)
    code = linear.counted.offsets(number)
    known = code != 3
    there = np.ones(len(tally.counts))
    for one in same:
        if presence_of(number) in one.factors:
            factor = one.factors[presence_of(number)]
            there = linear.score(presence_of(number), factor).weights[linear.counted.codes(presence_of(number))]
    plain = known * moment.slope * sums + moment.around[code] * tally.counts
    square = known * moment.slope * squares + moment.squares[code] * tally.counts
    return float(scale @ (slope**2 * square + 2 * slope * constant * plain + constant**2 * there * tally.counts))
