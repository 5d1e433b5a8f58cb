"""Scales at which a tight-constraints mechanism exists, for distances that are multiples of one number.

With ``α = exp(-s u)`` for the scale s and the common unit u, the equations ``Φ a = 1`` have entries ``α^m`` with
integers m, and by Cramer's rule ``a_i = N_i(α) / D(α)`` for polynomials with integer coefficients. Where a is
nonnegative changes only at their roots in (0, 1), which are isolated exactly, and is constant between.

The set of scales where a mechanism exists is closed: a solution has ``0 <= a <= 1``, so a sequence of them has a limit.
So a root next to an interval of existence belongs to it, and only a root with none on either side is looked at alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from flint import fmpz_poly

from metricdp.design.distance_classes import DistanceClasses
from metricdp.design.real_roots import Root, coprime_basis, roots_between, separated, sign_at
from metricdp.programs.nonnegative import least_solution

__all__ = ["Existence", "cost", "existence"]


@dataclass(frozen=True)
class Existence:
    """Where in ``0 < α < 1`` a mechanism exists.

    Attributes:
        intervals: closed intervals by their ends; None as a left end means down to 0, as a right end up to 1.
        isolated: single places where one exists, with none around.
        undecided: single irrational places, with none around, where Φ is singular, so that one may exist.
    """

    intervals: tuple[tuple[Root | None, Root | None], ...]
    isolated: tuple[Root, ...]
    undecided: tuple[Root, ...]


def cost(classes: DistanceClasses) -> int:
    """About how many coefficients the elimination touches: the cube of the classes times the degree."""
    held = classes.integers
    if held is None:
        raise ValueError("the distances are not rational")
    count = len(classes.leaders)
    diameter = max(power for power in held[1] if power is not None)
    return count**3 * count * diameter


def existence(classes: DistanceClasses) -> Existence:
    """Where in ``0 < α < 1`` the equations have a nonnegative solution, for rational distances."""
    held = classes.integers
    if held is None:
        raise ValueError("the distances are not rational")
    powers = held[1]

    def entry(code: int) -> fmpz_poly:
        power = powers[code]
        return fmpz_poly([]) if power is None else fmpz_poly([0] * power + [1])

    matrix = classes.quotient(entry, fmpz_poly([]))
    determinant, numerators = _cramer(matrix)
    common = reduce(lambda one, two: one.gcd(two), numerators, determinant)
    below, tops = determinant // common, [numerator // common for numerator in numerators]
    basis = coprime_basis([below, common, *tops])
    roots = separated(root for part in basis for root in roots_between(part))
    samples = _between(roots)
    holds = [_nonnegative(below, tops, place) for place in samples]
    intervals: list[tuple[Root | None, Root | None]] = []
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
        answer = _at(root, below, tops, determinant, matrix, classes.sizes.tolist(), samples[place])
        if answer is None:
            undecided.append(root)
        elif answer:
            isolated.append(root)
    return Existence(tuple(intervals), tuple(isolated), tuple(undecided))


def _cramer(matrix: Sequence[Sequence[fmpz_poly]]) -> tuple[fmpz_poly, list[fmpz_poly]]:
    """The determinant D and the N with ``M N = D 1``, by elimination without fractions (Bareiss, Jordan).

    At α = 0 the matrix is the identity, so no pivot is zero.
    """
    count = len(matrix)
    table = [[*row, fmpz_poly([1])] for row in matrix]
    before = fmpz_poly([1])
    for step in range(count):
        pivot, pivot_row = table[step][step], table[step]
        for place in range(count):
            if place == step:
                continue
            row, factor = table[place], table[place][step]
            table[place] = [
                (pivot * row[column] - factor * pivot_row[column]) // before if column > step else row[column]
                for column in range(count + 1)
            ]
        before = pivot
    return before, [row[-1] for row in table]


def _between(roots: Sequence[Root]) -> list[Fraction]:
    """One rational in each gap between 0, the roots and 1."""
    ends = [Fraction(0), *(end for root in roots for end in (root.lower, root.upper)), Fraction(1)]
    return [(ends[place] + ends[place + 1]) / 2 for place in range(0, len(ends), 2)]


def _nonnegative(below: fmpz_poly, tops: Sequence[fmpz_poly], place: Fraction) -> bool:
    sign = sign_at(below, place)
    return all(sign_at(top, place) * sign >= 0 for top in tops)


def _at(
    root: Root,
    below: fmpz_poly,
    tops: Sequence[fmpz_poly],
    determinant: fmpz_poly,
    matrix: Sequence[Sequence[fmpz_poly]],
    sizes: Sequence[int],
    beside: Fraction,
) -> bool | None:
    """Whether a mechanism exists at a root with none on either side; None where that is not decided."""

    def sign(polynomial: fmpz_poly) -> int:
        return 0 if _vanishes(polynomial, root) else sign_at(polynomial, beside)

    if sign(below) and all(sign(top) * sign(below) >= 0 for top in tops):
        return True  # the solution, continued to this place
    if not _vanishes(determinant, root):
        return False  # it is the only one
    # Q N = D 1 makes N(α) a null vector where D(α) = 0; with the sizes S of the classes S Q is symmetric, so a solution
    # a would have 0 = N·S Q a = N·S 1.
    total = sum((size * top for size, top in zip(sizes, tops, strict=True)), fmpz_poly([]))
    if _vanishes(below, root) and not _vanishes(total, root):
        return False
    place = root.exact
    if root.polynomial.degree() == 1:
        place = Fraction(-int(root.polynomial[0]), int(root.polynomial[1]))
    if place is None:
        return None
    rows = [[_value(entry, place) for entry in row] for row in matrix]
    return least_solution(rows, [Fraction(1)] * len(rows)).solution is not None


def _vanishes(polynomial: fmpz_poly, root: Root) -> bool:
    """Whether a polynomial, made of the basis, is zero at a root of one of its members."""
    if root.exact is not None:
        return sign_at(polynomial, root.exact) == 0
    common = polynomial.gcd(root.polynomial)
    return bool(common.degree() > 0 and sign_at(common, root.lower) * sign_at(common, root.upper) < 0)


def _value(polynomial: fmpz_poly, place: Fraction) -> Fraction:
    result = Fraction(0)
    for coefficient in reversed(polynomial.coeffs()):
        result = result * place + int(coefficient)
    return result
