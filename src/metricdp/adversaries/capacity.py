"""Capacities: the most that a channel leaks to anybody, whatever is believed and whatever is gained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from flint import arb

from metricdp.adversaries.leakage import divergences, mutual_information
from metricdp.adversaries.payoff import Gain
from metricdp.adversaries.prior import Prior
from metricdp.channels.arguments import ChannelLike, as_channel
from metricdp.channels.channel import Channel
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, float_above, float_below, precision
from metricdp.exact.outward import Bound
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, number_json, short

__all__ = ["Capacity", "ShannonCapacity", "capacity", "shannon_capacity"]

_BITS = 96
_MOST_STEPS, _TOLD = 20_000, 100
_FLOOR = 1e-30  # of a belief over inputs, so that every output that can occur has a probability


Number = TypeVar("Number", Fraction, Bound)


@dataclass(frozen=True)
class Capacity(Result, Generic[Number]):
    """The most that a channel leaks, over all priors and gains; exact for a channel, enclosed for a whole space.

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
    multiplicative: Number
    additive: Number

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

    def __str__(self) -> str:
        return (
            f"for any prior and any gain, vulnerability grows by a factor of at most {short(self.multiplicative)} "
            f"({self.bits:.6g} bits) and by at most {short(self.additive)}"
        )

    def to_json(self) -> dict[str, Any]:
        """The capacities as plain values for JSON; exact numbers as text."""
        return {
            "multiplicative": number_json(self.multiplicative),
            "additive": number_json(self.additive),
            "bits": self.bits,
        }

    def _gain(self, name: str, everywhere: int, right: int) -> Gain:
        count = range(len(self.inputs))
        table = [[everywhere + (right if w == x else 0) for x in count] for w in count]
        return Gain.from_matrix(self.inputs, self.inputs, table, name)


def capacity(channel: ChannelLike) -> Capacity[Fraction]:
    """The multiplicative and additive capacities of a channel, exactly.

    ``sum over z of max over x of K(x)(z)`` and ``1 - sum over z of min over x of K(x)(z)``.

    References:
        Paper 5, Theorems 4 and 5 (the miracle theorems).

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/4", "3/4"]])
    >>> capacity(C).multiplicative, capacity(C).additive
    (Fraction(17, 12), Fraction(5, 12))
    """
    channel = as_channel(channel, "capacity")
    most, least = (sum(extreme(axis=0).tolist()) for extreme in (channel.weights.max, channel.weights.min))
    return Capacity(channel.inputs, Fraction(most, channel.total), 1 - Fraction(least, channel.total))


@dataclass(frozen=True)
class ShannonCapacity(Result):
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

    def __str__(self) -> str:
        return f"for any prior, at most {self.upper:.9g} bits leak; some prior leaks {self.lower:.9g}"

    def to_json(self) -> dict[str, Any]:
        """The bounds as plain values for JSON."""
        return {"lower": self.lower, "upper": self.upper}

    @property
    def gap(self) -> float:
        """How far the bounds are apart."""
        return self.upper - self.lower


def shannon_capacity(
    channel: ChannelLike,
    *,
    gap: float = 1e-9,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> ShannonCapacity:
    """The Shannon capacity of a channel by the algorithm of Blahut and Arimoto, with bounds that are proved.

    The steps are taken in floats; the bounds are then evaluated for their last prior p in ball arithmetic:
    ``I(p, K) <= capacity <= max over x of D(K(x) || q)``, the first for any prior p and the second for any
    distribution q of outputs.

    Args:
        channel: K.
        gap: stop when the bounds are this near, in bits.
        time_limit: seconds after which to stop; the bounds then hold, but may be farther apart. So they are after an
            interruption from the keyboard, and after 20,000 steps.
        progress: told now and then how near the bounds are.

    >>> found = shannon_capacity(Channel.from_matrix("ab", "ab", [["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> round(float(found), 9), found.gap < 1e-9
    (0.188721876, True)
    """
    if not 0 < gap < math.inf:
        raise ArgumentError(f"the gap of a capacity is a positive number of bits, not {gap!r}")
    channel, watch = as_channel(channel, "shannon_capacity"), Stopwatch(time_limit, progress)
    belief: Floats = np.full(len(channel.inputs), 1 / len(channel.inputs))
    try:
        for step in range(_MOST_STEPS):
            told = divergences(belief @ channel.matrix, channel)
            top, reached = float(told.max()), float(belief @ told)
            if top - reached < gap * math.log(2) / 4 or (step and watch.over):
                break
            if step % _TOLD == 0:
                watch.tell(step, _MOST_STEPS, best=reached / math.log(2), bound=top / math.log(2))
            following = np.maximum(belief * np.exp(told - top), _FLOOR)
            belief = following / following.sum()
    except KeyboardInterrupt:
        pass  # the last belief is as good as any
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
