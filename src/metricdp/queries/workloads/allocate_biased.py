"""Answers with a little bias and less noise: the paper's pre-processing (Q', c), by block descent.

What is released is A x with noise of scales c, where A = c Q' need not be Q. Over all databases of n records the
expected squared error is at most

    n² max_i |column i of (A - Q)|² + 2 |c|²      with   sum_k |A[k, i] - A[k, j]| / c_k <= d(i, j).

One query at a time: with what the others leave of each budget, e(i, j), and a limit h_i on its own bias in cell i,
there are coefficients a with ``|a_i - a_j| <= c e*(i, j)``, e* the lengths of shortest paths in e, exactly when
``|q_i - q_j| <= c e*(i, j) + h_i + h_j``: the greatest and the least such a are known (McShane). So the least c for
each limit is known too, and the best limit is found by a search on one convex function. Then all scales are allocated
anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import float_above
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.queries.workloads._pairs import PairBudgets
from metricdp.queries.workloads._strategies import certified
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.allocation import Allocation, verdict_of
from metricdp.queries.workloads.workload import Workload

__all__ = ["allocate_biased"]


_SEARCHES = 60
_GOLDEN = (5**0.5 - 1) / 2
_LEAST_GAIN = 1e-4


def allocate_biased(
    workload: Workload,
    total: int,
    *,
    sweeps: int = 6,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Allocation:
    """Scales, and coefficients near the workload's own, with less squared error on n records; never with more.

    The bias pays where noise is large beside n: with two cells at distance d, the error falls by the factor
    ``n² d² / (8 + n² d²)``. The problem is not convex; what is found is a good point, and proved private.

    Args:
        workload: the queries and the universe's metric.
        total: n, the number of records, which is public. The promise holds for any other number too; the bound is
            for this one.
        sweeps: how often to go through all queries at most; ends earlier when little is gained.
        gap: of the allocations in between, see `allocate`.
        time_limit: seconds after which the best so far is returned.
        progress: told after each query the bound on the squared error, a float that proves nothing.

    Returns:
        An `Allocation` with its `answered` workload, `squared_error(total)`, and as ``value`` that bound divided by
        the number of queries. Where bias gains nothing, the workload itself is answered.

    References:
        Paper 4, section 3.1, Equation 6, Theorem 2 and Appendix B; the bound is sharpened.

    >>> import metricdp as mdp
    >>> space = mdp.Space(["ill", "well"], 0.125 * mdp.metrics.discrete())
    >>> workload = Workload([[1, 0]], space)
    >>> allocate(workload).squared_error(16), round(allocate_biased(workload, 16).squared_error(16), 6)
    (128.0, 42.666667)
    """
    if not isinstance(workload, Workload):
        raise ArgumentError(f"a Workload is needed here, not {type(workload).__name__}: Workload(Q, space) makes one")
    if isinstance(total, bool) or not isinstance(total, int) or total < 1:
        raise ArgumentError("the number of records is a positive integer")
    watch = Stopwatch(time_limit, progress)
    plain = replace(allocate(workload, gap=gap, time_limit=time_limit), method="biased", bound=None)
    best = plain
    noisy = np.flatnonzero(np.array(plain.scales) > 0).tolist()
    state = _State(workload, plain, total, noisy)
    for sweep in range(1, sweeps + 1):
        before = best.squared_error(total)
        for place, query in enumerate(noisy, start=1):
            state.improve(query)
            watch.tell((sweep - 1) * len(noisy) + place, sweeps * len(noisy), unit="queries", best=state.value())
            if watch.over:
                break
        found = state.allocated(gap)
        if found.squared_error(total) < best.squared_error(total):
            best = found
        if watch.over or best.squared_error(total) > before * (1 - _LEAST_GAIN):
            break
        state = _State(workload, best, total, noisy)
    return replace(best, value=float_above(Fraction(best.squared_error(total)) / len(workload)))


class _State:
    """Coefficients and scales on their way, in floats."""

    def __init__(self, workload: Workload, allocation: Allocation, total: int, noisy: list[int]) -> None:
        self.workload, self.total, self.noisy = workload, total, noisy
        self.asked = workload.matrix
        self.answered = allocation.answered.matrix.copy()
        self.scales = np.array(allocation.scales)
        self.distances = workload.space.distances

    def value(self) -> float:
        """The bound on the squared error."""
        bias = ((self.answered - self.asked) ** 2).sum(axis=0).max()
        return float(self.total**2 * bias + 2 * (self.scales**2).sum())

    def improve(self, query: int) -> None:
        """The best coefficients and scale of one query, the others fixed."""
        row = self.asked[query]
        left = closed(self._left_by_others(query))
        others = ((self.answered - self.asked) ** 2).sum(axis=0) - (self.answered[query] - row) ** 2
        apart = np.abs(np.subtract.outer(row, row))

        def scale_at(limit: float) -> float:
            room = np.sqrt(np.maximum(limit - others, 0))
            need = apart - np.add.outer(room, room)
            steep = need > 1e-12 * (1 + apart)
            if bool((steep & (left <= 0)).any()):
                return np.inf
            return float(np.divide(need, left, out=np.zeros_like(need), where=steep).max())

        def value_at(limit: float) -> float:
            return float(self.total**2 * limit + 2 * scale_at(limit) ** 2)

        least = float(others.max())
        limit = _least(value_at, least, least + float(np.ptp(row)) ** 2 / 4)
        scale = scale_at(limit)
        rest = 2 * float((np.delete(self.scales, query) ** 2).sum())
        if value_at(limit) + rest < self.value():
            room = np.sqrt(np.maximum(limit - others, 0))
            with np.errstate(invalid="ignore"):
                reach = np.where(np.isinf(left), np.inf, scale * left)
            upper, lower = (row + room + reach).min(axis=1), (row - room - reach).max(axis=1)
            self.answered[query], self.scales[query] = (upper + lower) / 2, scale

    def _left_by_others(self, query: int) -> Floats:
        left = self.distances.copy()
        for other, scale in enumerate(self.scales):
            if other != query and scale > 0:
                row = self.answered[other]
                left -= np.abs(np.subtract.outer(row, row)) / scale
        return np.maximum(left, 0)

    def allocated(self, gap: float) -> Allocation:
        """The coefficients as they are, with the best scales for them, certified."""
        rows = [
            self.answered[query].tolist() if query in self.noisy else list(self.workload.entries[query])
            for query in range(len(self.workload))
        ]
        answered = Workload(rows, self.workload.space, self.workload.names)
        found = allocate(answered, gap=gap)
        budgets = PairBudgets(answered)
        scales = tuple(certified(budgets, found.scales))
        verdict = verdict_of(budgets, scales)
        return replace(found, workload=self.workload, scales=scales, method="biased", bound=None, verdict=verdict)


def closed(limits: Floats) -> Floats:
    """The lengths of shortest paths, where limits are the lengths of steps."""
    lengths = limits.copy()
    for middle in range(len(lengths)):
        np.minimum(lengths, lengths[:, middle, np.newaxis] + lengths[middle], out=lengths)
    return lengths


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a convex function is least, by golden section; never worse than at either end."""
    ends = [low, high]
    one, two = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_one, at_two = function(one), function(two)
    for _ in range(_SEARCHES):
        if at_one <= at_two:
            high, two, at_two = two, one, at_one
            one = high - _GOLDEN * (high - low)
            at_one = function(one)
        else:
            low, one, at_one = one, two, at_two
            two = low + _GOLDEN * (high - low)
            at_two = function(two)
    return min([*ends, (low + high) / 2], key=function)
