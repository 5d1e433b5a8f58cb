"""Which metric is nowhere above which other one, as far as theorems tell."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from metricdp.errors import LevelError
from metricdp.exact.balls import enclose
from metricdp.exact.level import Level
from metricdp.metrics.algebra import Added, Capped, Maximum
from metricdp.metrics.amounts import Budget
from metricdp.metrics.blowfish import Hops, Smooth
from metricdp.metrics.finite import Discrete, Unprotected, discrete
from metricdp.metrics.metric import Metric
from metricdp.metrics.nullable import Nullable
from metricdp.metrics.records import AddRemove, Attributes, Hamming, Records
from metricdp.metrics.vectors import Chebyshev, Euclidean, Manhattan

__all__ = ["factor_between", "nowhere_above"]

_RATIO_BITS = 256

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


def factor_between(d: Metric, e: Metric) -> Fraction | None:
    """A number k with d(x, y) <= k·e(x, y) for all secrets, the least that theorems give; None where none is known.

    It is exact where both levels are rational or multiples of one logarithm, and otherwise rounded up by a share of
    2^-256. It is 0 where e is infinite between any two different secrets.

    >>> from metricdp.metrics import absolute, capped, discrete, euclidean, manhattan, smooth
    >>> factor_between(3 * euclidean(), 2 * manhattan()), factor_between(manhattan(), euclidean())
    (Fraction(3, 2), None)
    >>> (
    ...     factor_between(capped(absolute(), 10), discrete()),
    ...     factor_between(smooth(absolute(), 5), smooth(absolute(), 10)),
    ... )
    (Fraction(10, 1), Fraction(2, 1))
    """
    if isinstance(e.unit, Unprotected):
        return Fraction(0)
    if d.unit == e.unit:
        return _ratio(d.level, e.level)
    if isinstance(d.unit, Maximum):
        return _largest(factor_between(part * d.level, e) for part in d.unit.metrics)
    return _least(_factors(d, e))


def _factors(d: Metric, e: Metric) -> Iterator[Fraction | None]:
    """All that one theorem gives each."""
    try:
        yield from (factor_between(d, lower) for lower in _lower_bounds(e))
        if isinstance(d, Added):
            factors = [factor_between(term, e) for term in d.terms]
            yield None if None in factors else sum((k for k in factors if k is not None), Fraction(0))
        if isinstance(d.unit, Capped):
            yield factor_between(d.unit.base * d.level, e)
        if isinstance(e.unit, Discrete):  # no distance exceeds the greatest, and equal secrets have none
            yield _ratio(d.greatest, e.level)
        yield _same_construction(d, e)
        known = _KNOWN.get((type(d.unit), type(e.unit)))
        yield None if known is None else _times(known, _ratio(d.level, e.level))
    except LevelError:  # a product of two logarithms came up
        return


def _same_construction(d: Metric, e: Metric) -> Fraction | None:
    """From the factors between the parts of two metrics that are built in one way."""
    one, two, levels = d.unit, e.unit, _ratio(d.level, e.level)
    if isinstance(one, Attributes) and isinstance(two, Attributes):
        if one.names != two.names:
            return None
        return _times(levels, _largest(factor_between(*pair) for pair in zip(one.parts, two.parts, strict=True)))
    if isinstance(one, (Records, Hamming)) and isinstance(two, (Records, Hamming)):
        (base, p), (base_, p_) = _by_position(one), _by_position(two)
        return _times(levels, factor_between(base, base_)) if p >= p_ else None
    if isinstance(one, Nullable) and isinstance(two, Nullable):
        nulls = _ratio(one.null_distance, two.null_distance)
        return _times(levels, _largest([factor_between(one.base, two.base), nulls]))
    if isinstance(one, Capped) and isinstance(two, Capped):
        return _times(levels, _largest([factor_between(one.base, two.base), _ratio(one.cap, two.cap)]))
    if isinstance(one, Smooth) and isinstance(two, Smooth):
        beyond = factor_between(one.base / one.threshold, two.base / two.threshold)
        return _times(levels, _largest([Fraction(1), beyond]))
    if isinstance(one, Hops) and isinstance(two, Hops) and one.base.geodesic and two.base.geodesic:
        hops = factor_between(one.base / one.threshold, two.base / two.threshold)
        return None if hops is None else _times(levels, Fraction(max(1, math.ceil(hops))))
    return None


def _by_position(metric: Records | Hamming) -> tuple[Metric, float]:
    return (metric.base, metric.p) if isinstance(metric, Records) else (discrete(), 1)


def _ratio(one: Budget, two: Budget) -> Fraction | None:
    """One amount over another, rounded up where it is irrational."""
    if not isinstance(two, Level):
        return Fraction(0)
    if not isinstance(one, Level):
        return None
    if one.log_of == two.log_of:
        return one.coefficient / two.coefficient
    above = enclose(lambda: one.ball() / two.ball(), _RATIO_BITS).upper
    return None if above == math.inf else Fraction(above)


def _times(one: Fraction | None, two: Fraction | None) -> Fraction | None:
    return None if one is None or two is None else one * two


def _largest(factors: Iterator[Fraction | None] | list[Fraction | None]) -> Fraction | None:
    every = list(factors)
    return None if None in every else max(k for k in every if k is not None)


def _least(factors: Iterator[Fraction | None]) -> Fraction | None:
    return min((k for k in factors if k is not None), default=None)


def _below(d: Metric, e: Metric) -> bool:
    if d.unit == e.unit:
        return d.level <= e.level
    if isinstance(d.unit, Maximum):
        return all(_below(part * d.level, e) for part in d.unit.metrics)
    return (
        any(_below(d, lower) for lower in _lower_bounds(e))
        or (isinstance(d.unit, Capped) and _below(d.unit.base * d.level, e))
        or (isinstance(d, Added) and isinstance(e, Added) and _termwise(d.terms, e.terms))
        or (isinstance(d, Attributes) and isinstance(e, Attributes) and _by_name(d, e))
        or _known(d, e)
    )


def _lower_bounds(e: Metric) -> list[Metric]:
    """Metrics that are nowhere above e, one step simpler."""
    if isinstance(e, Added):
        return list(e.terms)
    if isinstance(e.unit, Maximum):
        return [part * e.level for part in e.unit.metrics]
    if isinstance(e.unit, (Hops, Smooth)):
        base = e.unit.base
        apart = base.on_line and not base.moments  # two numbers that differ are some way apart, and so one hop at least
        return [base / e.unit.threshold * e.level, *([discrete() * e.level] if apart else [])]
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
