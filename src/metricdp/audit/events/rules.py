"""Conjunctions of conditions, found one by one: each narrows the event to where it promises more.

A tree asks which question tells most about all releases. An event needs only be good where it lies, so here every
condition is chosen for what the event promises with it. Several beginnings are followed at once (a beam).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.event import Event
from metricdp.audit.events.threshold import Goal, promises
from metricdp.audit.events.view import View
from metricdp.exact.arrays import Booleans, Floats

__all__ = ["Rule", "fit_rules"]


_BINS = 48
_BEAM = 6
_DEPTH = 5
_MOST_RULES = 4
_MOST_VIEWS = 24
_MOST_ROWS = 200_000
_FOR_CELLS = 20_000


@dataclass(frozen=True)
class Condition:
    """A number lies on one side of a cut; what is no number lies on neither."""

    view: View
    cut: float
    up: bool

    def among(self, batch: Batch) -> Booleans:
        """Which releases of a batch meet it."""
        column = self.view.of(batch)
        return np.asarray(column > self.cut if self.up else column <= self.cut)

    @property
    def words(self) -> str:
        """As text."""
        return f"{self.view.words} {'exceeds' if self.up else 'is at most'} {self.cut:.6g}"

    @property
    def code(self) -> str:
        """As Python."""
        return f"{self.view.code} {'>' if self.up else '<='} {self.cut!r}"


@dataclass(frozen=True)
class Rule:
    """Conditions one after the other: the score is how many of them hold before the first that does not."""

    conditions: tuple[Condition, ...]
    both_sides: bool = False
    plain: bool = False
    hints: tuple[float, float] | None = None
    caution: float = 0.75

    def of(self, batch: Batch) -> Floats:
        """The number of conditions that hold."""
        score = np.zeros(len(batch))
        inside = np.ones(len(batch), dtype=bool)
        for condition in self.conditions:
            inside &= condition.among(batch)
            score += inside
        return score

    def event(self, threshold: float, high: bool) -> Event:
        """The releases that meet so many of the conditions."""
        del high
        wanted = self.conditions[: max(1, math.ceil(threshold))]

        def test(batch: Batch) -> Booleans:
            inside = wanted[0].among(batch)
            for condition in wanted[1:]:
                inside = inside & condition.among(batch)
            return inside

        shortest = _without_repeats(wanted)
        return Event(
            " and ".join(condition.words for condition in shortest),
            " and ".join(condition.code for condition in shortest),
            test,
        )


def _without_repeats(conditions: Sequence[Condition]) -> list[Condition]:
    """The last condition for each side of each view is the narrowest one."""
    last = {(condition.view.code, condition.up): condition for condition in conditions}
    return list(last.values())


@dataclass
class _Branch:
    """Some conditions, the rows that meet them, and what the event promises."""

    conditions: tuple[tuple[int, int, bool], ...]
    rows: NDArray[np.intp] = field(repr=False)
    promise: float


def fit_rules(
    views: Sequence[View], columns: Sequence[Floats], marks: Booleans, ranked: Sequence[int], goal: Goal
) -> list[Rule]:
    """The best conjunctions for either secret.

    Args:
        views: columns of numbers.
        columns: what they gave for some releases.
        marks: which of those had the secret x.
        ranked: the places of the columns, the best first.
        goal: what an event is wanted for.
    """
    best = sorted(ranked[:_MOST_VIEWS])
    views, columns = [views[place] for place in best], [columns[place][:_MOST_ROWS] for place in best]
    marks = marks[:_MOST_ROWS]
    cuts = [_edges(column) for column in columns]
    kept = [place for place, edges in enumerate(cuts) if edges.size]
    if not kept:
        return []
    views, cuts = [views[place] for place in kept], [cuts[place] for place in kept]
    bins = np.empty((len(kept), marks.size), dtype=np.int16)
    for place, (edges, number) in enumerate(zip(cuts, kept, strict=True)):
        column = columns[number]
        bins[place] = np.searchsorted(edges, column, side="left")  # bin b: edges[b-1] < value <= edges[b]
        bins[place, np.isnan(column)] = -1
    found: list[Rule] = []
    for favoured in (True, False):
        labels = marks if favoured else ~marks
        sizes = (int(np.count_nonzero(labels)), int(labels.size - np.count_nonzero(labels)))
        if min(sizes) == 0:
            continue
        branches = _grown(bins, np.array([edges.size for edges in cuts]), labels, sizes, goal)
        found += [
            Rule(tuple(Condition(views[c], float(cuts[c][b]), up) for c, b, up in branch.conditions))
            for branch in branches[: _MOST_RULES // 2]
        ]
    return found


def _grown(
    bins: NDArray[np.int16], edges: NDArray[np.int64], labels: Booleans, sizes: tuple[int, int], goal: Goal
) -> list[_Branch]:
    """The best branches, each with the conditions that made it better."""
    beam = [_Branch((), np.arange(labels.size), -math.inf)]
    ended: list[_Branch] = []
    for _ in range(_DEPTH):
        longer: dict[tuple[int, int], _Branch] = {}
        for branch in beam:
            here = bins if branch.rows.size == labels.size else bins[:, branch.rows]
            best = _best_conditions(here, labels[branch.rows], edges, sizes, goal)
            better = [each for each in best if each[0] > branch.promise + 1e-9]
            for promise, number, cut, up in sorted(better, reverse=True)[:_BEAM]:
                inside = here[number] > cut if up else (here[number] >= 0) & (here[number] <= cut)
                rows = branch.rows[inside]
                key = (rows.size, int(rows.sum()))  # the same rows by another name are no other event
                if key not in longer or len(branch.conditions) + 1 < len(longer[key].conditions):
                    longer[key] = _Branch((*branch.conditions, (number, cut, up)), rows, promise)
            if not better and branch.conditions:
                ended.append(branch)
        beam = sorted(longer.values(), key=lambda each: -each.promise)[:_BEAM]
        if not beam:
            break
    return sorted([*ended, *beam], key=lambda each: -each.promise)


def _best_conditions(
    places: NDArray[np.int16], inside: Booleans, edges: NDArray[np.int64], sizes: tuple[int, int], goal: Goal
) -> list[tuple[float, int, int, bool]]:
    """The best half-line of bins of every view among some rows: its promise, the view, its cut, whether it is above."""
    width = int(edges.max()) + 1
    counts = np.stack([np.bincount((row + 1) * 2 + inside, minlength=2 * (width + 1))[2:] for row in places])
    low = counts.reshape(len(places), width, 2).cumsum(axis=1)
    high = low[:, -1:] - low
    below = promises(low[:, :-1, 1], low[:, :-1, 0], sizes, goal)
    above = promises(high[:, :-1, 1], high[:, :-1, 0], sizes, goal)
    beyond = np.arange(width - 1) >= edges[:, None]  # bins that a view does not have
    below[beyond] = above[beyond] = -math.inf
    first, second = below.argmax(axis=1), above.argmax(axis=1)
    views = np.arange(len(places))
    least, most = below[views, first], above[views, second]
    return [
        (float(least[view]), view, int(first[view]), False)
        if least[view] >= most[view]
        else (float(most[view]), view, int(second[view]), True)
        for view in range(len(places))
    ]


def _edges(column: Floats) -> Floats:
    """Cuts of a column: quantiles, closer together at both ends, and every common value."""
    usable = np.sort(column[:_FOR_CELLS][~np.isnan(column[:_FOR_CELLS])])
    if not usable.size:
        return usable
    tail = np.geomspace(min(0.02, 20 / usable.size), 0.05, 6)
    shares = np.concatenate([tail, np.linspace(0.05, 0.95, _BINS), 1 - tail])
    edges = usable[np.minimum((shares * usable.size).astype(int), usable.size - 1)]
    values, counts = np.unique(usable, return_counts=True)
    common = values[counts >= max(5, usable.size // 200)][:64]
    before = np.nextafter(common, -math.inf)
    edges = np.unique(np.concatenate([edges, common, before]))
    return np.asarray(edges[(edges < usable[-1]) & np.isfinite(edges)])
