"""What the functions of this folder are given, checked; the errors say how to make what is needed."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from metricdp.channels.channel import Channel
from metricdp.errors import ArgumentError
from metricdp.exact.progress import float_or_infinity
from metricdp.metrics import Metric, Space

__all__ = ["check_channel", "check_gap", "check_space"]


def check_space(value: Any, function: str) -> Space:
    """The space that a function was given.

    Raises:
        ArgumentError: if it is not a space; says how to make one.

    >>> from metricdp.metrics import euclidean
    >>> check_space(euclidean(), "optimal")
    Traceback (most recent call last):
    metricdp.errors.ArgumentError: optimal takes a Space, not a metric; a space is points with a metric: \
mdp.Space(points, metric), or mdp.Space.grid(10, 10, metric)
    """
    if isinstance(value, Space):
        return value
    kind = f"{type(value).__name__!r}"
    if isinstance(value, Metric):
        how = "a space is points with a metric: mdp.Space(points, metric), or mdp.Space.grid(10, 10, metric)"
        raise ArgumentError(f"{function} takes a Space, not a metric; {how}")
    if isinstance(value, Channel):
        how = "mdp.Space(channel.inputs, metric) makes one of its inputs"
    else:
        how = "make one of the points and their metric: mdp.Space(points, mdp.ln(2) * mdp.metrics.euclidean())"
    raise ArgumentError(f"{function} takes a Space, not {kind}; {how}")


def check_channel(value: Any, function: str) -> Channel:
    """The channel that a function was given.

    Raises:
        ArgumentError: if it is not a channel; says how to make one.
    """
    if isinstance(value, Channel):
        return value
    how = "mdp.channels.of(mechanism, inputs) makes one of a mechanism, mdp.Channel.from_matrix of a matrix"
    raise ArgumentError(f"{function} takes a Channel, not {type(value).__name__!r}; {how}")


def check_gap(gap: Any) -> float:
    """A relative gap.

    Raises:
        ArgumentError: if it is not a positive number, or infinite.
    """
    share = float_or_infinity(gap) if isinstance(gap, Real) and not isinstance(gap, bool) else None
    if share is not None and 0 < share < math.inf:
        return share
    shown = repr(gap if share is None else share)
    raise ArgumentError(f"gap must be a positive number, such as 1e-4 for a hundredth of a per cent, not {shown}")
