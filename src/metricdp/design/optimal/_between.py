"""Channels whose extension to every point between keeps the metric, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from metricdp.channels.proved import Proved
from metricdp.design.optimal._result import Optimal
from metricdp.errors import ImpossibleError
from metricdp.exact.level import Level
from metricdp.metrics import Space

__all__ = ["kept_between"]

_SOLVES = 6
_NEAR = Fraction(99, 100)
_FINEST = 1 << 20


def kept_between(space: Space, best_at: Callable[[Space, bool], Optimal]) -> Optimal:
    """The best channel of a share of the level for which the extension keeps all of it.

    The share is sought: the extension's level grows with that of the channel, so a share that is too large is lowered
    in proportion, and one that is too small raised to between it and the least that failed.

    Args:
        space: the points, and the metric to keep between them.
        best_at: the best channel of the same points and another multiple of the metric; in a hurry or not.

    Raises:
        ImpossibleError: no share was found.
    """
    wanted, base = space.metric.level, space.metric.unit
    first = best_at(space, False)
    hurry = first.interrupted
    level = first.extended(metric=base).level
    if Level.of(level) <= wanted:
        return first
    share, low, high, kept = Fraction(1), Fraction(0), Fraction(1), None
    for _ in range(_SOLVES):
        share = _next(share, level, wanted, low, high)
        if not share:  # so thin a triangle that no level is low enough
            break
        found = best_at(Space(space.points, share * space.metric), hurry)
        hurry = hurry or found.interrupted
        level = found.extended(metric=base).level
        if Level.of(level) <= wanted:
            kept, low = found, share
            if Level.of(level) >= wanted * _NEAR:
                break
        else:
            high = share
    if kept is None:
        raise ImpossibleError(
            "no channel on these points was found whose extension keeps the level: the points are too far apart, or "
            "some triangle between them is too thin. Add points, or extend a channel of a lower level"
        )
    return replace(
        kept,
        promise=Proved.of(kept.promise),
        bound=min(first.bound, kept.loss),
        rounds=first.rounds + kept.rounds,
        finished=False,
        reason="the points between those of the space ask for more than these do",
    )


def _next(share: Fraction, level: Fraction, wanted: Level, low: Fraction, high: Fraction) -> Fraction:
    """A share at which the extension is likely to keep the level, a little below."""
    likely = share * Fraction(float(wanted) / float(level)) * Fraction(199, 200)
    if not low < likely < high:
        likely = (low + high) / 2
    return Fraction(round(likely * _FINEST), _FINEST)
