"""Where a question needs noise on one number only: paper 1's mechanism, often universally optimal among such noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from metricdp.errors import LevelError, TooLargeError
from metricdp.metrics import Metric, hamming, records
from metricdp.policies.cells.ordered import IntegerCells
from metricdp.queries.select.totals import LinearPart
from metricdp.queries.single.aggregates import Sum
from metricdp.queries.single.counts import Count
from metricdp.queries.single.plan import AnswerPlan, plan
from metricdp.queries.workloads.allocation import Allocation
from metricdp.queries.workloads.by_group import GroupNoise

__all__ = ["Single", "single"]


@dataclass(frozen=True)
class Single:
    """The one number that needs noise.

    Attributes:
        place: which of the linear queries it is.
        plan: the noise, and whether no other noise on that number is better for anybody.
        shift: what the query lacks beside the number that is drawn.
    """

    place: int
    plan: AnswerPlan
    shift: Fraction = Fraction(0)

    def draw(self, truth: Fraction) -> float:
        """A private answer to the query where this is the true one."""
        return float(Fraction(self.plan.draw(truth + self.shift)) - self.shift)

    def released(self, truths: Sequence[Fraction]) -> list[tuple[float, Callable[[float], float | None] | None]]:
        """All answers, the one with its noise and how far it is off at most; see `workloads.allocation.released`."""
        noisy = (self.draw(truths[self.place]), self.plan.error_bar)
        return [noisy if place == self.place else (float(truth), None) for place, truth in enumerate(truths)]


def single(linear: LinearPart, allocation: Allocation | GroupNoise) -> Single | None:
    """How to answer where one query alone needs noise, and it is a count, or the sum over all records of integers.

    A count moves by 1 when one record does, and for some records that costs no more than the noise hides. So it is
    uniformly sensitive, as `Count` under the Hamming metric is at that level.

    References:
        Paper 1, Theorems 8, 10 and 12.
    """
    noisy = [place for place, scale in enumerate(allocation.scales) if scale]
    if isinstance(allocation, GroupNoise) or len(noisy) != 1 or not np.isfinite(linear.workload.space.distances).all():
        return None  # what is known of the others limits the answers, and the theorem does not speak of that
    (place,), policy = noisy, linear.policy
    amount = linear.amounts[place]
    if amount.kind == "product" or amount.weights is not None:
        return None
    try:
        if amount.kind == "count":
            level = 1 / Fraction(allocation.scales[place])
            return Single(place, plan(Count({1}, values=(0, 1), records=policy.most, nulls=False), hamming() * level))
        assert amount.column is not None
        column, metric = policy.column(amount.column), linear.shares.metric(policy, amount.column)
        sure = policy.absent is None and column.missing is None and not linear.division.columns
        if not sure or not isinstance(column, IntegerCells) or not _answered(metric):
            return None
        low, high = column.bounds
        found = plan(Sum((low, high), records=policy.most), records(metric))
        return Single(place, found, policy.most * amount.centre)
    except (LevelError, TooLargeError):  # more answers than can be counted
        return None


def _answered(metric: Metric) -> bool:
    """Whether the sum of whole numbers is answered under a metric: a distance on the line, or one for all."""
    finite = metric.all_alike and metric.unit.greatest != math.inf
    return finite or (metric.on_line and not metric.moments)
