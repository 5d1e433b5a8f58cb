"""The classes of loss functions: trivial, monotone and strictly monotone in a metric."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.adversaries.distance_order import compare_distances
from metricdp.adversaries.losses import LOSS, as_loss
from metricdp.adversaries.payoff import Loss
from metricdp.channels.arguments import as_space
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Places
from metricdp.exact.lists import as_a
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.metrics.space import Space

_TOLD = 1000

__all__ = ["is_monotone", "is_strictly_monotone", "is_trivial", "monotone"]


def monotone(space: Space, function: Callable[[Any], Any], *, name: str = "monotone") -> Loss:
    """The loss ``m(d(w, x))`` for a function m that does not decrease, d in the unit of the space's metric.

    Args:
        space: the points and d.
        function: m; called once for each distance that occurs, with a Fraction where it is rational and a float where
            it is not. What it returns is taken as the exact number it is.
        name: what to call the loss.

    Raises:
        ArgumentError: the function decreases between two of the distances.

    References:
        Paper 5, Definition 6.

    >>> monotone(Space.line(3), lambda distance: distance**2).matrix[0].tolist()
    [0.0, 1.0, 4.0]
    """
    ranks, distances = _ranks(as_space(space, "monotone"), Stopwatch())
    if not callable(function):
        raise ArgumentError(f"a function of the distance is needed, not {type(function).__name__}")
    values = [function(distance) for distance in distances]
    for before, after, near, far in zip(values, values[1:], distances, distances[1:], strict=False):
        if after < before:
            raise ArgumentError(f"the function decreases, from the distance {float(near):.6g} to {float(far):.6g}")
    table = [[values[rank] for rank in row] for row in ranks.tolist()]
    return Loss.from_matrix(space.points, space.points, table, name)


def is_trivial(loss: Loss) -> bool:
    """Whether the loss does not depend on the action, so that no channel is better than none.

    References:
        Paper 5, Definition 6.

    >>> is_trivial(Loss.from_matrix([0, 1], "ab", [[1, 2], [1, 2]]))
    True
    """
    numbers, _ = as_a(Loss, loss, LOSS).whole
    return bool((numbers == numbers[0]).all())


def is_monotone(
    space: Space,
    loss: Any,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> bool:
    """Whether ``l(w, x) = m(d(x, a(w)))`` for some m that does not decrease and some injection a of actions to points.

    Decided by search: each action is matched with a point whose distances order the secrets as the losses do, and all
    matches are to fit one m. The injection need not be the identity, which matters: on the Hamming cube the loss "nib"
    is monotone, by the map from every string to its complement.

    Args:
        space: the points and d.
        loss: l; see `metricdp.adversaries.as_loss`.
        time_limit: seconds; None for no limit.
        progress: told how many distances have been compared.

    Raises:
        TooLargeError: the time limit is reached.
        ArgumentError: the loss has irrational entries; its ``rounded()`` has not.

    References:
        Paper 5, Definition 6.

    >>> (
    ...     is_monotone(Space.line(3), "bin"),
    ...     is_strictly_monotone(Space.line(3), "bin"),
    ... )
    (True, False)
    """
    return _fits(space, loss, Stopwatch(time_limit, progress), strictly=False)


def is_strictly_monotone(
    space: Space,
    loss: Any,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> bool:
    """Whether a loss is monotone (see `is_monotone`) with an m that increases strictly.

    >>> from metricdp.metrics import absolute
    >>> line = Space.line(3, absolute())
    >>> is_strictly_monotone(line, "distance"), is_strictly_monotone(line, "bin")
    (True, False)
    """
    return _fits(space, loss, Stopwatch(time_limit, progress), strictly=True)


def _fits(space: Space, given: Any, watch: Stopwatch, strictly: bool) -> bool:
    space = as_space(space, "is_monotone")
    loss = as_loss(given, space.points, space)
    numbers, _ = loss.whole
    order = {value: place for place, value in enumerate(sorted({value for row in numbers.tolist() for value in row}))}
    losses = np.array([[order[value] for value in row] for row in numbers.tolist()], dtype=np.int64)
    ranks, distances = _ranks(space, watch)
    bounds = _Bounds(losses, ranks, len(distances), strictly)
    places = {point: place for place, point in enumerate(space.points)}
    alone = range(len(space.points))
    candidates = []
    for action, name in enumerate(loss.actions):
        own = places.get(name)
        fitting = sorted((point for point in alone if bounds.agree([(action, point)])), key=lambda point: point != own)
        candidates.append(fitting)
    return _extend([], candidates, bounds, watch)


def _extend(chosen: list[tuple[int, int]], candidates: list[list[int]], bounds: _Bounds, watch: Stopwatch) -> bool:
    watch.check("to match all actions with points", len(chosen), len(candidates), "actions")
    action = len(chosen)
    if action == len(candidates):
        return True
    taken = {point for _, point in chosen}
    for point in candidates[action]:
        longer = [*chosen, (action, point)]
        if point not in taken and bounds.agree(longer) and _extend(longer, candidates, bounds, watch):
            return True
    return False


class _Bounds:
    """Whether matches of actions with points allow one m; losses and distances both by their place in order."""

    def __init__(self, losses: Places, ranks: Places, count: int, strictly: bool) -> None:
        self.losses, self.ranks, self.count, self.strictly = losses, ranks, count, strictly

    def agree(self, matches: list[tuple[int, int]]) -> bool:
        """True iff each distance has one loss and these losses do not decrease (strictly: increase)."""
        value = np.full(self.count, -1, dtype=np.int64)
        for action, point in matches:
            ranks, losses = self.ranks[point], self.losses[action]
            seen = value[ranks]
            if ((seen >= 0) & (seen != losses)).any():
                return False
            value[ranks] = losses
            if (value[ranks] != losses).any():  # two secrets at one distance with different losses
                return False
        known = value[value >= 0]
        steps = np.diff(known)
        return bool((steps > 0).all() if self.strictly else (steps >= 0).all())


def _ranks(space: Space, watch: Stopwatch) -> tuple[Places, list[Fraction | float]]:
    """Each distance by its place among all that occur, and these in order."""
    metric, points = space.metric.unit, space.points
    compared = itertools.count()
    pairs = [(i, j) for i in range(len(points)) for j in range(len(points))]

    def compare(one: tuple[int, int], two: tuple[int, int]) -> int:
        count = next(compared)
        if count % _TOLD == 0:
            watch.check("to put all distances in order", count, unit="comparisons")
            watch.tell(count, unit="comparisons")
        return compare_distances(metric, (points[one[0]], points[one[1]]), (points[two[0]], points[two[1]]))

    ranks = np.empty((len(points), len(points)), dtype=np.int64)
    distances: list[Fraction | float] = []
    last: tuple[int, int] | None = None
    for pair in sorted(pairs, key=functools.cmp_to_key(compare)):
        if last is None or compare(last, pair) != 0:
            x, y = points[pair[0]], points[pair[1]]
            known = metric.exactly(x, y)
            distances.append(float(metric.enclose(x, y)) if known is None else known)
            last = pair
        ranks[pair] = len(distances) - 1
    return ranks, distances
