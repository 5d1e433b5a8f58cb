"""Look at the threshold of one event once more, on more releases, before a long test of it.

A threshold that was chosen among many pairs and scores is chosen with luck. A long test is far more exact than that
choice: what it can show is then decided by the threshold, and not by its releases.
"""

from __future__ import annotations

import math
from dataclasses import replace

from metricdp.audit.coins import WHOLE
from metricdp.audit.events.candidate import Candidate
from metricdp.audit.events.scores import Monotone
from metricdp.audit.events.threshold import Goal
from metricdp.audit.zoom import Draws

__all__ = ["look_closer"]

_SHARE, _MOST = 10, 10_000_000  # of the calls of the test, one in so many; they are kept until the threshold is chosen
_LUCK = 8  # times as much in the threshold as in the test to come
_DOUBT = 2  # times as much as before: a rare event that looks a little better than a common one does so by luck


def look_closer(draws: Draws, candidate: Candidate, goal: Goal, weight: int) -> Candidate:
    """The same score of a number, cut where more releases say; the candidate itself where luck matters little.

    Args:
        draws: gives releases.
        candidate: the event that would be tested now.
        goal: what it is wanted for.
        weight: of the favoured secret, as in the test.
    """
    cut, hunt = candidate.cut, candidate.hunt
    count = min(goal.calls // _SHARE, _MOST)
    lucky = cut.error * math.sqrt(goal.calls) > _LUCK * cut.noise
    if not (lucky and candidate.refined and isinstance(candidate.score, Monotone) and candidate.score.hints is None):
        return candidate
    for batch, labels in draws.batches(hunt, count, WHOLE - weight if cut.swapped else weight):
        candidate.add(batch, labels)
    again = replace(candidate.again(replace(goal, doubt=_DOUBT * goal.doubt)), refined=True)
    hunt.candidates = [again if each is candidate else each for each in hunt.candidates]
    return again
