"""Bets against a promise: lower bounds on a scale that stand whatever moment one stops at.

The null hypothesis H(s): each call of the box, given all earlier calls, is s·d-private. A coin of known weight w
decides before each call whether x or x' is the secret, and E is a set of releases that was chosen before. Then,
whatever the box remembers and however it drifts, a call that ends in E had the secret x with probability at most
θ(s), where

    θ / (1 - θ) = exp(s d(x, x')) · w / (1 - w).

So the hits of E are coins that come up "x" with probability θ(s) at most, and calls that miss E say nothing.
Somebody who bets on "x" at those odds cannot expect to gain. Two bets are made with parts of the confidence:

- one on the number of x among the first N hits, N being planned before the first of them. It pays at that moment
  alone, and is as sharp as the exact binomial test. Where somebody wants to end as soon as a bound is reached, it is
  parted into several, on the first N/4, N/2 and N hits, say, which share what it had;
- a mixture of bets on many odds, whose wealth is a nonnegative supermartingale under H(s). It pays at any moment.

H(s) is refuted where a bet has multiplied its stake by 1/alpha (Ville's inequality). The bound is the least s that
is not refuted. A bet gains no more than log(1 + exp(-s d)) a hit when s is small, so a test at distance d of an
event that has probability p from x' takes about exp(d)/p draws, and the less likely side has to be drawn more
often.
"""

from __future__ import annotations

import math

import numpy as np

from metricdp.exact.arrays import Booleans, Floats

__all__ = ["Bet", "DeltaBet", "binomial_tail", "least_odds"]


PLANNED, LATER, ANYTIME = 0.9, 0.05, 0.05
"""How the confidence is shared: the planned looks, the doublings after them, the bets that pay at any moment."""

_SLACK = 1e-6  # relative, on tail probabilities in floats: far above their error
_FARTHEST = 60.0
_STEPS = np.concatenate([np.arange(0.0, 10.0, 1.25), np.geomspace(12.0, 200.0, 8)])
"""Odds to bet on, in standard errors from what is expected: close together where the truth is likely, and far out too,
since an event that was chosen by its good look comes to less."""


def binomial_tail(successes: int, trials: int, chance: float) -> float:
    """The probability of at least so many successes, the regularised incomplete beta function; a little too large.

    >>> round(binomial_tail(3, 4, 0.5), 4)
    0.3125
    """
    if successes <= 0:
        return 1.0
    if successes > trials or chance <= 0:
        return 0.0
    if chance >= 1:
        return 1.0
    a, b = float(successes), float(trials - successes + 1)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(chance) + b * math.log1p(-chance)
    if chance < (a + 1) / (a + b + 2):
        value = math.exp(front) / a * _continued_fraction(a, b, chance)
    else:
        value = 1 - math.exp(front) / b * _continued_fraction(b, a, 1 - chance)
    return min(1.0, max(0.0, value) * (1 + _SLACK) + 1e-300)


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Lentz's method for the incomplete beta function."""
    tiny = 1e-300
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 200_000):
        term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / _away(1 + term * d, tiny), _away(1 + term / c, tiny)
        value *= d * c
        term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / _away(1 + term * d, tiny), _away(1 + term / c, tiny)
        value *= d * c
        if abs(d * c - 1) < 1e-12:
            return value
    return value


def _away(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny


def least_odds(successes: int, trials: int, alpha: float) -> float:
    """A lower confidence bound on the log-odds of success, after a fixed number of trials: Clopper and Pearson.

    >>> round(least_odds(90, 100, 0.05), 3)
    1.631
    """
    if successes == 0:
        return -math.inf
    low, high = -_FARTHEST, _log_odds(successes, trials)
    for _ in range(60):
        middle = (low + high) / 2
        if binomial_tail(successes, trials, _logistic(middle)) <= alpha:
            low = middle
        else:
            high = middle
    return low


class Bet:
    """Bets on the hits of one event: a lower bound on the log-odds that a hit had the secret x.

    Attributes:
        alpha: the chance that the bound is ever above the truth.
        horizon: the number of hits after which the last planned bet pays.
        looks: how many are planned, each after twice as many hits as the one before it.
        favoured, others: hits so far that had the secret x, and x'.
    """

    def __init__(self, alpha: float, horizon: int, centre: float = 0.0, spread: float = 1.0, looks: int = 1) -> None:
        self.alpha, self.looks = alpha, looks
        self.horizon = max(1 << (looks - 1), horizon)
        self.favoured = self.others = 0
        self._doublings = 0
        self._best = -math.inf
        fine = centre + spread * np.concatenate([_STEPS, -_STEPS[1:]])
        coarse = np.arange(-20.0, 20.5, 0.5)
        self._odds = np.concatenate([fine, coarse])
        self._log_weights = np.log(
            np.concatenate([np.full(fine.size, 0.6 / fine.size), np.full(coarse.size, 0.4 / coarse.size)])
        )

    @property
    def hits(self) -> int:
        """Hits so far."""
        return self.favoured + self.others

    def add(self, labels: Booleans, misses: int = 0) -> None:
        """Take the labels of the next hits, in the order in which they came: True for the secret x."""
        del misses  # they say nothing
        while labels.size:
            room = self._next() - self.hits
            part, labels = labels[:room], labels[room:]
            favoured = int(np.count_nonzero(part))
            self.favoured += favoured
            self.others += part.size - favoured
            if self.hits == self._next():
                later = self._doublings - self.looks + 1
                share = PLANNED / self.looks if later <= 0 else LATER / 2**later
                self._best = max(self._best, least_odds(self.favoured, self.hits, share * self.alpha))
                self._doublings += 1

    def _next(self) -> int:
        return (self.horizon >> (self.looks - 1)) << self._doublings

    def least_log_odds(self) -> float:
        """The bound; it never falls."""
        self._best = max(self._best, self._by_mixture())
        return self._best

    def log_wealth(self, null: float) -> float:
        """The logarithm of what the mixture of bets has made of 1, against the log-odds of a null hypothesis."""
        odds = np.maximum(self._odds, null)  # where the odds betted on are no better than the null, nothing is staked
        gain = self.favoured * (_log_logistic(odds) - _log_logistic(np.array(null)))
        gain = gain + self.others * (_log_logistic(-odds) - _log_logistic(np.array(-null)))
        total = gain + self._log_weights
        top = float(total.max())
        return top + math.log(float(np.exp(total - top).sum()))

    def _by_mixture(self) -> float:
        if self.favoured == 0:
            return -math.inf
        needed = -math.log(ANYTIME * self.alpha)
        low, high = max(self._best, -_FARTHEST), _log_odds(self.favoured, self.hits)
        if low >= high or self.log_wealth(low) < needed:
            return -math.inf
        for _ in range(40):  # the wealth falls as the null approaches what was seen
            middle = (low + high) / 2
            if self.log_wealth(middle) >= needed:
                low = middle
            else:
                high = middle
        return low


class DeltaBet:
    """Bets where the promise has a delta: P(x in E) <= exp(s d) P(x' in E) + delta.

    A call is worth 1/w if it had x and hit E, -exp(s d)/(1 - w) if it had x' and hit, and 0 otherwise: under H(s) its
    mean is at most delta. The wealth multiplies by 1 + λ (worth - delta), for a mixture of λ.

    Attributes:
        alpha: the chance that the bound is ever above the truth.
        weight: w.
        delta: of the promise.
        favoured, others, misses: calls so far that had x and hit, had x' and hit, and did not hit.
    """

    def __init__(self, alpha: float, weight: float, delta: float) -> None:
        self.alpha, self.weight, self.delta = alpha, weight, delta
        self.favoured = self.others = self.misses = 0
        self._best = -math.inf
        self._stakes = np.concatenate([np.logspace(-5, -0.05, 60), 1 - np.logspace(-5, -1, 20)])

    @property
    def hits(self) -> int:
        """Hits so far."""
        return self.favoured + self.others

    def add(self, labels: Booleans, misses: int) -> None:
        """Take the labels of the next hits and the number of calls among them that missed."""
        favoured = int(np.count_nonzero(labels))
        self.favoured += favoured
        self.others += labels.size - favoured
        self.misses += misses

    def log_wealth(self, logarithm: float) -> float:
        """The logarithm of the wealth against ``logarithm`` = s·d."""
        cost = math.exp(min(logarithm, 700.0)) / (1 - self.weight) + self.delta
        stakes = self._stakes / cost
        gain = self.favoured * np.log1p(stakes * (1 / self.weight - self.delta))
        gain += self.others * np.log1p(-stakes * cost) + self.misses * np.log1p(-stakes * self.delta)
        top = float(gain.max())
        return top + math.log(float(np.exp(gain - top).mean()))

    def least_logarithm(self) -> float:
        """The bound on s·d: the last point of a fixed grid before the first that is not refuted; it never falls."""
        needed = -math.log(self.alpha)
        last = -math.inf
        for step in range(0, 4001):
            logarithm = step / 200
            if self.log_wealth(logarithm) < needed:
                break
            last = logarithm
        self._best = max(self._best, last)
        return self._best


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0


def _log_odds(successes: int, trials: int) -> float:
    return _FARTHEST if successes == trials else math.log(successes / (trials - successes))


def _log_logistic(odds: Floats) -> Floats:
    return -np.logaddexp(0.0, -odds)
