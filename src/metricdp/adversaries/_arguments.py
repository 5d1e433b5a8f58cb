"""The channel and the secrets that were meant, where a prior, a gain or a space says which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from metricdp.adversaries.payoff import Gain, Loss
from metricdp.adversaries.prior import Prior
from metricdp.channels.arguments import as_channel
from metricdp.channels.channel import Channel
from metricdp.metrics import Space

__all__ = ["channel_for", "known_secrets"]


def channel_for(prior: Any, channel: Any, function: str, payoff: Any = None, space: Any = None) -> Channel:
    """The channel that was meant; rows without labels are those of the secrets that the other arguments name."""
    if isinstance(channel, Channel):
        return channel
    return as_channel(channel, function, known_secrets(prior, payoff, space))


def known_secrets(prior: Any, payoff: Any = None, space: Any = None) -> tuple[Any, ...] | None:
    """The secrets that a prior, a gain or loss, or a space names or counts; None where none of them does.

    >>> known_secrets({"tea": 1, "milk": 0}), known_secrets([0.5, 0.5]), known_secrets("uniform")
    (('tea', 'milk'), (0, 1), None)
    """
    if isinstance(prior, Prior):
        return prior.points
    if isinstance(payoff, Gain | Loss):
        return payoff.secrets
    if isinstance(space, Space):
        return space.points
    if isinstance(prior, Mapping):
        return tuple(prior)
    if isinstance(prior, np.ndarray):
        return tuple(range(prior.shape[-1]))
    if isinstance(prior, list | tuple):
        return tuple(range(len(prior)))
    if isinstance(payoff, list | tuple | np.ndarray) and len(payoff):
        return tuple(range(len(payoff[0])))
    return None
