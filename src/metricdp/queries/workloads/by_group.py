"""Noise for totals by group, for many groups: from the structure of the cells, without a matrix of all queries."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from metricdp.exact.balls import Enclosure, float_above
from metricdp.exact.progress import Stopwatch
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.queries.workloads._limits import Places
from metricdp.queries.workloads.allocation import noise_for
from metricdp.queries.workloads.group_totals import GroupTotals

__all__ = ["GroupNoise", "allocate_groups"]

_MOST_SOLVED = 700
"""More scales than this are not told apart: all groups share one for each measure."""


@dataclass(frozen=True, eq=False)
class GroupNoise:
    """Noise for totals by group, proved.

    Attributes:
        totals: what is answered.
        by_kind: the scale of each kind of groups, for each measure; 0 where no noise is needed.
        gap: how far the weighted sum of squared errors is above the least at most, relatively.
        tightest: what is spent of a distance at most, enclosed; it is not above 1.
        witness: two cells where it is; None where nothing is spent.

    Guarantee:
        For all cells i, j: ``sum_k |Q[k, i] - Q[k, j]| / c_k <= d(i, j)``, decided exactly for one of every pairs that
        can be exchanged. A record adds to one group, so a step between two groups changes the totals of both and of
        no other: for counts ``1 / c_g + 1 / c_h <= d``, and 2 / d is the best scale where all groups are alike.
    """

    totals: GroupTotals
    by_kind: tuple[tuple[float, ...], ...]
    gap: float
    tightest: Enclosure
    witness: tuple[Any, Any] | None

    @cached_property
    def scales(self) -> tuple[float, ...]:
        """The scales of the totals that were asked for, in order."""
        groups, measures = np.array(self.totals.asked, dtype=np.int64).T
        return tuple(np.array(self.by_kind)[self.totals.kinds_of_groups[groups], measures].tolist())

    @cached_property
    def _largest(self) -> list[list[Fraction]]:
        return [self.totals.largest(measure) for measure in range(len(self.totals.measures))]

    def mechanism(self, place: int, total: int) -> Mechanism | None:
        """The noise of one total among ``total`` records; None where none is needed. See `Allocation.mechanism`."""
        group, measure = self.totals.asked[place]
        return noise_for(self.scales[place], self._largest[measure][group] * max(total, 1))


def allocate_groups(totals: GroupTotals, *, gap: float = 1e-6, watch: Stopwatch | None = None) -> GroupNoise:
    """The noise with the least mean squared error for totals by group, each beside the most that one record adds.

    Groups that can be exchanged have one scale, found by the program of `allocate` with one variable for all of them.
    Where there are still too many, all groups share one scale for each measure, and the gap says what that costs.

    Raises:
        ImpossibleError: groups tell cells apart that are at distance zero.
        TooLargeError: more steps between cells than can be looked at.

    >>> import metricdp as mdp
    >>> from metricdp.queries.workloads.group_totals import Axis, GroupMeasure
    >>> ages, sexes = Axis(range(3), mdp.metrics.absolute()), Axis("FM", 1 * mdp.metrics.discrete())
    >>> noise = allocate_groups(GroupTotals((ages, sexes), np.arange(6).reshape(3, 2), (GroupMeasure(),)))
    >>> [round(scale, 3) for scale in noise.scales]
    [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    """
    limits = totals.steps.limits()
    kinds, measures = int(totals.kinds_of_groups.max(initial=-1)) + 1, len(totals.measures)
    sizes = np.bincount(totals.kinds_of_groups, minlength=kinds)
    one_of = np.unique(totals.kinds_of_groups, return_index=True)[1].tolist()
    largest = [totals.largest(measure) for measure in range(measures)]
    weights = [
        Fraction(int(sizes[kind])) / (largest[measure][one_of[kind]] or 1) ** 2
        for kind in range(kinds)
        for measure in range(measures)
    ]
    noisy = np.unique(limits.variables)
    scales = np.zeros(kinds * measures)
    if not len(noisy):
        return GroupNoise(totals, _rows_of(scales, measures), 0.0, Enclosure(Fraction(0), Fraction(0)), None)
    inner, chosen = limits.renumbered(noisy), [weights[place] for place in noisy.tolist()]
    if len(noisy) <= _MOST_SOLVED:
        best = inner.best(chosen, gap=gap, watch=watch)
        scales[noisy], bound = best.scales, best.bound
    else:
        of_measure = noisy % measures
        shared, which = inner.merged(of_measure, measures)
        summed = [
            sum((w for w, m in zip(chosen, of_measure, strict=True) if m == n), Fraction(0)) for n in range(measures)
        ]
        used = np.unique(of_measure)
        best = shared.renumbered(used).best([summed[n] for n in used.tolist()], gap=gap, watch=watch)
        by_measure = dict(zip(used.tolist(), best.scales, strict=True))
        scales[noisy] = [by_measure[n] for n in of_measure.tolist()]
        bound = inner.bound(*_spread(best.limits, best.multipliers, which), chosen)
    spent = inner.spent(scales[noisy].tolist())
    if not spent.part.upper <= 1:
        raise ArithmeticError("a limit is broken after all: this cannot be")
    value = sum((w * Fraction(c) ** 2 for w, c in zip(chosen, scales[noisy].tolist(), strict=True)), Fraction(0))
    off = float_above((value - Fraction(max(bound, 0.0))) / value)
    witness = None if spent.limit is None else totals.steps.pair(spent.limit)
    return GroupNoise(totals, _rows_of(scales, measures), max(off, 0.0), spent.part, witness)


def _rows_of(scales: Any, measures: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in np.asarray(scales).reshape(-1, measures).tolist())


def _spread(limits: Places, multipliers: Any, which: Places) -> tuple[Places, Any]:
    """Multipliers of merged limits, shared evenly among those that were merged."""
    share = np.zeros(int(which.max()) + 1)
    share[limits] = multipliers
    spread = (share / np.maximum(np.bincount(which), 1))[which]
    return np.flatnonzero(spread), spread[spread > 0]
