"""Channels at random, and channels that are used again and again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from metricdp.channels.arguments import ChannelLike, as_channel
from metricdp.channels.channel import Channel
from metricdp.channels.proved import Proved
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.choice import uniform_below
from metricdp.metrics.coordinates import distinct

__all__ = ["random_channel", "random_shares", "repeated"]

_PARTS = 1 << 30
_MOST_OUTPUTS = 1 << 14


def random_channel(inputs: Iterable[Any], outputs: Iterable[Any]) -> Channel:
    """A channel whose rows are uniform over all distributions, up to 2^-30; to try things out.

    Drawn from the package's own source: within ``mdp.seeded(..)`` it is the same each time.

    >>> random_channel("abc", range(4)).shape
    (3, 4)
    """
    names, columns = distinct(inputs, "input"), distinct(outputs, "output")
    weights = np.array([random_shares(len(columns)) for _ in names], dtype=object)
    return Channel(names, columns, weights, _PARTS)


def random_shares(count: int) -> list[int]:
    """Integers that sum to 2^30, uniform over all distributions of so many shares: the gaps of sorted uniforms."""
    cuts = sorted(uniform_below(_PARTS, count - 1).tolist()) if count > 1 else []
    return [high - low for low, high in itertools.pairwise([0, *cuts, _PARTS])]


def repeated(channel: ChannelLike, times: int) -> Channel:
    """The same secret through the channel again and again, independently.

    An output says how often each of the channel's own outputs came, since their order tells nothing: it is a tuple with
    each as often as it came.

    Args:
        channel: used once.
        times: how often it is used.

    Guarantee:
        The promise of the channel, so many times, where it has one.

    References:
        Paper 4, Fact 1 (2).

    >>> noisy = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> print(repeated(noisy, 2))
    channel of 2 inputs and 3 outputs, weights out of 9
       ('y', 'y')  ('y', 'z')  ('z', 'z')
    a         4/9         4/9         1/9
    b         1/9         4/9         4/9
    """
    once = as_channel(channel, "repeated")
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise ArgumentError(f"a channel is used a positive number of times, not {times!r}")
    columns = len(once.outputs)
    count = math.comb(columns + times - 1, times)
    if count > _MOST_OUTPUTS:
        raise TooLargeError(f"there are {count:,} different outcomes, and at most {_MOST_OUTPUTS:,}", f"{count:,}")
    places = list(itertools.combinations_with_replacement(range(columns), times))
    orders = [_orders(chosen) for chosen in places]
    weights = np.empty((len(once.inputs), len(places)), dtype=object)
    for row, values in enumerate(once.weights.tolist()):
        weights[row] = [
            ways * math.prod(values[place] for place in chosen) for ways, chosen in zip(orders, places, strict=True)
        ]
    outputs = tuple(tuple(once.outputs[place] for place in chosen) for chosen in places)
    promise = None
    if once.promise is not None and times * once.promise.delta < 1:
        promise = Proved(times * once.promise.metric, times * once.promise.delta)
    return Channel(once.inputs, outputs, weights, once.total**times, promise)


def _orders(chosen: tuple[int, ...]) -> int:
    """In how many orders the same outputs can come."""
    ways = math.factorial(len(chosen))
    for _, group in itertools.groupby(chosen):
        ways //= math.factorial(len(list(group)))
    return ways
