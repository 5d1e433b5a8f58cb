"""Look closer: inside the best events so far, for smaller ones that tell more.

The sets of releases that tell two secrets apart best, of each size, lie inside one another (Neyman and Pearson). The
smaller ones are seen too seldom in a search to be learned. So releases are drawn again, those of the best event are
kept, and the search goes on among them; and once more inside what it found, as long as that promises more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from metricdp.audit.boxes.box import Batch
from metricdp.audit.coins import WHOLE
from metricdp.audit.events.candidate import Candidate
from metricdp.audit.events.scores import Given, Labels
from metricdp.audit.events.search import Hunt
from metricdp.audit.events.threshold import Goal
from metricdp.exact.arrays import Booleans

__all__ = ["Draws", "zoom"]

_FEWEST = 400
_PART = 0.8  # a part that is nearly the whole is no other event
_SEEN = 4  # times as many releases as are learned from: half are for the cut


class Draws(Protocol):
    """What gives releases of a pair."""

    def batches(self, hunt: Hunt, count: int, weight: int) -> Iterable[tuple[Batch, Booleans]]:
        """So many releases, in parts."""
        ...


def zoom(draws: Draws, hunt: Hunt, goal: Goal, calls: int, levels: int, most: int) -> None:
    """Add to the candidates of a pair those that are found inside its best one.

    Args:
        draws: gives releases.
        hunt: the pair and its candidates.
        goal: what an event is wanted for.
        calls: for each level at most.
        levels: how often to look closer, as long as that promises more or luck may have hidden that it does.
        most: releases to learn from at most.
    """
    best = candidate = hunt.best_open()
    for _ in range(levels):
        found = None if candidate is None else _inside(draws, candidate, goal, calls, most)
        if best is None or found is None or found.hopeful <= best.preference:
            return
        candidate = found
        if found.preference > best.preference:
            found.refined = True
            hunt.candidates.append(found)
            best = found


def _inside(draws: Draws, candidate: Candidate, goal: Goal, calls: int, most: int) -> Candidate | None:
    """The best event inside another; None where there are too few releases to tell."""
    hunt = candidate.hunt
    if isinstance(candidate.score, (Labels, Given)) or candidate.score.hints is not None:
        return None  # all parts of such events were looked at; beyond what a promise suggests, ratios do not change
    rate = (candidate.cut.chance + candidate.cut.other) / 2
    count = min(calls, int(_SEEN * most / max(rate, 1e-9)))
    if count * rate < _FEWEST or hunt.one_kind(candidate.event):
        return None
    closer = Hunt(hunt.pair, hunt.distance, hunt.promised, (), hunt.timed, hunt.machine, within=candidate.event)
    for batch, labels in draws.batches(hunt, count, WHOLE // 2):
        closer.add(batch, labels)
    closer.learn(goal, most)
    hunt.looked_at += closer.looked_at
    smaller = [c for c in closer.candidates if c.cut.mirror is None and c.cut.chance < _PART * candidate.cut.chance]
    found = max(smaller, key=lambda each: each.preference, default=None)
    return None if found is None else Candidate(hunt, found.score, found.cut)
