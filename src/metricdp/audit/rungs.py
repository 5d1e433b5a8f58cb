"""From all pairs of secrets to the best of them, rung by rung: what is tried on the way, and how much is spent."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from metricdp.audit.events.search import FAMILIES, Hunt

__all__ = ["promising", "share_of"]

_NEAR = 0.8  # of what the best family of scores promises, for another to be tried again while there are many pairs


def promising(hunts: Sequence[Hunt]) -> Collection[str]:
    """The families of scores that look best so far; sums alone, where they do, since others cost much more."""
    best = {name: max(hunt.by_family.get(name, -math.inf) for hunt in hunts) for name in FAMILIES}
    most = max(best.values())
    if most <= 0:
        return FAMILIES
    return ("linear",) if best["linear"] == most else [name for name in FAMILIES if best[name] > _NEAR * most]


def share_of(rung: int, rungs: int) -> float:
    """The part of a search's calls that a rung has: much while all pairs are there, since a pair given up is lost.

    >>> sum(share_of(rung, 5) for rung in range(5))
    1.0
    """
    if rungs == 1:
        return 1.0
    if rungs == 2:
        return (0.3, 0.7)[rung]
    return (0.1, 0.35)[rung] if rung < 2 else 0.55 / (rungs - 2)
