"""Fractions as flint's rationals, and back."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq

__all__ = ["flint_rational", "fraction"]


def flint_rational(number: Fraction) -> fmpq:
    """A Fraction for flint's matrices."""
    return fmpq(number.numerator, number.denominator)


def fraction(number: fmpq) -> Fraction:
    """And back."""
    return Fraction(int(number.p), int(number.q))
