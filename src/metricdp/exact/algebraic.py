"""Numbers made of one root of a polynomial, by the four operations and comparison, exactly.

Where α is a root of an irreducible polynomial of degree n, every such number is ``c_0 + c_1 α + .. + c_(n-1) α^(n-1)``
with rational c, in one way alone. So a number is zero only if all its c are, and the sign of any other is found by
narrowing the interval of α until it shows.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from flint import arb, fmpq, fmpq_poly

from metricdp.exact.balls import ball, precision
from metricdp.exact.real_roots import PolynomialRoot, sign_at

__all__ = ["Algebraic", "AlgebraicField", "irreducible"]

_FEWEST_BITS = 64


def irreducible(root: PolynomialRoot) -> PolynomialRoot:
    """The same root, of the irreducible factor that has it; exactly where that is of degree 1.

    >>> from flint import fmpz_poly
    >>> whole = fmpz_poly([-2, 3]) * fmpz_poly([-1, -1, 3])
    >>> found = irreducible(PolynomialRoot(whole, Fraction(13, 20), Fraction(7, 10)))
    >>> found.exact
    Fraction(2, 3)
    """
    if root.exact is not None:
        return root
    for factor, _ in root.polynomial.factor()[1]:
        if sign_at(factor, root.lower) * sign_at(factor, root.upper) < 0:
            if factor.degree() == 1:
                place = Fraction(-int(factor[0]), int(factor[1]))
                return PolynomialRoot(factor, place, place)
            return PolynomialRoot(factor, root.lower, root.upper)
    raise ArithmeticError("internal error: no factor of the polynomial has its root")


class AlgebraicField:
    """All numbers made of one root α.

    Args:
        root: of an irreducible polynomial; see `irreducible`.

    >>> from flint import fmpz_poly
    >>> golden = irreducible(PolynomialRoot(fmpz_poly([-1, 1, 1]), Fraction(1, 2), Fraction(1)))  # α² = 1 - α
    >>> field = AlgebraicField(golden)
    >>> alpha, one = field.power(1), field.power(0)
    >>> one / alpha - alpha == one, alpha > one - alpha, alpha * alpha < one - alpha
    (True, True, False)
    """

    def __init__(self, root: PolynomialRoot) -> None:
        self.root = root
        self.modulus = fmpq_poly(root.polynomial)
        self._places: dict[int, PolynomialRoot] = {}

    def power(self, exponent: int) -> Algebraic:
        """``α^exponent``, for an exponent that is not negative."""
        result, base = fmpq_poly([1]), fmpq_poly([0, 1]) % self.modulus
        while exponent:
            if exponent & 1:
                result = result * base % self.modulus
            base, exponent = base * base % self.modulus, exponent >> 1
        return Algebraic(self, result)

    @cached_property
    def zero(self) -> Algebraic:
        """0."""
        return Algebraic(self, fmpq_poly([]))

    @cached_property
    def one(self) -> Algebraic:
        """1."""
        return Algebraic(self, fmpq_poly([1]))

    def sign(self, value: fmpq_poly) -> int:
        """The sign of a polynomial of smaller degree at α."""
        if value.degree() < 1:
            constant = value[0]
            return int(constant > 0) - int(constant < 0)
        coefficients = [int(coefficient) for coefficient in value.numer().coeffs()]
        bits = _FEWEST_BITS
        while True:  # ends: α is no root of it
            if bits not in self._places:
                self._places[bits] = self.root.narrowed(Fraction(1, 1 << bits))
            near = self._places[bits]
            with precision(2 * bits):
                place = ball(near.lower).union(ball(near.upper))
                total = arb(0)
                for coefficient in reversed(coefficients):
                    total = total * place + coefficient
                if total > 0:
                    return 1
                if total < 0:
                    return -1
            bits *= 2


class Algebraic:
    """One number of an `AlgebraicField`; made by its methods."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, field: AlgebraicField, value: fmpq_poly) -> None:
        self.field = field
        self.value = value

    def __add__(self, other: Algebraic) -> Algebraic:
        return Algebraic(self.field, self.value + other.value)

    def __sub__(self, other: Algebraic) -> Algebraic:
        return Algebraic(self.field, self.value - other.value)

    def __mul__(self, other: Algebraic) -> Algebraic:
        return Algebraic(self.field, self.value * other.value % self.field.modulus)

    def __rmul__(self, number: int) -> Algebraic:
        return Algebraic(self.field, self.value * fmpq(number))

    def __truediv__(self, other: Algebraic) -> Algebraic:
        common, _, inverse = self.field.modulus.xgcd(other.value)
        if common.degree() > 0 or other.value.degree() < 0:
            raise ZeroDivisionError("division by zero")
        return Algebraic(self.field, self.value * inverse / common[0] % self.field.modulus)

    def _compared(self, other: Algebraic | int) -> int:
        value = self.value - (other.value if isinstance(other, Algebraic) else fmpq_poly([other]))
        return self.field.sign(value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Algebraic, int)):
            return NotImplemented
        return self._compared(other) == 0

    def __lt__(self, other: Algebraic | int) -> bool:
        return self._compared(other) < 0

    def __gt__(self, other: Algebraic | int) -> bool:
        return self._compared(other) > 0
