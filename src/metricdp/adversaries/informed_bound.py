"""What somebody who knows that the secret lies in a neighbourhood can learn, at most."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from metricdp.adversaries.adversary_bound import NEAR, AdversaryBound, LargestChange, greatest_ratio, nearness
from metricdp.adversaries.distance_order import farthest_pair, log_at_most
from metricdp.adversaries.hyper import posterior_given
from metricdp.adversaries.prior import Prior
from metricdp.channels.arguments import ChannelLike, SpaceLike, as_channel, as_space, place_in
from metricdp.channels.channel import Channel
from metricdp.errors import ArgumentError
from metricdp.exact.balls import Enclosure
from metricdp.exact.lists import as_list
from metricdp.metrics.space import Space

__all__ = ["informed_bound"]


def informed_bound(
    space: SpaceLike, neighbourhood: Iterable[Any], channel: ChannelLike | None = None, *, within: Any = NEAR
) -> AdversaryBound:
    """How far an adversary who knows that the secret lies in N can move from prior to posterior, on N.

    The theorem: if K is d-private, ``d_P(p|N, s|N) <= d(N)`` for every prior p, every set Z of outputs and the
    posterior s, where d(N) is the diameter of N.

    The truth, for a channel K: the supremum over all p and Z is
    ``max over x, x' in N and outputs z of |ln K(x)(z) / K(x')(z)|``.

    Proof. On N the posterior is ``s|N(x) = p|N(x) K(x)(Z) / E``, where E is the mean of K(.)(Z) under p|N, so the
    belief in x moves by ``|ln K(x)(Z) / E|``. E lies between the least and the greatest K(x')(Z) for x' in N, which
    bounds this by ``max over x, x' of |ln K(x)(Z) / K(x')(Z)|``; and a ratio of sums over Z lies between the ratios
    for single z, so sets of several outputs add nothing. Conversely let x and x' have the greatest and the least
    K(.)(z), and r be their ratio. A prior with 1 - t on x and t on x' moves the belief in x' by ``ln E / K(x')(z) =
    ln(r - t (r - 1))``, which tends to ln r with t to 0; with ``t = h / (1 + h)`` it falls short by ``-ln(1 - t (1 -
    1/r)) <= ln(1 + h) <= h``. Where r is infinite, any prior on both reaches it: x' is ruled out. Otherwise, but for r
    = 1, it is not reached: E is strictly between the two for a prior that allows both.

    Args:
        space: the secrets and d.
        neighbourhood: N, points of the space.
        channel: K, whose inputs include N; without one, only the theorem's bound is returned.
        within: h, how near to the supremum the prior shown is to come.

    References:
        Paper 1, Theorems 2 and 4.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> C = Channel.from_matrix([0, 1, 2], "abc", [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]])
    >>> found = informed_bound(Space.line(3, ln(2) * absolute()), [0, 1], C)
    >>> found.truth.ratio.upper, found.holds, found.reached > 0.693146, print(found.prior)
    0 1000000/1000001, 1 1/1000001, 2 0
    (Fraction(2, 1), True, True, None)
    """
    near = nearness(within)
    space = as_space(space, "informed_bound", channel.inputs if isinstance(channel, Channel) else None)
    members = _members(space, neighbourhood)
    pair = farthest_pair(space.metric, [(members[0], members[0]), *itertools.combinations(members, 2)])
    bound = space.metric.enclose(*pair)
    if channel is None:
        return AdversaryBound(bound, None, None, near)
    channel = as_channel(channel, "informed_bound", space.points)
    truth = _informed(members, channel, near)
    return AdversaryBound(bound, log_at_most(truth.ratio.upper, space.metric, pair), truth, near)


def _informed(members: Sequence[Any], channel: Channel, near: Fraction) -> LargestChange:
    rows = [channel.row(x) for x in members]
    best: tuple[Fraction | float, int, int, int] = (Fraction(1), rows[0], rows[0], -1)
    for z, column in enumerate(channel.weights.T.tolist()):
        most, least = max(rows, key=column.__getitem__), min(rows, key=column.__getitem__)
        if not column[most]:
            continue
        ratio = Fraction(column[most], column[least]) if column[least] else math.inf
        if ratio > best[0] or best[3] < 0:
            best = ratio, most, least, z
        if ratio == math.inf:
            break
    ratio, most, least, z = best
    amounts = [Fraction(0)] * len(channel.inputs)
    if ratio == math.inf:
        amounts[most] = amounts[least] = Fraction(1)
    else:
        amounts[least] += near
        amounts[most] += 1
    prior = Prior.proportional(channel.inputs, amounts)
    reached = greatest_ratio(prior, posterior_given(prior, channel, (channel.outputs[z],)))
    secrets = channel.inputs[most], channel.inputs[least]
    return LargestChange(Enclosure(ratio, ratio), secrets, (channel.outputs[z],), prior, reached)


def _members(space: Space, neighbourhood: Iterable[Any]) -> list[Any]:
    places = sorted({place_in(space, point) for point in as_list(neighbourhood, "points of the space", "[0, 1]")})
    if not places:
        raise ArgumentError("a neighbourhood has at least one point")
    return [space.points[place] for place in places]
