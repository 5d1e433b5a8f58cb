"""The paper's three ways to share a budget among queries, and the fairest one; in floats, for `certified` to prove."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats
from metricdp.exact.balls import float_above
from metricdp.queries.workloads._pairs import PairBudgets

__all__ = ["certified", "equal_scales", "fairest_rates", "polished", "proportional_rates", "shared_scales"]

_SPENT = 1e-12
"""Relative: a budget that is used up to this counts as used up."""

_NEAR = 1e-9
_MOST_EXACT = 64

Scales = list[float]
Flags = NDArray[np.bool_]


def equal_scales(budgets: PairBudgets) -> Scales:
    """Strategy 1: every query has the K-th part of every budget, ``c[k] = K max |Q[k, i] - Q[k, j]| / d(i, j)``."""
    queries = len(budgets.workload)
    ones = [[Fraction(int(query == other)) for other in range(queries)] for query in range(queries)]
    alone = (budgets.part(pair, one) for pair, one in zip(budgets.own_scales()[1], ones, strict=True))
    return [float_above(queries * part) for part in alone]


def shared_scales(budgets: PairBudgets) -> Scales:
    """Strategy 2: one scale for all queries, the largest of ``sum_k |Q[k, i] - Q[k, j]| / d(i, j)``."""
    queries = len(budgets.workload)
    return [float_above(budgets.greatest_part([Fraction(1)] * queries).part.upper)] * queries


def proportional_rates(budgets: PairBudgets) -> Floats:
    """Strategy 3, Algorithm 3: in rounds, each budget is shared in proportion to what the queries need alone.

    In every round some pair is used up, and with it at least one query: there are at most K rounds.
    """
    left = budgets.pairs.distances.copy()
    limited = budgets.pairs.constrained
    rates = np.zeros(len(budgets.workload))
    active = np.ones(len(rates), dtype=bool)
    for _ in range(2 * len(rates)):
        if not active.any():
            break
        with np.errstate(divide="ignore"):
            inverse = np.where(limited, 1 / np.maximum(left, _SPENT * budgets.pairs.distances), 0.0)
        own, used_up = _alone(budgets, inverse, left, active)
        active &= ~used_up
        own[used_up] = np.inf
        # c_k = c'_k max (sum_l |..|_l / c'_l) / d over the pairs where query k differs: steps 2 and 3 in one.
        share = np.divide(1.0, own, out=np.zeros_like(own), where=active)
        most = np.zeros(len(rates))
        for block in budgets.blocks(share):
            part = block.loads * inverse[block.rows, block.columns]
            for query in np.flatnonzero(active):
                row = budgets.shifted[query]
                differs = row[block.rows, np.newaxis] != row[block.columns]
                most[query] = max(most[query], float(part[differs].max(initial=0.0)))
        gained = np.divide(share, most, out=np.zeros_like(share), where=active & (most > 0))
        rates += gained
        for block in budgets.blocks(gained):
            left[block.rows, block.columns] -= block.loads
        np.maximum(left, 0, out=left)
    return rates


def _alone(budgets: PairBudgets, inverse: Floats, left: Floats, active: Flags) -> tuple[Floats, Flags]:
    """Step 1: what each active query needs alone of what is left, and which ones get nothing more."""
    own, used_up = np.full(len(active), np.inf), np.zeros(len(active), dtype=bool)
    spent = budgets.pairs.constrained & (left <= _SPENT * budgets.pairs.distances)
    for query in np.flatnonzero(active):
        only = np.zeros(len(active))
        only[query] = 1.0
        own[query] = 0.0
        for block in budgets.blocks(only):
            own[query] = max(own[query], float((block.loads * inverse[block.rows, block.columns]).max()))
            used_up[query] |= bool((spent[block.rows, block.columns] & (block.loads > 0)).any())
    return own, used_up


def fairest_rates(budgets: PairBudgets, weights: Floats) -> Floats:
    """The least worst error, then the least second worst, and so on: rates ``t · weights`` that rise together.

    When a pair is used up, the queries that differ there stop, and the others rise on.
    """
    rates = np.zeros(len(budgets.workload))
    active = np.ones(len(rates), dtype=bool)
    while active.any():
        rising = np.where(active, weights, 0.0)
        room = np.inf
        tight: list[Floats] = []
        for block, fixed in zip(budgets.blocks(rising), budgets.blocks(rates), strict=True):
            distances = budgets.pairs.distances[block.rows, block.columns]
            open_ = (block.loads > 0) & budgets.pairs.limited[block.rows, block.columns]
            with np.errstate(divide="ignore", invalid="ignore"):
                limits = np.where(open_, np.maximum(distances - fixed.loads, 0) / block.loads, np.inf)
            room = min(room, float(limits.min()))
            near = np.nonzero(limits <= room * (1 + _NEAR))
            places = np.stack([near[0] + block.rows.start, near[1] + block.columns.start])
            tight.append(np.vstack([limits[near], places]))
        pairs = np.concatenate(tight, axis=1)
        pairs = pairs[1:, pairs[0] <= room * (1 + _NEAR)].astype(np.int64)
        rates += room * rising
        stops = np.zeros(len(rates), dtype=bool)
        for query in np.flatnonzero(active):
            row = budgets.shifted[query]
            stops[query] = bool((row[pairs[0]] != row[pairs[1]]).any())
        active &= ~stops
    return rates


def polished(budgets: PairBudgets, rates: Floats, fixed: Sequence[float | None] = ()) -> Scales:
    """Scales no larger than they need be: each query in turn takes all that the others leave, exactly.

    Pairs that limit a query are found in floats, and the nearest of them evaluated exactly; `certified` proves the
    whole. So where the best scale of a query is a float, such as 1 / ε, it is found and not approached. Scales that are
    ``fixed`` stay.
    """
    fixed = fixed or [None] * len(rates)
    scales = [1 / float(rate) if given is None else given for rate, given in zip(rates, fixed, strict=True)]
    exact = [1 / Fraction(scale) for scale in scales]
    slack = budgets.pairs.distances.copy()
    for block in budgets.blocks(rates):
        slack[block.rows, block.columns] -= block.loads
    for query in (query for query, given in enumerate(fixed) if given is None):
        others = budgets.spending([Fraction(0) if other == query else rate for other, rate in enumerate(exact)])
        mine = budgets.spending([Fraction(int(other == query)) for other in range(len(exact))])
        most = min(
            (Fraction(budgets.distance(pair).lower) - others.between(pair)) / mine.between(pair)
            for pair in _limiting(budgets, query, slack)
        )
        if most <= 0:
            continue
        scale = float_above(1 / most)
        change = float(1 / Fraction(scale) - exact[query])
        scales[query], exact[query] = scale, 1 / Fraction(scale)
        only = np.zeros(len(scales))
        only[query] = 1.0
        for block in budgets.blocks(only):
            slack[block.rows, block.columns] -= change * block.loads
    return scales


def _limiting(budgets: PairBudgets, query: int, slack: Floats) -> list[tuple[int, int]]:
    """The pairs that let a query's rate rise least."""
    only = np.zeros(len(budgets.workload))
    only[query] = 1.0
    found = []
    for block in budgets.blocks(only):
        limited = (block.loads > 0) & budgets.pairs.limited[block.rows, block.columns]
        limits = np.full(block.loads.shape, np.inf)
        np.divide(slack[block.rows, block.columns], block.loads, out=limits, where=limited)
        flat = limits.ravel()
        places = np.argpartition(flat, _MOST_EXACT)[:_MOST_EXACT] if flat.size > _MOST_EXACT else np.arange(flat.size)
        row, column = np.divmod(places, block.loads.shape[1])
        found.append(np.vstack([flat[places], row + block.rows.start, column + block.columns.start]))
    near = np.concatenate(found, axis=1)
    near = near[:, np.isfinite(near[0])]
    near = near[:, np.argsort(near[0], kind="stable")[:_MOST_EXACT]]
    places = np.sort(near[1:].astype(np.int64), axis=0).T.tolist()
    return sorted({(i, j) for i, j in places})


def certified(budgets: PairBudgets, scales: Sequence[float], shrink: bool = False) -> Scales:
    """Scales that spend no pair beyond its distance, proved: the given ones, raised together where they fell short.

    Args:
        budgets: the pairs and their distances.
        scales: in the right proportions; 0 for a query without noise.
        shrink: whether to lower them, too, where no pair is used up.
    """
    result, grown = list(scales), Fraction(1)
    while True:
        tightest = budgets.greatest_part([1 / Fraction(scale) if scale else Fraction(0) for scale in result])
        part = Fraction(tightest.part.upper)
        if tightest.pair is None or (part <= 1 and not shrink):
            return result
        result = [float_above(Fraction(scale) * part * grown) for scale in result]
        shrink, grown = False, grown + Fraction(1, 1 << 50)  # each time with more to spare, so that it ends
