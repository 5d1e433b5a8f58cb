"""What an adversary gains, or a user loses, by the best action that an output allows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeVar, overload

import numpy as np

from metricdp.adversaries.expectations import expected
from metricdp.adversaries.hypers import joint
from metricdp.adversaries.losses import Gain, Loss, as_gain, as_loss
from metricdp.adversaries.prior import Prior, Priors, are_many, as_prior
from metricdp.channels.channel import Channel
from metricdp.errors import InputError, ShapeError
from metricdp.exact.refine import Floats
from metricdp.exact.weights import Weights
from metricdp.metrics.space import Space

__all__ = ["Remap", "remap", "uncertainty", "vulnerability"]

_Kind = TypeVar("_Kind", Gain, Loss)


@overload
def vulnerability(
    prior: Priors,
    channel: Channel | None = ...,
    gain: Any = ...,
    *,
    space: Space | None = ...,
    exact: Literal[False] = ...,
) -> Floats: ...
@overload
def vulnerability(
    prior: Any,
    channel: Channel | None = ...,
    gain: Any = ...,
    *,
    space: Space | None = ...,
    exact: Literal[False] = ...,
) -> float: ...
@overload
def vulnerability(
    prior: Any, channel: Channel | None = ..., gain: Any = ..., *, space: Space | None = ..., exact: Literal[True]
) -> Fraction: ...
@overload
def vulnerability(
    prior: Any, channel: Channel | None = ..., gain: Any = ..., *, space: Space | None = ..., exact: bool
) -> float | Fraction | Floats: ...
def vulnerability(
    prior: Any,
    channel: Channel | None = None,
    gain: Any = "identity",
    *,
    space: Space | None = None,
    exact: bool = False,
) -> float | Fraction | Floats:
    """What the best action gains on average: ``sum over z of max over w of sum over x of p(x) K(x)(z) g(w, x)``.

    Without a channel, before anything is seen: ``max over w of sum over x of p(x) g(w, x)``. The gain "identity", 1 for
    the right guess, gives the probability that the best guess is right.

    Args:
        prior: p; see `metricdp.adversaries.as_prior`. Or many at once, one a row of a two-dimensional array of floats;
            then the result is an array with a float for each, many times as fast as one by one.
        channel: K; None for the vulnerability of the prior alone.
        gain: g; see `metricdp.adversaries.as_gain`.
        space: for the gain "distance".
        exact: return the exact Fraction. Otherwise the result is a float computed from floats, within
            (2 * inputs + outputs + 8) * 2^-53 times the largest absolute gain of the truth.

    Raises:
        InputError: the prior, or a row of many, is no distribution over the channel's inputs.

    References:
        Paper 5, Eq. 3.

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/4", "3/4"]])
    >>> (
    ...     vulnerability("uniform", C, exact=True),
    ...     vulnerability("uniform", C, [[1, 0], [0, 1], ["1/2", "1/2"]], exact=True),
    ... )
    (Fraction(17, 24), Fraction(17, 24))
    >>> vulnerability(np.array([[0.5, 0.5], [0.0, 1.0], [0.75, 0.25]]), C).round(6).tolist()
    [0.708333, 1.0, 0.75]
    """
    if channel is None:
        return _before(Gain, prior, gain, space, exact)
    guessing = isinstance(gain, str) and gain in ("identity", "nib")
    if not exact:
        return expected(prior, channel, None if guessing else _floats(Gain, gain, channel.inputs, space), "most")
    belief = _one(prior, channel)
    table, common = joint(belief, channel), 1
    if not guessing:
        numbers, common = as_gain(gain, channel.inputs, space).whole
        table = numbers.dot(table)
    return Fraction(sum(table.max(axis=0).tolist()), belief.total * channel.total * common)


@overload
def uncertainty(
    prior: Priors,
    channel: Channel | None = ...,
    loss: Any = ...,
    *,
    space: Space | None = ...,
    exact: Literal[False] = ...,
) -> Floats: ...
@overload
def uncertainty(
    prior: Any,
    channel: Channel | None = ...,
    loss: Any = ...,
    *,
    space: Space | None = ...,
    exact: Literal[False] = ...,
) -> float: ...
@overload
def uncertainty(
    prior: Any, channel: Channel | None = ..., loss: Any = ..., *, space: Space | None = ..., exact: Literal[True]
) -> Fraction: ...
@overload
def uncertainty(
    prior: Any, channel: Channel | None = ..., loss: Any = ..., *, space: Space | None = ..., exact: bool
) -> float | Fraction | Floats: ...
def uncertainty(
    prior: Any,
    channel: Channel | None = None,
    loss: Any = "bin",
    *,
    space: Space | None = None,
    exact: bool = False,
) -> float | Fraction | Floats:
    """What the best action costs on average: ``sum over z of min over w of sum over x of p(x) K(x)(z) l(w, x)``.

    Without a channel, before anything is seen. It is the expected loss of a user who remaps outputs as well as can be
    (see `remap`), and the least over all remaps.

    Args:
        prior: p; see `metricdp.adversaries.as_prior`; or many at once, as for `vulnerability`.
        channel: K; None for the uncertainty of the prior alone.
        loss: l; see `metricdp.adversaries.as_loss`.
        space: for the loss "distance".
        exact: return the exact Fraction; otherwise a float, as near as that of `vulnerability`.

    Raises:
        InputError: the prior, or a row of many, is no distribution over the channel's inputs.

    References:
        Paper 5, Eq. 4 and 5, Remark 1 and Lemma A1; paper 1, Section 4.2.

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/4", "3/4"]])
    >>> uncertainty("uniform", C, "bin", exact=True), uncertainty("uniform", None, [[0, 1], [1, 0]], exact=True)
    (Fraction(7, 24), Fraction(1, 2))
    >>> uncertainty(np.array([[0.5, 0.5], [0.0, 1.0]]), C, "bin").round(6).tolist()
    [0.291667, 0.0]
    """
    if channel is None:
        return _before(Loss, prior, loss, space, exact)
    if not exact:
        if isinstance(loss, str) and loss == "bin":
            return expected(prior, channel, None, "rest")
        guessing = isinstance(loss, str) and loss in ("nib", "identity")
        return expected(prior, channel, None if guessing else _floats(Loss, loss, channel.inputs, space), "least")
    belief = _one(prior, channel)
    numbers, common = as_loss(loss, channel.inputs, space).whole
    table = numbers.dot(joint(belief, channel))
    return Fraction(sum(table.min(axis=0).tolist()), belief.total * channel.total * common)


@dataclass(frozen=True)
class Remap:
    """The best action for every output.

    Attributes:
        outputs: the outputs of the channel.
        actions: for each, the action that costs least; the first of them where several do.
        available: all actions there are.

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/4", "3/4"]])
    >>> best = remap("uniform", C, "bin")
    >>> best["y"], best.mapping
    ('a', {'y': 'a', 'z': 'b'})
    """

    outputs: tuple[Any, ...]
    actions: tuple[Any, ...]
    available: tuple[Any, ...]

    @property
    def mapping(self) -> dict[Any, Any]:
        """From outputs to actions."""
        return dict(zip(self.outputs, self.actions, strict=True))

    def __getitem__(self, z: Any) -> Any:
        return self.mapping[z]

    @cached_property
    def channel(self) -> Channel:
        """The same as a deterministic channel from outputs to actions, to put after K: ``K @ remap.channel``."""
        columns = {action: column for column, action in enumerate(self.available)}
        weights = np.zeros((len(self.outputs), len(self.available)), dtype=object)
        for row, action in enumerate(self.actions):
            weights[row, columns[action]] = 1
        return Channel(self.outputs, self.available, weights, 1)


def remap(prior: Any, channel: Channel, loss: Any = "bin", *, space: Space | None = None) -> Remap:
    """The action that costs a Bayesian user least, for every output; the first where several do.

    Decided in integers; in floats only where losses are irrational, and then a near tie may go either way.

    References:
        Paper 5, Eq. 1 and Remark 1; paper 1, Section 4.2.
    """
    belief = as_prior(prior, channel.inputs)
    costs = as_loss(loss, channel.inputs, space)
    if costs.exact:
        average: Weights | Floats = costs.whole[0].dot(joint(belief, channel))
    else:
        average = costs.matrix @ (belief.floats[:, None] * channel.matrix)
    columns = average.T.tolist()
    actions = tuple(costs.actions[min(range(len(column)), key=column.__getitem__)] for column in columns)
    return Remap(channel.outputs, actions, costs.actions)


def _before(kind: type[_Kind], prior: Any, table: Any, space: Space | None, exact: bool) -> float | Fraction | Floats:
    """The best action when nothing is seen: the same with a channel of one output."""
    secrets = _secrets(prior, table, space)
    nothing = Channel(secrets, (0,), np.ones((len(secrets), 1), dtype=object), 1)
    if kind is Gain:
        return vulnerability(prior, nothing, table, space=space, exact=exact)
    return uncertainty(prior, nothing, table, space=space, exact=exact)


def _one(prior: Any, channel: Channel) -> Prior:
    if are_many(prior):
        raise ShapeError("exact answers are for one prior at a time: give the rows of the array one by one")
    return as_prior(prior, channel.inputs)


def _secrets(prior: Any, table: Any, space: Space | None) -> tuple[Any, ...]:
    if isinstance(prior, Prior):
        return prior.points
    if isinstance(table, (Gain, Loss)):
        return table.secrets
    if space is not None:
        return space.points
    if isinstance(prior, Mapping):
        return tuple(prior)
    if not isinstance(prior, str):
        return tuple(range(prior.shape[-1] if isinstance(prior, np.ndarray) else len(prior)))
    if not isinstance(table, str):
        return tuple(range(len(table[0])))
    raise InputError(f"the prior {prior!r} does not say over which secrets: give a channel, a space or a Prior")


def _floats(kind: type[_Kind], value: Any, inputs: tuple[Any, ...], space: Space | None) -> Floats:
    whole = type(value) is np.ndarray and value.dtype == np.float64 and value.shape[1:] == (len(inputs),) and len(value)
    if whole and math.isfinite(np.vdot(value, value)):  # then no entry is infinite or NaN
        return value  # type: ignore[no-any-return]  # no detour through Fractions
    return (as_gain if kind is Gain else as_loss)(value, inputs, space).matrix
