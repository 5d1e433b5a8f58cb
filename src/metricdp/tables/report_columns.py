"""What a report says about one column: its mechanism, its level, the error to expect, and the adversary's view."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from metricdp.exact.balls import Real
from metricdp.mechanisms.continuous import LineLaplace, VectorLaplace
from metricdp.mechanisms.finite import Exponential
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.nulls import NullableLaplace
from metricdp.mechanisms.response import RandomizedResponse, SetResponse
from metricdp.mechanisms.sphere import SphereLaplace
from metricdp.mechanisms.stepped import Geometric
from metricdp.tables.quantities import quantity
from metricdp.tables.report_views import MISSING_OR_NOT, View, views_of
from metricdp.tables.report_words import Measure, factor_words, number, percent, share
from metricdp.tables.treatments import Location, Series, SetOf, Time, Treatment
from metricdp.tables.treatments.numeric import Numeric

if TYPE_CHECKING:
    from metricdp.tables.policy import Policy

__all__ = ["ColumnReport", "entries_of", "measure_of", "mechanism_in", "report_column"]

_TELLING = 100.0
"""A factor from which even odds end beyond 99%: what such secrets differ by is hardly hidden."""

_NAME = re.compile(r"[-+0-9_,./eE]*\s*(.*?)\s*")


@dataclass(frozen=True)
class ColumnReport:
    """What is promised for a column, or for columns that belong together, and what to expect of it.

    Attributes:
        name: what the policy calls it.
        columns: the columns of the table.
        kind: the type of its entry in the policy.
        formula: the metric, with its level, as mathematics.
        level: the level as the policy says it.
        mechanism: how it is released.
        error: the error to expect, in words.
        median: the distance from the secret within which half of all releases lie, rounded up; None for categories.
        radius_95: the same for 95%.
        unit: what these two are counted in.
        truth: the probability that the very secret is released, rounded down; None where there is a continuum.
        null_stays: the probability that a missing value is released as missing, where that is secret.
        null_appears: the probability that a present value is released as missing, where that is secret.
        views: the adversary's, at a few distances.
        missing: what is done with a missing value.
        outside: what is done with a value outside its bounds or list; None where there are none.
        attention: what the level does not hide.
    """

    name: str
    columns: tuple[str, ...]
    kind: str
    formula: str
    level: str
    mechanism: str
    error: tuple[str, ...]
    median: float | None
    radius_95: float | None
    unit: str
    truth: float | None
    null_stays: float | None
    null_appears: float | None
    views: tuple[View, ...]
    missing: str
    outside: str | None
    attention: tuple[str, ...]


def entries_of(policy: Policy) -> dict[str, dict[str, Any]]:
    """The entries of a policy as they were written, by name."""
    tree = tomllib.loads(policy.text, parse_float=Decimal)
    return {name: entry if isinstance(entry, dict) else {} for name, entry in tree["columns"].items()}


def report_column(item: Treatment, entry: dict[str, Any], schema: pa.Schema | None, rows: int | None) -> ColumnReport:
    """The facts about one treatment, from the policy and the schema alone.

    Args:
        item: the treatment; it has a mechanism.
        entry: its entry in the policy.
        schema: of the table, where that is known: a type's own steps can be coarser than the mechanism's.
        rows: how many rows a person may have; None where the policy has no unit.
    """
    mechanism, measure = mechanism_in(item, schema), measure_of(item, entry)
    views = tuple(views_of(item, mechanism, entry, measure, rows))
    numbers = mechanism.numbers if isinstance(mechanism, NullableLaplace) else mechanism
    finite = isinstance(mechanism, RandomizedResponse)
    truth = mechanism.probability_within(0) if isinstance(mechanism, _FINITE) else None
    nulls = _null_probabilities(mechanism)
    median, radius = (None, None) if finite else (numbers.radius(0.5), numbers.radius(0.95))
    return ColumnReport(
        name=item.name,
        columns=item.columns,
        kind=_kind(item, entry),
        formula=mechanism.guarantee.metric.bracketed,
        level=_level(item, entry, measure),
        mechanism=_mechanism(mechanism, item, measure),
        error=tuple(_errors(mechanism, measure, median, radius, truth, nulls)),
        median=median,
        radius_95=radius,
        unit=measure.unit,
        truth=truth,
        null_stays=nulls and nulls[0],
        null_appears=nulls and nulls[1],
        views=views,
        missing=_missing(item, nulls is not None),
        outside=_outside(item, measure),
        attention=tuple(_attention(views, truth)),
    )


_FINITE = (RandomizedResponse, Exponential, SetResponse)


def mechanism_in(item: Treatment, schema: pa.Schema | None) -> Mechanism:
    """The mechanism as it releases into the type of the column, whose steps may be coarser than its own."""
    mechanism = item.mechanism
    assert mechanism is not None
    if (
        schema is None
        or item.columns[0] not in schema.names
        or not isinstance(mechanism, (LineLaplace, NullableLaplace))
    ):
        return mechanism
    step = _step(schema.field(item.columns[0]).type)
    if step <= mechanism.resolution:
        return mechanism
    if isinstance(mechanism, NullableLaplace):
        return replace(mechanism, numbers=replace(mechanism.numbers, resolution=step))
    return replace(mechanism, resolution=step)


def _step(arrow: pa.DataType) -> Fraction:
    """One step of a type, in days for dates; 0 for floats, which have no step of their own."""
    if pa.types.is_date(arrow):
        return Fraction(1)
    if pa.types.is_timestamp(arrow):
        return Fraction(1, 86400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[arrow.unit])
    return Fraction(10) ** -arrow.scale if pa.types.is_decimal(arrow) else Fraction(0)


def measure_of(item: Treatment, entry: dict[str, Any]) -> Measure:
    """What distances are counted in: the metric's own unit, or the one that the policy writes."""
    if isinstance(item, Location):
        return Measure("m")
    if isinstance(item, Time):
        return Measure("days")
    if isinstance(item, SetOf):
        return Measure("elements")
    if isinstance(item.mechanism, Exponential):
        return Measure("steps")
    written = entry.get("within", entry.get("per"))
    found = _NAME.fullmatch(written) if isinstance(written, str) else None
    return Measure(found[1] if found else "")


def _kind(item: Treatment, entry: dict[str, Any]) -> str:
    return str(entry.get("type", item.kind))


# The level, as the policy says it


def _level(item: Treatment, entry: dict[str, Any], measure: Measure) -> str:
    if isinstance(item.mechanism, RandomizedResponse):
        return f"{_amount(entry)} between any two values"
    if isinstance(item, SetOf):
        return f"{_amount(entry)} for each element"
    if isinstance(item.mechanism, Exponential):
        return f"{_amount(entry)} for {_distance(entry, '', measure)} in the taxonomy"
    unit = "m" if isinstance(item, Location) else "days" if isinstance(item, Time) else ""
    where = " in every reading" if isinstance(item, Series) else ""
    far = ("" if measure.unit else "a distance of ") + _distance(entry, unit, measure)
    return f"{_amount(entry)} {'at' if 'within' in entry else 'for'} {far}{where}"


def _amount(entry: dict[str, Any]) -> str:
    if "epsilon" in entry:
        return f"epsilon {entry['epsilon']}"
    return f"odds within a factor {entry.get('factor', 2)}"


def _distance(entry: dict[str, Any], unit: str, measure: Measure) -> str:
    return measure.say(quantity(entry.get("within", entry.get("per", 1)), unit))


# How it is released


def _mechanism(mechanism: Mechanism, item: Treatment, measure: Measure) -> str:
    if isinstance(mechanism, SphereLaplace):
        return f"Laplace noise on the globe, to {number(float(mechanism.resolution))} degrees"
    if isinstance(mechanism, RandomizedResponse):
        return f"randomized response among {_count(mechanism.values, 'value')}"
    if isinstance(mechanism, Exponential):
        return f"exponential mechanism over {_count(mechanism.space.points, 'category')}"
    if isinstance(mechanism, SetResponse):
        return f"each of {_count(mechanism.universe, 'element')} put in or out by a coin of its own"
    if isinstance(mechanism, VectorLaplace):
        return f"Laplace noise in the maximum norm, on all {mechanism.dim} readings at once"
    bounded = ", clamped to the bounds" if isinstance(item, Numeric) and item.bounds is not None else ""
    if isinstance(mechanism, Geometric):
        steps = "" if mechanism.step == 1 else f" in steps of {number(float(mechanism.step))}"
        return f"two-sided geometric noise{steps}{bounded}"
    assert isinstance(mechanism, (LineLaplace, NullableLaplace))
    coins = ", and a coin for missing or not" if isinstance(mechanism, NullableLaplace) else ""
    return f"Laplace noise, to {measure.say(mechanism.resolution)}{bounded}{coins}"


def _count(values: Sequence[Any], name: str) -> str:
    present = sum(value is not None for value in values)
    several = name if present == 1 else f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{present} {several}" + (" and missing" if present < len(values) else "")


# The error to expect


def _null_probabilities(mechanism: Mechanism) -> tuple[float, float] | None:
    """The probabilities that a missing value stays missing, and that a present one becomes so."""
    if isinstance(mechanism, NullableLaplace):
        return float(Real(mechanism.true_null)), float(Real(mechanism.false_null))
    if isinstance(mechanism, RandomizedResponse) and None in mechanism.values:
        truth = float(Real(mechanism.truth))
        return truth, (1 - truth) / (len(mechanism.values) - 1)
    if isinstance(mechanism, Exponential) and None in mechanism.space.points:
        return _exponential_nulls(mechanism)
    return None


def _exponential_nulls(mechanism: Exponential) -> tuple[float, float]:
    """The probability that missing stays so, and the greatest, over all categories, that one becomes missing."""
    null = mechanism.space.points.index(None)
    weights = np.exp(-float(mechanism.share) * mechanism.space.distances)
    released_as_null = weights[:, null] / weights.sum(axis=1)
    return float(released_as_null[null]), float(np.delete(released_as_null, null).max())


def _errors(
    mechanism: Mechanism,
    measure: Measure,
    median: float | None,
    radius: float | None,
    truth: float | None,
    nulls: tuple[float, float] | None,
) -> list[str]:
    errors = []
    if isinstance(mechanism, RandomizedResponse):
        assert truth is not None
        errors.append(f"the truth with probability {percent(truth)}")
    elif isinstance(mechanism, SetResponse):
        flip = float(Real(mechanism.flip))
        errors.append(
            f"each element wrong with probability {percent(flip)}: {share(flip * len(mechanism.universe))} of "
            f"{len(mechanism.universe)} on average, in 95% at most {number(radius or 0)}"
        )
    elif isinstance(mechanism, Exponential):
        assert truth is not None
        assert radius is not None
        errors.append(
            f"the truth with probability {percent(truth)} at least; 95% within {measure.say(radius)} in the taxonomy"
        )
    else:
        assert median is not None
        assert radius is not None
        what = "the worst reading: half" if isinstance(mechanism, VectorLaplace) else "half"
        errors.append(f"{what} within {measure.say(median)}, 95% within {measure.say(radius)}")
    if nulls is not None:
        errors.append(f"missing stays missing: {percent(nulls[0])}; present turns missing: {percent(nulls[1])}")
    return errors


# Rules, and what the level does not hide


def _missing(item: Treatment, secret: bool) -> str:
    if secret:
        return "a missing value is a secret like any other"
    if item.missing == "public":
        return "missing values are public: they stay where they are"
    return "a table with a missing value here is refused"


def _outside(item: Treatment, measure: Measure) -> str | None:
    if isinstance(item, Numeric) and item.bounds is not None:
        low, high = (_bound(bound, item) for bound in item.bounds)
        done = "is taken for the nearer bound" if item.outside == "clamp" else "makes the table refused"
        return f"bounds {low} to {high}; a value beyond {done}"
    if isinstance(item.mechanism, _FINITE):
        return "a value that is not in the policy's list makes the table refused"
    return None


def _bound(bound: Fraction, item: Treatment) -> str:
    if isinstance(item, Time):
        moment = dt.datetime(1970, 1, 1) + dt.timedelta(days=float(bound))
        return moment.date().isoformat() if bound.denominator == 1 else moment.isoformat(sep=" ")
    return f"{int(bound):,}" if bound.denominator == 1 else f"{float(bound):,g}"


def _attention(views: tuple[View, ...], truth: float | None) -> list[str]:
    notes = []
    null = next((view for view in views if view.secrets == MISSING_OR_NOT), None)
    if null is not None and null.factor >= _TELLING:
        notes.append(
            "Whether a value is missing is hardly hidden: missing lies as far from every value as the bounds from each "
            f"other (a factor {factor_words(null.factor)}). A larger distance in within, or narrower bounds, hides it "
            "better."
        )
    if truth is not None and truth > 0.95:
        notes.append(f"The very truth is released with probability {percent(truth)}: this level hides little.")
    return notes
