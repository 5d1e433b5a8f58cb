"""The search for an event that tells two secrets apart."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch, Failure
from metricdp.audit.events import machine
from metricdp.audit.events.batches import part_of, some_of, together
from metricdp.audit.events.candidate import Candidate
from metricdp.audit.events.event import Event, given_event
from metricdp.audit.events.linear import Linear, fit_linear
from metricdp.audit.events.patterns import fit_patterns
from metricdp.audit.events.residues import residue_views
from metricdp.audit.events.rules import Rule, fit_rules
from metricdp.audit.events.scores import Given, Labels, Score, fit_simple
from metricdp.audit.events.threshold import FEW, NOTHING, Goal, best_cut, hopes
from metricdp.audit.events.tree import Tree, fit_tree
from metricdp.audit.events.view import View
from metricdp.audit.events.views import label_views, number_views
from metricdp.audit.events.within import Within
from metricdp.exact.arrays import Booleans, Floats
from metricdp.metrics import Guarantee

__all__ = ["FAMILIES", "MOST_LEARNED", "Hunt", "fit_together"]


_KEPT = 4
_FEW_PATTERNS = 40
_MOST_COLUMNS = 12
_FOR_KINDS = 50_000

MOST_LEARNED = 300_000
"""Releases that scores are learned from at most: enough for ratios that are a few percent from 1."""


FAMILIES = ("simple", "linear", "tree", "rules")
"""Scores of one column, weighted sums, trees of boxes, conjunctions."""


@dataclass(eq=False)
class Hunt:
    """One pair of secrets, its releases so far, and the events that look best on them.

    Attributes:
        counts_all: whether releases are few patterns or labels, so that learning looks at all that were drawn.
        by_family: what the best event of each family of scores promised.
        within: the event that releases are searched in; None for all releases.
    """

    pair: tuple[Any, Any]
    distance: float
    promised: Guarantee
    given: Sequence[Any]
    timed: bool
    machine: bool = True
    candidates: list[Candidate] = field(default_factory=list)
    looked_at: int = 0
    given_up: bool = False
    note: str = ""
    constant: bool = False
    counts_all: bool = False
    by_family: dict[str, float] = field(default_factory=dict)
    within: Event | None = None
    _drawn: tuple[int, int] = (0, 0)
    _goal: Goal | None = field(default=None, repr=False)
    _batches: list[Batch] = field(default_factory=list, repr=False)
    _labels: list[Booleans] = field(default_factory=list, repr=False)

    @property
    def calls(self) -> int:
        """Releases that were drawn for the search."""
        return sum(map(len, self._batches))

    @property
    def failures(self) -> bool:
        """Whether some calls failed."""
        found = (batch.releases for batch in self._batches)
        return any(isinstance(z, Failure) for some in found if isinstance(some, list) for z in some)

    @property
    def promise(self) -> float:
        """The scale that the best event promises."""
        return max((candidate.promise for candidate in self.candidates), default=-math.inf)

    @property
    def may_promise(self) -> float:
        """The scale that an event might promise after all: luck may have hidden two standard errors of any.

        Where there are more than a few kinds of releases, rare ones have not been seen yet, and anything may come.
        """
        best = max(self.candidates, key=lambda candidate: candidate.promise, default=None)
        if best is None or not isinstance(best.score, Labels) or best.score.counts is None or self._goal is None:
            return math.inf
        more, less = best.score.counts
        hoped = max(best.cut.promise + 2 * best.cut.error, hopes(more[:-1], less[:-1], self._goal))
        return hoped / max(self.distance, 1e-9)

    @property
    def best_words(self) -> str | None:
        """The best event, in words."""
        best = max(self.candidates, key=lambda candidate: candidate.promise, default=None)
        return None if best is None else best.event.words

    def add(self, batch: Batch, labels: Booleans) -> None:
        """Take more releases; those of the event alone, where one is searched in."""
        firsts = int(np.count_nonzero(labels))
        self._drawn = self._drawn[0] + firsts, self._drawn[1] + labels.size - firsts
        if self.within is not None:
            inside = self.within.among(batch)
            batch, labels = some_of(batch, inside), labels[inside]
        self._batches.append(batch)
        self._labels.append(labels)

    def learn(self, goal: Goal, most: int = MOST_LEARNED, families: Collection[str] = FAMILIES) -> None:
        """Learn scores from one half of the releases, and no more than ``most``, and cut them by the others.

        Args:
            goal: what an event is wanted for.
            most: releases to learn from at most.
            families: the scores to try, by what ``by_family`` calls them.
        """
        self._goal, self.constant, self.note = goal, False, ""
        if not self._batches:  # there was nothing left to draw
            return
        batch, labels = self._together()
        size = len(batch)
        half = min(size // 2, most)
        if half < 8 or labels[:half].all() or not labels[:half].any():
            return
        inner = goal if self.within is None else replace(goal, calls=goal.calls * size // sum(self._drawn))
        first, marks = part_of(batch, slice(0, half)), labels[:half]
        views = number_views(first, self.pair, self.promised.metric, self.timed)
        near = [view for view in views if view.near]
        views = [view for view in (*views, *residue_views(near, first, marks)) if self.machine or not view.machine]
        patterns = fit_patterns(near, [view.of(first) for view in near], marks)
        words = label_views(first)
        if patterns is not None and len(patterns.known) <= _FEW_PATTERNS:
            views = []  # every function of the release is a function of its pattern
        elif _few_numbers(first):
            views, words = [], [replace(near[0], column=_whole, number=False), *words]
        self.counts_all = not views  # patterns and labels alone are quickly counted
        if set(families) == {"linear"}:
            views = [view for view in views if view.near]
        columns = [np.asarray(view.of(first), dtype=np.float64) for view in views]
        keep = [place for place, column in enumerate(columns) if not _constant(column)]
        views, columns = [views[place] for place in keep], [columns[place] for place in keep]
        simple = set(families) != {"linear"} or len(views) < 2
        scores, ranked, seen = fit_simple(
            views if simple else [], words, columns if simple else [], first, marks, inner
        )
        self.looked_at += seen
        scores += [] if patterns is None else [patterns]
        if len(views) > 1:
            scores += fit_together(views, columns, marks, ranked, inner, families)
        scores += [Given(given_event(event)) for event in self.given]
        end = min(size, half + max(half, most)) if not self.counts_all else size
        second, others = part_of(batch, slice(half, end)), labels[half:end]
        share = (end - half) / size
        totals = None if self.within is None else (int(self._drawn[0] * share), int(self._drawn[1] * share))
        found = []
        for score in scores:
            self.looked_at += 4
            if (
                totals is None and isinstance(score, Labels) and len(score.known) <= FEW
            ):  # so few that all releases may choose their order
                candidate = Candidate(self, score, NOTHING)
                candidate.add(part_of(batch, slice(0, end)), labels[:end])
                found.append(candidate.again(goal))
                continue
            cut = best_cut(score.of(second), others, goal, score.both_sides, score.caution, score.hints, totals)
            if cut is not None:
                found.append(Candidate(self, score if self.within is None else Within(self.within, score), cut))
        found = [candidate for candidate in found if candidate.cut is not NOTHING]
        self.by_family = {}
        for candidate in found:
            name = _family(candidate.score)
            self.by_family[name] = max(self.by_family.get(name, -math.inf), candidate.promise)
        found.sort(key=lambda candidate: -candidate.preference)
        self.candidates = [c for c in self.candidates if c.used] + found[:_KEPT]
        if not found or found[0].cut.promise <= 0:
            self._say_if_useless(batch)

    def best_open(self) -> Candidate | None:
        """The best candidate that was not tested."""
        return max((c for c in self.candidates if not c.used), key=lambda c: c.rank, default=None)

    def rivals(self) -> list[Candidate]:
        """The open candidates: one that is not looked at again would keep the luck that it was chosen by."""
        return [c for c in self.candidates if not c.used]

    def one_kind(self, event: Event) -> bool:
        """Whether all releases so far that are in an event are the same number: nothing is to be found inside it."""
        batch = part_of(self._together()[0], slice(0, _FOR_KINDS))
        inside = some_of(batch, event.among(batch)).releases
        return isinstance(inside, np.ndarray) and bool((inside == inside[:1]).all())

    def _say_if_useless(self, batch: Batch) -> None:
        releases, size = batch.releases, len(batch)
        if isinstance(releases, np.ndarray):
            same = bool((releases == releases[:1]).all())
        else:
            same = all(_same(release, releases[0]) for release in releases)
        if same and not isinstance(releases[0], Failure):
            self.constant = True
            self.note = "The box gave one and the same release for every call: it tells nothing, and it is no noise."
        elif not number_views(batch, self.pair, None, False) and all(
            len(set(view.of(batch))) == size for view in label_views(batch)[-1:]
        ):
            self.note = (
                f"No two releases are equal, and there are no numbers in them ({machine.outcome(releases[0])}): nothing"
                " but their types could be compared. Return numbers, text, or tuples and lists of them."
            )

    def _together(self) -> tuple[Batch, Booleans]:
        if len(self._batches) > 1:
            self._batches = [together(self._batches)]
            self._labels = [np.concatenate(self._labels)]
        return self._batches[0], self._labels[0]


def _family(score: Score) -> str:
    if isinstance(score, Linear):
        return "linear"
    return "tree" if isinstance(score, Tree) else "rules" if isinstance(score, Rule) else "simple"


def fit_together(
    views: Sequence[View],
    columns: Sequence[Floats],
    marks: Booleans,
    ranked: Sequence[int],
    goal: Goal,
    families: Collection[str] = FAMILIES,
) -> list[Score]:
    """Scores of several columns.

    Args:
        views: columns of numbers.
        columns: what they gave for some releases.
        marks: which of those had the secret x.
        ranked: the places of the columns, the best first.
        goal: what an event is wanted for.
        families: those that are tried.
    """
    found: list[Score] = []
    near = [place for place, view in enumerate(views) if view.near]
    if len(near) > 1 and "linear" in families:
        found += fit_linear([views[place] for place in near], [columns[place] for place in near], marks)
    best = sorted({*ranked[:_MOST_COLUMNS], *near[:_MOST_COLUMNS]})
    if "tree" in families:
        found += fit_tree([views[place] for place in best], [columns[place] for place in best], marks)
    return [*found, *fit_rules(views, columns, marks, ranked, goal)] if "rules" in families else found


def _few_numbers(batch: Batch) -> bool:
    """Whether releases are whole numbers or booleans, one each, and of few kinds."""
    releases = batch.releases
    if not isinstance(releases, np.ndarray) or releases.ndim != 1 or releases.dtype.kind not in "biu":
        return False
    return len(np.unique(releases)) <= _FEW_PATTERNS


def _whole(batch: Batch) -> NDArray[Any]:
    """Whole numbers as they were released."""
    return np.asarray(batch.releases)


def _constant(column: Floats) -> bool:
    first = column[0]
    return bool(np.isnan(column).all() if np.isnan(first) else (column == first).all())


def _same(one: Any, two: Any) -> bool:
    try:
        return bool(np.all(one == two))
    except Exception:
        return False
