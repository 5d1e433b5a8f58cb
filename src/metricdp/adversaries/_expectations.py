"""What the best actions are worth on average, in floats: for one prior, or for many at once.

The problem: for a prior p, a channel K and a table t of actions by secrets, the sum over outputs z of the best, over
actions w, of ``sum over x of p(x) K(x)(z) t(w, x)``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from metricdp.adversaries.float_priors import Priors, are_many, float_priors, float_shares
from metricdp.channels.channel import Channel
from metricdp.exact.arrays import Floats, Places

__all__ = ["Best", "expected"]

Best = Literal["most", "least", "rest"]
"""Of what the actions are worth: the most, the least, or all that the most leaves."""

_LARGE = 4096  # entries of a channel, above which one product for each prior is as fast as one for each action
_BLOCK = 2**19  # bytes of priors and of what an action is worth under them, so that they stay in the cache


def expected(prior: Any, channel: Channel, table: Floats | None, best: Best) -> float | Floats:
    """The sum over outputs of the best; an array of them for an array of priors.

    Args:
        prior: one, or many as the rows of an array.
        channel: K.
        table: t; None for guesses, each worth 1 where it is right.
        best: which.

    >>> C = Channel.from_matrix("ab", "yz", [[0.75, 0.25], [0.25, 0.75]])
    >>> expected("uniform", C, None, "most"), expected(np.array([[0.5, 0.5], [1, 0]]), C, None, "rest").tolist()
    (0.75, [0.25, 0.0])
    """
    if are_many(prior):
        priors, totals = float_priors(prior, channel.inputs)
        return _of_many(priors, channel, table, best) / totals
    shares, total = float_shares(prior, channel.inputs)
    return _of_one(shares, channel, table, best) / total


def _of_one(shares: Floats, channel: Channel, table: Floats | None, best: Best) -> float:
    # Outputs by actions; with no copy made of the channel.
    worth = shares * channel.transposed if table is None else np.dot(channel.matrix.T, (table * shares).T)
    starts, ones = _places(worth.shape)
    # To find the places of the best and then to take them is faster than numpy's reductions are.
    places = worth.argmin(1) if best == "least" else worth.argmax(1)
    places += starts
    taken = worth.take(places)
    if best == "rest":
        taken = np.add.reduce(worth, 1) - taken  # not negative: a rounded sum is no less than its largest term
    return float(taken.dot(ones))


def _of_many(priors: Priors, channel: Channel, table: Floats | None, best: Best) -> Floats:
    """The same for each row, action by action, with the priors along the axis whose entries are next to each other."""
    matrix = channel.matrix
    blocks = math.ceil(8 * sum(matrix.shape) * len(priors) / _BLOCK)
    together = math.ceil(len(priors) / max(1, blocks))
    few = 2 * together < len(matrix if table is None else table)  # too few to be worth a step for each action
    if few or (table is not None and matrix.size > _LARGE):
        return np.array([_of_one(shares, channel, table, best) for shares in priors])
    pick = np.minimum if best == "least" else np.maximum
    found = np.empty(len(priors))
    for start in range(0, len(priors), together):
        rows = slice(start, start + together)
        worths = _worths(np.ascontiguousarray(priors[rows].T), channel, table)
        chosen = next(worths).copy()
        rest = chosen.copy() if best == "rest" else None
        for worth in worths:
            pick(chosen, worth, out=chosen)
            if rest is not None:
                rest += worth
        found[rows] = np.add.reduce(chosen if rest is None else rest - chosen, axis=0)
    return found


def _worths(shares: Floats, channel: Channel, table: Floats | None) -> Iterator[Floats]:
    """What each action is worth, outputs by priors: one after the other, all in the same array."""
    worth = np.empty((len(channel.outputs), shares.shape[1]))
    if table is None:
        for row, share in zip(channel.matrix, shares, strict=True):
            yield np.dot(row[:, None], share[None, :], out=worth)
    else:
        columns = channel.transposed
        scaled = np.empty_like(columns)
        for gains in table:
            np.multiply(columns, gains, out=scaled)  # less to multiply than the priors are, where they are many
            yield np.dot(scaled, shares, out=worth)


@lru_cache(maxsize=64)
def _places(shape: tuple[int, int]) -> tuple[Places, Floats]:
    """Where the rows of a matrix of this shape start, and a one for each row."""
    starts, ones = np.arange(0, shape[0] * shape[1], shape[1]), np.ones(shape[0])
    starts.setflags(write=False)
    ones.setflags(write=False)
    return starts, ones
