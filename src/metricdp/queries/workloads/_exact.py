"""The best scales for a workload: the convex program in r = 1/c, its limits met one after another, with a bound.

    minimise  sum_k w_k c_k², sum_k w_k c_k or prod_k c_k^w_k
    with      sum_k |Q[k, i] - Q[k, j]| r_k <= d(i, j)  for all i < j.

Of the N (N - 1) / 2 limits a few matter. Each round solves the program with the limits at hand, looks at all pairs,
and takes in those that are broken most. Multipliers of a few limits bound the program with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from flint import arb

from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, float_below, precision
from metricdp.exact.progress import Stopwatch
from metricdp.programs.convex import Inverses, InverseSquares, Logarithms, Objective, best_shares
from metricdp.queries.workloads._limits import sum_of_roots
from metricdp.queries.workloads._pairs import PairBudgets

__all__ = ["Added", "Best", "best_rates", "proved_bound"]

_MOST_ROUNDS = 400
_BITS = 128
_BROKEN = 1e-13
_MOST_EACH = 16

Pair = tuple[int, int]


Added = Literal["squares", "scales", "logarithms"]
_OBJECTIVES: dict[Added, tuple[Callable[[Floats], Objective], int]] = {
    "squares": (InverseSquares, 2),
    "scales": (Inverses, 1),
    "logarithms": (Logarithms, 0),
}


class Best(NamedTuple):
    """Rates that break no limit but by rounding, and multipliers that bound all others.

    Attributes:
        rates: r = 1/c.
        pairs: the limits that matter.
        multipliers: one for each of them.
    """

    rates: Floats
    pairs: list[Pair]
    multipliers: Floats


def best_rates(
    budgets: PairBudgets, weights: Floats, added: Added, start: Floats, gap: float, watch: Stopwatch
) -> Best:
    """The rates that minimise the weighted sum of c², of c or of ln c, to a gap.

    Args:
        budgets: the pairs; every query needs noise.
        weights: positive.
        added: what is added: "squares", "scales" or "logarithms".
        start: rates that keep all limits, or nearly.
        gap: relative, of the mean of c², or of the geometric mean of c.
        watch: the time limit, after which the best so far is returned, and whom to tell.
    """
    own, first = budgets.own_scales()
    kind, power = _OBJECTIVES[added]
    shares = weights * own**power
    objective = kind(shares / shares.sum())
    limits = _Limits(budgets, own)
    limits.add(first)
    limits.add(_broken(budgets, start, 1 - 1e-9, 2 * len(own)))
    x = start * own
    best, proved = x / max(1.0, _most(budgets, start)), -np.inf
    kept, multipliers = list(limits.pairs), np.zeros(len(limits.pairs))
    for round_ in range(1, _MOST_ROUNDS + 1):
        found = best_shares(objective, limits.rows, None)
        bound = objective.bound(limits.rows.T @ found.multipliers, float(found.multipliers.sum()))
        broken, most = _broken_and_most(budgets, found.x / own, 1 + _BROKEN, 4 * len(own))
        inside = found.x / max(most, 1.0)
        if objective.value(inside) < objective.value(best):
            best = inside
        if bound > proved:
            proved, multipliers, kept = bound, found.multipliers, list(limits.pairs)
        off = objective.excess(objective.value(best), proved)
        watch.tell(round_, unit="rounds", best=objective.value(best), bound=proved)
        if watch.over or off <= gap / 8 or not limits.add(broken):
            break
    return Best(best / own, kept, multipliers)


class _Limits:
    """The limits at hand: pairs, and rows ``|Q[k, i] - Q[k, j]| / (own_k d(i, j))``, all different."""

    def __init__(self, budgets: PairBudgets, own: Floats) -> None:
        self.budgets, self.own = budgets, own
        self.pairs: list[Pair] = []
        self.rows = np.zeros((0, len(own)))
        self._known: set[bytes] = set()

    def add(self, pairs: Sequence[Pair]) -> int:
        """Take in pairs whose rows are new, and count them."""
        if not pairs:
            return 0
        rows = self.budgets.rows_of(pairs) / self.own
        new = []
        for place, row in enumerate(rows):
            key = row.tobytes()
            if key not in self._known:
                self._known.add(key)
                new.append(place)
        self.pairs += [pairs[place] for place in new]
        self.rows = np.vstack([self.rows, rows[new]])
        return len(new)


def _broken_and_most(budgets: PairBudgets, rates: Floats, above: float, count: int) -> tuple[list[Pair], float]:
    """For every cell the pairs that are spent most, of those above a part; the first ``count``, and the most of all."""
    each = max(1, min(_MOST_EACH, -(-count // len(budgets.places))))
    parts, pairs = [], []
    for block in budgets.parts(rates):
        width = block.loads.shape[1]
        last = min(each, width)
        columns = np.argpartition(block.loads, width - last, axis=1)[:, width - last :]
        parts.append(np.take_along_axis(block.loads, columns, axis=1).ravel())
        rows = np.repeat(np.arange(block.rows.start, block.rows.stop), last)
        pairs.append(np.stack([rows, columns.ravel() + block.columns.start], axis=1))
    part, places = np.concatenate(parts), np.sort(np.concatenate(pairs), axis=1)
    order = np.argsort(-part, kind="stable")[: 2 * count]
    broken = dict.fromkeys((i, j) for i, j in places[order[part[order] > above]].tolist())
    return list(broken)[:count], float(part.max())


def _broken(budgets: PairBudgets, rates: Floats, above: float, count: int) -> list[Pair]:
    return _broken_and_most(budgets, rates, above, count)[0]


def _most(budgets: PairBudgets, rates: Floats) -> float:
    return max(float(block.loads.max()) for block in budgets.parts(rates))


def proved_bound(budgets: PairBudgets, best: Best, weights: Sequence[Fraction], added: Added) -> float:
    """A number below the weighted sum of c², c or ln c, for all scales that keep the limits: rounded down in balls.

    The formulas of `metricdp.programs.convex`, with exact differences and enclosed distances.
    """
    workload, places = budgets.workload, budgets.places
    used = [(pair, float(y)) for pair, y in zip(best.pairs, best.multipliers, strict=True) if y > 0]
    if not used:
        return -np.inf
    rows = [workload.integers(query) for query in range(len(workload))]
    with precision(_BITS):
        # The program's multipliers belong to limits divided by their distances.
        shares = [ball(y) / ball(Fraction(budgets.distance(pair).upper)) for pair, y in used]
        total = sum((ball(y) for _, y in used), start=arb(0))
        ends = [(places[pair[0]], places[pair[1]]) for pair, _ in used]
        sums = []
        for row, denominator in rows:
            terms = (
                share * abs(row[i] - row[j]) for share, (i, j) in zip(shares, ends, strict=True) if row[i] != row[j]
            )
            sums.append(sum(terms, start=arb(0)) / denominator)
        weighed = [ball(weight) for weight in weights]
        if added != "scales":
            return sum_of_roots(sums, total, weighed, added == "logarithms")
        root = sum(((w * value).sqrt() for w, value in zip(weighed, sums, strict=True)), start=arb(0))
        return float_below(Enclosure.of(root * root / total).lower)
