"""How noise is shared among the queries of a workload: the paper's three strategies, and the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from flint import arb

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball, enclose, float_above, float_below
from metricdp.exact.level import rational
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.queries.workloads._exact import Added, best_rates, proved_bound
from metricdp.queries.workloads._pairs import PairBudgets
from metricdp.queries.workloads._stepped import stepped_limits
from metricdp.queries.workloads._strategies import (
    certified,
    equal_scales,
    fairest_rates,
    polished,
    proportional_rates,
    shared_scales,
)
from metricdp.queries.workloads.allocation import Allocation, Method, ObjectiveName, verdict_of
from metricdp.queries.workloads.workload import Workload

__all__ = ["allocate"]

Scales = list[float]
Weights = Sequence[Fraction]

_MANY = 60
"""More queries than this are not compared with the paper's strategies, where the steps between cells are known."""

_METHODS = ("exact", "proportional", "shared", "equal")
_ADDED: dict[str, Added] = {"mean": "squares", "absolute": "scales", "geometric": "logarithms"}


def allocate(
    workload: Workload,
    method: Method = "exact",
    *,
    objective: ObjectiveName = "mean",
    weights: Sequence[Any] | Mapping[str, Any] | None = None,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Allocation:
    """Scales of Laplace noise for all queries, such that no two cells are told apart beyond their distance.

    For all cells i, j: ``sum_k |Q[k, i] - Q[k, j]| / c_k <= d(i, j)``. In r = 1/c these limits are linear, and the mean
    squared error ``sum_k w_k 2 / r_k²`` is convex: there is one best answer, and "exact" finds it, with a proved bound.

    Args:
        workload: the queries and the universe's metric.
        method: "exact", the best for the objective; or what the paper does, whatever the objective: "equal" (strategy
            1: the K-th part of every budget for each query), "shared" (strategy 2: one scale for all),
            "proportional" (strategy 3, Algorithm 3).
        objective: "mean" of the squared errors, "absolute" for the mean of the absolute ones, "geometric" mean of the
            scales, or the "worst" scale; then also the second worst, and so on.
        weights: positive, for each query in order or by its name; all alike where not given. For "worst" the largest
            of weight times scale counts.
        gap: for "exact", how far the objective may be above the bound, relatively; it is mostly far nearer.
        time_limit: seconds after which the best so far is returned, with its own, wider gap.
        progress: told after each round the value and its bound, as floats that prove nothing.

    Raises:
        ImpossibleError: a query tells two cells apart that are at distance zero.

    References:
        Paper 4, Equations 4 and 6 and Theorem 2 (2) with the L1 norm, for "absolute"; section 4.2 and Algorithm 3,
        which calls the problem non-convex and does not reach its optimum.

    >>> import metricdp as mdp
    >>> d = mdp.metrics.attributes({"native": 0.25, "sex": 0.5})
    >>> space = mdp.Space([("yes", "m"), ("yes", "f"), ("no", "m"), ("no", "f")], d)
    >>> allocation = allocate(Workload([[0, 0, 1, 1], [1, 0, 1, 0]], space, names=["not native", "male"]))
    >>> allocation.scales, allocation.value, allocation.gap < 1e-9
    ((4.0, 2.0), 20.0, True)
    """
    if not isinstance(workload, Workload):
        raise ArgumentError(f"allocate takes a Workload, not {type(workload).__name__}: Workload(Q, space) makes one")
    if method not in _METHODS:
        raise ArgumentError(f"the method is one of {', '.join(_METHODS)}")
    if objective not in get_args(ObjectiveName):
        raise ArgumentError(f"the objective is one of {', '.join(get_args(ObjectiveName))}")
    if not 0 < gap < 1:
        raise ArgumentError("a gap lies between 0 and 1")
    weighed, watch = read_weights(weights, workload), Stopwatch(time_limit, progress)
    budgets = PairBudgets(workload)
    noisy = np.flatnonzero(budgets.noisy).tolist()
    scales, bound = [0.0] * len(workload), None if method != "exact" else 0.0
    if noisy:
        inner = budgets if len(noisy) == len(workload) else PairBudgets(_part(workload, noisy))
        _refuse_hairs(inner)
        inner_weights = [weighed[query] for query in noisy]
        found, bound = _scales(inner, method, objective, inner_weights, sum(weighed, Fraction(0)), gap, watch)
        for query, scale in zip(noisy, found, strict=True):
            scales[query] = scale
        scales = certified(budgets, scales)  # floats round by more where there are more queries
    value = objective_value(objective, scales, weighed)
    verdict = verdict_of(budgets, tuple(scales))
    assert verdict.holds  # `certified` has seen to it
    return Allocation(workload, workload, tuple(scales), method, objective, weighed, value, bound, verdict)


def _refuse_hairs(budgets: PairBudgets) -> None:
    """Refuse a query whose differences, where they matter, are lost in floats beside its other coefficients."""
    for name, scale in zip(budgets.workload.names, budgets.own_scales()[0], strict=True):
        if not scale > 0:
            raise ArgumentError(
                f"query {name!r} tells cells apart by less than floats hold beside its other coefficients: round them"
            )


def _scales(
    budgets: PairBudgets,
    method: Method,
    objective: ObjectiveName,
    weights: Weights,
    whole: Fraction,
    gap: float,
    watch: Stopwatch,
) -> tuple[Scales, float | None]:
    """Certified scales where every query needs noise, and for "exact" a bound on the objective."""
    if method == "equal":
        return certified(budgets, equal_scales(budgets)), None
    if method == "shared":
        return certified(budgets, shared_scales(budgets)), None
    if method == "exact" and objective in ("mean", "geometric") and len(weights) > _MANY:
        limits = stepped_limits(budgets.workload)
        if limits is not None:
            stepped = limits.best(weights, objective == "geometric", gap, watch)
            return stepped.scales, _in_words_of(objective, stepped.bound, sum(weights, Fraction(0)), whole)
    proportional = certified(budgets, (1 / proportional_rates(budgets)).tolist(), shrink=True)
    if method == "proportional":
        return proportional, None
    floats = np.array([float(weight) for weight in weights])
    if objective == "worst":
        part = budgets.greatest_part(list(weights)).part
        best = _fairest(budgets, weights, floats, Fraction(part.upper))
        bound = float_below(part.lower)  # c_k <= t / w_k for all k asks for sum_k |..|_k w_k <= t d at every pair
    else:
        added = _ADDED[objective]
        found = best_rates(budgets, floats, added, 1 / np.array(proportional), gap, watch)
        best = certified(budgets, polished(budgets, found.rates))
        bound = _in_words_of(objective, proved_bound(budgets, found, weights, added), sum(weights, Fraction(0)), whole)
    # Where one of the paper's strategies is the best one, the last digit decides; so all are looked at.
    others = [certified(budgets, other) for other in (equal_scales(budgets), shared_scales(budgets))]
    candidates = [best, proportional, *others]
    return min(candidates, key=lambda scales: objective_value(objective, scales, weights)), bound


def _fairest(budgets: PairBudgets, weights: Weights, floats: Floats, worst: Fraction) -> Scales:
    """The queries that stop first have the scale ``worst / weight``; the others what those leave them."""
    rates = fairest_rates(budgets, floats)
    first = rates <= floats / float(worst) * (1 + 1e-9)
    scales = [float_above(worst / weight) if stops else None for weight, stops in zip(weights, first, strict=True)]
    return certified(budgets, polished(budgets, rates, scales))


def _in_words_of(objective: ObjectiveName, bound: float, noisy: Fraction, whole: Fraction) -> float:
    """The bound on ``sum w c²``, ``sum w c`` or ``sum w ln c`` as one on the objective."""
    if np.isinf(bound):
        return 0.0
    if objective in ("mean", "absolute"):
        return float_below((2 if objective == "mean" else 1) * Fraction(bound) / whole)
    return enclose(lambda: (ball(bound) / ball(noisy)).exp()).outward[0]


def objective_value(objective: ObjectiveName, scales: Sequence[float], weights: Weights) -> float:
    """The objective at some scales, rounded up; see `Allocation.value`."""
    exact = [Fraction(scale) for scale in scales]
    if objective == "mean":
        squares = sum((weight * scale**2 for weight, scale in zip(weights, exact, strict=True)), Fraction(0))
        return float_above(2 * squares / sum(weights))
    if objective == "absolute":
        scaled = sum((weight * scale for weight, scale in zip(weights, exact, strict=True)), Fraction(0))
        return float_above(scaled / sum(weights))
    if objective == "worst":
        return float_above(max(weight * scale for weight, scale in zip(weights, exact, strict=True)))
    noisy = [(weight, scale) for weight, scale in zip(weights, exact, strict=True) if scale]
    if not noisy:
        return 0.0
    whole = sum(weight for weight, _ in noisy)

    def mean() -> arb:
        return sum((ball(weight / whole) * ball(scale).log() for weight, scale in noisy), start=arb(0)).exp()

    return enclose(mean).outward[1]


def read_weights(weights: Sequence[Any] | Mapping[str, Any] | None, workload: Workload) -> tuple[Fraction, ...]:
    """The weights as positive rationals, one for each query."""
    if weights is None:
        return (Fraction(1),) * len(workload)
    if isinstance(weights, Mapping):
        unknown = set(weights) - set(workload.names)
        if unknown or len(weights) < len(workload):
            raise ArgumentError(f"weights are given for each query: {', '.join(workload.names)}")
        weights = [weights[name] for name in workload.names]
    read = tuple(rational(weight, "weight") for weight in weights)
    if len(read) != len(workload):
        raise ArgumentError(f"{len(read)} weights for {len(workload)} queries")
    if min(read) <= 0:
        raise ArgumentError("a weight is positive: leave out a query that does not matter")
    return read


def _part(workload: Workload, queries: Sequence[int]) -> Workload:
    return Workload(workload.given[queries], workload.space, [workload.names[query] for query in queries])
