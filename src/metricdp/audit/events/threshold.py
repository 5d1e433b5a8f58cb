"""Where to cut a score: the event, or the two events, whose lower bound promises most.

Thresholds are chosen on releases of their own, so no choice here makes a bound invalid. A choice by counts alone is a
choice by luck where two laws are nearly the same. So counts of many values are smoothed (`smoothing`), those of few
values are drawn together (`shrunk`), and what is left to luck is taken off as doubt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.events.smoothing import shrunk, smoothed
from metricdp.exact.arrays import Booleans, Floats

__all__ = ["FEW", "NOTHING", "Cut", "Goal", "best_cut", "best_promise", "cut_of_cells", "hopes"]


_MOST_CUTS = 6000

FEW = 64
"""Cuts up to which a score has few."""


@dataclass(frozen=True)
class Goal:
    """What an event is chosen for.

    Attributes:
        calls: calls of the box that the test will have.
        delta: of the promise.
        doubt: standard errors taken off what was seen, since it is the best of many.
        errors: standard errors that the test's bound will lie below its estimate.
        cells: that a score is cut into where two events are looked for together.
        few: the part of the doubt that is left where a score has few values.
    """

    calls: int
    delta: float = 0.0
    doubt: float = 3.2
    errors: float = 3.3
    cells: int = 60
    few: float = 0.15


@dataclass(frozen=True)
class Cut:
    """A threshold on a score.

    Attributes:
        promise: the lower bound on the logarithm of the ratio that a test may be expected to give.
        threshold: scores from it on are in the event, or up to it, where ``high`` is False.
        high: which side.
        swapped: whether the event is more likely from the second secret.
        chance, other: the event's estimated probabilities, from the favoured secret and from the other. With a
            mirror: how often one of the two events comes from the secret that it speaks for, and from the other.
        error: the standard error of the logarithm of chance / other, as far as it was known when the cut was chosen.
        seen: hits of the event, or of both, among the releases that it was chosen on.
        mirror: a second threshold, on the other side of the score, whose event speaks for the other secret; None
            where there is one event alone.
    """

    promise: float
    threshold: float
    high: bool
    swapped: bool
    chance: float
    other: float
    error: float
    seen: float
    mirror: float | None = None

    def rate(self, share: float) -> float:
        """The share of calls that hit, where ``share`` of the calls have the favoured secret."""
        return self.chance + self.other if self.mirror is not None else share * self.chance + (1 - share) * self.other

    @property
    def noise(self) -> float:
        """The standard error that a test of one call would have, and one of n calls times √n."""
        if self.mirror is not None:
            return math.sqrt(1 / self.chance + 1 / self.other)
        return 1 / math.sqrt(self.chance) + 1 / math.sqrt(self.other)

    def horizon(self, share: float, calls: float) -> int:
        """Hits that so many calls will surely bring.

        A test that plans for more hits than come is worth nothing, and one that plans for a few too few is worth nearly
        as much. So luck is allowed for twice: in the hits to come, and in those that the rate was estimated from.
        """
        expected = self.rate(share) * calls
        return max(10, int(expected - 3 * math.sqrt(expected + expected**2 / max(self.seen, 1.0))))


NOTHING = Cut(-math.inf, 0.0, True, False, 0.0, 0.0, math.inf, 0.0)
"""No cut yet."""


@dataclass(frozen=True)
class _Cells:
    """A row of cells along a score.

    Attributes:
        low, high: the least and the largest value in each cell.
        more: releases of the first secret in each.
        less: releases of the second secret in each.
        totals: releases of each secret altogether, those without a score too.
        exact: whether counts are as they were seen; otherwise noise was taken out of them.
    """

    low: Floats
    high: Floats
    more: Floats
    less: Floats
    totals: tuple[int, int]
    exact: bool = True

    def beyond(self, high: bool) -> tuple[Floats, Floats]:
        """How many of each secret lie in each cell or above, or in it or below."""
        if high:
            return self.more[::-1].cumsum()[::-1], self.less[::-1].cumsum()[::-1]
        return self.more.cumsum(), self.less.cumsum()

    def threshold(self, place: int, high: bool) -> float:
        """A number between a cell and its neighbour, so that the last bit of a value does not matter."""
        value, other = (self.low[place], place - 1) if high else (self.high[place], place + 1)
        if not 0 <= other < len(self.low):
            return float(value)
        beside = self.high[other] if high else self.low[other]
        middle = (float(value) + float(beside)) / 2
        return middle if min(value, beside) < middle < max(value, beside) else float(value)

    def coarser(self, cells: int) -> _Cells:
        """Fewer cells, closely spaced at both ends as far as there are some hundred releases."""
        every = np.cumsum(self.more + self.less)
        tail = np.geomspace(min(0.02, 200 / every[-1]), 0.02, cells // 5)
        shares = np.concatenate([tail, np.linspace(0.02, 0.98, cells * 3 // 5), 1 - tail])
        last = np.unique(np.append(np.searchsorted(every, shares * every[-1]), len(every) - 1))
        last = last[last < len(every)]
        start = np.concatenate([[0], last[:-1] + 1])
        more, less = np.add.reduceat(self.more, start), np.add.reduceat(self.less, start)
        return replace(self, low=self.low[start], high=self.high[last], more=more, less=less)

    def without_noise(self, method: Callable[[Floats, Floats], tuple[Floats, Floats]]) -> _Cells:
        """The same cells with other counts."""
        more, less = method(self.more, self.less)
        return replace(self, more=more, less=less, exact=False)


def best_cut(
    scores: Floats,
    labels: Booleans,
    goal: Goal,
    both_sides: bool = True,
    caution: float = 0.0,
    hints: tuple[float, float] | None = None,
    totals: tuple[int, int] | None = None,
) -> Cut | None:
    """The best of all events "the score is at least c" and "at most c", for either secret; None where there is none.

    Two events together, one for each secret, are tried as well: where both promise the same, they have twice the hits.

    Args:
        scores: of releases.
        labels: which of them had the first secret.
        goal: what an event is wanted for.
        both_sides: whether small scores make events too.
        caution: from 0 to 1, how much of a good look is luck; 1: even neighbours are such by luck alone.
        hints: thresholds for both secrets that the promise suggests; they are looked at alone.
        totals: releases of both secrets that were drawn, where only some of them have a score.
    """
    totals = totals or (int(np.count_nonzero(labels)), int(labels.size - np.count_nonzero(labels)))
    kept = ~np.isnan(scores)
    if min(totals) == 0 or not kept.any():
        return None
    cells = _cells(scores[kept], labels[kept], totals)
    if hints is not None:
        return None if goal.delta else _hinted(cells, goal, hints)
    sides = (True, False) if both_sides else (True,)
    if len(cells.more) <= FEW and caution < 1:
        best = _best_of_few(cells.without_noise(shrunk), replace(goal, few=max(goal.few, caution)), sides)
        found = [] if best is None else [best]
    else:
        found = _one_sided(cells, goal, sides)
        wide = cells.coarser(goal.cells) if len(cells.more) > goal.cells else cells
        if len(wide.more) > 2 and caution < 1:
            wide = wide.without_noise(smoothed)
            found += _one_sided(wide, goal, sides)
        if both_sides and not goal.delta:
            found += _mirrored(wide, goal)
    return max(found, key=lambda cut: cut.promise, default=None)


def cut_of_cells(
    values: Floats, more: Floats, less: Floats, goal: Goal, others: tuple[int, int] = (0, 0)
) -> Cut | None:
    """The best cut of a score that has few values, from how often each came from both secrets; None if there is none.

    ``others`` says how many releases of both secrets had no value.

    >>> cut = cut_of_cells(np.array([0.0, 1.0]), np.array([100.0, 300.0]), np.array([300.0, 100.0]), Goal(1000))
    >>> cut.threshold, cut.mirror
    (0.5, 0.0)
    """
    order = np.argsort(values)
    same = np.flatnonzero(np.diff(values[order], prepend=-math.inf))  # where a value begins
    totals = (int(more.sum()) + others[0], int(less.sum()) + others[1])
    if min(totals) == 0:
        return None
    level = values[order][same]
    counts = [np.add.reduceat(each[order], same) for each in (more, less)]
    cells = _Cells(level, level, counts[0], counts[1], totals).without_noise(shrunk)
    return _best_of_few(cells, goal, (True, False))


def _best_of_few(cells: _Cells, goal: Goal, sides: Sequence[bool]) -> Cut | None:
    few = replace(goal, doubt=goal.few * goal.doubt)
    found = _one_sided(cells, few, sides)
    if len(sides) == 2 and not goal.delta:
        found += _mirrored(cells, few)
    return max(found, key=lambda cut: cut.promise, default=None)


def _cells(scores: Floats, labels: Booleans, totals: tuple[int, int]) -> _Cells:
    """A cell for every value; where there are very many, closely spaced at both ends, where events are rare."""
    ordered, favoured = np.sort(scores), np.sort(scores[labels])
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), ordered.size - 1)
    if ends.size > _MOST_CUTS:
        steps = np.geomspace(1, ends.size, _MOST_CUTS // 3).astype(np.int64)
        even = np.linspace(0, ends.size - 1, _MOST_CUTS // 3).astype(np.int64)
        ends = ends[np.unique(np.concatenate([steps - 1, ends.size - steps, even]))]
    firsts = np.searchsorted(favoured, ordered[ends], side="right").astype(np.float64)
    seconds = ends + 1 - firsts
    start = np.concatenate([[0], ends[:-1] + 1])
    return _Cells(ordered[start], ordered[ends], np.diff(firsts, prepend=0), np.diff(seconds, prepend=0), totals)


def _one_sided(cells: _Cells, goal: Goal, sides: Sequence[bool]) -> list[Cut]:
    """The best event on each side, for each secret."""
    found = []
    for high in sides:
        a, b = cells.beyond(high)
        for swapped in (False, True):
            more, less = (b, a) if swapped else (a, b)
            sizes = cells.totals[::-1] if swapped else cells.totals
            promise = promises(more, less, (sizes[0], sizes[1]), goal, cells.exact)
            best = int(np.argmax(promise))
            if math.isfinite(promise[best]) and more[best] > 0:
                chance, other = float(more[best] / sizes[0]), float((less[best] + 0.5) / (sizes[1] + 1))
                error = math.sqrt(1 / more[best] + 1 / max(float(less[best]), 1.0))
                threshold = cells.threshold(best, high)
                seen = float(more[best] + less[best])
                found.append(Cut(float(promise[best]), threshold, high, swapped, chance, other, error, seen))
    return found


def _mirrored(cells: _Cells, goal: Goal) -> list[Cut]:
    """The best two events, one on each side of the score, each for a secret of its own."""
    totals, size = cells.totals, len(cells.more)
    low, high = (
        [counts / total for counts, total in zip(cells.beyond(up), totals, strict=True)] for up in (False, True)
    )
    places = np.arange(size)
    found = []
    for up in (True, False):  # whether large scores speak for the first secret
        for_first, for_second = (high, low) if up else (low, high)
        right = for_first[0][:, None] + for_second[1][None, :]
        wrong = for_first[1][:, None] + for_second[0][None, :]
        noise_right = for_first[0][:, None] / totals[0] + for_second[1][None, :] / totals[1]
        noise_wrong = for_first[1][:, None] / totals[1] + for_second[0][None, :] / totals[0]
        promise = _pooled(right, wrong, noise_right, noise_wrong, min(totals), goal, cells.exact)
        apart = places[:, None] > places[None, :] if up else places[:, None] < places[None, :]
        promise[~apart] = -math.inf
        one, two = (int(place) for place in np.unravel_index(int(np.argmax(promise)), promise.shape))
        if math.isfinite(promise[one, two]):
            chance, other = float(right[one, two]) / 2, max(float(wrong[one, two]) / 2, 0.5 / min(totals))
            threshold, mirror = cells.threshold(one, up), cells.threshold(two, not up)
            if threshold == mirror:  # of neighbours, which must not share it
                mirror = float(cells.high[two] if up else cells.low[two])
            error = _error(chance, other, totals)
            seen = _seen(chance, other, totals)
            found.append(Cut(float(promise[one, two]), threshold, up, False, chance, other, error, seen, mirror))
    return found


def _hinted(cells: _Cells, goal: Goal, hints: tuple[float, float]) -> Cut | None:
    """Two events whose thresholds nobody chose: they need no doubt."""
    if hints[0] == hints[1]:
        return None
    totals, up = cells.totals, hints[0] > hints[1]
    shares = []
    for hint, high in zip(hints, (up, not up), strict=True):
        inside = cells.low >= hint if high else cells.high <= hint
        shares.append(
            [float(each[inside].sum()) / total for each, total in zip((cells.more, cells.less), totals, strict=True)]
        )
    right, wrong = np.array([shares[0][0] + shares[1][1]]), np.array([shares[0][1] + shares[1][0]])
    noise_right = np.array([shares[0][0] / totals[0] + shares[1][1] / totals[1]])
    noise_wrong = np.array([shares[0][1] / totals[1] + shares[1][0] / totals[0]])
    sure = replace(goal, doubt=0.0)
    promise = float(_pooled(right, wrong, noise_right, noise_wrong, min(totals), sure, True)[0])
    if not math.isfinite(promise):
        return None
    chance, other = float(right[0]) / 2, max(float(wrong[0]) / 2, 0.5 / min(totals))
    error, seen = _error(chance, other, totals), _seen(chance, other, totals)
    return Cut(promise, hints[0], up, False, chance, other, error, seen, hints[1])


def _error(chance: float, other: float, totals: tuple[int, int]) -> float:
    """The standard error of the logarithm of the ratio of right guesses to wrong ones."""
    return math.sqrt((1 / chance + 1 / other) / (2 * min(totals)))


def _seen(chance: float, other: float, totals: tuple[int, int]) -> float:
    """Hits of two events, where the fewer releases of the two secrets count."""
    return 2 * min(totals) * (chance + other)


def _pooled(
    right: Floats, wrong: Floats, noise_right: Floats, noise_wrong: Floats, fewest: int, goal: Goal, exact: bool
) -> Floats:
    """What two events together promise: half of the calls have each secret."""
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.where(noise_right > 0, right**2 / noise_right, 0.0)  # as many as would be as noisy
        errors = np.where(noise_wrong > 0, wrong**2 / noise_wrong, 0.0)
        doubt = _doubt(errors, goal, exact)
        each = np.where(errors > 0, wrong / errors, 1 / fewest)
        surely = right * (hits + doubt**2 / 2 - doubt * np.sqrt(hits + doubt**2 / 4)) / hits
        at_most = each * (errors + doubt**2 / 2 + doubt * np.sqrt(errors + doubt**2 / 4))
        chance, other = right / 2, (wrong + 0.5 / fewest) / 2
        ratio = np.log(surely) - np.log(np.maximum(at_most, each / 2))
        promise = ratio - goal.errors * np.sqrt((1 / chance + 1 / other) / max(goal.calls, 1))
    promise[(hits < 8) | np.isnan(promise)] = -math.inf
    return np.asarray(promise)


def _doubt(errors: Floats, goal: Goal, exact: bool) -> Floats:
    """Standard errors to take off; counts without noise are known better than their size says, unless they are few."""
    part = np.ones_like(errors) if exact else np.minimum(1, 0.4 + 60 / np.maximum(errors, 1))
    return np.asarray(goal.doubt / math.sqrt(2) * part)


def best_promise(more: Floats, less: Floats, goal: Goal) -> float:
    """What the best union of the first or of the last cells promises, for either secret, from the counts of cells."""
    sizes = (int(more.sum()), int(less.sum()))
    if min(sizes) == 0:
        return -math.inf
    up = np.cumsum(more), np.cumsum(less)
    down = sizes[0] - up[0], sizes[1] - up[1]
    return max(
        float(promises(one, two, size, goal).max())
        for one, two, size in (
            (*up, sizes),
            (up[1], up[0], sizes[::-1]),
            (*down, sizes),
            (down[1], down[0], sizes[::-1]),
        )
    )


def hopes(more: Floats, less: Floats, goal: Goal) -> float:
    """What the best of a few labels may promise if luck hid two standard errors of it, from how often each came.

    >>> hopes(np.array([900.0, 5.0]), np.array([900.0, 5.0]), Goal(1_000_000)) > 0.5
    True
    """
    chances = [(counts + 0.5) / (counts.sum() + 1) for counts in (more, less)]
    seen = np.abs(np.log(chances[0] / chances[1])) + 2 * np.sqrt(1 / (more + 0.5) + 1 / (less + 0.5))
    noise = goal.errors * (1 / np.sqrt(chances[0]) + 1 / np.sqrt(chances[1])) / math.sqrt(max(goal.calls, 1))
    return float((seen - noise).max())


def promises(more: NDArray[Any], less: NDArray[Any], sizes: tuple[int, int], goal: Goal, exact: bool = True) -> Floats:
    """The lower bounds on log-ratios that tests of events may be expected to give, from the events' counts."""
    doubt = _doubt(np.asarray(less, dtype=np.float64), goal, exact)
    surely = more + doubt**2 / 2 - doubt * np.sqrt(more + doubt**2 / 4)
    at_most = less + doubt**2 / 2 + doubt * np.sqrt(less + doubt**2 / 4)
    at_most = np.maximum(at_most, 0.5)
    chance, other = np.minimum(more / sizes[0], 1.0), np.minimum((less + 0.5) / sizes[1], 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(np.maximum(surely / sizes[0] - goal.delta, 0)) - np.log(at_most / sizes[1])
        promise = ratio - goal.errors * (1 / np.sqrt(chance) + 1 / np.sqrt(other)) / math.sqrt(max(goal.calls, 1))
    promise[more < 8] = -math.inf
    return np.asarray(promise)
