"""Guarantees in plain words: what an adversary can learn, at distances that mean something."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from metricdp.exact.lists import as_list
from metricdp.metrics.amounts import formula
from metricdp.metrics.finite import Discrete

if TYPE_CHECKING:
    from metricdp.metrics.guarantee import Guarantee
    from metricdp.metrics.metric import Metric

__all__ = ["explain", "telling_distances"]

Distance = int | float | Fraction


def explain(guarantee: Guarantee, distances: Sequence[Distance] | Distance | None = None) -> str:
    """See `Guarantee.explain`."""
    if isinstance(distances, int | float | Fraction):
        distances = [distances]
    told = list(telling_distances(guarantee.metric)) if distances is None else as_list(distances, "distances", "[200]")
    lines = [f"This release is {guarantee}."]
    lines += [_odds(guarantee, distance) for distance in told]
    if told:
        lines.append(_hiding(guarantee, told[len(told) // 2]))
    if guarantee.delta:
        lines.append(
            f"All of this holds up to an additive δ = {formula(guarantee.delta)}: a set of outputs may be that much "
            "more likely than the factor allows."
        )
    return "\n".join(lines)


def telling_distances(metric: Metric) -> tuple[Fraction, ...]:
    """Distances worth telling: whole ones where distances are, else around the one at which odds about double."""
    if metric.unit.typical:
        return tuple(map(Fraction, metric.unit.typical))
    middle = 1 / metric.level.coefficient
    if metric.level.log_of is None or 1000 % middle.denominator:
        middle = _round(math.log(2) / float(metric.level))
    # else it is as `within` makes it: at 1/coefficient the factor is a round number, and the distance reads well
    return middle / 2, middle, middle * 2


def _odds(guarantee: Guarantee, distance: Distance) -> str:
    factor = guarantee.odds(distance)
    if factor == math.inf:
        return f"{_pair(guarantee, distance)}: an adversary may tell them apart freely."
    likely = Fraction(factor) / (1 + Fraction(factor))
    return (
        f"{_pair(guarantee, distance)}: an adversary's odds between them can move by at most a factor {_up(factor)} "
        f"(from even odds, to between {_percent(1 - likely, ROUND_FLOOR)} and {_percent(likely, ROUND_CEILING)})."
    )


def _hiding(guarantee: Guarantee, distance: Distance) -> str:
    unit = guarantee.metric.unit
    other = "any other one" if isinstance(unit, Discrete) else f"one at most {_length(unit, distance)} away"
    factor = guarantee.odds(2 * distance) if distance != math.inf else math.inf
    bound = "without bound" if factor == math.inf else f"by a factor {_up(factor)} at most"
    return (
        f"Had the secret been replaced by {other} before the release, an adversary's conclusions, whatever they know "
        f"besides, would differ {bound}."
    )


def _pair(guarantee: Guarantee, distance: Distance) -> str:
    unit = guarantee.metric.unit
    if isinstance(unit, Discrete) and distance == 1:
        return "Two different secrets"
    return f"Two secrets {_length(unit, distance)} apart"


def _length(unit: Metric, distance: Distance) -> str:
    number = f"{float(distance):.6g}" if not 1e6 <= distance < 1e15 else f"{float(distance):,.0f}"
    name = unit.unit_name
    return f"{number} {name[:-1] if number == '1' and len(name) > 1 else name}" if name else f"a distance of {number}"


def _up(factor: float) -> str:
    """A factor of at least 1, rounded up to two decimals, or to three digits where it is large."""
    exact = Decimal(factor)
    step = Decimal("0.01") if factor < 100 else Decimal(1).scaleb(exact.adjusted() - 2)
    rounded = exact.quantize(step, ROUND_CEILING) if factor < 1e20 else exact
    return f"{rounded:.2f}" if factor < 100 else f"{rounded:.3g}" if factor >= 1e6 else f"{int(rounded)}"


def _percent(share: Fraction, rounding: str) -> str:
    percent = (Decimal(share.numerator) / Decimal(share.denominator) * 100).quantize(Decimal("0.1"), rounding)
    return f"{percent}%"


def _round(number: float) -> Fraction:
    """The nearest of 1, 2, 5, 10, 20, 50, ... and their tenths."""
    power = math.floor(math.log10(number))
    candidates = [Fraction(digit) * Fraction(10) ** power for digit in (1, 2, 5, 10)]
    return min(candidates, key=lambda candidate: abs(math.log(candidate / Fraction(number))))
