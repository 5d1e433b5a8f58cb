"""Capacities: the most that a channel leaks to anybody, whatever is believed and whatever is gained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from metricdp.adversaries.leaking import divergences, mutual_information
from metricdp.adversaries.losses import Gain
from metricdp.adversaries.prior import Prior
from metricdp.channels.channel import Channel
from metricdp.errors import LevelError
from metricdp.exact.balls import Enclosure, ball, float_above, float_below, precision
from metricdp.exact.refine import Floats

__all__ = ["Capacity", "ShannonCapacity", "capacity", "shannon_capacity"]

_BITS = 96
_FLOOR = 1e-30  # of a belief over inputs, so that every output that can occur has a probability


@dataclass(frozen=True)
class Capacity:
    """The most that a channel leaks, over all priors and gains.

    The uniform prior reaches both: with the gain 1 for the right guess the multiplicative one, and with the gain
    ``1 - n [w = x]`` (name a secret that it is not; n secrets) the additive one.

    Attributes:
        inputs: the secrets.
        multiplicative: the maximum of ``V_g[p > K] / V_g(p)`` over priors p and gains g that are not negative.
        additive: the maximum of ``V_g[p > K] - V_g(p)`` over priors p and gains g with vulnerabilities in [0, 1].

    References:
        Paper 5, Eq. 8 and 9, Theorems 4 and 5.
    """

    inputs: tuple[Any, ...]
    multiplicative: Fraction
    additive: Fraction

    @property
    def prior(self) -> Prior:
        """The uniform prior, which reaches both."""
        return Prior.uniform(self.inputs)

    @cached_property
    def multiplicative_gain(self) -> Gain:
        """The gain that reaches the multiplicative capacity: 1 for the right guess."""
        return self._gain("identity", 0, 1)

    @cached_property
    def additive_gain(self) -> Gain:
        """The gain that reaches the additive capacity: ``1 - n [w = x]``, whose vulnerabilities lie in [0, 1]."""
        return self._gain("1 - n nib", 1, -len(self.inputs))

    @property
    def bits(self) -> float:
        """The min-capacity: the base-2 logarithm of the multiplicative capacity."""
        return math.log2(self.multiplicative)

    def _gain(self, name: str, everywhere: int, right: int) -> Gain:
        count = range(len(self.inputs))
        table = [[everywhere + (right if w == x else 0) for x in count] for w in count]
        return Gain.from_matrix(self.inputs, self.inputs, table, name)


def capacity(channel: Channel) -> Capacity:
    """The multiplicative and additive capacities of a channel, exactly.

    ``sum over z of max over x of K(x)(z)`` and ``1 - sum over z of min over x of K(x)(z)``.

    References:
        Paper 5, Theorems 4 and 5 (the miracle theorems).

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/4", "3/4"]])
    >>> capacity(C).multiplicative, capacity(C).additive
    (Fraction(17, 12), Fraction(5, 12))
    """
    most, least = (sum(extreme(axis=0).tolist()) for extreme in (channel.weights.max, channel.weights.min))
    return Capacity(channel.inputs, Fraction(most, channel.total), 1 - Fraction(least, channel.total))


@dataclass(frozen=True)
class ShannonCapacity:
    """The largest mutual information over all priors, in bits, between two proved bounds.

    Attributes:
        lower: proved from below: ``prior`` leaks as much.
        upper: proved from above: no prior leaks more.
        prior: a prior whose mutual information is at least ``lower``.
    """

    lower: float
    upper: float
    prior: Prior

    def __float__(self) -> float:
        return (self.lower + self.upper) / 2

    @property
    def gap(self) -> float:
        """How far the bounds are apart."""
        return self.upper - self.lower


def shannon_capacity(channel: Channel, gap: float = 1e-9, most_steps: int = 20_000) -> ShannonCapacity:
    """The Shannon capacity of a channel by the algorithm of Blahut and Arimoto, with bounds that are proved.

    The steps are taken in floats; the bounds are then evaluated for their last prior p in ball arithmetic:
    ``I(p, K) <= capacity <= max over x of D(K(x) || q)``, the first for any prior p and the second for any
    distribution q of outputs.

    Args:
        channel: K.
        gap: stop when the bounds are this near, in bits.
        most_steps: stop then at the latest; the bounds hold, but may be farther apart.

    >>> found = shannon_capacity(Channel.from_matrix("ab", "ab", [["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> round(float(found), 9), found.gap < 1e-9
    (0.188721876, True)
    """
    if not 0 < gap < math.inf:
        raise LevelError("the gap of a capacity is a positive number of bits")
    belief: Floats = np.full(len(channel.inputs), 1 / len(channel.inputs))
    for _ in range(most_steps):
        told = divergences(belief @ channel.matrix, channel)
        top = float(told.max())
        if top - float(belief @ told) < gap * math.log(2) / 4:
            break
        belief = np.maximum(belief * np.exp(told - top), _FLOOR)
        belief /= belief.sum()
    prior = Prior.proportional(channel.inputs, belief.tolist())
    with precision(_BITS):
        lower = Enclosure.of(mutual_information(prior, channel) / arb(2).log()).lower
        upper = max(
            Enclosure.of(_divergence(prior, channel, row) / arb(2).log()).upper for row in range(len(channel.inputs))
        )
    return ShannonCapacity(max(0.0, float_below(lower)), float_above(upper), prior)


def _divergence(prior: Prior, channel: Channel, row: int) -> arb:
    """``D(K(x) || q)`` in nats, where q is the distribution of the outputs under the prior."""
    outputs = np.array(prior.weights, dtype=object).dot(channel.weights).tolist()
    total = arb(0)
    for weight, output in zip(channel.weights[row].tolist(), outputs, strict=True):
        if weight:
            total += ball(weight) * (ball(weight * prior.total) / ball(output)).log()
    return total / ball(channel.total)
