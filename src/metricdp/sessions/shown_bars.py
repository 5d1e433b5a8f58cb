"""How far what a question computes from noisy numbers is off at most, where their error bars alone say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from metricdp.errors import ImpossibleError
from metricdp.policies.sql.expressions import Applied, Asked, Combined, Constant, Expression
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.spreads import spread

__all__ = ["shown_bars"]


class _Line(NamedTuple):
    """A constant, and so many times each of some noisy numbers, by their places."""

    constant: float
    slopes: dict[int, float]


def shown_bars(asking: Asking, bars: Mapping[str, float | None]) -> dict[str, float | None]:
    """The error bars of what a question shows, from those of the numbers that get noise.

    Sums, differences and multiples of noisy numbers are off by as much whatever they are. Rounding adds a step at most.

    Raises:
        ImpossibleError: something else is computed, such as a quotient of two noisy numbers.

    >>> from metricdp.policies.policy import Policy
    >>> column = {"type": "integer", "bounds": [0, 9], "epsilon": 1, "missing": "refuse"}
    >>> policy = Policy.of({"format": 2, "records": 9, "columns": {"x": column}}).askable
    >>> asking = Asking.of("select 3 * sum(x) as found from t", policy)
    >>> shown_bars(asking, {"sum(x)": 10.0})
    {'found': 30.0}
    """
    return {one.name: _bar(one.name, one.inner, asking, bars) for one in asking.select.shown}


def _bar(name: str, expression: Expression, asking: Asking, bars: Mapping[str, float | None]) -> float | None:
    aggregates = asking.select.aggregates
    if isinstance(expression, Asked):
        return bars[aggregates[expression.place].name]
    added = 0.0
    while isinstance(expression, Applied) and expression.name in ("abs", "round", "floor", "ceil"):
        added += 0.0 if expression.name == "abs" else 10.0**-expression.places
        expression = expression.inner
    line = _line(expression, asking)
    if line is None:
        raise ImpossibleError(
            f"how far {name} is off depends on the noisy numbers that it is computed from, which nobody knows before: "
            "ask for those within an error bar, and compute with them, or ask without within="
        )
    own = {place: bars[aggregates[place].name] for place in line.slopes}
    if any(bar is None for bar in own.values()):
        return None
    known = {place: bar for place, bar in own.items() if bar is not None}
    made_of = {place: set(asking.amounts_of(aggregates[place], 0)) - set(asking.public_counts) for place in known}
    shared = [one for one in known if any(made_of[one] & made_of[two] for two in known if two != one)]
    together = [{place: 1.0 if line.slopes[place] > 0 else -1.0 for place in shared}]
    places = dict(zip(known, range(len(known)), strict=True))
    return added + spread(
        lambda numbers: sum(slope * numbers[places[place]] for place, slope in line.slopes.items()),
        [0.0] * len(known),
        {places[place]: bar for place, bar in known.items()},
        [{places[place]: sign for place, sign in group.items()} for group in together],
    )


def _line(expression: Expression, asking: Asking) -> _Line | None:
    """The expression as a line in noisy numbers; None where it is something else."""
    if isinstance(expression, Constant):
        return _Line(expression.value, {})
    if isinstance(expression, Asked):
        public = all(
            amount in asking.public_counts
            for amount in asking.amounts_of(asking.select.aggregates[expression.place], 0) or (None,)
        )
        return _Line(float(asking.policy.most), {}) if public else _Line(0.0, {expression.place: 1.0})
    if isinstance(expression, Applied):
        inner = _line(expression.inner, asking) if expression.name == "-" else None
        return None if inner is None else _times(inner, -1.0)
    if not isinstance(expression, Combined):
        return None
    one, two = _line(expression.left, asking), _line(expression.right, asking)
    if one is None or two is None:
        return None
    if expression.sign in ("+", "-"):
        two = two if expression.sign == "+" else _times(two, -1.0)
        places = {**one.slopes, **two.slopes}
        slopes = {place: one.slopes.get(place, 0.0) + two.slopes.get(place, 0.0) for place in places}
        return _Line(one.constant + two.constant, slopes)
    if expression.sign == "*" and not (one.slopes and two.slopes):
        return _times(two, one.constant) if not one.slopes else _times(one, two.constant)
    if expression.sign == "/" and not two.slopes and two.constant:
        return _times(one, 1 / two.constant)
    return None


def _times(line: _Line, factor: float) -> _Line:
    return _Line(line.constant * factor, {place: slope * factor for place, slope in line.slopes.items()})
