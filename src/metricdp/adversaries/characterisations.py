"""The two characterisations of d-privacy: what an adversary learns about a neighbourhood, or despite hiding."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.adversaries.adversary_bound import AdversaryBound, Truth, greatest_ratio
from metricdp.adversaries.distance_order import farthest_pair, log_at_most
from metricdp.adversaries.hiding import HidingSearch
from metricdp.adversaries.hypers import posterior_given
from metricdp.adversaries.prior import Prior
from metricdp.channels.channel import Channel
from metricdp.errors import LevelError, ShapeError, UnknownCategoryError
from metricdp.exact.balls import Enclosure
from metricdp.exact.level import rational
from metricdp.metrics.coordinates import label
from metricdp.metrics.space import Space

__all__ = ["as_hiding", "hidden", "hiding_bound", "informed_bound"]

_WITHIN = Fraction(1, 10**6)


def informed_bound(
    space: Space, neighbourhood: Iterable[Any], channel: Channel | None = None, within: Any = _WITHIN
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
    near = _within(within)
    members = _members(space, neighbourhood)
    pair = farthest_pair(space.metric, [(members[0], members[0]), *itertools.combinations(members, 2)])
    bound = space.metric.enclose(*pair)
    if channel is None:
        return AdversaryBound(bound, None, None, near)
    truth = _informed(members, channel, near)
    return AdversaryBound(bound, log_at_most(truth.ratio.upper, space.metric, pair), truth, near)


def hiding_bound(
    space: Space,
    hide: Mapping[Any, Any] | Callable[[Any], Any] | Sequence[Any],
    channel: Channel | None = None,
    within: Any = _WITHIN,
) -> AdversaryBound:
    """How far apart the conclusions can be with and without hiding the secret x behind f(x) before it is released.

    The theorem: if K is d-private, ``d_P(s, t) <= 2 d(f)`` for every prior p and every set Z of outputs, where s is the
    posterior of K, t that of K after f, and ``d(f) = max over x of d(x, f(x))``.

    The truth, for a channel K: with ``r_x(Z) = K(x)(Z) / K(f(x))(Z)``, the supremum over all priors and Z is
    ``max over Z of ln(max over x of r_x(Z) / min over x of r_x(Z))``, without the secrets where both are zero.

    Proof. ``s(x) / t(x) = r_x(Z) B / A``, where A and B are the means of K(x)(Z) and K(f(x))(Z) under p. A / B is a
    mean of the r_x, weighted by p(x) K(f(x))(Z), so it lies between the least and the greatest of them, and the belief
    in x moves by at most the logarithm of their ratio. A prior that tends to the secret with the least r approaches it
    (`metricdp.adversaries.hiding` says how fast). If K(x)(Z) = 0 < K(f(x))(Z), a prior on x and f(x) makes it
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
    near = _within(within)
    images = as_hiding(space, hide)
    pair = farthest_pair(space.metric, images.items())
    once = space.metric.enclose(*pair)
    bound = Enclosure(2 * once.lower, 2 * once.upper)
    if channel is None:
        return AdversaryBound(bound, None, None, near)
    behind = hidden(channel, images)
    rows = [channel.row(images[x]) for x in channel.inputs]
    found = HidingSearch(channel.weights, rows).run(near)
    x, other = (channel.inputs[row] for row in found.secrets)
    outputs = tuple(channel.outputs[z] for z in found.outputs)
    prior = Prior.proportional(channel.inputs, found.belief)
    reached = greatest_ratio(posterior_given(prior, channel, outputs), posterior_given(prior, behind, outputs))
    truth = Truth(Enclosure(found.lower, found.upper), (x, other), outputs, prior, reached)
    above, below = (log_at_most(ratio, space.metric, pair, 2) for ratio in (found.upper, found.lower))
    return AdversaryBound(bound, True if above else False if below is False else None, truth, near)


def as_hiding(space: Space, hide: Any) -> dict[Any, Any]:
    """A hiding function as a mapping, with every point of the space and its image there.

    Raises:
        UnknownCategoryError: a point without an image, or an image that is no point of the space.
    """
    if isinstance(hide, Mapping):
        given = {label(point): image for point, image in hide.items()}
        for point in space.points:
            if label(point) not in given:
                raise UnknownCategoryError(
                    f"the hiding function has no image for {point!r}: give {point!r} itself to keep it"
                )
        listed = [given[label(point)] for point in space.points]
    elif callable(hide):
        listed = [hide(point) for point in space.points]
    else:
        listed = list(hide)
        if len(listed) != len(space):
            raise ShapeError(f"{len(listed)} images for {len(space)} points: give one for each")
    return {point: space.points[_place(space, image)] for point, image in zip(space.points, listed, strict=True)}


def hidden(channel: Channel, hide: Mapping[Any, Any]) -> Channel:
    """The channel K after f: ``K(f(x))`` for every x.

    >>> print(hidden(Channel.from_matrix("ab", "yz", [[1, 0], [0, 1]]), {"a": "b", "b": "b"}))
    channel of 2 inputs and 2 outputs, weights out of 1
       y  z
    a  0  1
    b  0  1
    """
    missing = [x for x in channel.inputs if x not in hide]
    if missing:
        raise UnknownCategoryError(f"the input {missing[0]!r} of the channel is no point of the space")
    rows = [channel.row(hide[x]) for x in channel.inputs]
    return Channel(channel.inputs, channel.outputs, np.array(channel.weights[rows]), channel.total)


def _informed(members: Sequence[Any], channel: Channel, near: Fraction) -> Truth:
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
    return Truth(Enclosure(ratio, ratio), secrets, (channel.outputs[z],), prior, reached)


def _members(space: Space, neighbourhood: Iterable[Any]) -> list[Any]:
    places = sorted({_place(space, point) for point in neighbourhood})
    if not places:
        raise ShapeError("a neighbourhood has at least one point")
    return [space.points[place] for place in places]


def _place(space: Space, point: Any) -> int:
    try:
        return space.index(point)
    except UnknownCategoryError:
        raise UnknownCategoryError(f"{point!r} is not a point of the space") from None


def _within(value: Any) -> Fraction:
    near = rational(value, "distance from the supremum")
    if near <= 0:
        raise LevelError("the supremum is approached and not reached: ask for a prior within a positive distance of it")
    return near
