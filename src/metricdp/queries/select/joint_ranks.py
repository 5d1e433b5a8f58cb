"""Several percentiles of one column, drawn together: one parts the records for the next two.

The middle one of them is drawn first. It parts the records in two, and the others are percentiles of one part or the
other: those of the two parts together spend what one draw does, for a record is in one part only. So the quartiles cost
two draws and not three, and the deciles four and not nine.

Many records can share the value that parts them. So each is put at random on one of many points of its step, and the
finer point that is drawn parts those as well: the lower quartile of records most of which are 0 stays 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from metricdp.exact.choice import uniform_below
from metricdp.queries.select.rank_choice import RankChoice
from metricdp.queries.select.rank_plan import RankPlan
from metricdp.queries.select.rank_scores import RankScores, RankTarget, ValueTally

__all__ = ["JointRanks", "drawn_together", "joint_ranks"]

_FINER, _COARSEST = 1 << 16, 16
_MOST = 1 << 60
"""Points times records are counted in 64 bits."""


@dataclass(frozen=True)
class _Node:
    """A percentile of a part of the records.

    Attributes:
        place: which percentile of all.
        level: how many others part the records before it.
        target: which it is of its part.
        low: the percentile that ends the part below; -1 for none.
        high: that which ends it above; the number of percentiles for none.
    """

    place: int
    level: int
    target: RankTarget
    low: int
    high: int


def _nodes(percents: Sequence[Fraction], low: int, high: int, level: int) -> list[_Node]:
    """The percentiles between two others, the middle one first."""
    if high - low < 2:
        return []
    place = (low + high) // 2
    below = Fraction(0) if low < 0 else percents[low]
    above = Fraction(100) if high == len(percents) else percents[high]
    target = RankTarget(100 * (percents[place] - below) / (above - below))
    own = _Node(place, level, target, low, high)
    return [own, *_nodes(percents, low, place, level + 1), *_nodes(percents, place, high, level + 1)]


@dataclass(frozen=True)
class JointRanks:
    """Percentiles of one column, drawn together.

    Attributes:
        percents: increasing, between 0 and 100.
        places: of the line.
        own: the least distance of two values, or None where nothing limits it; what may be spent on all draws together.
        leaving: the most groups that a record can leave, enter or drop out of, for each unit of what may be spent.
        finer: how many points each place is parted into.

    Guarantee:
        Given the points of all other records, let one record change. A value that changes stays in its part, and moves
        losses there against each other by 2 at most; or it leaves one part and enters another, which moves losses by
        ``2 reach`` in each. So at each level a draw at a rate r spends ``4 reach r`` at most, reach being 1/2 or more,
        and ``2 reach r`` for each group that a record leaves or enters. All levels get an equal share. The points are
        drawn without looking at values, so that what holds given the points holds on the whole.

    References:
        Kaplan, Schnapp, Stemmer 2022, *Differentially Private Approximate Quantiles*, with ranks within the parts.

    >>> joint = JointRanks((Fraction(25), Fraction(50), Fraction(75)), 101, Fraction(3000), Fraction(0))
    >>> joint.draw(ValueTally(np.array([10, 40, 90]), np.array([30, 40, 30])))
    (10, 40, 90)
    """

    percents: tuple[Fraction, ...]
    places: int
    own: Fraction | None
    leaving: Fraction
    finer: int = _FINER

    @cached_property
    def nodes(self) -> tuple[_Node, ...]:
        """The percentiles, each after those that part the records for it."""
        return tuple(_nodes(self.percents, -1, len(self.percents), 0))

    @property
    def levels(self) -> int:
        """How many draws a record is part of."""
        return 1 + max(node.level for node in self.nodes)

    @cached_property
    def rates(self) -> tuple[Fraction, ...]:
        """The rate of each level."""
        found = []
        for level in range(self.levels):
            reach = max(node.target.reach for node in self.nodes if node.level == level)
            limits = [] if self.own is None else [self.own / (4 * reach)]
            limits += [1 / (2 * self.leaving * reach)] if self.leaving else []
            found.append(min(limits) / self.levels)
        return tuple(found)

    @property
    def errors(self) -> tuple[float, ...]:
        """How many records each percentile is off, squared and by 2: by its own draw, and by those beside its part."""
        found = {-1: 0.0, len(self.percents): 0.0}
        for node in self.nodes:
            share = float(node.target.percent / 100)
            parted = (1 - share) ** 2 * found[node.low] + share**2 * found[node.high]
            found[node.place] = float(self.rates[node.level]) ** -2 + parted
        return tuple(found[place] for place in range(len(self.percents)))

    def draw(self, tally: ValueTally) -> tuple[int, ...]:
        """A place for each percentile, in their order."""
        points = tally.values.repeat(tally.counts) * self.finer
        points = np.sort(points + uniform_below(self.finer, len(points)))
        return tuple(point // self.finer for point in self.drawn(points))

    def drawn(self, points: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[int, ...]:
        """A point for each percentile, given those of all records, in increasing order."""
        found = {-1: -1, len(self.percents): self.places * self.finer - 1}
        for node in self.nodes:
            first, last = found[node.low] + 1, found[node.high]
            if first > last:  # the part has no points, and so no records
                found[node.place] = last
                continue
            inside = points[np.searchsorted(points, first) : np.searchsorted(points, last, side="right")]
            values, counts = np.unique(inside - first, return_counts=True)
            scores = RankScores(node.target, last - first + 1)
            choice = RankChoice(scores, self.rates[node.level])
            found[node.place] = first + choice.draw(ValueTally(values, counts.astype(np.int64)))
        return tuple(found[place] for place in range(len(self.percents)))


def joint_ranks(
    plans: Sequence[RankPlan], percents: Sequence[Fraction], own: Fraction | None, leaving: Fraction, records: int
) -> JointRanks | None:
    """The joint draw that takes the place of single ones; None where they are not worse, or none is known.

    See `drawn_together` for the arguments.
    """
    joint = drawn_together(plans, percents, own, leaving, records)
    better = joint is not None and sum(joint.errors) < sum(float(one.choice.rate) ** -2 for one in plans)
    return joint if better else None


def drawn_together(
    plans: Sequence[RankPlan], percents: Sequence[Fraction], own: Fraction | None, leaving: Fraction, records: int
) -> JointRanks | None:
    """The joint draw that spends what single ones do, whether or not it is better; None where none is known.

    Args:
        plans: the single draws, each with an equal share.
        percents: which percentiles they draw.
        own: the least distance of two values, as far as one of the single draws may spend it.
        leaving: the most groups that a record can leave for each unit of that.
        records: the most that there can be.
    """
    many, places = len(plans), plans[0].line.places
    finer = min(_FINER, _MOST // ((records + 1) * places))
    plain = all(one.choice.scores.ramp == 1 for one in plans)
    if many < 2 or not plain or len(set(percents)) < many or finer < _COARSEST:
        return None
    spent = many * _spent(plans[0])
    return JointRanks(tuple(sorted(percents)), places, None if own is None else own * spent, leaving / spent, finer)


def _spent(one: RankPlan) -> Fraction:
    """What of its share a single draw spends on the answer; the rest is for the error bar."""
    return one.choice.rate / (one.choice.rate + one.width.rate)
