"""Scales at which a tight-constraints mechanism exists, for distances that are multiples of one number.

With ``α = exp(-s u)`` for the scale s and the common unit u, the equations ``Φ a = 1`` have entries ``α^m`` with
integers m, and by Cramer's rule ``a_i = N_i(α) / D(α)`` for polynomials with integer coefficients. Where a is
nonnegative changes only at their roots in (0, 1), which are isolated exactly, and is constant between. At 0 and 1
themselves the polynomials vanish in any way they like, so no sign is ever asked for there.

The set of scales where a mechanism exists is closed: a solution has ``0 <= a <= 1``, so a sequence of them has a limit.
So a root next to an interval of existence belongs to it, and only a root with none on either side is looked at alone.

A product has a mechanism exactly where all its factors have; the factors' polynomials are looked at together, so that
ends which meet are known to meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import fmpz_poly

from metricdp.design.distance_classes import DistanceClasses
from metricdp.exact.algebraic import AlgebraicField, irreducible
from metricdp.exact.progress import Stopwatch
from metricdp.exact.real_roots import PolynomialRoot, coprime_basis, roots_between, separated, sign_at
from metricdp.programs.nonnegative import has_solution, least_solution

__all__ = ["AlphaIntervals", "Part", "cost", "existence"]

TASK = "to find the scales"
_MOST_FACTORED = 200
_MOST_DEGREE = 40
_MOST_UNKNOWNS = 24
"""Beyond these a single irrational place, with no mechanism around, stays undecided."""

Part = tuple[DistanceClasses, int]
"""A factor, and how many of the common unit its own unit is."""


@dataclass(frozen=True)
class AlphaIntervals:
    """Where in ``0 < α < 1`` a mechanism exists.

    Attributes:
        intervals: closed intervals by their ends; None as a left end means down to 0, as a right end up to 1.
        isolated: single places where one exists, with none around.
        undecided: single irrational places, with none around, where Φ is singular, so that one may exist: the degree of
            the number, or of the system, is too high to decide it exactly.
    """

    intervals: tuple[tuple[PolynomialRoot | None, PolynomialRoot | None], ...]
    isolated: tuple[PolynomialRoot, ...]
    undecided: tuple[PolynomialRoot, ...]


def cost(part: Part) -> int:
    """About how many coefficients the elimination touches: the cube of the classes times the degree."""
    classes, times = part
    held = classes.integers
    if held is None:
        raise ValueError("the distances are not rational")
    count = len(classes.leaders)
    diameter = max(power for power in held[1] if power is not None)
    return count**3 * count * diameter * times


def existence(parts: Sequence[Part], watch: Stopwatch) -> AlphaIntervals:
    """Where in ``0 < α < 1`` the equations of every part have a nonnegative solution, for rational distances.

    Raises:
        TooLargeError: if the time limit is reached.
    """
    systems = [_System.of(part, watch) for part in parts]
    watch.check(TASK)
    basis = coprime_basis([one for system in systems for one in (system.below, system.common, *system.tops)])
    roots = separated(root for factor in basis for root in roots_between(factor))
    watch.check(TASK)
    samples = _between(roots)
    held = [[system.nonnegative(place) for place in samples] for system in systems]
    holds = [all(column) for column in zip(*held, strict=True)]
    intervals: list[tuple[PolynomialRoot | None, PolynomialRoot | None]] = []
    for place, good in enumerate(holds):
        left = roots[place - 1] if place else None
        right = roots[place] if place < len(roots) else None
        if not good:
            continue
        if place and holds[place - 1]:
            intervals[-1] = (intervals[-1][0], right)
        else:
            intervals.append((left, right))
    isolated, undecided = [], []
    for place, root in enumerate(roots):
        if holds[place] or holds[place + 1]:
            continue
        watch.check(TASK)
        answers = (  # each set is closed, so a system that has one on either side has one here
            sides[place] or sides[place + 1] or system.at(root, samples[place])
            for system, sides in zip(systems, held, strict=True)
        )
        answer = reduce(_both, answers)
        if answer is None:
            undecided.append(root)
        elif answer:
            isolated.append(root)
    return AlphaIntervals(tuple(intervals), tuple(isolated), tuple(undecided))


@dataclass(frozen=True, eq=False)
class _System:
    """The equations of one part, solved: ``a = tops / below``.

    Attributes:
        powers: for each different distance, which power of α its decay is; None for an infinite one.
        classes: of the part.
        determinant: D.
        common: what D and all N share, and was divided out.
        below: D without it.
        tops: the N without it.
    """

    powers: tuple[int | None, ...]
    classes: DistanceClasses
    determinant: fmpz_poly
    common: fmpz_poly
    below: fmpz_poly
    tops: tuple[fmpz_poly, ...]

    @classmethod
    def of(cls, part: Part, watch: Stopwatch) -> _System:
        classes, times = part
        if classes.integers is None:
            raise ValueError("the distances are not rational")
        powers = classes.integers[1]
        decays = [fmpz_poly([]) if power is None else fmpz_poly([0] * power + [1]) for power in powers]
        determinant, numerators = _cramer(classes.quotient(decays.__getitem__, fmpz_poly([])), watch)
        common = reduce(lambda one, two: one.gcd(two), numerators, determinant)
        determinant, common, *tops = (
            _spread(polynomial, times)
            for polynomial in (determinant, common, *(numerator // common for numerator in numerators))
        )
        scaled = tuple(None if power is None else power * times for power in powers)
        return cls(scaled, classes, determinant, common, determinant // common, tuple(tops))

    def nonnegative(self, place: Fraction) -> bool:
        """Whether the solution is, where D and its own polynomials are not zero."""
        sign = sign_at(self.below, place)
        if not sign:
            raise ArithmeticError("internal error: the sign of a polynomial was asked for at its root")
        return all(sign_at(top, place) * sign >= 0 for top in self.tops)

    def at(self, root: PolynomialRoot, beside: Fraction) -> bool | None:
        """Whether there is a solution at a root with none on either side; None where that is not decided."""

        def sign(polynomial: fmpz_poly) -> int:
            return 0 if _vanishes(polynomial, root) else sign_at(polynomial, beside)

        if sign(self.below) and all(sign(top) * sign(self.below) >= 0 for top in self.tops):
            return True  # the solution, continued to this place
        if not _vanishes(self.determinant, root):
            return False  # it is the only one
        # Q N = D 1 makes N(α) a null vector where D(α) = 0; with the sizes S of the classes S Q is symmetric, so a
        # solution a would have 0 = N·S Q a = N·S 1.
        sizes = self.classes.sizes.tolist()
        total = sum((size * top for size, top in zip(sizes, self.tops, strict=True)), fmpz_poly([]))
        if _vanishes(self.below, root) and not _vanishes(total, root):
            return False
        if root.exact is None and root.polynomial.degree() > _MOST_FACTORED:
            return None
        return self._solvable(irreducible(root))

    def _solvable(self, root: PolynomialRoot) -> bool | None:
        """Whether the equations have a nonnegative solution at a root of an irreducible polynomial, by simplex."""
        if root.exact is not None:
            place = root.exact
            decays: list[Any] = [Fraction(0) if power is None else place**power for power in self.powers]
            rows = self.classes.quotient(decays.__getitem__, Fraction(0))
            return least_solution(rows, [Fraction(1)] * len(rows)).solution is not None
        if root.polynomial.degree() > _MOST_DEGREE or len(self.tops) > _MOST_UNKNOWNS:
            return None
        field = AlgebraicField(root)
        decays = [field.zero if power is None else field.power(power) for power in self.powers]
        rows = self.classes.quotient(decays.__getitem__, field.zero)
        return has_solution(rows, [field.one] * len(rows), field.zero, field.one)


def _both(one: bool | None, two: bool | None) -> bool | None:
    """Whether both hold: False where either does not, None where that is not known."""
    return False if one is False or two is False else (None if one is None or two is None else True)


def _spread(polynomial: fmpz_poly, times: int) -> fmpz_poly:
    """``p(α^times)``."""
    if times == 1:
        return polynomial
    spread = [0] * (len(polynomial.coeffs()) * times)
    spread[::times] = [int(coefficient) for coefficient in polynomial.coeffs()]
    return fmpz_poly(spread)


def _cramer(matrix: Sequence[Sequence[fmpz_poly]], watch: Stopwatch) -> tuple[fmpz_poly, list[fmpz_poly]]:
    """The determinant D and the N with ``M N = D 1``, by elimination without fractions (Bareiss, Jordan).

    At α = 0 the matrix is the identity, so no pivot is zero.
    """
    count = len(matrix)
    table = [[*row, fmpz_poly([1])] for row in matrix]
    before = fmpz_poly([1])
    for step in range(count):
        watch.tell(step, count, unit="unknowns")
        pivot, pivot_row = table[step][step], table[step]
        for place in range(count):
            if place == step:
                continue
            watch.check(TASK, step, count, "unknowns")
            row, factor = table[place], table[place][step]
            table[place] = [
                (pivot * row[column] - factor * pivot_row[column]) // before if column > step else row[column]
                for column in range(count + 1)
            ]
        before = pivot
    return before, [row[-1] for row in table]


def _between(roots: Sequence[PolynomialRoot]) -> list[Fraction]:
    """One rational in each gap between 0, the roots and 1: none of them is a root, nor 0 or 1."""
    ends = [Fraction(0), *(end for root in roots for end in (root.lower, root.upper)), Fraction(1)]
    return [(ends[place] + ends[place + 1]) / 2 for place in range(0, len(ends), 2)]


def _vanishes(polynomial: fmpz_poly, root: PolynomialRoot) -> bool:
    """Whether a polynomial, made of the basis, is zero at a root of one of its members."""
    if root.exact is not None:
        return sign_at(polynomial, root.exact) == 0
    common = polynomial.gcd(root.polynomial)
    return bool(common.degree() > 0 and sign_at(common, root.lower) * sign_at(common, root.upper) < 0)
