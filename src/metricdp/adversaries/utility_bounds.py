"""What no private mechanism exceeds for a prior: the chance to guess the secret, and the bits that leak of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from metricdp.adversaries._arguments import known_secrets
from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.adversaries.prior import as_prior
from metricdp.adversaries.regular_priors import Regularity, regular
from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.errors import ArgumentError
from metricdp.exact.balls import Enclosure, ball, enclose, precision
from metricdp.exact.level import Level, LevelLike
from metricdp.exact.outward import Bound
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.metrics import Space
from metricdp.programs import LinearProgram, Sparse
from metricdp.programs.nonnegative import least_solution

__all__ = ["hamming_leakage_bound", "leakage_bound", "utility_bound"]

_BITS = 192
_CORNER_BITS = 64
_SIMPLEX_POINTS = 24


def utility_bound(
    prior: Any,
    space: SpaceLike,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Bound:
    """The utility that no d-private mechanism exceeds: the probability of guessing the secret, after any remap.

    For a regular prior, ``Σ y`` with ``y Φ = prior`` and ``y >= 0``, the least of them where there are several. With
    y > 0 everywhere, the mechanisms with ``Φ diag = 1`` reach it and no others; where y is zero somewhere, others may.

    For any other prior, ``Σ y`` with ``y Φ >= prior`` and ``y >= 0``, nearly the least. That suffices: the diagonal x
    of a private channel has ``Φ x <= 1``, so ``prior · x <= y Φ x <= Σ y``. On products of spaces with a product of
    priors it is the product of the bounds. It is found by a linear program and proved in balls, exactly where Φ is
    rational and small; ``.enclosure`` says how near to the least it is.

    Args:
        prior: over the points of the space; see `metricdp.adversaries.as_prior`.
        space: the points and the metric d; or d alone, on the secrets of a `Prior`.
        time_limit: seconds; None for no limit.
        progress: told how far it has come.

    Raises:
        TooLargeError: the time limit is reached.

    Guarantee:
        rounded up; ``.exact`` is the number itself where it is rational.

    References:
        Paper 3, Theorem 1 and Lemma 2; ``papers/README.md`` on its condition for equality.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import discrete
    >>> utility_bound("uniform", Space("abcd", ln(2) * discrete())).exact
    Fraction(2, 5)
    >>> utility_bound([1, 0, 0, 0], Space("abcd", ln(2) * discrete())).exact
    Fraction(1, 1)
    """
    watch = Stopwatch(time_limit, progress)
    found = regular(prior, space, time_limit=time_limit, progress=progress)
    if found.total is not None:
        return Bound.above(found.total)
    return Bound.above(_beyond_the_region(found, watch))


def leakage_bound(
    prior: Any,
    space: SpaceLike,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Bound:
    """The min-entropy leakage, in bits, that no d-private mechanism exceeds for this prior.

    ``log2(U / max prior)`` with U the `utility_bound`. With ``prior=None``, for every prior: ``log2(n Σ y)`` for the
    uniform one, which leaks the most. That is paper 3's bound where the uniform prior is regular, and holds elsewhere.

    Args:
        prior: over the points of the space; see `metricdp.adversaries.as_prior`.
        space: the points and the metric d; or d alone, on the secrets of a `Prior`.
        time_limit: seconds; None for no limit.
        progress: told how far it has come.

    Raises:
        TooLargeError: the time limit is reached.

    Guarantee:
        rounded up.

    References:
        Paper 3, Proposition 6 and Corollary 1.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import discrete
    >>> leakage_bound(None, Space(range(3), ln(4) * discrete()))
    1.0
    """
    space = as_space(space, "leakage_bound", known_secrets(prior))
    believed = as_prior("uniform" if prior is None else prior, space.points)
    utility = utility_bound(believed, space, time_limit=time_limit, progress=progress).enclosure
    largest = max(believed.fractions)
    return _binary_logarithm(Enclosure(utility.lower / largest, utility.upper / largest))


def hamming_leakage_bound(values: int, individuals: int, epsilon: LevelLike) -> Bound:
    """The most bits that an ε-differentially private mechanism can leak, on databases of so many individuals.

    ``u log2(v e^ε / (v - 1 + e^ε))``, for u ``individuals`` who have one of v ``values`` each, and every prior.

    Guarantee:
        rounded up.

    References:
        Paper 3, Theorem 2.

    >>> from metricdp.exact.level import ln
    >>> hamming_leakage_bound(3, 5, ln(4))
    5.0
    >>> round(hamming_leakage_bound(4, 5, 0.5), 4)
    2.5226
    """
    for count, what in ((values, "values"), (individuals, "individuals")):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ArgumentError(f"the number of {what} is a positive integer")
    level = Level.of(epsilon)
    if level.log_of is not None and level.coefficient.denominator == 1:
        odds = level.log_of**level.coefficient.numerator
        ratio = values * odds / (values - 1 + odds)
        one = _binary_logarithm(Enclosure(ratio, ratio)).enclosure
    else:

        def bits_of_one() -> arb:
            odds = level.ball().exp()
            return (values * odds / (values - 1 + odds)).log() / ball(2).log()

        one = enclose(bits_of_one, _BITS)
    return Bound.above(Enclosure(individuals * one.lower, individuals * one.upper))


def _beyond_the_region(found: Regularity, watch: Stopwatch) -> Enclosure:
    """The least ``Σ y`` with ``y Φ >= prior`` and ``y >= 0``."""
    phi, shares = constraints_matrix(found.space), found.prior.fractions
    total = Enclosure(Fraction(0), Fraction(0))
    marginals = _marginals(phi, shares)
    if marginals is not None:
        total = Enclosure(Fraction(1), Fraction(1))
        for axis, marginal in zip(phi.blocks[0].axes, marginals, strict=True):
            factor = Space([found.space.points[place] for place in axis], found.space.metric)
            watch.check("to bound the utility")
            part = utility_bound(marginal, factor).enclosure
            total = Enclosure(total.lower * part.lower, total.upper * part.upper)
        return total
    representatives = sorted(set(phi.representatives))
    largest = [max(shares[j] for j, first in enumerate(phi.representatives) if first == i) for i in representatives]
    if not phi.rational or len(representatives) > _SIMPLEX_POINTS:
        return _repaired(phi, representatives, largest, watch)
    watch.check("to bound the utility")
    entries = [[phi.exactly(i, j) or Fraction(0) for j in representatives] for i in representatives]
    least = sum(_covering(entries, largest), Fraction(0))
    return Enclosure(least, least)


def _covering(entries: Sequence[Sequence[Fraction]], shares: Sequence[Fraction]) -> Sequence[Fraction]:
    """The y >= 0 with ``A y >= shares`` and the least sum: a surplus unknown for each row makes them equations."""
    size = len(shares)
    surplus = [[Fraction(-int(i == j)) for j in range(size)] for i in range(size)]
    widened = [[*row, *extra] for row, extra in zip(entries, surplus, strict=True)]
    solution = least_solution(widened, shares, free=size).solution
    if solution is None:
        raise ArithmeticError("internal error: no y was found, although y = prior is always large enough")
    return solution[:size]


def _repaired(phi: ConstraintsMatrix, places: Sequence[int], shares: Sequence[Fraction], watch: Stopwatch) -> Enclosure:
    """The least sum enclosed: y and the dual x from a solver, stretched until balls prove Φ y >= prior and Φ x <= 1."""
    largest = max(shares)
    program = LinearProgram()
    program.add_columns([1.0] * len(places))
    goal = [float(share / largest) for share in shares]
    program.add_rows(goal, math.inf, Sparse.of_dense(phi.matrix[np.ix_(places, places)]))
    watch.check("to bound the utility")
    solution = program.solve(time_limit=watch.left)
    watch.check("to bound the utility")
    if not solution.optimal:
        return Enclosure(largest, Fraction(1))  # to guess the likeliest; a probability
    covering = [Fraction(max(0.0, value)) * largest for value in solution.primal.tolist()]
    diagonal = [Fraction(max(0.0, value)) for value in solution.duals.tolist()]
    with precision(_BITS):
        rows = []
        for done, i in enumerate(places):
            watch.check("to bound the utility", done, len(places), "points")
            watch.tell(done, len(places), unit="points")
            rows.append([phi.ball(i, j) for j in places])
        covered = [Enclosure.of(_dot(row, covering)).lower for row in rows]
        filled = [Enclosure.of(_dot(row, diagonal)).upper for row in rows]
    short = [(share, cover) for share, cover in zip(shares, covered, strict=True) if share]
    upper = Fraction(1)
    if all(cover > 0 for _, cover in short):
        upper = sum(covering, Fraction(0)) * max(Fraction(1), *(share / Fraction(cover) for share, cover in short))
    reached = sum((share * x for share, x in zip(shares, diagonal, strict=True)), Fraction(0))
    lower = reached / max(Fraction(1), *(Fraction(value) for value in filled))
    return Enclosure(max(lower, largest), min(upper, Fraction(1)))


def _dot(row: Sequence[arb], vector: Sequence[Fraction]) -> arb:
    return sum((entry * ball(value) for entry, value in zip(row, vector, strict=True) if value), arb(0))


def _marginals(phi: ConstraintsMatrix, shares: Sequence[Fraction]) -> list[list[Fraction]] | None:
    """The prior of each axis, where the prior is exactly their product."""
    axes = phi.blocks[0].axes
    if len(axes) < 2:
        return None
    table = np.array(shares, dtype=object).reshape([len(axis) for axis in axes])
    marginals = []
    for axis in range(table.ndim):
        others = tuple(other for other in range(table.ndim) if other != axis)
        marginals.append([Fraction(value) for value in table.sum(axis=others).tolist()])
    product = np.array([Fraction(1)], dtype=object)
    for marginal in marginals:
        product = np.multiply.outer(product, np.array(marginal, dtype=object)).ravel()
    return marginals if bool((product == table.ravel()).all()) else None


def _binary_logarithm(ratio: Enclosure) -> Bound:
    if ratio.lower == ratio.upper and (power := _power_of_two(Fraction(ratio.lower))) is not None:
        return Bound.above(Fraction(power))
    if not ratio.lower > 0:
        above = enclose(lambda: ball(ratio.upper).log() / ball(2).log(), _BITS).upper
        return Bound.above(Enclosure(-math.inf, above))
    low, high = (enclose(lambda end=end: ball(end).log() / ball(2).log(), _BITS) for end in (ratio.lower, ratio.upper))  # type: ignore[misc]
    return Bound.above(Enclosure(low.lower, high.upper))


def _power_of_two(number: Fraction) -> int | None:
    top, bottom = number.numerator, number.denominator
    if top <= 0 or top & (top - 1) or bottom & (bottom - 1):
        return None
    return top.bit_length() - bottom.bit_length()
