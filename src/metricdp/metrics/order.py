"""Which metric is nowhere above which other one, as far as theorems tell."""

from __future__ import annotations

from fractions import Fraction

from metricdp.errors import LevelError
from metricdp.metrics.algebra import Capped, Maximum, Sum
from metricdp.metrics.metric import Metric
from metricdp.metrics.records import AddRemove, Attributes, Hamming
from metricdp.metrics.thresholds import Hops, Smooth
from metricdp.metrics.vectors import Chebyshev, Euclidean, Manhattan

__all__ = ["nowhere_above"]

# ``smaller <= factor * larger`` between unscaled metrics on the same secrets, for all points.
_KNOWN: dict[tuple[type[Metric], type[Metric]], Fraction] = {
    (Chebyshev, Euclidean): Fraction(1),
    (Chebyshev, Manhattan): Fraction(1),
    (Euclidean, Manhattan): Fraction(1),
    (Hamming, AddRemove): Fraction(1),
    (AddRemove, Hamming): Fraction(2),
}


def nowhere_above(d: Metric, e: Metric) -> bool:
    """Whether d(x, y) <= e(x, y) for all secrets, by a theorem; False also where none is known.

    >>> from metricdp.metrics import add_remove, euclidean, hamming, manhattan
    >>> nowhere_above(euclidean(), 2 * manhattan()), nowhere_above(add_remove(), hamming())
    (True, False)
    """
    try:
        return _below(d, e)
    except LevelError:  # a product of two logarithms came up
        return False


def _below(d: Metric, e: Metric) -> bool:
    if d.unit == e.unit:
        return d.level <= e.level
    if isinstance(d.unit, Maximum):
        return all(_below(part * d.level, e) for part in d.unit.metrics)
    return (
        any(_below(d, lower) for lower in _lower_bounds(e))
        or (isinstance(d.unit, Capped) and _below(d.unit.base * d.level, e))
        or (isinstance(d, Sum) and isinstance(e, Sum) and _termwise(d.terms, e.terms))
        or (isinstance(d, Attributes) and isinstance(e, Attributes) and _by_name(d, e))
        or _known(d, e)
    )


def _lower_bounds(e: Metric) -> list[Metric]:
    """Metrics that are nowhere above e, one step simpler."""
    if isinstance(e, Sum):
        return list(e.terms)
    if isinstance(e.unit, Maximum):
        return [part * e.level for part in e.unit.metrics]
    if isinstance(e.unit, (Hops, Smooth)):
        return [e.unit.base / e.unit.threshold * e.level]
    return []


def _termwise(terms: tuple[Metric, ...], others: tuple[Metric, ...]) -> bool:
    """Whether each term finds another one that it is nowhere above, no two of them the same."""
    if not terms:
        return True
    first, *rest = terms
    return any(
        _below(first, other) and _termwise(tuple(rest), others[:place] + others[place + 1 :])
        for place, other in enumerate(others)
    )


def _by_name(d: Attributes, e: Attributes) -> bool:
    return d.names == e.names and all(_below(one, two) for one, two in zip(d.parts, e.parts, strict=True))


def _known(d: Metric, e: Metric) -> bool:
    factor = _KNOWN.get((type(d.unit), type(e.unit)))
    return factor is not None and d.level * factor <= e.level
