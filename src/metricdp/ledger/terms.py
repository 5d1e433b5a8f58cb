"""A metric as a sum of simple terms, so that many metrics can be added up in a few numbers.

``attributes``, ``records`` with the norm 1, ``nullable``, sums and scales are linear: a metric built by them is a sum
of levels times terms, and adding metrics adds the levels. Whatever is not linear (a maximum, a bound, hops) is a term
of its own. Attributes are matched by name, since they are the columns of one data set: a metric on some of them says
that nothing is told of the others.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.level import Level
from metricdp.exact.level_sums import LevelSum
from metricdp.metrics import Metric, discrete, records, unprotected
from metricdp.metrics.algebra import Added, add
from metricdp.metrics.nullable import Nullable, nullable
from metricdp.metrics.records import Attributes, Records, attributes

__all__ = ["MetricTerm", "Terms", "metric_of", "terms_of", "unit_digest"]

_RECORDS, _PRESENT, _ABSENT = "records", "present", "absent"
_ATTRIBUTE = "."

_LONGEST = 8192
"""Bits of a level's numerator and denominator, so that it can be written down."""


_LARGEST_BITS = 900
_ONE = LevelSum.of(1)


@dataclass(frozen=True)
class MetricTerm:
    """A metric without a number before it, and where in the secret it looks.

    Attributes:
        path: from the whole secret inwards: ".name" for an attribute, "records", "present" and "absent".
        unit: the metric there; at "absent", whether one of two secrets is missing.
    """

    path: tuple[str, ...]
    unit: Metric

    @cached_property
    def key(self) -> str:
        """A short text that names the term."""
        return "/".join([*(part.replace("~", "~~").replace("/", "~1") for part in self.path), self.digest])

    @cached_property
    def digest(self) -> str:
        """That of the unit."""
        return unit_digest(self.unit)

    @cached_property
    def unprotected(self) -> bool:
        """Whether two secrets are infinitely far apart in it, so that no level makes a difference."""
        return self.unit == unprotected()

    @property
    def name(self) -> str:
        """What a person calls it: the attribute, or the metric where there is none."""
        named = [part[1:] for part in self.path if part.startswith(_ATTRIBUTE)]
        where = ".".join(named) or str(self.unit)
        return f"{where}, missing or not" if self.path[-1:] == (_ABSENT,) else where


Terms = dict[MetricTerm, LevelSum]


@lru_cache(4096)
def unit_digest(metric: Metric) -> str:
    """Hexadecimal digits that tell a metric from every other one.

    Raises:
        ArgumentError: the metric has no written form, so that no ledger can keep it.
    """
    return hashlib.sha256(written(metric).encode()).hexdigest()


def written(metric: Metric) -> str:
    """The metric as text, from which it can be read again."""
    try:
        text = metric.to_toml()
        text.encode()
    except (ArgumentError, ValueError, TypeError) as problem:
        raise ArgumentError(
            f"{metric} has no written form, so that a ledger cannot keep it ({problem}); write its points as text or "
            "numbers"
        ) from None
    if getattr(Metric.from_toml(text), "kind", None) != metric.kind:
        raise ArgumentError(f"{metric} is not read back as it is written, so that a ledger cannot keep it")
    return text


def terms_of(metric: Metric) -> Terms:
    """The terms of a metric with their levels.

    Raises:
        LevelError: a level is not positive.

    >>> from metricdp.metrics import absolute, attributes
    >>> found = terms_of(2 * attributes({"age": absolute() / 10, "sex": 0.5}))
    >>> [(term.name, str(level)) for term, level in found.items()]
    [('age', '0.2'), ('sex', '1')]
    """
    terms: Terms = {}
    for term, level in _found(metric):
        terms[term] = terms[term] + level if term in terms else level
    for level in terms.values():
        refuse_long(level)
        if level.sign() <= 0:
            raise LevelError("a level is positive: what is given out cannot be taken back by a negative one")
    return terms


def refuse_long(level: LevelSum) -> None:
    """Refuse a level, or a delta, that is too long to be written down or too large to be told from infinity."""
    for part in [level.rational, *(part for pair in level.logarithms for part in pair)]:
        top, bottom = part.numerator.bit_length(), part.denominator.bit_length()
        if max(top, bottom) > _LONGEST:
            raise LevelError(f"a level in a ledger is a fraction of at most {_LONGEST:,} bits: round it up")
        if top > _LARGEST_BITS and abs(part) > 1 << _LARGEST_BITS:
            raise LevelError("a level in a ledger is below 2^900: what is larger protects nothing; use unprotected()")


def _found(metric: Metric) -> Iterable[tuple[MetricTerm, LevelSum]]:
    """The terms of a metric; those of its unit are remembered, so that a new level before it costs little."""
    if not isinstance(metric.unit, Added):
        try:
            whole = LevelSum.of(metric.level)
            return [(term, whole if level is _ONE else level * metric.level) for term, level in _of_unit(metric.unit)]
        except LevelError:  # a logarithm times a logarithm
            pass
    return _walk(metric, ())


@lru_cache(4096)
def _of_unit(unit: Metric) -> tuple[tuple[MetricTerm, LevelSum], ...]:
    return tuple((term, _ONE if level == _ONE else level) for term, level in _walk(unit, ()))


def _walk(metric: Metric, path: tuple[str, ...]) -> Iterable[tuple[MetricTerm, LevelSum]]:
    if isinstance(metric, Added):
        return [found for term in metric.terms for found in _walk(term, path)]
    inner = _inside(metric.unit, path)
    if inner is not None:
        try:
            return [(term, level * metric.level) for term, level in inner]
        except LevelError:  # a logarithm times a logarithm: it stays a term of its own
            pass
    return [(MetricTerm(path, metric.unit), LevelSum.of(metric.level))]


def _inside(unit: Metric, path: tuple[str, ...]) -> list[tuple[MetricTerm, LevelSum]] | None:
    """The terms of what a linear construction is built from; None where it is not linear."""
    if isinstance(unit, Attributes):
        return [found for name, part in unit.metrics for found in _walk(part, (*path, _ATTRIBUTE + name))]
    if isinstance(unit, Records) and unit.p == 1:
        return list(_walk(unit.base, (*path, _RECORDS)))
    if isinstance(unit, Nullable):
        apart = unit.null_distance
        place = (*path, _ABSENT)
        absent = (
            (MetricTerm(place, discrete()), LevelSum.of(apart))
            if isinstance(apart, Level)
            else (MetricTerm(place, unprotected()), LevelSum.of(1))
        )
        return [*_walk(unit.base, (*path, _PRESENT)), absent]
    return None


def metric_of(terms: Mapping[MetricTerm, LevelSum], names: Sequence[str] = ()) -> Metric | None:
    """The metric that is the sum of these terms; None where there are none, or where they are of several shapes.

    Args:
        terms: with levels that are not negative.
        names: the attributes in their order, where there are some.

    >>> from metricdp.metrics import absolute, attributes
    >>> print(metric_of(terms_of(attributes({"age": absolute() / 10, "sex": 0.5})), ["age", "sex"]))
    0.1·|x − y| (age) + 0.5·[x ≠ y] (sex)
    """
    return _built({(*term.path, str(place)): (term, level) for place, (term, level) in enumerate(terms.items())}, names)


def _built(found: Mapping[tuple[str, ...], tuple[MetricTerm, LevelSum]], names: Sequence[str]) -> Metric | None:
    plain = [(term, level) for path, (term, level) in found.items() if len(path) == 1]
    deeper: dict[str, dict[tuple[str, ...], tuple[MetricTerm, LevelSum]]] = {}
    for path, entry in found.items():
        if len(path) > 1:
            deeper.setdefault(path[0], {})[path[1:]] = entry
    metrics = [term.unit * level for term, sum_ in plain for level in sum_.levels]
    named = {part[1:]: _built(inner, names) for part, inner in deeper.items() if part.startswith(_ATTRIBUTE)}
    if named:
        order = [*(name for name in names if name in named), *(name for name in named if name not in names)]
        made = {name: named[name] for name in order}
        if None in made.values():
            return None
        metrics.append(attributes({name: metric for name, metric in made.items() if metric is not None}))
    if _RECORDS in deeper:
        base = _built(deeper[_RECORDS], names)
        if base is None:
            return None
        metrics.append(records(base))
    if _PRESENT in deeper or _ABSENT in deeper:
        if _PRESENT not in deeper or _ABSENT not in deeper:
            return None
        base, apart = _built(deeper[_PRESENT], names), _absence(deeper[_ABSENT].values())
        if base is None or apart is None:
            return None
        metrics.append(nullable(base, apart))
    return add(*metrics) if metrics else None


def _absence(found: Iterable[tuple[MetricTerm, LevelSum]]) -> Level | float | None:
    entries = list(found)
    if any(term.unit == unprotected() for term, _ in entries):
        return math.inf
    return LevelSum.total(level for _, level in entries).level
