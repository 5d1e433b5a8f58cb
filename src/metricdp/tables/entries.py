"""The kinds of entries a policy may have, and what each becomes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.errors import LevelError
from metricdp.exact.level import Level, rational
from metricdp.mechanisms.continuous import VectorLaplace, line_laplace
from metricdp.mechanisms.finite import exponential
from metricdp.mechanisms.nulls import nullable_laplace
from metricdp.mechanisms.pick import laplace
from metricdp.mechanisms.response import randomized_response, set_response
from metricdp.mechanisms.sphere import sphere_laplace
from metricdp.mechanisms.stepped import geometric, truncated_geometric
from metricdp.metrics import Metric, Space, absolute, chebyshev, dates, great_circle, nullable, taxonomy
from metricdp.metrics.dates import day_number
from metricdp.tables.quantities import level_of, level_written, quantity
from metricdp.tables.treatments import (
    Category,
    Drop,
    Integer,
    Keep,
    Location,
    Missing,
    Number,
    Outside,
    Series,
    SetOf,
    Time,
    Treatment,
)

__all__ = ["KINDS", "Kind"]

Entry = dict[str, Any]
Where = tuple[str, tuple[str, ...], int]
"""Name, columns and line."""

_LEVEL = ("within", "factor", "epsilon", "per")


@dataclass(frozen=True)
class Kind:
    """A type of entry.

    Attributes:
        keys: what may be written in it, besides ``type`` and ``columns``.
        make: turns it into a treatment.
        width: how many columns it takes.
    """

    keys: tuple[str, ...]
    build: Callable[[Where, Entry], Treatment]
    width: int = 1

    def make(self, name: str, columns: tuple[str, ...], line: int, entry: Entry) -> Treatment:
        """The treatment; raises a LevelError or its kin where something does not fit."""
        return self.build((name, columns, line), entry)


def _keep(where: Where, entry: Entry) -> Treatment:
    return Keep(*where)


def _drop(where: Where, entry: Entry) -> Treatment:
    return Drop(*where)


def _location(where: Where, entry: Entry) -> Treatment:
    width = quantity(entry["resolution"], "degrees") if "resolution" in entry else None
    sphere = sphere_laplace(level_of(entry, "m") * great_circle(), width)
    return Location(*where, _missing(entry, bounded=False), sphere=sphere)


def _number(where: Where, entry: Entry) -> Treatment:
    bounds, missing = _bounds(entry, rational), _missing(entry, bounded="bounds" in entry)
    mechanism = _on_the_line(level_of(entry, "") * absolute(), bounds, missing, _resolution(entry, ""))
    return Number(*where, missing, bounds=bounds, outside=_outside(entry, bounds), line_mechanism=mechanism)


def _time(where: Where, entry: Entry) -> Treatment:
    bounds, missing = _bounds(entry, _day), _missing(entry, bounded="bounds" in entry)
    mechanism = _on_the_line(level_of(entry, "days") * dates(), bounds, missing, _resolution(entry, "days"))
    return Time(*where, missing, bounds=bounds, outside=_outside(entry, bounds), line_mechanism=mechanism)


def _on_the_line(metric: Metric, bounds: Any, missing: Missing, width: Fraction | None) -> Any:
    if missing == "secret":
        return nullable_laplace(_with_null(metric, bounds), bounds, width)
    return line_laplace(metric, width, bounds)


def _with_null(metric: Metric, bounds: tuple[Fraction, Fraction]) -> Metric:
    """Null as far from every value as the bounds from each other (paper 1, section 5)."""
    return metric.level * nullable(metric.unit, bounds[1] - bounds[0])


def _integer(where: Where, entry: Entry) -> Treatment:
    bounds, missing = _bounds(entry, _whole), _missing(entry, bounded="bounds" in entry)
    step = _whole(entry.get("step", 1))
    metric = level_of(entry, "") * absolute()
    stepped: Any
    if missing == "secret":
        assert bounds is not None
        if max(-bounds[0], bounds[1]) > 2**52:
            raise LevelError('with missing = "secret", bounds lie within 2^52 of 0')
        stepped = nullable_laplace(_with_null(metric, bounds), bounds, step)
    elif bounds is None:
        stepped = geometric(metric, step)
    else:
        steps = (bounds[1] - bounds[0]) / step
        if steps.denominator != 1:
            raise LevelError("the bounds lie a whole number of steps apart")
        stepped = truncated_geometric(metric, int(steps), step)
    return Integer(*where, missing, bounds=bounds, outside=_outside(entry, bounds), stepped=stepped)


def _category(where: Where, entry: Entry) -> Treatment:
    missing = _missing(entry, bounded=True)
    if ("values" in entry) == ("parents" in entry):
        raise LevelError("either values = [..] or parents = {child = parent, ..} is wanted")
    if "values" in entry:
        values = _values(entry, "values")
        return Category(*where, missing, response=_response(values, missing, entry))
    if not isinstance(entry["parents"], dict):
        raise LevelError("parents = {child = parent, ..} is a table")
    tree = taxonomy(entry["parents"])
    parents = set(entry["parents"].values())
    leaves: list[Any] = [child for child in entry["parents"] if child not in parents]
    metric = level_of(entry, "") * tree
    if missing == "secret":
        metric = metric.level * nullable(tree, rational(tree.diameter(leaves)))
        leaves.append(None)
    return Category(*where, missing, response=exponential(Space(leaves, metric)))


def _boolean(where: Where, entry: Entry) -> Treatment:
    missing = _missing(entry, bounded=True)
    return Category(*where, missing, response=_response([True, False], missing, entry))


def _response(values: list[Any], missing: Missing, entry: Entry) -> Any:
    return randomized_response([*values, None] if missing == "secret" else values, _plain_level(entry))


def _set(where: Where, entry: Entry) -> Treatment:
    response = set_response(_values(entry, "values"), _plain_level(entry))
    return SetOf(*where, _missing(entry, bounded=False), response=response)


def _series(where: Where, entry: Entry) -> Treatment:
    length = entry.get("length")
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise LevelError("length = .. is the number of readings of a series")
    noise = laplace(level_of(entry, "") * chebyshev(), dim=length, resolution=_resolution(entry, ""))
    assert isinstance(noise, VectorLaplace)
    return Series(*where, _missing(entry, bounded=False), noise=noise)


def _plain_level(entry: Entry) -> Level:
    """The level between any two categories: epsilon, or the factor their likelihoods are within."""
    if ("epsilon" in entry) == ("factor" in entry):
        raise LevelError("either epsilon or factor is wanted")
    return level_written(entry["epsilon"]) if "epsilon" in entry else level_written(f"ln {entry['factor']}")


def _values(entry: Entry, key: str) -> list[Any]:
    values = entry.get(key)
    if not isinstance(values, list) or len({type(value) for value in values}) != 1:
        raise LevelError(f"{key} = [..] lists what there can be, all text or all integers")
    if type(values[0]) not in (str, int):
        raise LevelError(f"{key} are text or integers")
    return values


def _missing(entry: Entry, bounded: bool) -> Missing:
    allowed = ("secret", "public", "refuse") if bounded else ("refuse", "public")
    missing: Missing = entry.get("missing", allowed[0])
    if missing == "secret" and not bounded:
        raise LevelError(
            "a missing value can be secret only where the column has bounds or a list of values: declare them, or "
            'missing = "public" or "refuse"'
        )
    if missing not in allowed:
        raise LevelError(f"missing is one of {', '.join(map(repr, allowed))}")
    return missing


def _outside(entry: Entry, bounds: object) -> Outside:
    outside: Outside = entry.get("outside", "refuse")
    if outside not in ("refuse", "clamp"):
        raise LevelError("outside is 'refuse' or 'clamp'")
    if "outside" in entry and bounds is None:
        raise LevelError("outside goes with bounds")
    return outside


def _bounds(entry: Entry, read: Callable[[Any], Fraction]) -> tuple[Fraction, Fraction] | None:
    if "bounds" not in entry:
        return None
    bounds = entry["bounds"]
    if not isinstance(bounds, list) or len(bounds) != 2:
        raise LevelError("bounds = [least, greatest]")
    lower, upper = (read(bound) for bound in bounds)
    if not lower < upper:
        raise LevelError("bounds = [least, greatest], in that order")
    return lower, upper


def _resolution(entry: Entry, unit: str) -> Fraction | None:
    return quantity(entry["resolution"], unit) if "resolution" in entry else None


def _whole(number: Any) -> Fraction:
    if isinstance(number, bool) or not isinstance(number, int):
        raise LevelError("an integer is wanted")
    return Fraction(number)


def _day(moment: Any) -> Fraction:
    """Days since 1970 of a date or a time as TOML has them."""
    if not isinstance(moment, dt.date):
        raise LevelError("a date is wanted, such as 2024-01-31, without quotes")
    return day_number(moment)


_COMMON = (*_LEVEL, "missing")

KINDS: dict[str, Kind] = {
    "location": Kind((*_COMMON, "resolution"), _location, width=2),
    "number": Kind((*_COMMON, "resolution", "bounds", "outside"), _number),
    "integer": Kind((*_COMMON, "step", "bounds", "outside"), _integer),
    "time": Kind((*_COMMON, "resolution", "bounds", "outside"), _time),
    "category": Kind((*_COMMON, "values", "parents"), _category),
    "boolean": Kind((*_COMMON,), _boolean),
    "set": Kind((*_COMMON, "values"), _set),
    "series": Kind((*_COMMON, "resolution", "length"), _series),
    "keep": Kind((), _keep),
    "drop": Kind((), _drop),
}
"""What ``type`` may be."""
