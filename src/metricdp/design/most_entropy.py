"""The channel that leaves an observer most uncertain, among all that cost a user no more.

Over all channels K with a given expected loss, the entropy of the secret given the output, ``H(X | Z)``, is largest for
``K(x)(z)`` proportional to ``q(z) exp(-w l(z, x))``, where q is the distribution of the outputs and w > 0 says how
much a bit of entropy is worth. Blahut and Arimoto's steps find q. For *every* q, with ``Z(x) = sum over z of q(z)
exp(-w l(z, x))`` and ``c(z) = sum over x of p(x) exp(-w l(z, x)) / Z(x)``, no channel has

    I(X; Z) + w E[l]  <  - sum over x of p(x) ln Z(x) - ln max over z of c(z)

so what q misses is known at each step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from metricdp.adversaries.hyper import joint
from metricdp.adversaries.leakage import mutual_information
from metricdp.adversaries.losses import as_loss
from metricdp.adversaries.payoff import Loss
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.channels.channel import Channel
from metricdp.channels.verify import verify
from metricdp.design.arguments import check_gap
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, enclose, float_above
from metricdp.exact.level import Level, LevelLike
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, enclosure_json, number_json, short
from metricdp.metrics import Space
from metricdp.metrics.verdict import Verdict

__all__ = ["MostEntropy", "most_entropy"]

_TOLD = 100
_MOST_ROUNDS = 1_000_000


@dataclass(frozen=True, repr=False)
class MostEntropy(Result):
    """A channel that leaves nearly as much entropy as any that costs no more, with the proof of how nearly.

    Attributes:
        channel: it makes no promise of privacy by itself; `verdict` says which one it keeps.
        space: its inputs and their metric.
        loss: its expected loss, exactly, for the loss as floats hold it.
        entropy: ``H(X | Z)`` in bits, enclosed.
        bound: no channel of at most this loss leaves more bits; rounded up.
        rounds: how many steps it took.
        finished: whether the gap that was asked for is proved.
    """

    channel: Channel
    space: Space
    loss: Fraction
    entropy: Enclosure
    bound: float
    rounds: int
    finished: bool

    @property
    def gap(self) -> float:
        """How many bits more another channel of the same loss may leave, at most."""
        return max(0.0, self.bound - self.entropy.outward[0])

    @property
    def verdict(self) -> Verdict:
        """Which multiple of the space's metric the channel keeps."""
        return verify(self.channel, self.space)

    def to_json(self) -> dict[str, Any]:
        """The channel and what is proved of it as plain values for JSON."""
        return {
            "channel": self.channel.to_json(),
            "loss": number_json(self.loss),
            "entropy": enclosure_json(self.entropy),
            "bound": self.bound,
            "gap": self.gap,
            "rounds": self.rounds,
            "finished": self.finished,
        }

    def __str__(self) -> str:
        open_end = "" if self.finished else "; not finished"
        return (
            f"leaves {float(self.entropy):.6g} bits at an expected loss of {short(float(self.loss), 6)}; no channel of "
            f"that loss leaves {self.gap:.1e} bits more{open_end}"
        )

    def __repr__(self) -> str:
        return f"MostEntropy({self.channel.shape[0]} inputs, {self.channel.shape[1]} outputs, {self})"


def most_entropy(
    space: SpaceLike,
    prior: Any = "uniform",
    loss: Any = "distance",
    *,
    weight: LevelLike = 1,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> MostEntropy:
    """The channel that leaves most entropy among all channels with at most the same expected loss.

    Args:
        space: the secrets and their metric.
        prior: p; see `metricdp.adversaries.as_prior`.
        loss: l; see `metricdp.adversaries.as_loss`. Its actions are the outputs.
        weight: w, how much the loss counts beside the entropy, in nats for a unit of loss: more of it costs less and
            tells more.
        gap: bits of entropy that may be missed.
        time_limit: seconds after which the best so far is returned.
        progress: told how many steps were taken.

    Guarantee:
        None by itself. For the loss "distance" and w the level, each row is that of an exponential mechanism with
        public weights, so twice the metric is kept; `MostEntropy.verdict` proves which multiple is.

    Raises:
        ArgumentError: the weight or the gap is not a positive number.

    References:
        Oya, Troncoso and Pérez-González 2017, *Back to the drawing board: revisiting the design of optimal location
        privacy-preserving mechanisms*; Cover and Thomas, section 10.8.

    >>> import metricdp as mdp
    >>> found = most_entropy(mdp.Space.line(5), [0.1, 0.2, 0.4, 0.2, 0.1], weight=2)
    >>> print(found)
    leaves 1.05619 bits at an expected loss of 0.244417; no channel of that loss leaves 4.6e-07 bits more
    >>> round(found.verdict.scale, 3)  # at most 4, twice the weight
    2.839
    """
    bits = check_gap(gap)
    space, slope = as_space(space, "most_entropy"), Level.of(weight)
    if math.isinf(float(slope)):
        raise ArgumentError("the weight is beyond floats; with so much of it the channel of least loss is the best")
    belief = as_prior(prior, space.points)
    costs = as_loss(loss, space.points, space).rounded()
    shares, rounds = _steps(belief, costs, float(slope), bits, Stopwatch(time_limit, progress))
    table = shares * _falls(costs, float(slope))
    channel = Channel.from_matrix(space.points, costs.actions, table / table.sum(axis=1, keepdims=True))
    spent = _expected(belief, channel, costs)

    def left() -> arb:
        return (_entropy(belief) - mutual_information(belief, channel)) / arb(2).log()

    def most() -> arb:
        least = _bound(belief, costs, slope, shares)
        return (_entropy(belief) - least + slope.ball() * ball(spent)) / arb(2).log()

    entropy, bound = enclose(left), float_above(enclose(most).upper)
    finished = bound - entropy.outward[0] <= bits
    return MostEntropy(channel, space, spent, entropy, bound, rounds, finished)


def _falls(costs: Loss, slope: float) -> Floats:
    """``exp(-w (l - least l))``, secrets by actions: what a row has in common changes nothing."""
    table = costs.matrix.T
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(slope * (table.min(axis=1, keepdims=True) - table)))


def _steps(belief: Prior, costs: Loss, slope: float, gap: float, watch: Stopwatch) -> tuple[Floats, int]:
    """q, and how many steps it took: until the bound on what is missed is half of the gap."""
    falls = _falls(costs, slope)
    prior = np.array([float(share) for share in belief.fractions])
    shares = np.full(falls.shape[1], 1 / falls.shape[1])
    for rounds in range(1, _MOST_ROUNDS):
        growth = (prior / (falls @ shares)) @ falls
        if np.log2(growth.max()) <= gap / 2 or watch.over:
            break
        shares *= growth
        shares /= shares.sum()
        if rounds % _TOLD == 0:
            watch.tell(rounds, unit="steps")
    return shares, rounds


def _expected(belief: Prior, channel: Channel, costs: Loss) -> Fraction:
    whole, common = costs.whole
    total = (joint(belief, channel) * whole.T).sum()
    return Fraction(int(total), belief.total * channel.total * common)


def _entropy(belief: Prior) -> arb:
    """Of the prior, in nats."""
    return -sum((ball(share) * ball(share).log() for share in belief.fractions if share), arb(0))


def _bound(belief: Prior, costs: Loss, slope: Level, shares: Floats) -> arb:
    """What no channel's ``I + w E[l]`` is below, for these q, in nats."""
    assert costs.entries is not None  # rounded before
    weight, wanted = slope.ball(), [(z, Fraction(share)) for z, share in enumerate(shares.tolist()) if share > 0]
    level, growth = arb(0), [arb(0)] * len(costs.actions)
    for x, share in enumerate(belief.fractions):
        if not share:
            continue
        row = [(-weight * ball(costs.entries[z][x])).exp() for z in range(len(costs.actions))]
        total = sum((ball(q) * row[z] for z, q in wanted), arb(0))
        level -= ball(share) * total.log()
        growth = [value + ball(share) * fall / total for value, fall in zip(growth, row, strict=True)]
    most = growth[0]
    for value in growth[1:]:
        most = most.max(value)
    return level - most.log()
