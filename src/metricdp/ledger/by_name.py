"""Factors between metrics whose attributes are matched by name: those that one of them lacks tell nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from fractions import Fraction

from metricdp.errors import LevelError
from metricdp.exact.level import Level
from metricdp.metrics import Metric, discrete
from metricdp.metrics.algebra import Capped
from metricdp.metrics.order import factor_between
from metricdp.metrics.records import Attributes, Positions, attributes

__all__ = ["as_in", "factor_by_name"]


def factor_by_name(d: Metric, e: Metric) -> Fraction | None:
    """A number k with d <= k·e, as `factor_between` finds it, also where d is on some of the attributes of e.

    The attributes are the columns of one data set: a record has all of them, and d looks at some.

    >>> from metricdp.metrics import attributes, capped
    >>> factor_by_name(capped(attributes({"age": 2}), 3), capped(attributes({"sex": 1, "age": 1}), 3))
    Fraction(2, 1)
    """
    known = factor_between(d, e)
    if known is not None:
        return known
    one, two = d.unit, e.unit
    try:
        levels = _ratio(d.level, e.level)
        if isinstance(one, Attributes) and isinstance(two, Attributes):
            others = dict(two.metrics)
            if not set(one.names) <= set(others):
                return None
            return _times(levels, _largest(factor_by_name(metric, others[name]) for name, metric in one.metrics))
        found = []
        if isinstance(one, Capped) and isinstance(two, Capped):
            bases = factor_by_name(one.base, two.base)
            found.append(_times(levels, _largest([bases, _ratio(one.cap, two.cap)])))
        if isinstance(one, Capped):
            found.append(factor_by_name(one.base * d.level, e))
        return min((factor for factor in found if factor is not None), default=None)
    except LevelError:  # a product of two logarithms came up
        return None


def as_in(d: Metric, e: Metric) -> Metric | None:
    """The metric with its attributes in the order of e, so that both read tuples alike; None where it has others.

    And None where e itself reads one place in two orders, so that nobody knows what a tuple means.

    >>> from metricdp.metrics import attributes
    >>> as_in(attributes({"age": 2, "sex": 1}), attributes({"sex": 1, "age": 1})).names
    ('sex', 'age')
    """
    one, two = d.unit, e.unit
    if isinstance(one, Attributes) and isinstance(two, Attributes) and set(one.names) == set(two.names):
        d = attributes({name: dict(one.metrics)[name] for name in two.names}) * d.level
    known = set(_orders(e, ()))
    one_order = len({place for place, _ in known}) == len(known)
    return d if one_order and known.issuperset(_orders(d, ())) else None


def _orders(metric: Metric, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """In which order a metric reads attributes, wherever it does: from the whole secret inwards."""
    if isinstance(metric, Attributes):
        yield place, metric.names
        for name, part in metric.metrics:
            yield from _orders(part, (*place, name))
        return
    inner = (*place, "") if isinstance(metric, Positions) else place
    for value in (getattr(metric, field.name) for field in dataclasses.fields(metric)):
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Metric):
                yield from _orders(part, inner)


def _ratio(one: Level, two: Level) -> Fraction | None:
    return factor_between(discrete() * one, discrete() * two)


def _times(one: Fraction | None, two: Fraction | None) -> Fraction | None:
    return None if one is None or two is None else one * two


def _largest(factors: Iterable[Fraction | None]) -> Fraction | None:
    every = list(factors)
    return None if None in every else max(factor for factor in every if factor is not None)
