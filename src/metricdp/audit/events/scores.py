"""Scores that tell two secrets apart, learned from past releases: a cut of a score is an event.

Nothing here has to be right for a bound to be valid: an event is tested on releases that were not there when it was
chosen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.event import Event, above, below, intervals, labels
from metricdp.audit.events.threshold import Goal, best_promise
from metricdp.audit.events.view import View
from metricdp.exact.arrays import Booleans, Floats

__all__ = ["CellScore", "Given", "Labels", "Monotone", "Score", "fit_simple"]


_MOST_LABELS = 4096
_FOR_CELLS = 20_000
_MANY, _SOME = 128, 16
_KEPT = 5


class Score(Protocol):
    """A number for each release: the larger, the more it speaks for x."""

    @property
    def both_sides(self) -> bool:
        """Whether small scores make events too."""
        ...

    @property
    def plain(self) -> bool:
        """Whether its events are easy to say."""
        ...

    @property
    def hints(self) -> tuple[float, float] | None:
        """Thresholds that a promise suggests, for the first secret and for the second; None where there are none."""
        ...

    @property
    def caution(self) -> float:
        """From 0 to 1: how much of a good look is luck, since the score was chosen among many; 1: neighbours too."""
        ...

    def of(self, batch: Batch) -> Floats:
        """The scores of a batch."""
        ...

    def event(self, threshold: float, high: bool) -> Event:
        """The releases whose score is at least the threshold, or at most."""
        ...


@dataclass(frozen=True)
class Given:
    """An event that was given, as a score of 0 and 1."""

    given: Event
    both_sides: bool = False
    plain: bool = True
    hints: tuple[float, float] | None = None
    caution: float = 0.0

    def of(self, batch: Batch) -> Floats:
        """1 for members."""
        return self.given.among(batch).astype(np.float64)

    def event(self, threshold: float, high: bool) -> Event:
        """The event itself, or its complement."""
        del high
        if threshold > 0:
            return self.given
        return Event("any release", "True", lambda batch: np.ones(len(batch), dtype=bool))


@dataclass(frozen=True)
class Monotone:
    """The number itself: its cuts are half-lines.

    Attributes:
        view: gives the number.
        hints: thresholds that a promise suggests, which are the only cuts then; None where they are to be chosen.
    """

    view: View
    hints: tuple[float, float] | None = None
    both_sides: bool = True

    @property
    def caution(self) -> float:
        """Bits and digits have rare values, one of which looks good by luck alone."""
        return 0.6 if self.view.machine else 0.0

    @property
    def plain(self) -> bool:
        """Bits and digits are harder to say than numbers."""
        return not self.view.machine

    def of(self, batch: Batch) -> Floats:
        """The column."""
        return np.asarray(self.view.of(batch), dtype=np.float64)

    def event(self, threshold: float, high: bool) -> Event:
        """A half-line."""
        return above(self.view, threshold) if high else below(self.view, threshold)


@dataclass(frozen=True)
class CellScore:
    """Cells of a line, each with its log-ratio: a cut is a finite union of intervals.

    Attributes:
        cuts: the ends of the cells, in order, without the infinities.
        ratios: for each cell, and for what is no number last.
        counts: of x and of x', that the ratios come from.
    """

    view: View
    cuts: Floats
    ratios: Floats
    counts: tuple[Floats, Floats]
    both_sides: bool = True
    plain: bool = False
    hints: tuple[float, float] | None = None
    caution: float = 1.0

    def of(self, batch: Batch) -> Floats:
        """The log-ratio of each release's cell."""
        column = self.view.of(batch)
        cells = np.searchsorted(self.cuts, column, side="right")
        cells[np.isnan(column)] = len(self.ratios) - 1
        return np.asarray(self.ratios[cells])

    def event(self, threshold: float, high: bool) -> Event:
        """The union of the cells beyond the threshold; neighbours become one interval."""
        chosen = self.ratios >= threshold if high else self.ratios <= threshold
        ends = [-math.inf, *self.cuts.tolist(), math.inf]
        parts: list[tuple[float, float]] = []
        for cell in np.flatnonzero(chosen[:-1]).tolist():
            if parts and parts[-1][1] == ends[cell]:
                parts[-1] = (parts[-1][0], ends[cell + 1])
            else:
                parts.append((ends[cell], ends[cell + 1]))
        return intervals(self.view, parts, bool(chosen[-1]))


@dataclass(frozen=True)
class Labels:
    """Labels, each with its log-ratio: a cut is a set of labels.

    Attributes:
        known: the labels.
        ratios: for each.
        counts: of x and of x', that the ratios come from, where they were counted; labels that were not seen come last.
    """

    view: View
    known: tuple[Any, ...]
    ratios: Floats
    both_sides: bool = True
    plain: bool = True
    hints: tuple[float, float] | None = None
    caution: float = 0.0
    counts: tuple[Floats, Floats] | None = None

    def of(self, batch: Batch) -> Floats:
        """The log-ratio of each release's label; 0 for labels that were not seen."""
        return np.asarray(np.append(self.ratios, 0.0).take(self.places(batch)))

    def places(self, batch: Batch) -> NDArray[np.intp]:
        """Which of the known labels each release has; their number for labels that were not seen."""
        column = self.view.of(batch)
        if column.dtype == object:
            table = {label: place for place, label in enumerate(self.known)}
            found = (table.get(label, len(self.known)) for label in column)
            return np.fromiter(found, dtype=np.intp, count=len(column))
        places = np.full(len(column), len(self.known), dtype=np.intp)
        for place, label in enumerate(self.known):
            places[column == label] = place
        return places

    def event(self, threshold: float, high: bool) -> Event:
        """The labels beyond the threshold."""
        chosen = self.ratios >= threshold if high else self.ratios <= threshold
        return labels(self.view, [label for label, each in zip(self.known, chosen, strict=True) if each])


def fit_simple(
    views: Sequence[View], words: Sequence[View], columns: Sequence[Floats], batch: Batch, marks: Booleans, goal: Goal
) -> tuple[list[Score], list[int], int]:
    """Scores of one column each that look best; the places of the columns, the best first; how many events were seen.

    Args:
        views: columns of numbers.
        words: columns of labels.
        columns: what the views gave for the batch.
        batch: releases to learn from.
        marks: which of them had the secret x.
        goal: what an event is wanted for.
    """
    scores: list[Score] = []
    lines: list[tuple[float, int, Score]] = []
    unions: list[tuple[float, int, Score]] = []
    seen = 0
    for place, (view, column) in enumerate(zip(views, columns, strict=True)):
        fine, coarse = _histograms(view, column, marks)
        seen += 4 * len(fine.ratios)
        lines.append((best_promise(fine.counts[0][:-1], fine.counts[1][:-1], goal), place, Monotone(view)))
        for histogram in (fine, coarse):
            order = np.argsort(-histogram.ratios)
            promise = best_promise(histogram.counts[0][order], histogram.counts[1][order], goal)
            unions.append((promise, place, histogram))
    lines.sort(key=lambda each: -each[0])
    unions.sort(key=lambda each: -each[0])
    scores += [score for _, _, score in (*lines[:_KEPT], *unions[:_KEPT])]
    scores += [Monotone(view, view.hints) for view in views if view.hints is not None]
    ranked = list(dict.fromkeys(place for _, place, _ in sorted((*lines, *unions), key=lambda each: -each[0])))
    for view in words:
        column = view.of(batch)
        if column.dtype == object:
            counts = Counter(column.tolist())
            known = tuple(label for label, _ in counts.most_common(_MOST_LABELS))
            firsts = Counter(column[marks].tolist())
            pairs = [(firsts[label], counts[label] - firsts[label]) for label in known]
        else:
            values, places = np.unique(column, return_inverse=True)
            if len(values) > _MOST_LABELS:
                continue
            every = np.bincount(places, minlength=len(values))
            first = np.bincount(places[marks], minlength=len(values))
            known, pairs = tuple(values.tolist()), list(zip(first.tolist(), (every - first).tolist(), strict=True))
        if known:
            more, less = np.array(pairs, dtype=np.float64).T
            seen += 2 * len(known)
            scores.append(Labels(view, known, log_ratios(more, less)))
    return scores, ranked, seen


def _histograms(view: View, column: Floats, marks: Booleans) -> tuple[CellScore, CellScore]:
    """A column in many cells and in few; cells of the second are unions of cells of the first."""
    good = np.sort(column[:_FOR_CELLS][~np.isnan(column[:_FOR_CELLS])])
    cuts, few = _cuts(good, _MANY), _cuts(good, _SOME)
    more, less = _counted(column[marks], cuts), _counted(column[~marks], cuts)
    starts = np.concatenate([[0], np.searchsorted(cuts, few) + 1, [cuts.size + 1]])
    together = np.add.reduceat(more, starts), np.add.reduceat(less, starts)
    return (
        CellScore(view, cuts, log_ratios(more, less), (more, less)),
        CellScore(view, few, log_ratios(*together), together),
    )


def _counted(column: Floats, cuts: Floats) -> Floats:
    """How many numbers lie in each cell, and how many are none, last: to sort them is quicker than to place each."""
    ordered = np.sort(column)
    ends = np.concatenate([ordered.searchsorted(cuts), [np.count_nonzero(~np.isnan(column)), column.size]])
    return np.diff(ends, prepend=0).astype(np.float64)


def _cuts(ordered: Floats, cells: int) -> Floats:
    """Quantiles, and both ends of every value that is common."""
    cuts = ordered[np.arange(1, cells) * (ordered.size - 1) // cells] if ordered.size else ordered
    values, counts = np.unique(ordered, return_counts=True)
    common = values[counts >= max(5, ordered.size // (4 * cells))][:512]
    cuts = np.unique(np.concatenate([cuts, common, np.nextafter(common, math.inf)]))
    return np.asarray(cuts[np.isfinite(cuts)])


def log_ratios(more: Floats, less: Floats) -> Floats:
    """The logarithm of how much more often each cell came from x than from x', drawn towards none where few came."""
    ratio = np.log((more + 0.5) / (more.sum() + 1)) - np.log((less + 0.5) / (less.sum() + 1))
    return np.asarray(ratio)
