"""Leakage: how much more an adversary gains, or knows, after an output than before."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, overload

import numpy as np
from flint import arb

from metricdp.adversaries._arguments import channel_for
from metricdp.adversaries.float_priors import Priors, are_many, float_prior
from metricdp.adversaries.hyper import joint
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.adversaries.vulnerability import vulnerability
from metricdp.channels.arguments import ChannelLike, SpaceLike
from metricdp.channels.channel import Channel
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, enclose

__all__ = ["divergences", "leakage", "min_entropy_leakage", "mutual_information", "shannon_leakage"]

Kind = Literal["multiplicative", "additive"]


@overload
def leakage(
    prior: Priors,
    channel: ChannelLike,
    gain: Any = ...,
    *,
    kind: Kind = ...,
    space: SpaceLike | None = ...,
    exact: Literal[False] = ...,
) -> Floats: ...
@overload
def leakage(
    prior: Any,
    channel: ChannelLike,
    gain: Any = ...,
    *,
    kind: Kind = ...,
    space: SpaceLike | None = ...,
    exact: Literal[False] = ...,
) -> float: ...
@overload
def leakage(
    prior: Any,
    channel: ChannelLike,
    gain: Any = ...,
    *,
    kind: Kind = ...,
    space: SpaceLike | None = ...,
    exact: Literal[True],
) -> Fraction: ...
def leakage(
    prior: Any,
    channel: ChannelLike,
    gain: Any = "identity",
    *,
    kind: Kind = "multiplicative",
    space: SpaceLike | None = None,
    exact: bool = False,
) -> float | Fraction | Floats:
    """How much an output raises the vulnerability: by which factor, or, with ``kind="additive"``, by how much.

    Multiplicative: ``V_g[p > K] / V_g(p)``, at least 1. Additive: ``V_g[p > K] - V_g(p)``, at least 0.

    Args:
        prior: p; see `metricdp.adversaries.as_prior`; or many at once, as for `metricdp.adversaries.vulnerability`.
        channel: K.
        gain: g; see `metricdp.adversaries.as_gain`.
        kind: "multiplicative" or "additive".
        space: for the gain "distance".
        exact: return the exact Fraction; otherwise a float computed from floats.

    Raises:
        ArgumentError: a multiplicative leakage where the prior vulnerability is not positive.

    References:
        Paper 5, Section II.B.

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> leakage("uniform", C, exact=True), leakage("uniform", C, kind="additive", exact=True)
    (Fraction(4, 3), Fraction(1, 6))
    """
    if kind not in ("multiplicative", "additive"):
        raise ArgumentError(f"a leakage is 'multiplicative' or 'additive', not {kind!r}")
    channel = channel_for(prior, channel, "leakage", gain, space)
    after: Any = vulnerability(prior, channel, gain, space=space, exact=exact)
    before: Any = vulnerability(prior, _silent(channel), gain, space=space, exact=exact)
    leaked: float | Fraction | Floats
    if kind == "additive":
        leaked = after - before
        return leaked
    many = are_many(prior)
    if (before <= 0).any() if many else before <= 0:
        where = f"row {int((before <= 0).argmax())}: " if many else ""
        raise ArgumentError(
            f"{where}before the channel no action gains anything, so a ratio says nothing: ask for kind='additive'"
        )
    leaked = after / before
    return leaked


@overload
def min_entropy_leakage(prior: Priors, channel: ChannelLike, *, enclosed: Literal[False] = False) -> Floats: ...
@overload
def min_entropy_leakage(prior: Any, channel: ChannelLike, *, enclosed: Literal[False] = False) -> float: ...
@overload
def min_entropy_leakage(prior: Any, channel: ChannelLike, *, enclosed: Literal[True]) -> Enclosure: ...
def min_entropy_leakage(prior: Any, channel: ChannelLike, *, enclosed: bool = False) -> float | Floats | Enclosure:
    """The bits by which a best guess gets likelier: ``log2(V[p > K] / V(p))``, also called min-mutual information.

    Args:
        prior: p; or many at once, as for `metricdp.adversaries.vulnerability`.
        channel: K.
        enclosed: return two rationals with the leakage between them, equal to some 60 bits; otherwise a float.

    References:
        Paper 3, Section 4.2.

    >>> min_entropy_leakage("uniform", Channel.from_matrix("ab", "ab", [[1, 0], [0, 1]]))
    1.0
    """
    channel = channel_for(prior, channel, "min_entropy_leakage")
    if not enclosed:
        ratios: Any = leakage(prior, channel)
        if are_many(prior):
            bits: Floats = np.log2(np.maximum(ratios, 1))  # rounding alone can make one less
            return bits
        return math.log2(max(ratios, 1.0))
    ratio = leakage(prior, channel, exact=True)
    return enclose(lambda: ball(ratio).log() / arb(2).log())


@overload
def shannon_leakage(prior: Any, channel: ChannelLike, *, enclosed: Literal[False] = False) -> float: ...
@overload
def shannon_leakage(prior: Any, channel: ChannelLike, *, enclosed: Literal[True]) -> Enclosure: ...
def shannon_leakage(prior: Any, channel: ChannelLike, *, enclosed: bool = False) -> float | Enclosure:
    """The mutual information of secret and output, in bits: ``sum of p(x) K(x)(z) log2(K(x)(z) / p(z))``.

    Args:
        prior: p.
        channel: K.
        enclosed: return two rationals with the leakage between them, by ball arithmetic; otherwise a float, within some
            10^-15 times the logarithm of the number of inputs.

    >>> shannon_leakage("uniform", Channel.from_matrix("ab", "ab", [[1, 0], [0, 1]]))
    1.0
    """
    channel = channel_for(prior, channel, "shannon_leakage")
    if enclosed:
        belief = as_prior(prior, channel.inputs)
        return enclose(lambda: mutual_information(belief, channel) / arb(2).log())
    shares = float_prior(prior, channel.inputs)
    told = divergences(shares @ channel.matrix, channel)
    return max(0.0, float((shares[shares > 0] * told[shares > 0]).sum()) / math.log(2))  # the others may be infinite


def mutual_information(prior: Prior, channel: Channel) -> arb:
    """The mutual information in nats, as a ball at the working precision."""
    together = joint(prior, channel)
    seen = together.sum(axis=0).tolist()
    information = arb(0)
    for weights, row in zip(channel.weights.tolist(), together.tolist(), strict=True):
        for weight, both, output in zip(weights, row, seen, strict=True):
            if both:
                information += ball(both) * (ball(weight * prior.total) / ball(output)).log()
    return information / ball(prior.total * channel.total)


def divergences(outputs: Any, channel: Channel) -> Any:
    """For every input, ``sum over z of K(x)(z) ln(K(x)(z) / q(z))`` for a distribution q over outputs, in floats."""
    matrix = channel.matrix
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = np.where(matrix > 0, matrix * np.log(matrix / outputs), 0.0)
    return terms.sum(axis=1)


def _silent(channel: Channel) -> Channel:
    """The channel that says nothing about the same inputs."""
    return Channel(channel.inputs, (0,), np.ones((len(channel.inputs), 1), dtype=object), 1)
