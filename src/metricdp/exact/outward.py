"""Bounds as floats on the safe side, which remember the real number they stand for."""

from __future__ import annotations

from fractions import Fraction

from metricdp.exact.balls import Enclosure, float_above, float_below

__all__ = ["Bound"]


class Bound(float):
    """A float that is a bound: on the safe side of a real number, and as near to it as a float can be shown to be.

    Attributes:
        enclosure: two rationals with the real number between them, equal where it is rational.

    >>> third = Bound.above(Fraction(1, 3))
    >>> third.exact, third > Fraction(1, 3)
    (Fraction(1, 3), True)
    """

    enclosure: Enclosure

    def __new__(cls, value: float, enclosure: Enclosure) -> Bound:
        """The float ``value`` for the number that ``enclosure`` encloses; see `above` and `below`."""
        bound = super().__new__(cls, value)
        bound.enclosure = enclosure
        return bound

    @classmethod
    def above(cls, number: Enclosure | Fraction | float) -> Bound:
        """An upper bound: rounded up."""
        enclosure = number if isinstance(number, Enclosure) else Enclosure(number, number)
        return cls(float_above(enclosure.upper), enclosure)

    @classmethod
    def below(cls, number: Enclosure | Fraction | float) -> Bound:
        """A lower bound: rounded down."""
        enclosure = number if isinstance(number, Enclosure) else Enclosure(number, number)
        return cls(float_below(enclosure.lower), enclosure)

    @property
    def lower(self) -> Fraction | float:
        """The number is not below this."""
        return self.enclosure.lower

    @property
    def upper(self) -> Fraction | float:
        """The number is not above this."""
        return self.enclosure.upper

    @property
    def exact(self) -> Fraction | float | None:
        """The number itself, where it is rational or infinite; None where it is only enclosed."""
        return self.enclosure.lower if self.enclosure.lower == self.enclosure.upper else None

    def __getnewargs__(self) -> tuple[float, Enclosure]:  # type: ignore[override]  # what `__new__` takes
        return float(self), self.enclosure
