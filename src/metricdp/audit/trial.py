"""One event on trial: its bets, and what they have shown so far."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from metricdp.audit.betting import Bet, DeltaBet
from metricdp.audit.boxes.box import Batch
from metricdp.audit.coins import WHOLE
from metricdp.audit.events.event import Event
from metricdp.audit.events.threshold import Cut
from metricdp.audit.evidence import Tested
from metricdp.exact.arrays import Booleans

__all__ = ["Trial", "scale_of"]


class Trial:
    """An event that was chosen before, tested on releases that come one batch after the other.

    Args:
        pair: (x, x'), the event being more likely from x.
        distance: between them, rounded up.
        event: what is tested.
        mirror: an event that speaks for x', tested together with it; both secrets have half of the calls then.
        cut: what is known of the event from earlier releases.
        weight: of x, in parts of 2^16.
        alpha: the chance that the bound is ever above the truth.
        delta: of the promise.
        calls: calls that are planned.
        looks: how many moments its bound is planned for.
    """

    def __init__(
        self,
        pair: tuple[Any, Any],
        distance: float,
        event: Event,
        mirror: Event | None,
        cut: Cut,
        weight: int,
        alpha: float,
        delta: float,
        calls: float,
        looks: int = 1,
    ) -> None:
        self.pair, self.distance, self.event, self.mirror, self.alpha = pair, distance, event, mirror, alpha
        self.share = weight / WHOLE
        self._offset = math.log(self.share / (1 - self.share))
        self._delta = delta
        horizon = cut.horizon(self.share, calls)
        centre = math.log(cut.chance / cut.other) + self._offset
        spread = 2 / math.sqrt(horizon)
        self.bet: Bet | DeltaBet = (
            DeltaBet(alpha, self.share, delta) if delta else Bet(alpha, horizon, centre, spread, looks)
        )
        self.calls = self.firsts = 0
        self._said = 0
        self._trace: list[tuple[int, float]] = []

    def take(self, batch: Batch, labels: Booleans) -> bool:
        """Count a batch; True where it is time to look at the bound again."""
        hits = self.event.among(batch)
        self.firsts += int(np.count_nonzero(labels))
        if self.mirror is not None:  # right where the event came from x, and the mirror from x'
            other = self.mirror.among(batch)
            labels = np.where(other, ~labels, labels)
            hits = hits | other
        marks = labels[hits]
        self.bet.add(marks, len(batch) - marks.size)
        self.calls += len(batch)
        return self.calls - self._said >= self.calls // 50

    def scale_at_least(self) -> float:
        """The bound now."""
        if self._said < self.calls:
            logarithm = (
                self.bet.least_logarithm()
                if isinstance(self.bet, DeltaBet)
                else self.bet.least_log_odds() - self._offset
            )
            self._said = self.calls
            self._trace.append((self.calls, scale_of(logarithm, self.distance)))
        return self._trace[-1][1] if self._trace else 0.0

    def estimate(self) -> float:
        """The scale that the hits so far look like; infinite where x' had none."""
        both = self.mirror is not None
        first = self.bet.favoured / max(self.calls if both else self.firsts, 1)
        second = self.bet.others / max(self.calls if both else self.calls - self.firsts, 1)
        if not second or first <= self._delta:
            return math.inf if first > self._delta else 0.0
        return scale_of(math.log((first - self._delta) / second), self.distance)

    def error(self) -> float:
        """The standard error of the estimate."""
        logarithm = math.sqrt(1 / max(self.bet.favoured, 1) + 1 / max(self.bet.others, 1))
        return scale_of(logarithm, self.distance)

    def record(self) -> Tested:
        """What was found so far."""
        return Tested(
            self.pair,
            self.distance,
            self.event.words,
            self.event.code,
            self.alpha,
            self.share,
            (self.firsts, self.calls - self.firsts),
            (self.bet.favoured, self.bet.others),
            self.scale_at_least(),
            tuple(self._trace),
            None if self.mirror is None else self.mirror.words,
            None if self.mirror is None else self.mirror.code,
        )


def scale_of(logarithm: float, distance: float) -> float:
    """The scale that a logarithm of a ratio shows at a distance."""
    if logarithm <= 0:
        return 0.0
    return math.inf if distance == 0 else logarithm / distance
