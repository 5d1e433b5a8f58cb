"""Channels out of channels: one after the other, side by side, one or the other, and with their columns merged.

Everything is exact, in integers. What was promised is carried along where a theorem says so; a result without a promise
may keep one all the same: `metricdp.channels.verify` decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat

from metricdp.channels.arguments import ChannelLike, as_channel
from metricdp.channels.channel import Channel
from metricdp.channels.proved import Proved
from metricdp.errors import ArgumentError, UnknownCategoryError
from metricdp.exact.level import rational
from metricdp.exact.lists import as_list
from metricdp.exact.weights import Weights
from metricdp.metrics import attributes, maximum
from metricdp.metrics.coordinates import label

__all__ = ["cascade", "choice", "equivalent", "merged", "parallel", "restrict", "same_rows", "sequential"]


def cascade(first: ChannelLike, second: ChannelLike) -> Channel:
    """What A releases, put through B: ``(A @ B)(x)(z) = sum over y of A(x)(y) B(y)(z)``.

    Args:
        first: A.
        second: B, whose inputs are the outputs of A, in any order; rows without labels are in the order of A's outputs.

    Guarantee:
        That of A: B sees the release, not the secret.

    Raises:
        ArgumentError: the inputs of B are not the outputs of A.

    References:
        Paper 5, Section II.B; paper 2, Theorem 4.

    >>> noisy = Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> print(noisy @ noisy)
    channel of 2 inputs and 2 outputs, weights out of 9
         a    b
    a  5/9  4/9
    b  4/9  5/9
    """
    A = as_channel(first, "@")
    B = as_channel(second, "@", A.outputs)
    places = _matched(A.outputs, B.inputs, "output of the first channel", "input of the second")
    product = fmpz_mat(A.weights.tolist()) * fmpz_mat(B.weights[places].tolist())
    return Channel(A.inputs, B.outputs, _weights(product), A.total * B.total, Proved.of(A.promise))


def sequential(first: ChannelLike, second: ChannelLike) -> Channel:
    """The same secret through both, independently: the pair (y, z) has probability ``A(x)(y) B(x)(z)``.

    Guarantee:
        The sum of both promises, where both have one.

    References:
        Paper 4, Fact 1 (2).

    >>> noisy = Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> sequential(noisy, noisy).probability("a", ("a", "a"))
    Fraction(4, 9)
    """
    A = as_channel(first, "sequential")
    B = as_channel(second, "sequential", A.inputs)
    others = same_rows(A, B)
    pairs = A.weights[:, :, None] * others[:, None, :]
    promise = _both(A, B, lambda one, two: one.metric + two.metric)
    return Channel(A.inputs, _pairs(A.outputs, B.outputs), pairs.reshape(len(pairs), -1), A.total * B.total, promise)


def parallel(first: ChannelLike, second: ChannelLike) -> Channel:
    """A pair of secrets, each through its own channel: ``A(x)(y) B(x')(y')`` for the pair (y, y').

    Guarantee:
        The sum over both attributes, numbered 0 and 1, of their metrics and of their deltas, where both have a promise.

    References:
        Paper 2, Theorem 5.

    >>> noisy = Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> parallel(noisy, noisy).probability(("a", "b"), ("a", "a"))
    Fraction(2, 9)
    """
    A, B = as_channel(first, "parallel"), as_channel(second, "parallel")
    product = np.multiply.outer(A.weights, B.weights).transpose(0, 2, 1, 3)
    weights = product.reshape(len(A.inputs) * len(B.inputs), -1)
    promise = _both(A, B, lambda one, two: attributes({"0": one.metric, "1": two.metric}))
    inputs, outputs = _pairs(A.inputs, B.inputs), _pairs(A.outputs, B.outputs)
    return Channel(inputs, outputs, weights, A.total * B.total, promise)


def choice(probability: int | float | str | Fraction | Decimal, first: ChannelLike, second: ChannelLike) -> Channel:
    """The first with probability p, else the second, and everybody sees which: outputs are (0, y) and (1, z).

    Guarantee:
        ``d = max(d_A, d_B)`` and ``delta = p delta_A + (1 - p) delta_B``, where both have a promise: for every set of
        outputs, ``p (e^d A(x') + delta_A) + (1 - p) (e^d B(x') + delta_B)`` is that much.

    Raises:
        ArgumentError: the probability is not in [0, 1].

    References:
        Paper 5, Section III (convex sums of channels).

    >>> noisy = Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> silent = Channel.from_matrix("ab", ["-"], [[1], [1]])
    >>> print(choice("1/2", noisy, silent))
    channel of 2 inputs and 3 outputs, weights out of 6
       (0, 'a')  (0, 'b')  (1, '-')
    a       1/3       1/6       1/2
    b       1/6       1/3       1/2
    """
    A = as_channel(first, "choice")
    B = as_channel(second, "choice", A.inputs)
    share = rational(probability, "probability")
    if not 0 <= share <= 1:
        raise ArgumentError(f"a probability lies in [0, 1], and {probability!r} does not")
    one, two = share.numerator, share.denominator - share.numerator
    weights = np.concatenate([A.weights * (one * B.total), same_rows(A, B) * (two * A.total)], axis=1)
    outputs = [(0, output) for output in A.outputs] + [(1, output) for output in B.outputs]
    return Channel(A.inputs, tuple(outputs), weights, A.total * B.total * share.denominator, _mixed(share, A, B))


def restrict(channel: ChannelLike, points: Iterable[Any]) -> Channel:
    """The channel on some of its inputs, in the order given; outputs that none of them can give are dropped.

    Guarantee:
        That of A.

    Raises:
        ArgumentError: a point is not an input of the channel.

    References:
        Paper 5, Section IV (restrictions).

    >>> C = Channel.from_matrix("abc", "xyz", [["1/2", "1/2", 0], [0, "1/2", "1/2"], [0, 1, 0]])
    >>> print(restrict(C, "ac"))
    channel of 2 inputs and 2 outputs, weights out of 2
         x    y
    a  1/2  1/2
    c    0    1
    """
    A = as_channel(channel, "restrict")
    chosen = as_list(points, "inputs")
    rows = []
    for row, point in enumerate(chosen):
        try:
            rows.append(A.row(point))
        except UnknownCategoryError:
            raise ArgumentError(f"row {row}: {point!r} is not an input of this channel") from None
    weights = A.weights[rows]
    kept = [column for column in range(len(A.outputs)) if any(weights[:, column].tolist())]
    return Channel(
        tuple(chosen), tuple(A.outputs[column] for column in kept), weights[:, kept], A.total, Proved.of(A.promise)
    )


def merged(channel: ChannelLike) -> Channel:
    """The abstract channel: what A lets an adversary learn, without the names of its outputs.

    Outputs that give the same posterior (proportional columns) become one, those that never come are dropped, and the
    rest are numbered, those that speak most for the first input first. Channels on the same inputs are equivalent just
    when these are equal.

    Guarantee:
        That of A.

    References:
        Paper 5, Section II.A (hypers).

    >>> C = Channel.from_matrix("ab", "xyz", [["1/4", "1/4", "1/2"], ["1/2", "1/2", 0]])
    >>> print(merged(C))
    channel of 2 inputs and 2 outputs, weights out of 2
         0    1
    a  1/2  1/2
    b    0    1
    """
    A = as_channel(channel, "merged")
    groups = directions(A.weights)
    ordered = sorted(groups, key=lambda way: [Fraction(part, sum(way)) for part in way], reverse=True)
    weights = np.empty((len(A.inputs), len(ordered)), dtype=object)
    for place, way in enumerate(ordered):
        weights[:, place] = A.weights[:, groups[way]].sum(axis=1)
    return Channel(A.inputs, tuple(range(len(ordered))), weights, A.total, Proved.of(A.promise))


def equivalent(first: ChannelLike, second: ChannelLike) -> bool:
    """Whether A and B are equal as abstract channels: no adversary, whatever they know or want, prefers one.

    The order of the inputs and the names of the outputs do not matter. Channels on different inputs are not equivalent.

    References:
        Paper 5, Section II.A.

    >>> C = Channel.from_matrix("ab", "xyz", [["1/4", "1/4", "1/2"], ["1/2", "1/2", 0]])
    >>> equivalent(C, Channel.from_matrix("ba", "01", [[1, 0], ["1/2", "1/2"]]))
    True
    """
    A = as_channel(first, "equivalent")
    B = as_channel(second, "equivalent", A.inputs)
    if A.inputs != B.inputs:
        if {label(x) for x in A.inputs} != {label(x) for x in B.inputs}:
            return False
        B = restrict(B, A.inputs)
    one, two = merged(A), merged(B)
    return one == two


def directions(weights: Weights) -> dict[tuple[int, ...], list[int]]:
    """The columns that are not zero, by what they are proportional to: integers without a common divisor."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, column in enumerate(zip(*weights.tolist(), strict=True)):
        common = math.gcd(*column)
        if common:
            groups.setdefault(tuple(part // common for part in column), []).append(place)
    return groups


def same_rows(A: Channel, B: Channel) -> Weights:
    """The weights of B with its rows in the order of A's; refuses channels on different inputs."""
    if A.inputs == B.inputs:
        return B.weights
    return B.weights[_matched(A.inputs, B.inputs, "input of the first channel", "input of the second")]


def _matched(names: Sequence[Any], others: Sequence[Any], one: str, two: str) -> list[int]:
    """Where each name stands among the others; all of both must be there."""
    places = {label(name): place for place, name in enumerate(others)}
    found = [places.pop(label(name), None) for name in names]
    for name, place in zip(names, found, strict=True):
        if place is None:
            raise ArgumentError(f"{name!r} is an {one}, but not an {two}")
    if places:
        raise ArgumentError(f"{next(iter(places))!r} is an {two}, but not an {one}")
    return [place for place in found if place is not None]


def _weights(matrix: fmpz_mat) -> Weights:
    weights = np.empty((matrix.nrows(), matrix.ncols()), dtype=object)
    weights[:] = [[int(entry) for entry in row] for row in matrix.table()]
    return weights


def _pairs(names: Sequence[Any], others: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    return tuple((one, two) for one in names for two in others)


def _both(A: Channel, B: Channel, joined: Any) -> Proved | None:
    """Both promises together; None where one is missing, or where the deltas add up to one and promise nothing."""
    if A.promise is None or B.promise is None or A.promise.delta + B.promise.delta >= 1:
        return None
    return Proved(joined(A.promise, B.promise), A.promise.delta + B.promise.delta)


def _mixed(share: Fraction, A: Channel, B: Channel) -> Proved | None:
    if share in (0, 1):
        return Proved.of(A.promise if share else B.promise)
    if A.promise is None or B.promise is None:
        return None
    delta = share * A.promise.delta + (1 - share) * B.promise.delta
    return Proved(maximum(A.promise.metric, B.promise.metric), delta)
