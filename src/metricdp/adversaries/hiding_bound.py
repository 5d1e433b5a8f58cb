"""How much the conclusions from a release change if the secret was hidden behind another one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from metricdp.adversaries._hiding_search import HidingSearch
from metricdp.adversaries.adversary_bound import NEAR, AdversaryBound, LargestChange, greatest_ratio, nearness
from metricdp.adversaries.distance_order import farthest_pair, log_at_most
from metricdp.adversaries.hyper import posterior_given
from metricdp.adversaries.prior import Prior
from metricdp.channels.arguments import ChannelLike, SpaceLike, as_channel, as_space, place_in
from metricdp.channels.channel import Channel
from metricdp.errors import ArgumentError
from metricdp.exact.balls import Enclosure
from metricdp.exact.lists import as_list
from metricdp.metrics.coordinates import label
from metricdp.metrics.space import Space

__all__ = ["as_hiding", "hidden", "hiding_bound"]


def hiding_bound(
    space: SpaceLike,
    hide: Mapping[Any, Any] | Callable[[Any], Any] | Sequence[Any],
    channel: ChannelLike | None = None,
    *,
    within: Any = NEAR,
) -> AdversaryBound:
    """How far apart the conclusions can be with and without hiding the secret x behind f(x) before it is released.

    The theorem: if K is d-private, ``d_P(s, t) <= 2 d(f)`` for every prior p and every set Z of outputs, where s is the
    posterior of K, t that of K after f, and ``d(f) = max over x of d(x, f(x))``.

    The truth, for a channel K: with ``r_x(Z) = K(x)(Z) / K(f(x))(Z)``, the supremum over all priors and Z is
    ``max over Z of ln(max over x of r_x(Z) / min over x of r_x(Z))``, without the secrets where both are zero.

    Proof. ``s(x) / t(x) = r_x(Z) B / A``, where A and B are the means of K(x)(Z) and K(f(x))(Z) under p. A / B is a
    mean of the r_x, weighted by p(x) K(f(x))(Z), so it lies between the least and the greatest of them, and the belief
    in x moves by at most the logarithm of their ratio. A prior that tends to the secret with the least r approaches it
    (`metricdp.adversaries._hiding_search` says how fast). If K(x)(Z) = 0 < K(f(x))(Z), a prior on x and f(x) makes it
    infinite; so it is if K(f(x))(Z) = 0 < K(x)(Z), unless K(f(x'))(Z) = 0 for all x', when there is no posterior to
    compare with.

    Unlike for `informed_bound`, sets Z of several outputs matter: the ratio r_x / r_x' is a product of two ratios, each
    of which may be large at another output. So all sets are tried where there are few outputs. Where there are many,
    the truth is enclosed: from below by the best set found, from above by products of two largest ratios; often
    these agree.

    Args:
        space: the secrets and d.
        hide: f, from points of the space to points: a mapping, a function, or the images in the order of the points.
        channel: K, whose inputs are the points; without one, only the theorem's bound is returned.
        within: how near to the supremum (to its lower bound) the prior shown is to come.

    References:
        Paper 1, Theorems 1 and 3.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> C = Channel.from_matrix([0, 1, 2], "abc", [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]])
    >>> found = hiding_bound(Space.line(3, ln(2) * absolute()), {0: 1, 1: 0, 2: 2}, C)
    >>> found.truth.ratio.upper, found.truth.outputs, found.holds
    (Fraction(4, 1), ('a',), True)
    """
    near = nearness(within)
    space = as_space(space, "hiding_bound", channel.inputs if isinstance(channel, Channel) else None)
    images = as_hiding(space, hide)
    pair = farthest_pair(space.metric, images.items())
    once = space.metric.enclose(*pair)
    bound = Enclosure(2 * once.lower, 2 * once.upper)
    if channel is None:
        return AdversaryBound(bound, None, None, near)
    channel = as_channel(channel, "hiding_bound", space.points)
    behind = hidden(channel, images)
    rows = [channel.row(images[x]) for x in channel.inputs]
    found = HidingSearch(channel.weights, rows).run(near)
    x, other = (channel.inputs[row] for row in found.secrets)
    outputs = tuple(channel.outputs[z] for z in found.outputs)
    prior = Prior.proportional(channel.inputs, found.belief)
    reached = greatest_ratio(posterior_given(prior, channel, outputs), posterior_given(prior, behind, outputs))
    truth = LargestChange(Enclosure(found.lower, found.upper), (x, other), outputs, prior, reached)
    above, below = (log_at_most(ratio, space.metric, pair, 2) for ratio in (found.upper, found.lower))
    return AdversaryBound(bound, True if above else False if below is False else None, truth, near)


def as_hiding(space: Space, hide: Any) -> dict[Any, Any]:
    """A hiding function as a mapping, with every point of the space and its image there.

    Raises:
        ArgumentError: a point without an image, or an image that is no point of the space.
    """
    if isinstance(hide, Mapping):
        given = {label(point): image for point, image in hide.items()}
        for point in space.points:
            if label(point) not in given:
                raise ArgumentError(f"the hiding function has no image for {point!r}: give {point!r} itself to keep it")
        listed = [given[label(point)] for point in space.points]
    elif callable(hide):
        listed = [hide(point) for point in space.points]
    else:
        listed = as_list(hide, "images, one for each point")
        if len(listed) != len(space):
            raise ArgumentError(f"{len(listed)} images for {len(space)} points: give one for each")
    return {point: space.points[place_in(space, image)] for point, image in zip(space.points, listed, strict=True)}


def hidden(channel: ChannelLike, hide: Mapping[Any, Any]) -> Channel:
    """The channel K after f: ``K(f(x))`` for every x.

    >>> print(hidden(Channel.from_matrix("ab", "yz", [[1, 0], [0, 1]]), {"a": "b", "b": "b"}))
    channel of 2 inputs and 2 outputs, weights out of 1
       y  z
    a  0  1
    b  0  1
    """
    channel = as_channel(channel, "hidden", hide)
    if not isinstance(hide, Mapping):
        raise ArgumentError(f"a Mapping is wanted here, such as {{'a': 'b', 'b': 'b'}}, not {type(hide).__name__}")
    missing = [x for x in channel.inputs if x not in hide]
    if missing:
        raise ArgumentError(f"the input {missing[0]!r} of the channel is no point of the space")
    rows = [channel.row(hide[x]) for x in channel.inputs]
    return Channel(channel.inputs, channel.outputs, np.array(channel.weights[rows]), channel.total)
