"""An event that may be tested: a score with a cut, and what it promises."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.event import Event
from metricdp.audit.events.linear import Lesson, Linear
from metricdp.audit.events.scores import CellScore, Labels, Score, log_ratios
from metricdp.audit.events.smoothing import shrunk
from metricdp.audit.events.threshold import FEW, Cut, Goal, best_cut, cut_of_cells
from metricdp.audit.events.within import Within
from metricdp.exact.arrays import Booleans, Floats

if TYPE_CHECKING:
    from metricdp.audit.events.search import Hunt

__all__ = ["Candidate"]


@dataclass(eq=False)
class Candidate:
    """A score with a cut, and what it promises.

    Attributes:
        promise: the scale that a test may be expected to show.
        used: whether it was tested.
        refined: whether its threshold was chosen on releases of their own, so that the promise can be relied on.
    """

    hunt: Hunt = field(repr=False)
    score: Score
    cut: Cut
    used: bool = False
    refined: bool = False
    _scores: list[Floats] = field(default_factory=list, repr=False)
    _labels: list[Booleans] = field(default_factory=list, repr=False)
    _lesson: Lesson | None = field(default=None, repr=False)
    _counts: NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def promise(self) -> float:
        """The scale that a test may be expected to show."""
        return self.cut.promise / max(self.hunt.distance, 1e-9)

    @property
    def preference(self) -> float:
        """The promise, with a little taken off where the event is hard to say, or where luck is still in it."""
        if self.score.hints is not None or self.score.caution > 0.5:
            return self.promise - self._luck
        if isinstance(self.score, Within):
            return self.promise - self._luck / 2
        return self.promise if self.score.plain else self.promise - 0.03 * abs(self.promise)

    @property
    def hopeful(self) -> float:
        """The promise, if luck hid two standard errors of it."""
        return self.promise + 2 * self._luck

    @property
    def rank(self) -> float:
        """The preference among events of one pair.

        An event that the claim itself suggests was not chosen among many, and so not by luck: another must look better
        by more than luck explains.
        """
        return self.preference if self.score.hints is None else self.promise + 2.5 * self._luck

    @property
    def _luck(self) -> float:
        return self.cut.error / max(self.hunt.distance, 1e-9)

    @property
    def event(self) -> Event:
        """The set of releases."""
        return self.score.event(self.cut.threshold, self.cut.high)

    @property
    def mirror(self) -> Event | None:
        """The set of releases that speaks for the other secret, where both are tested together."""
        return None if self.cut.mirror is None else self.score.event(self.cut.mirror, not self.cut.high)

    @property
    def safe(self) -> float:
        """The scale that it shows even where luck was two standard errors of what it looks like."""
        return self.promise - 2 * self._luck

    def beside(self, swapped: bool) -> tuple[Event, Cut] | None:
        """One event that speaks for the second secret, or for the first, to be tested beside another that does so."""
        if self.cut.mirror is None:
            return (self.event, self.cut) if self.cut.swapped == swapped else None
        alone = replace(self.cut, mirror=None, seen=self.cut.seen / 2)
        event = self.mirror if swapped else self.event
        return None if event is None else (event, alone)

    def add(self, batch: Batch, labels: Booleans) -> None:
        """Take more releases to choose the threshold on."""
        if self._few is not None:
            places, size = self._few.places(batch), len(self._few.known) + 1
            counts = np.bincount(2 * places + labels, minlength=2 * size).reshape(size, 2).T[::-1]
            self._counts = counts if self._counts is None else self._counts + counts
            return
        self._scores.append(self.score.of(batch))
        self._labels.append(labels)

    def teach(self, batch: Batch, labels: Booleans) -> None:
        """Take releases that make the score better where it is a sum; otherwise to choose the threshold on."""
        if not isinstance(self.score, Linear):
            self.add(batch, labels)
            return
        self._lesson = self._lesson or Lesson(self.score)
        self._lesson.take(batch, labels)

    def taught(self) -> None:
        """Use what was learned."""
        if self._lesson is not None:
            self.score, self._lesson = self._lesson.learned(), None

    def again(self, goal: Goal) -> Candidate:
        """The same score, cut where the releases taken say."""
        if self._few is not None and self._counts is not None:
            return self._again_of_few(self._few, self._counts, goal)
        if not self._scores:
            return self
        scores, labels = np.concatenate(self._scores), np.concatenate(self._labels)
        self._scores, self._labels = [], []
        score = self.score
        if isinstance(score, (CellScore, Labels)):  # the order of cells is learned again, on one half
            known = np.unique(score.ratios)
            half = len(scores) // 2
            places = np.minimum(np.searchsorted(known, scores), len(known) - 1)
            fresh = log_ratios(*_counted(places[:half], labels[:half], len(known)))
            score = replace(score, ratios=fresh[np.searchsorted(known, score.ratios)])
            scores, labels = fresh[places][half:], labels[half:]
        cut = best_cut(scores, labels, goal, score.both_sides, score.caution, score.hints)
        return self if cut is None else Candidate(self.hunt, score, cut)

    @property
    def _few(self) -> Labels | None:
        """The score, where it has so few labels that all releases so far may choose their order, and the cut too."""
        return self.score if isinstance(self.score, Labels) and len(self.score.known) <= FEW else None

    def _again_of_few(self, score: Labels, counts: NDArray[np.int64], goal: Goal) -> Candidate:
        more, less = (counts if score.counts is None else counts + np.stack(score.counts)).astype(np.float64)
        if not (more.sum() and less.sum()):
            return self
        ratios = log_ratios(*shrunk(more[:-1], less[:-1]))
        cut = cut_of_cells(ratios, more[:-1], less[:-1], goal, (int(more[-1]), int(less[-1])))
        return self if cut is None else Candidate(self.hunt, replace(score, ratios=ratios, counts=(more, less)), cut)


def _counted(places: NDArray[np.intp], labels: Booleans, size: int) -> tuple[Floats, Floats]:
    """How many releases of each secret have each place."""
    more = np.bincount(places[labels], minlength=size).astype(np.float64)
    return more, np.bincount(places[~labels], minlength=size).astype(np.float64)
