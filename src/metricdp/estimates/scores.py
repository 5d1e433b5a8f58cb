"""Scores: a number for each released value whose average over a table estimates a linear question about the secrets.

The question is ``q(x)`` averaged over the rows, such as 1 where x is above 15 and 0 elsewhere. A score a(z) with
``sum_z law(z | x) a(z) = q(x)`` for every x has the right average whatever the table: that is inversion. Where the
channel is nearly singular, such a score has an enormous variance, so some bias is allowed: of all scores on a path from
no variance to no bias, the one with the least interval is taken, and the bias that is left is bounded, not ignored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metricdp.exact.arrays import Floats, Places

__all__ = ["OutputScore", "ScorePath", "inverse_of"]

_PENALTIES = np.concatenate([[0.0], 10.0 ** np.arange(-14, 3.01, 0.5)])
_RANK = 1e-10
_DIRECTIONS = 16
_ILL = 1e9
_TELLING = 0.25
"""Where secrets have no order, a score without bias is taken as long as its interval reaches no farther than this: what
the counts cannot tell of many values, each of them rare, is far more than that."""

_TAME = 0.02
"""A channel whose singular values differ by less than this is inverted."""


@dataclass(frozen=True, eq=False)
class OutputScore:
    """A score for each output.

    Attributes:
        weights: the score of each output.
        excess_low: for each secret, by how much the expected score is above the least that the question can be there.
        excess_high: the same above the most; where the question is one number at each secret, both are the same.
        spread: the standard deviation of the score of one row, given its secret, on average over the fitted shares.
        spread_population: the same where the secrets are drawn anew, too.
        variances: of one row's score, for each secret.
    """

    weights: Floats
    excess_low: Floats
    excess_high: Floats
    spread: float
    spread_population: float
    variances: Floats

    @property
    def unbiased(self) -> bool:
        """Whether the expected score is the answer at every secret, up to rounding."""
        size = 1e-7 * max(1e-300, float(np.abs(self.weights).max()))
        return float(np.abs(self.excess_low).max()) <= size and float(np.abs(self.excess_high).max()) <= size

    def bias(self, shares: Floats) -> float:
        """What the score is too high by on average, if these are the shares of the secrets."""
        return float((self.excess_low + self.excess_high) @ shares) / 2


class ScorePath:
    """Scores for questions about one channel, from the one without bias to ones with little variance.

    Over all weights a, with V the covariance of one row's outputs and w_x the weight of a secret, the path minimises

        a . V a + k sum_x w_x (sum_z law_xz a_z - q_x)^2      for k from 0 to infinity.

    Args:
        law: the probability of each output (columns) for each secret (rows).
        shares: fitted shares of the secrets, by which variance and bias are weighed; the proof of an interval does not
            rest on them.
        rows: how many rows were released.
        near: for each secret the first one, and the one after the last, that the counts can hardly tell from it; where
            it is given, the bias is weighed as if the rows there were the worst of those.
    """

    def __init__(self, law: Floats, shares: Floats, rows: float, near: Places | None = None) -> None:
        self.law, self.shares, self.rows, self.near = law, shares, rows, near
        self.released = np.maximum(shares @ law, 0.25 / max(rows, 1.0))
        self.released /= self.released.sum()
        self._weights = np.sqrt(shares + 0.2 / len(shares))

    @cached_property
    def is_tame(self) -> bool:
        """Whether the law can be inverted at little cost: bias would buy nothing."""
        if self._inverse is None:
            return False
        scale = np.sqrt(self.released)
        half, back = self._weights[:, None] * (self.law / scale), scale[:, None] * (self._inverse / self._weights)
        return _largest(half) * _largest(back) < 1 / _TAME

    @cached_property
    def _inverse(self) -> Floats | None:
        """Of the law; None where there is none, or one that is not to be trusted."""
        return inverse_of(self.law)

    @cached_property
    def _squares(self) -> Floats:
        """For each secret (rows) and each one's indicator (columns), the expected square of its score."""
        assert self._inverse is not None
        return np.asfortranarray(self.law @ self._inverse**2)

    @cached_property
    def _factors(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The singular values and vectors of the weighted channel, in coordinates where the variance is a length."""
        scale = 1 / np.sqrt(self.released)
        half = self._weights[:, None] * (self.law * scale)  # a = scale * b, and V is about |b|^2 but for the constant
        left, values, right = np.linalg.svd(half, full_matrices=False)
        return left, values, right, scale

    def score(self, low: Floats, high: Floats, z: float) -> OutputScore:
        """The score with the least interval for a question between ``low`` and ``high`` at each secret.

        Args:
            low: the least that the question can be at each secret.
            high: the most; the same, but beside a jump between two secrets.
            z: how many standard deviations the interval reaches.
        """
        middle = (low + high) / 2
        if self.is_tame or (self.near is None and self._inverse is not None):
            assert self._inverse is not None
            named = np.flatnonzero(middle)
            weights = (
                self._inverse[:, named] @ middle[named] if len(named) < len(middle) / 2 else self._inverse @ middle
            )
            squares = self._squares[:, named[0]] * middle[named[0]] ** 2 if len(named) == 1 else self.law @ weights**2
            plain = self._made(weights, middle + 0.0, squares, low, high)
            if self.is_tame or z * plain.spread < _TELLING * math.sqrt(self.rows):
                return plain
        centre = float(self.shares @ middle)
        left, values, right, scale = self._factors
        along = left.T @ (self._weights * (middle - centre))  # constants have no variance, and are put back
        best: OutputScore | None = None
        least = math.inf
        kept = values > _RANK * values[0]
        inverted = np.where(kept, values, 0.0)[:, None]
        gains = inverted / np.where(kept[:, None], values[:, None] ** 2 + _PENALTIES * values[0] ** 2, 1.0)
        tried = scale[:, None] * (right.T @ (gains * along[:, None])) + centre
        expected, squares = self.law @ tried, self.law @ tried**2
        for place, penalty in enumerate(_PENALTIES):
            made = self.bent(self._made(tried[:, place].copy(), expected[:, place], squares[:, place], low, high))
            wide = z * made.spread / math.sqrt(self.rows)
            wide += self._weighed(np.maximum(np.abs(made.excess_low), np.abs(made.excess_high)))
            if penalty == 0 and not made.unbiased:
                continue
            if wide < least:
                best, least = made, wide
        assert best is not None  # penalties above 0 are always taken
        return best

    def _weighed(self, excess: Floats) -> float:
        """About how large the bias can be, over the distributions that the counts can hardly tell from the fitted."""
        if self.near is None:
            return 1.5 * float(excess @ self.shares)
        padded = np.append(excess, 0.0)
        worst = np.maximum.reduceat(padded, np.minimum(self.near, len(excess)).ravel())[::2]
        return float(worst @ self.shares)

    @cached_property
    def directions(self) -> tuple[Floats, Floats]:
        """Functions of the output that the counts tell best, as rows, and the standard deviation of each, for one row.

        They are the singular vectors of the channel in coordinates where outputs have variance 1.
        """
        _, values, right, scale = self._factors
        best = right[: min(len(values), _DIRECTIONS)] * scale
        means = best @ self.released
        return best, np.sqrt(np.maximum(best**2 @ self.released - means**2, 0.0))

    def bent(self, made: OutputScore) -> OutputScore:
        """The score with what it leaves between the secrets of the law; nothing, where there are none."""
        return made

    def _made(self, weights: Floats, expected: Floats, squares: Floats, low: Floats, high: Floats) -> OutputScore:
        variances = np.maximum(squares - expected**2, 0.0)
        within = float(self.shares @ variances)
        mean = float(self.shares @ expected)
        whole = within + float(self.shares @ (expected - mean) ** 2)
        return OutputScore(
            weights, expected - low, expected - high, math.sqrt(within), math.sqrt(max(0.0, whole, within)), variances
        )


def inverse_of(law: Floats) -> Floats | None:
    """The inverse of a law, column by column in memory; None where it has none, or rounding would spoil it.

    >>> inverse_of(np.array([[0.75, 0.25], [0.25, 0.75]])).tolist()
    [[1.5, -0.5], [-0.5, 1.5]]
    >>> inverse_of(np.array([[0.5, 0.5], [0.5, 0.5]])) is None
    True
    """
    if law.shape[0] != law.shape[1]:
        return None
    try:
        inverse = np.linalg.inv(law)
    except np.linalg.LinAlgError:
        return None
    sizes = (np.abs(matrix).sum(axis=0).max() for matrix in (law, inverse))
    return np.asfortranarray(inverse) if math.prod(sizes) < _ILL else None


def _largest(matrix: Floats) -> float:
    """About the largest singular value, by powers."""
    along = 1 + np.arange(matrix.shape[1]) / matrix.shape[1]
    size = 0.0
    for _ in range(40):
        along = matrix.T @ (matrix @ along)
        size = float(np.linalg.norm(along))
        along /= size
    return math.sqrt(size)
