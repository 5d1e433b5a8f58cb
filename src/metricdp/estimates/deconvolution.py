"""Iterative Bayesian update: the distribution of secrets that explains released counts, stopped by a rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from metricdp.errors import ArgumentError, KindError, ShapeError
from metricdp.estimates.greatest_likelihood import MOST_SECRETS, greatest_likelihood
from metricdp.exact.arrays import Floats
from metricdp.exact.results import Result

__all__ = ["FittedShares", "iterative_bayesian_update"]

Stop = Literal["noise", "likelihood"]

_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class FittedShares(Result):
    """A distribution of secrets, fitted to released counts.

    Attributes:
        shares: of each secret; they add up to 1.
        released: what they lead to: the expected share of each output.
        rounds: how many updates it took.
        log_likelihood: of the counts, without the multinomial constant.
        deviance: twice the log-likelihood that is missing to a perfect fit.
        expected_deviance: what the noise alone would leave, on average.
        converged: False where the number of rounds ran out first.
    """

    shares: Floats
    released: Floats
    rounds: int
    log_likelihood: float
    deviance: float
    expected_deviance: float
    converged: bool

    def __repr__(self) -> str:
        state = "" if self.converged else ", not converged"
        return f"FittedShares({len(self.shares)} shares, {self.rounds} rounds, deviance {self.deviance:.4g}{state})"

    def to_json(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "shares": self.shares.tolist(),
            "rounds": self.rounds,
            "log_likelihood": self.log_likelihood,
            "deviance": self.deviance,
            "expected_deviance": self.expected_deviance,
            "converged": self.converged,
        }


def iterative_bayesian_update(
    counts: ArrayLike,
    law: ArrayLike,
    *,
    start: ArrayLike | None = None,
    stop: Stop = "noise",
    rounds: int = 20_000,
    gap: float = 1e-9,
) -> FittedShares:
    """The iterative Bayesian update (IBU, the EM algorithm for a known channel), accelerated.

    One update takes the shares s to ``s_x * sum_z counts_z / n * law_xz / sum_x' s_x' law_x'z``, which never lowers the
    likelihood. Two updates and one extrapolation make a step (SQUAREM); a step that would lower the likelihood is
    replaced by its second update.

    Left to itself it climbs to the maximum of the likelihood, which follows the noise of the counts where the channel
    is nearly singular. So by default it stops as soon as the counts are no farther from the fit than noise alone would
    leave them, the discrepancy principle: the deviance ``2 sum_z counts_z ln(counts_z / expected_z)`` is at most what
    it would be on average if the fit were the truth.

    Where the maximum of the likelihood itself is asked for, and no shares to begin with are given, Newton's method goes
    there directly; see `greatest_likelihood`. Each of its steps counts as a round.

    Args:
        counts: how often each output was released.
        law: the probability of each output (columns) for each secret (rows).
        start: the shares to begin with; by default all equal.
        stop: "noise" for the rule above, "likelihood" to go on until the maximum of the likelihood is reached.
        rounds: the most updates.
        gap: for "likelihood", how far from the maximum the log-likelihood may be, per row; proved by concavity.

    References:
        Agrawal and Aggarwal, PODS 2001; for metric privacy Oya, Troncoso and Perez-Cruz 2019. Varadhan and Roland 2008
        for the extrapolation, Morozov 1966 for the rule.

    >>> fitted = iterative_bayesian_update([70, 30], [[0.75, 0.25], [0.25, 0.75]], stop="likelihood")
    >>> fitted.shares.round(4).tolist()
    [0.9, 0.1]
    """
    try:
        seen, channel = np.asarray(counts, dtype=np.float64), np.asarray(law, dtype=np.float64)
    except (TypeError, ValueError):  # whose message may hold a count
        raise KindError("counts and the rows of the law are numbers") from None
    if channel.ndim != 2 or seen.shape != (channel.shape[1],):
        raise ShapeError("a count is wanted for each output of the law, and a row of the law for each secret")
    if not (seen >= 0).all() or not np.isfinite(seen).all() or seen.sum() <= 0:
        raise ShapeError("counts are finite numbers, none below 0 and one above it")
    if stop not in ("noise", "likelihood"):
        raise ArgumentError(f'stop is "noise" or "likelihood", not {stop!r}')
    climb, done = _Climb(seen, channel, stop, gap), 0
    if start is not None:
        shares = np.asarray(start, dtype=np.float64)
        shares = shares / shares.sum()
    elif stop == "likelihood" and len(channel) <= MOST_SECRETS and (channel[:, climb.seen].sum(axis=0) > 0).all():
        shares, done, proved = greatest_likelihood(climb.parts, climb.visible, gap, rounds)
        if proved:
            return climb.fitted(shares, done, True)
        shares = (shares + 1e-9 / len(shares)) / (1 + 1e-9)  # updates leave a share of 0 at 0
    else:
        shares = np.full(len(channel), 1 / len(channel))
    return climb.run(shares, rounds, done)


class _Climb:
    """The updates of one fit."""

    def __init__(self, counts: Floats, law: Floats, stop: Stop, gap: float) -> None:
        self.rows = float(counts.sum())
        self.seen = counts > 0
        self.counts, self.law = counts, law
        self.parts = counts[self.seen] / self.rows
        self.visible = np.ascontiguousarray(law[:, self.seen])
        self.reach = law.sum(axis=1)
        self.stop, self.gap = stop, gap
        self.best = float(self.parts @ np.log(self.parts))

    def update(self, shares: Floats) -> tuple[Floats, float, Floats]:
        """The updated shares, the log-likelihood per row of those before, and the ratios that say how good they are."""
        mixed = np.maximum(shares @ self.visible, _TINY)
        ratios = self.visible @ (self.parts / mixed)
        new = shares * ratios
        return new / new.sum(), float(self.parts @ np.log(mixed)), ratios

    def run(self, shares: Floats, most: int, done: int = 0) -> FittedShares:
        ended, longest = False, 4.0
        while done < most and not ended:
            first, height, ratios = self.update(shares)
            done += 1
            if self._ends(shares, height, ratios):
                ended = True
                break
            second, between, ratios = self.update(first)
            done += 1
            if self._ends(first, between, ratios):
                shares, ended = first, True
                break
            step, bend = first - shares, second - 2 * first + shares
            curve = math.sqrt(float(bend @ bend))
            if curve > 0:
                stride = min(longest, max(1.0, math.sqrt(float(step @ step)) / curve))
                tried = np.maximum(shares + 2 * stride * step + stride**2 * bend, 1e-3 * second)
                if stride > 1:
                    after, reached, _ = self.update(tried / tried.sum())
                    done += 1
                    if reached >= between:
                        second = after
                        longest *= 4.0 if stride == longest else 1.0
                    else:
                        longest = max(4.0, longest / 4)
            shares = second
        return self.fitted(shares, done, ended)

    def _ends(self, shares: Floats, height: float, ratios: Floats) -> bool:
        if self.stop == "likelihood":  # by concavity no shares are higher by more than the greatest ratio less 1
            return float(ratios.max()) - 1 <= self.gap
        deviance = 2 * self.rows * (self.best - height)
        if deviance > 4 * len(self.counts):
            return False
        return deviance <= _expected_deviance(self.rows * (shares @ self.law)) or float(ratios.max()) - 1 <= self.gap

    def fitted(self, shares: Floats, rounds: int, converged: bool) -> FittedShares:
        """The result."""
        released = shares @ self.law
        height = float(self.parts @ np.log(np.maximum(released[self.seen], _TINY)))
        deviance = max(0.0, 2 * self.rows * (self.best - height))
        expected = _expected_deviance(self.rows * released)
        return FittedShares(shares, released, rounds, self.rows * height, deviance, expected, converged)


def _expected_deviance(means: Floats) -> float:
    """What noise leaves of the deviance on average: about 1 for each output that is seen often, less for rare ones."""
    return max(0.0, float(np.interp(np.log(np.maximum(means, _TINY)), *_POISSON).sum()) - 1)


def _poisson_table() -> tuple[Floats, Floats]:
    """For means from 1e-3 to 100, the mean of ``2 (k ln(k / m) - (k - m))`` where k is Poisson."""
    means = np.exp(np.linspace(math.log(1e-3), math.log(100), 60))
    numbers = np.arange(1, 400)
    logs = np.cumsum(np.log(numbers))
    found = []
    for mean in means:
        chances = np.exp(numbers * math.log(mean) - mean - logs)
        found.append(2 * float((chances * (numbers * np.log(numbers / mean) - numbers + mean)).sum()))
        found[-1] += 2 * mean * math.exp(-mean)
    return np.log(means), np.array(found)


_POISSON = _poisson_table()
