"""Distances between beliefs, and between hypers: total variation, and Kantorovich's for any metric; with proofs.

Kantorovich's distance is the least cost at which one distribution can be moved into the other:

    minimise  sum over x, y of t(x, y) d(x, y)   over t >= 0 with the one as sums of its rows, the other of its columns

and, by duality, the greatest difference of the means of a function f with ``f(x) - f(y) <= d(x, y)``. A solver proposes
t and f in floats; t is mended so that its sums are right, exactly, and f so that it is 1-Lipschitz. The two costs
enclose the distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.adversaries._arguments import known_secrets
from metricdp.adversaries.hyper import Hyper
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.errors import ArgumentError
from metricdp.exact.balls import Enclosure
from metricdp.metrics import Space
from metricdp.programs import LinearProgram, Sparse

__all__ = ["both_beliefs", "hyper_distance", "kantorovich", "total_variation"]

_Costs = Sequence[Sequence[tuple[Fraction, Fraction]]]
_USED = 1e-11


def total_variation(one: Any, two: Any) -> Fraction:
    """The greatest difference of the probabilities of a set of secrets, ``sum over x of |p(x) - q(x)| / 2``, exactly.

    Args:
        one: p; a `Prior`, or what `metricdp.adversaries.as_prior` takes if the other says over which secrets.
        two: q, over the same secrets.

    >>> total_variation([0.5, 0.5], [0.25, 0.75])
    Fraction(1, 4)
    """
    left, right = both_beliefs(one, two)
    return sum((abs(p - q) for p, q in zip(left.fractions, right.fractions, strict=True)), Fraction(0)) / 2


def kantorovich(one: Any, two: Any, space: SpaceLike) -> Enclosure:
    """Kantorovich's distance between two beliefs (also Wasserstein's or the earth mover's), enclosed.

    Exactly, where the distances are rational.

    Args:
        one: the one belief; see `total_variation`.
        two: the other.
        space: the secrets and d; or d alone, where a belief says over which secrets.

    Raises:
        ArgumentError: secrets at an infinite distance, between which there is no finite cost.

    >>> from metricdp.metrics import Space
    >>> kantorovich([1, 0, 0], [0, 0.5, 0.5], Space.line(3))
    Enclosure(lower=Fraction(3, 2), upper=Fraction(3, 2))
    """
    known = known_secrets(one) if isinstance(one, Prior) else known_secrets(two)
    space = as_space(space, "kantorovich", known if known is not None else known_secrets(one))
    left, right = as_prior(one, space.points), as_prior(two, space.points)
    return _transport(left.fractions, right.fractions, _costs(space))


def hyper_distance(one: Hyper, two: Hyper, space: SpaceLike | None = None) -> Enclosure:
    """Kantorovich's distance between two hypers, where posteriors are as far apart as their own distance says.

    Args:
        one: a hyper.
        two: another, over the same secrets.
        space: with one, posteriors are at `kantorovich`'s distance; without, at `total_variation`.

    >>> from metricdp.adversaries import hyper
    >>> whole, nothing = hyper("uniform", [[1, 0], [0, 1]]), hyper("uniform", [[1], [1]])
    >>> hyper_distance(whole, nothing)
    Enclosure(lower=Fraction(1, 2), upper=Fraction(1, 2))
    """
    for given in (one, two):
        if not isinstance(given, Hyper):
            raise ArgumentError(f"hyper_distance takes Hypers, not {type(given).__name__}: hyper(prior, channel)")
    inners = [*one.inners, *two.inners]
    costs: list[list[tuple[Fraction, Fraction]]] = [[(Fraction(0), Fraction(0))] * len(inners) for _ in inners]
    for i, inner in enumerate(inners):
        for j, other in enumerate(inners[:i]):
            if space is None:
                apart = total_variation(inner, other)
                costs[i][j] = costs[j][i] = (apart, apart)
            else:
                far = kantorovich(inner, other, space)
                costs[i][j] = costs[j][i] = (Fraction(far.lower), Fraction(far.upper))
    left = [*one.outers, *[Fraction(0)] * len(two)]
    right = [*[Fraction(0)] * len(one), *two.outers]
    return _transport(left, right, costs)


def both_beliefs(one: Any, two: Any) -> tuple[Prior, Prior]:
    """Two beliefs over the same secrets, which one of them names or counts."""
    secrets = known_secrets(one) if isinstance(one, Prior) else known_secrets(two)
    secrets = known_secrets(one) if secrets is None else secrets
    if secrets is None:
        raise ArgumentError("neither belief says over which secrets it is: give a Prior, a dict or an array")
    return as_prior(one, secrets), as_prior(two, secrets)


def _costs(space: Space) -> _Costs:
    exact = [[space.metric.exactly(x, y) for y in space.points] for x in space.points]
    if any(value == math.inf for row in exact for value in row):
        raise ArgumentError("some of the secrets are at an infinite distance, and so may the beliefs be")
    known = space.enclosures
    return [
        [
            (value, value) if isinstance(value, Fraction) else (Fraction(float(low)), Fraction(float(high)))
            for value, low, high in zip(row, lows, highs, strict=True)
        ]
        for row, lows, highs in zip(exact, known.lower, known.upper, strict=True)
    ]


def _transport(left: Sequence[Fraction], right: Sequence[Fraction], costs: _Costs) -> Enclosure:
    """The least cost of moving ``left`` to ``right``, for costs that are enclosures of a metric."""
    common = [min(p, q) for p, q in zip(left, right, strict=True)]  # by the triangle inequality it need not move
    givers = [(i, p - c) for i, (p, c) in enumerate(zip(left, common, strict=True)) if p > c]
    takers = [(j, q - c) for j, (q, c) in enumerate(zip(right, common, strict=True)) if q > c]
    if not givers:
        return Enclosure(Fraction(0), Fraction(0))
    guess, potentials = _solved(givers, takers, costs)
    plan = _forest(givers, takers, guess) or _mended(givers, takers, guess)
    upper = sum((share * costs[i][j][1] for (i, j), share in plan.items()), Fraction(0))
    lower = Fraction(0)
    for i, (p, q) in enumerate(zip(left, right, strict=True)):
        if p != q:  # f(i) = min over takers j of u(j) + d(i, j) is 1-Lipschitz; enclosed, on the unfavourable side
            side = 0 if p > q else 1
            lower += (p - q) * min(u + costs[i][j][side] for j, u in potentials.items())
    return Enclosure(max(Fraction(0), lower), upper)


_Sides = Sequence[tuple[int, Fraction]]
_Plan = dict[tuple[int, int], Fraction]


def _solved(givers: _Sides, takers: _Sides, costs: _Costs) -> tuple[_Plan, dict[int, Fraction]]:
    """A plan and potentials of the takers, from a solver's floats: neither is right to the last bit."""
    program = LinearProgram()
    prices = [float(costs[i][j][1]) for i, _ in givers for j, _ in takers]
    program.add_columns(prices)
    width = len(takers)
    rows = [{g * width + t: 1.0 for t in range(width)} for g in range(len(givers))]
    rows += [{g * width + t: 1.0 for g in range(len(givers))} for t in range(width)]
    goal = np.array([float(share) for _, share in [*givers, *takers]])
    goal[len(givers) :] *= goal[: len(givers)].sum() / goal[len(givers) :].sum()
    program.add_rows(goal, goal, Sparse.of(rows))
    solution = program.solve()
    plan = {
        (i, j): Fraction(max(0.0, float(solution.primal[g * width + t])))
        for g, (i, _) in enumerate(givers)
        for t, (j, _) in enumerate(takers)
    }
    duals = solution.duals[len(givers) :].tolist()
    return plan, {j: -Fraction(dual) for (j, _), dual in zip(takers, duals, strict=True)}


def _forest(givers: _Sides, takers: _Sides, guess: _Plan) -> _Plan | None:
    """The plan on the places in use, exactly, where these have no cycle: each leaf moves all that it has left."""
    left, right = dict(givers), dict(takers)
    used = {place for place, share in guess.items() if share > _USED}
    plan: _Plan = {}
    while used:
        rows = {i: [place for place in used if place[0] == i] for i, _ in used}
        columns = {j: [place for place in used if place[1] == j] for _, j in used}
        leaf = next((some[0] for some in [*rows.values(), *columns.values()] if len(some) == 1), None)
        if leaf is None:
            return None
        i, j = leaf
        share = left[i] if len(rows[i]) == 1 else right[j]
        if share < 0:
            return None
        plan[leaf] = share
        left[i], right[j] = left[i] - share, right[j] - share
        used.remove(leaf)
    settled = not any(left.values()) and not any(right.values())
    return plan if settled and min(plan.values(), default=Fraction(0)) >= 0 else None


def _mended(givers: _Sides, takers: _Sides, guess: _Plan) -> _Plan:
    """Of the guess as much as fits, and the rest in order."""
    left, right = dict(givers), dict(takers)
    plan: _Plan = {}
    for place in [*sorted(guess, key=guess.__getitem__, reverse=True), *guess]:
        i, j = place
        most = guess[place] if place not in plan else min(left[i], right[j])
        share = min(left[i], right[j], most)
        plan[place] = plan.get(place, Fraction(0)) + share
        left[i], right[j] = left[i] - share, right[j] - share
    return plan
