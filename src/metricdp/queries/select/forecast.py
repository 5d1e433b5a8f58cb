"""What a question can be expected to give, before anything is read or spent: error bars, alternatives, warnings."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from metricdp.queries.select.amounts import Amount
from metricdp.queries.select.averages import CONFIDENCE, Noisy
from metricdp.queries.select.totals import bounds_of

if TYPE_CHECKING:
    from metricdp.queries.select.asking import Asking

__all__ = ["Expected", "Forecast", "forecast"]

_WIDE = 0.05
"""An error bar beyond this part of all records makes a cut worth a warning."""


@dataclass(frozen=True)
class Expected:
    """What one number can be expected to be like.

    Attributes:
        name: of the number.
        error_bar: half the width of an interval that holds the truth with 95%; the widest of all groups.
        supposed: what is supposed for it, where it depends on the table; empty where it does not.
        instead: what else would answer it, with the error bar to expect; empty where nothing else is known.
    """

    name: str
    error_bar: float
    supposed: str = ""
    instead: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values for programs."""
        return {
            "name": self.name,
            "error_bar": self.error_bar,
            "supposed": self.supposed,
            "instead": self.instead,
        }


@dataclass(frozen=True)
class Forecast:
    """What a question can be expected to give; from the policy alone.

    Attributes:
        expected: one for each number that gets noise.
        warnings: what will tell little, and what would tell more.
    """

    expected: tuple[Expected, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values for programs."""
        return {"expected": [one.to_json() for one in self.expected], "warnings": list(self.warnings)}


def forecast(asking: Asking) -> Forecast:
    """What to expect of a question: nothing is read, and nothing is spent."""
    bars = asking.error_bars()
    expected = []
    for aggregate in asking.select.aggregates:
        bar = bars[aggregate.name]
        if aggregate.kind == "percentile":
            expected.append(_percentile(asking, aggregate.name))
        elif bar is None:
            expected.append(_computed(asking, aggregate))
        else:
            expected.append(Expected(aggregate.name, bar))
    counts = [
        one.error_bar for one, asked in zip(expected, asking.select.aggregates, strict=True) if asked.kind == "count"
    ]
    return Forecast(tuple(expected), tuple(_cuts(asking, max(counts, default=0.0))))


def _percentile(asking: Asking, name: str) -> Expected:
    part = asking.percentiles[name]
    ranks, noise = part.by_rank, part.by_noise
    if part.ranks is None:
        other = "" if ranks is None else f"a draw by rank would give ± {ranks.bar_to_expect:,.4g} with so few records"
        return Expected(name, part.error_bar, "", other)
    other = "" if noise is None else f"noise on the answer would give ± {noise.error_bar(float(CONFIDENCE)) or 0:,.4g}"
    return Expected(name, part.error_bar, "if values are spread evenly between the bounds and over the groups", other)


def _computed(asking: Asking, aggregate: Any) -> Expected:
    """The error bar where all groups are of one size, and values are spread evenly between the bounds."""
    linear = asking.linear
    assert linear is not None
    allocation = linear.allocate()
    size = max(1.0, asking.policy.most / len(asking.division.labels))
    places = {amount: place for place, amount in enumerate(asking.amounts)}
    bars: dict[Any, float] = {}
    for group in range(len(asking.division.labels)):
        amounts = asking.amounts_of(aggregate, group)
        mechanisms = [allocation.mechanism(places[amount], asking.policy.most) for amount in amounts]
        if tuple(map(id, mechanisms)) not in bars:
            noisy = [
                Noisy(_supposed(asking, amount, size), None if mechanism is None else mechanism.radius)
                for amount, mechanism in zip(amounts, mechanisms, strict=True)
            ]
            bars[tuple(map(id, mechanisms))] = asking.computed(aggregate, amounts, noisy).error_bar
    return Expected(
        aggregate.name,
        max(bars.values()),
        "if all groups are of one size, and values are spread evenly between the bounds",
    )


def _supposed(asking: Asking, amount: Amount, size: float) -> float:
    """What an amount would be."""
    if amount.kind == "count":
        return size
    ends = (Fraction(1), Fraction(1)) if amount.weights is None else amount.weights.bounds
    own = (1, 1) if amount.column is None else bounds_of(asking.policy.column(amount.column))
    products = [float(one * two) for one in ends for two in own]
    low, high = min(products), max(products)
    if amount.kind == "sum":
        return size * ((low + high) / 2 - float(amount.centre))
    return size * ((high - low) ** 2 / 12 - float(amount.shift)) if amount.column == amount.second else 0.0


def _cuts(asking: Asking, bar: float) -> list[str]:
    """Conditions and bands that cut a column at a finer grain than its level hides."""
    if bar <= _WIDE * asking.policy.most:
        return []
    cut = [
        column.name
        for column in asking.division.columns
        if len(column.points) > 1 and not asking.policy.metric(column.name).without_null().all_alike
    ]
    return [
        f"{name} is protected by distance, and this question tells apart values of it that are next to each other: so "
        f"counts are off by {bar:,.4g} of {asking.policy.most:,} records. Percentiles, sums and averages of {name} do "
        f'not cut it; or protect it as metric = "1 discrete", any two values alike'
        for name in cut
    ]
