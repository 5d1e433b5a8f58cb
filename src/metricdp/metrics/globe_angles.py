"""Angles between places on the globe as floats with a proved bound on their error.

Places become unit vectors u in ball arithmetic, each coordinate rounded to the nearest float. The angle between two is
``2 arctan2(|u - v|, |u + v|)``, by operations that IEEE 754 rounds correctly and one arc tangent, of which
`metricdp.exact.assumed` records and measures the error. With e = 2^-53:

- a coordinate is off by at most 2e, a difference or sum of two by 4e + 2e, of three together by 11e;
- the length of that vector, at most 2, by 11e and four roundings, 8e: 19e in all, and half of it by 10e;
- both halves lie on a circle of radius 1, so the half angle is off by less than 15e, and by 32e of the arc tangent;
- the angle is off by less than 94e, and as it is kept by less than 2^-46.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from metricdp.exact.arrays import Floats
from metricdp.exact.balls import precision
from metricdp.metrics.coordinates import vector

__all__ = ["ANGLE_ERROR", "angles", "unit_vectors"]

ANGLE_ERROR = 2.0**-46
"""What no angle is farther off by, in radians."""

_BITS = 80


def angles(left: Floats, right: Floats) -> Floats:
    """The angles between places and others, both as `unit_vectors`, within `ANGLE_ERROR` where numpy is trusted.

    >>> places = unit_vectors([(0, 0), (0, 90), (0, 360 * 10**40 + 180)])
    >>> angles(places[:1], places).round(6).tolist()
    [[0.0, 1.570796, 3.141593]]
    """
    apart, together = np.zeros((len(left), len(right))), np.zeros((len(left), len(right)))
    for column, other in zip(left.T, right.T, strict=True):
        apart += np.subtract.outer(column, other) ** 2
        together += np.add.outer(column, other) ** 2
    return np.asarray(2 * np.arctan2(np.sqrt(apart) / 2, np.sqrt(together) / 2))


def unit_vectors(places: Sequence[Any], known: dict[Any, tuple[float, float, float]] | None = None) -> Floats:
    """Places (latitude, longitude) as points of the unit sphere, one a row.

    Args:
        places: in degrees.
        known: those of earlier calls, to which these are added.
    """
    known = {} if known is None else known
    rows = [known.get(place) or known.setdefault(place, _unit_vector(place)) for place in _frozen(places)]
    return np.array(rows)


def _frozen(places: Iterable[Any]) -> Iterable[tuple[Fraction, ...]]:
    return (tuple(vector(place)) for place in places)


def _unit_vector(place: tuple[Fraction, ...]) -> tuple[float, float, float]:
    latitude, longitude = (fmpq(part.numerator, part.denominator * 180) for part in place)
    with precision(_BITS):
        across = arb.cos_pi_fmpq(latitude)
        x, y = across * arb.cos_pi_fmpq(longitude), across * arb.sin_pi_fmpq(longitude)
        return float(x), float(y), float(arb.sin_pi_fmpq(latitude))
