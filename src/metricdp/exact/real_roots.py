"""Real roots of integer polynomials between 0 and 1, isolated exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import fmpq, fmpz, fmpz_poly

__all__ = ["PolynomialRoot", "coprime_basis", "roots_between", "separated", "sign_at"]

_SHIFT = fmpz_poly([1, 1])


@dataclass(frozen=True)
class PolynomialRoot:
    """A root of a square-free polynomial, alone in an interval.

    Attributes:
        polynomial: which has no other root between ``lower`` and ``upper``, and none at them unless they are equal.
        lower: below the root, or the root itself.
        upper: above it, or the root itself.
    """

    polynomial: fmpz_poly
    lower: Fraction
    upper: Fraction

    @property
    def exact(self) -> Fraction | None:
        """The root, where it was met."""
        return self.lower if self.lower == self.upper else None

    def halved(self) -> PolynomialRoot:
        """The same root in one half of the interval."""
        if self.lower == self.upper:
            return self
        middle = (self.lower + self.upper) / 2
        sign = sign_at(self.polynomial, middle)
        if sign == 0:
            return PolynomialRoot(self.polynomial, middle, middle)
        if sign == sign_at(self.polynomial, self.lower):
            return PolynomialRoot(self.polynomial, middle, self.upper)
        return PolynomialRoot(self.polynomial, self.lower, middle)

    def narrowed(self, width: Fraction) -> PolynomialRoot:
        """The same root in an interval of at most this width, relative to its upper end."""
        root = self
        while root.upper - root.lower > width * root.upper:
            root = root.halved()
        return root


def sign_at(polynomial: fmpz_poly, place: Fraction) -> int:
    """The sign of a polynomial at a rational, exactly.

    >>> sign_at(fmpz_poly([-1, 0, 2]), Fraction(7, 10))
    -1
    """
    value = polynomial(fmpq(place.numerator, place.denominator))
    return int(value > 0) - int(value < 0)


def roots_between(polynomial: fmpz_poly) -> list[PolynomialRoot]:
    """The roots of a square-free polynomial in (0, 1), each in an interval of its own, by the rule of Descartes.

    Coefficients of ``(1 + x)^n p(1 / (1 + x))`` change sign at least as often as p has roots in (0, 1), and exactly so
    for none and for one; otherwise the interval is halved.

    >>> [(root.lower, root.upper) for root in roots_between(fmpz_poly([-1, 2]) * fmpz_poly([1, -4, 2]))]
    [(Fraction(0, 1), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 2))]
    """
    found: list[PolynomialRoot] = []
    whole = polynomial
    waiting = [(polynomial, Fraction(0), Fraction(1))]
    exact: list[Fraction] = []
    pending: list[tuple[Fraction, Fraction]] = []
    while waiting:
        local, lower, upper = waiting.pop()
        changes = _changes(fmpz_poly(local.coeffs()[::-1])(_SHIFT))
        if changes == 0:
            continue
        if changes == 1:
            pending.append((lower, upper))
            continue
        middle = (lower + upper) / 2
        degree = local.degree()
        left = fmpz_poly([c << (degree - power) for power, c in enumerate(map(int, local.coeffs()))])
        right = left(_SHIFT)
        if right[0] == 0:
            exact.append(middle)
            right = right.right_shift(1)
        waiting += [(left, lower, middle), (right, middle, upper)]
    rest = whole
    for place in exact:
        found.append(PolynomialRoot(whole, place, place))
        rest = rest // fmpz_poly([-place.numerator, place.denominator])
    for lower, upper in pending:
        found.append(_inside(rest, lower, upper))
    return sorted(found, key=lambda root: (root.lower, root.upper))


def _inside(polynomial: fmpz_poly, lower: Fraction, upper: Fraction) -> PolynomialRoot:
    """The one root between two places, with ends that are no roots of what is left of the polynomial."""
    for end in (lower, upper):
        if end in (0, 1) and sign_at(polynomial, end) == 0:
            polynomial = polynomial // fmpz_poly([-int(end), 1])
    return PolynomialRoot(polynomial, lower, upper)


def coprime_basis(polynomials: Iterable[fmpz_poly]) -> list[fmpz_poly]:
    """Square-free polynomials without common roots, whose roots are all those of the given ones.

    >>> coprime_basis([fmpz_poly([-1, 0, 1]), fmpz_poly([1, 1])])
    [x + 1, x + (-1)]
    """
    basis: list[fmpz_poly] = []
    for polynomial in polynomials:
        left = _square_free(polynomial)
        parts: list[fmpz_poly] = []
        for held in basis:
            common = left.gcd(held)
            if common.degree() > 0:
                left = left // common
                parts.append(common)
                held = held // common
            if held.degree() > 0:
                parts.append(held)
        basis = parts
        if left.degree() > 0:
            basis.append(left)
    return basis


def separated(roots: Iterable[PolynomialRoot]) -> list[PolynomialRoot]:
    """Different roots between 0 and 1 in intervals that touch neither each other nor 0 or 1, in order.

    So there is a rational in every gap, the first and the last included, at which no polynomial of the basis is zero;
    at 0 and 1 themselves they may be, and often are.

    >>> [(root.lower, root.upper) for root in separated(roots_between(fmpz_poly([-2, 3])))]
    [(Fraction(1, 2), Fraction(3, 4))]
    """
    held = list(roots)
    while True:
        held.sort(key=lambda root: (root.lower, root.upper))
        touching = {i for i in range(len(held) - 1) if held[i].upper >= held[i + 1].lower}
        halving = touching | {i + 1 for i in touching}
        halving |= {i for i, root in enumerate(held) if root.lower <= 0 or root.upper >= 1}
        if not halving:
            return held
        for place in halving:
            held[place] = held[place].halved()


def _square_free(polynomial: fmpz_poly) -> fmpz_poly:
    common = polynomial.gcd(polynomial.derivative())
    return (polynomial // common) if common.degree() > 0 else polynomial


def _changes(polynomial: fmpz_poly) -> int:
    signs = [c > 0 for c in polynomial.coeffs() if c != fmpz(0)]
    return sum(one != two for one, two in pairwise(signs))
