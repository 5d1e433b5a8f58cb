"""Regions of priors: their corners, and what no private mechanism can exceed for a prior inside or outside of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.adversaries.regularity import Regularity, regular
from metricdp.errors import InputError, ShapeError
from metricdp.exact.balls import Enclosure, ball, enclose, float_above, float_below, precision
from metricdp.exact.level import LevelLike
from metricdp.exact.outward import Bound
from metricdp.exact.refine import Floats
from metricdp.metrics import Space
from metricdp.metrics.amounts import level_of
from metricdp.programs import LinearProgram, Sparse
from metricdp.programs.nonnegative import least_solution

__all__ = [
    "PriorBounds",
    "convex_coordinates",
    "corner_priors",
    "hamming_leakage_bound",
    "leakage_bound",
    "prior_bounds",
    "utility_bound",
]

_BITS = 192
_CORNER_BITS = 64
_SIMPLEX_POINTS = 24


@dataclass(frozen=True)
class PriorBounds:
    """What every regular prior keeps to; necessary, not sufficient.

    Attributes:
        space: the points and the metric d.
        shares: for each point i, between ``1 / Σ_j exp(d(i, j))`` and ``1 / Σ_j exp(-d(i, j))``, rounded outward where
            these are irrational.

    References:
        Paper 3, Propositions 2 and 3.
    """

    space: Space
    shares: tuple[Enclosure, ...]

    @property
    def lower(self) -> Floats:
        """The least probability of each point, rounded down."""
        return np.array([float_below(share.lower) for share in self.shares])

    @property
    def upper(self) -> Floats:
        """The greatest probability of each point, rounded up."""
        return np.array([float_above(share.upper) for share in self.shares])

    def violation(self, prior: Any) -> tuple[Any, Any] | None:
        """Two points i, j with ``prior(i) > exp(d(i, j)) prior(j)``, proved; None where none was found.

        A prior that has such points is not regular (Proposition 2). Looked for among the nearest misses in floats.
        """
        believed, phi = as_prior(prior, self.space.points), constraints_matrix(self.space)
        excess = believed.floats[:, None] * phi.matrix - believed.floats[None, :]
        i, j = (int(place) for place in np.unravel_index(int(np.argmax(excess)), excess.shape))
        with precision(_BITS):
            broken = ball(believed.fractions[i]) * phi.ball(i, j) > ball(believed.fractions[j])
        return (self.space.points[i], self.space.points[j]) if broken else None


def prior_bounds(space: Space) -> PriorBounds:
    """The bounds on the probabilities of every regular prior.

    ``1 / Σ_j exp(d(i, j)) <= prior(i) <= 1 / Σ_j exp(-d(i, j))``.

    References:
        Paper 3, Propositions 2 and 3.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> bounds = prior_bounds(Space.line(3, ln(2) * absolute()))
    >>> [str(share.lower) for share in bounds.shares], [str(share.upper) for share in bounds.shares]
    (['1/7', '1/5', '1/7'], ['4/7', '1/2', '4/7'])
    """
    phi = constraints_matrix(space)
    return PriorBounds(space, tuple(_share_bounds(phi, i) for i in range(len(space))))


def corner_priors(space: Space) -> tuple[Prior, ...]:
    """The corners of the region of regular priors: row i of Φ divided by its sum, for each point i.

    ``c_i(j) = φ(i, j) / Σ_k φ(i, k)``. Exact where Φ is rational. A corner with irrational probabilities is no `Prior`;
    given is one within 2^-50 of it in total variation, which may lie just outside the region.

    References:
        Paper 3, Definition 6.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> for corner in corner_priors(Space.line(3, ln(2) * absolute())):
    ...     print(corner)
    0 4/7, 1 2/7, 2 1/7
    0 1/4, 1 1/2, 2 1/4
    0 1/7, 1 2/7, 2 4/7
    """
    phi = constraints_matrix(space)
    places = range(len(space))
    corners = []
    for i in places:
        entries = [phi.exactly(i, j) for j in places]
        if None not in entries:
            corners.append(Prior.proportional(space.points, entries))
            continue
        bits = _CORNER_BITS + len(space).bit_length()
        with precision(bits + 16):
            row = [phi.ball(i, j) for j in places]
            weights = [max(0, math.floor(Enclosure.of(entry).upper * (1 << bits))) for entry in row]
        corners.append(Prior(space.points, tuple(weights), sum(weights)))
    return tuple(corners)


def convex_coordinates(prior: Any, space: Space) -> tuple[Enclosure, ...]:
    """How near a regular prior is to each corner: ``γ >= 0`` with ``prior = Σ γ_i c_i`` and ``Σ γ = 1``.

    ``γ_i = y_i Σ_k φ(i, k)``; enclosed, exactly where Φ is rational and small.

    Raises:
        InputError: the prior is not regular, or cannot be told to be.

    References:
        Paper 3, Proposition 4.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> [str(share.lower) for share in convex_coordinates("uniform", Space.line(3, ln(2) * absolute()))]
    ['7/18', '2/9', '7/18']
    """
    found = regular(prior, space)
    if found.solution is None:
        raise InputError(f"only a regular prior is a mixture of the corners; this one is {found}")
    phi = constraints_matrix(space)
    coordinates = []
    for i, entry in enumerate(found.solution):
        total = _row_sum(phi, i)
        coordinates.append(Enclosure(entry.lower * total.lower, entry.upper * total.upper))
    return tuple(coordinates)


def utility_bound(prior: Any, space: Space) -> Bound:
    """The utility that no d-private mechanism exceeds: the probability of guessing the secret, after any remap.

    For a regular prior, ``Σ y`` with ``y Φ = prior`` and ``y >= 0``, the least of them where there are several. With
    y > 0 everywhere, the mechanisms with ``Φ diag = 1`` reach it and no others; where y is zero somewhere, others may.

    For any other prior, ``Σ y`` with ``y Φ >= prior`` and ``y >= 0``, nearly the least. That suffices: the diagonal x
    of a private channel has ``Φ x <= 1``, so ``prior · x <= y Φ x <= Σ y``. On products of spaces with a product of
    priors it is the product of the bounds. It is found by a linear program and proved in balls, exactly where Φ is
    rational and small; ``.enclosure`` says how near to the least it is.

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
    found = regular(prior, space)
    if found.total is not None:
        return Bound.above(found.total)
    return Bound.above(_beyond_the_region(found))


def leakage_bound(prior: Any, space: Space) -> Bound:
    """The min-entropy leakage, in bits, that no d-private mechanism exceeds for this prior.

    ``log2(U / max prior)`` with U the `utility_bound`. With ``prior=None``, for every prior: ``log2(n Σ y)`` for the
    uniform one, which leaks the most. That is paper 3's bound where the uniform prior is regular, and holds elsewhere.

    Guarantee:
        rounded up.

    References:
        Paper 3, Proposition 6 and Corollary 1.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import discrete
    >>> leakage_bound(None, Space(range(3), ln(4) * discrete()))
    1.0
    """
    believed = as_prior("uniform" if prior is None else prior, space.points)
    utility = utility_bound(believed, space).enclosure
    largest = max(believed.fractions)
    return _binary_logarithm(Enclosure(utility.lower / largest, utility.upper / largest))


def hamming_leakage_bound(values: int, individuals: int, epsilon: LevelLike) -> Bound:
    """The bits that no ε-differentially private mechanism leaks more than, on databases of so many individuals.

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
            raise ShapeError(f"the number of {what} is a positive integer")
    level = level_of(epsilon)
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


def _beyond_the_region(found: Regularity) -> Enclosure:
    """The least ``Σ y`` with ``y Φ >= prior`` and ``y >= 0``."""
    phi, shares = constraints_matrix(found.space), found.prior.fractions
    total = Enclosure(Fraction(0), Fraction(0))
    marginals = _marginals(phi, shares)
    if marginals is not None:
        total = Enclosure(Fraction(1), Fraction(1))
        for axis, marginal in zip(phi.blocks[0].axes, marginals, strict=True):
            factor = Space([found.space.points[place] for place in axis], found.space.metric)
            part = utility_bound(marginal, factor).enclosure
            total = Enclosure(total.lower * part.lower, total.upper * part.upper)
        return total
    representatives = sorted(set(phi.representatives))
    largest = [max(shares[j] for j, first in enumerate(phi.representatives) if first == i) for i in representatives]
    if not phi.rational or len(representatives) > _SIMPLEX_POINTS:
        return _repaired(phi, representatives, largest)
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
        raise ArithmeticError("y = prior is always large enough: this cannot be")
    return solution[:size]


def _repaired(phi: ConstraintsMatrix, places: Sequence[int], shares: Sequence[Fraction]) -> Enclosure:
    """The least sum enclosed: y and the dual x from a solver, stretched until balls prove Φ y >= prior and Φ x <= 1."""
    largest = max(shares)
    program = LinearProgram()
    program.add_columns([1.0] * len(places))
    goal = [float(share / largest) for share in shares]
    program.add_rows(goal, math.inf, Sparse.of_dense(phi.matrix[np.ix_(places, places)]))
    solution = program.solve()
    if not solution.optimal:
        return Enclosure(largest, Fraction(1))  # to guess the likeliest; a probability
    covering = [Fraction(max(0.0, value)) * largest for value in solution.primal.tolist()]
    diagonal = [Fraction(max(0.0, value)) for value in solution.duals.tolist()]
    with precision(_BITS):
        rows = [[phi.ball(i, j) for j in places] for i in places]
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


def _row_sum(phi: ConstraintsMatrix, i: int) -> Enclosure:
    entries = [phi.exactly(i, j) for j in range(len(phi))]
    if None not in entries:
        total = sum((entry for entry in entries if entry is not None), Fraction(0))
        return Enclosure(total, total)
    return enclose(lambda: sum((phi.ball(i, j) for j in range(len(phi))), arb(0)), _BITS)


def _share_bounds(phi: ConstraintsMatrix, i: int) -> Enclosure:
    upper = 1 / Fraction(_row_sum(phi, i).lower)
    entries = [phi.exactly(i, j) for j in range(len(phi))]
    if any(entry == 0 for entry in entries):
        return Enclosure(Fraction(0), upper)
    if None not in entries:
        return Enclosure(1 / sum((1 / entry for entry in entries if entry is not None), Fraction(0)), upper)
    inverse = enclose(lambda: 1 / sum((phi.space.ball(i, j).exp() for j in range(len(phi))), arb(0)), _BITS)
    return Enclosure(max(Fraction(0), Fraction(inverse.lower)), upper)


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
