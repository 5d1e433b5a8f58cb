"""Scores inside an event: where two laws differ most is seldom seen, and is looked at with more releases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.batches import some_of
from metricdp.audit.events.event import Event
from metricdp.audit.events.scores import Score
from metricdp.exact.arrays import Booleans, Floats

__all__ = ["Within"]


@dataclass(frozen=True)
class Within:
    """A score that only members of an event have: a cut is a part of the event.

    Attributes:
        outer: the event.
        inner: the score of its members.
    """

    outer: Event
    inner: Score
    plain: bool = False
    hints: tuple[float, float] | None = None

    @property
    def both_sides(self) -> bool:
        """As the inner score has it."""
        return self.inner.both_sides

    @property
    def caution(self) -> float:
        """As the inner score has it."""
        return self.inner.caution

    def of(self, batch: Batch) -> Floats:
        """The inner scores of members; NaN for all others."""
        inside = self.outer.among(batch)
        scores = np.full(len(batch), np.nan)
        if inside.any():
            scores[inside] = self.inner.of(some_of(batch, inside))
        return scores

    def event(self, threshold: float, high: bool) -> Event:
        """The members whose score lies beyond the threshold."""
        outer, inner = self.outer, self.inner.event(threshold, high)

        def test(batch: Batch) -> Booleans:
            inside = outer.among(batch).copy()
            if inside.any():
                inside[inside] = inner.among(some_of(batch, inside))
            return inside

        return Event(f"{outer.words}, and {inner.words}", f"({outer.code}) and ({inner.code})", test)
