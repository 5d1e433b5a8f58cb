"""The multiplicative Kantorovich distance between beliefs: how far any private observation can tell them apart.

For beliefs p and q over secrets with a metric d it is the greatest ``|ln(f·p / f·q)|`` of all functions f > 0 with
``f(x) <= exp(d(x, y)) f(y)``, which are the columns of d-private channels. So no output of a d-private channel is more
than its exp times as likely under the one belief as under the other. One direction is the linear program

    maximise  f·p   over f >= 0 with f·q = 1 and exp(-d(x, y)) f(x) <= f(y),

and both a function f and the multipliers of its constraints are mended until they prove a bound: f is put into the cone
by ``f(x) <- max over y of f(y) exp(-d(x, y))``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

from metricdp.adversaries._arguments import known_secrets
from metricdp.adversaries.adversary_bound import greatest_ratio
from metricdp.adversaries.distances import both_beliefs
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.exact.balls import Enclosure, enclose, log_bounds
from metricdp.metrics import Space
from metricdp.programs import LinearProgram, Sparse

__all__ = ["multiplicative_kantorovich", "multiplicative_total_variation"]

_Decays = Sequence[Sequence[tuple[Fraction, Fraction]]]


def multiplicative_total_variation(one: Any, two: Any) -> Enclosure:
    """The greatest ``|ln(p(A) / q(A))|`` over sets A of secrets, enclosed; infinite where one rules a secret out.

    The exp of it, exactly, is `metricdp.adversaries.greatest_ratio`.

    References:
        Paper 1, Section 2 (d_P).

    >>> float(multiplicative_total_variation([0.5, 0.5], [0.25, 0.75]))
    0.693147180...
    """
    return _logarithm(greatest_ratio(*both_beliefs(one, two)))


def multiplicative_kantorovich(one: Any, two: Any, space: SpaceLike) -> Enclosure:
    """How far a d-private observation can tell two beliefs apart, ``max over f of |ln(f·p / f·q)|``; enclosed.

    Args:
        one: p; a `Prior`, or what `metricdp.adversaries.as_prior` takes.
        two: q.
        space: the secrets and d; or d alone, where a belief says over which secrets.

    References:
        Chatzikokolakis, Gebler, Palamidessi, Xu: Generalized bisimulation metrics (2014), Section 3.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import Space, discrete
    >>> float(multiplicative_kantorovich([1, 0], [0, 1], Space([0, 1], ln(3) * discrete())))
    1.098612288...
    """
    known = known_secrets(one) if isinstance(one, Prior) else known_secrets(two)
    space = as_space(space, "multiplicative_kantorovich", known if known is not None else known_secrets(one))
    left, right = as_prior(one, space.points).fractions, as_prior(two, space.points).fractions
    decays = _decays(space)
    ways = [_one_way(left, right, decays), _one_way(right, left, decays)]
    lower, upper = (max(way[end] for way in ways) for end in (0, 1))
    return Enclosure(_logarithm(max(Fraction(1), lower)).lower, _logarithm(max(Fraction(1), upper)).upper)


def _decays(space: Space) -> _Decays:
    """``exp(-d(x, y))``, each between two rationals; 0 where d is infinite."""
    count = range(len(space))
    rows = [[(Fraction(1), Fraction(1))] * len(space) for _ in count]
    for i, j in permutations(count, 2):
        if i < j:
            if space.enclosures.infinite[i, j]:
                rows[i][j] = rows[j][i] = (Fraction(0), Fraction(0))
            else:
                held = enclose(lambda i=i, j=j: (-space.ball(i, j)).exp(), 96)  # type: ignore[misc]
                rows[i][j] = rows[j][i] = (Fraction(held.lower), Fraction(held.upper))
    return rows


def _one_way(
    p: Sequence[Fraction], q: Sequence[Fraction], decays: _Decays
) -> tuple[Fraction | float, Fraction | float]:
    """Bounds on the greatest ``f·p / f·q``."""
    count = range(len(p))
    pairs = [(i, j) for i, j in permutations(count, 2) if decays[i][j][0] > 0]
    program = LinearProgram(maximize=True)
    program.add_columns([float(share) for share in p])
    program.add_rows([1.0], [1.0], Sparse.of([{i: float(share) for i, share in enumerate(q) if share}]))
    program.add_rows(
        [-math.inf] * len(pairs),
        [0.0] * len(pairs),
        Sparse.of([{i: float(decays[i][j][0]), j: -1.0} for i, j in pairs]),
    )
    solution = program.solve()
    if not solution.optimal:
        return _lower(p, q, decays, [Fraction(share) for share in p]), _upper(p, q, decays, {})
    found = [Fraction(max(0.0, value)) for value in solution.primal.tolist()]
    multipliers = {
        pair: Fraction(abs(dual)) for pair, dual in zip(pairs, solution.duals[1:].tolist(), strict=True) if dual
    }
    return _lower(p, q, decays, found), _upper(p, q, decays, multipliers)


def _lower(
    p: Sequence[Fraction], q: Sequence[Fraction], decays: _Decays, found: Sequence[Fraction]
) -> Fraction | float:
    """What a function reaches once it is in the cone."""
    low, high = ([max(f * decays[x][y][end] for y, f in enumerate(found)) for x in range(len(p))] for end in (0, 1))
    above = sum((share * f for share, f in zip(p, low, strict=True)), Fraction(0))
    below = sum((share * f for share, f in zip(q, high, strict=True)), Fraction(0))
    return above / below if below else math.inf if above else Fraction(0)


def _upper(
    p: Sequence[Fraction],
    q: Sequence[Fraction],
    decays: _Decays,
    multipliers: dict[tuple[int, int], Fraction],
) -> Fraction | float:
    """The least r with ``r q(x) >= p(x) - sum over y of exp(-d(x, y)) m(x, y) + sum over y of m(y, x)`` for all x."""
    wanted = list(p)
    for (i, j), multiplier in multipliers.items():
        wanted[i] -= decays[i][j][0] * multiplier
        wanted[j] += multiplier
    for i, share in enumerate(q):
        if not share and wanted[i] > 0:  # its constraint has no r: another secret pays
            j = max((j for j, other in enumerate(q) if other), key=lambda j: decays[i][j][0])
            if not decays[i][j][0]:
                return math.inf
            wanted[j] += wanted[i] / decays[i][j][0]
    return max(amount / share for amount, share in zip(wanted, q, strict=True) if share)


def _logarithm(ratio: Fraction | float) -> Enclosure:
    if ratio == math.inf:
        return Enclosure(math.inf, math.inf)
    if ratio == 1:
        return Enclosure(Fraction(0), Fraction(0))
    low, high = log_bounds(Fraction(ratio))
    return Enclosure(Fraction(max(0.0, low)), Fraction(high))
