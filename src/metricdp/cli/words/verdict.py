"""A verdict as a person reads it: which two secrets, at which output, how likely, and what was allowed."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from metricdp.exact.balls import Enclosure, enclose
from metricdp.visible import visible_name

if TYPE_CHECKING:
    from metricdp.channels import Channel
    from metricdp.metrics import Verdict

__all__ = ["Case", "case_of", "in_words", "named"]

_BITS = 256
_DIGITS = (4, 6, 9, 12, 16, 20, 30, 40)
_LARGEST_EXPONENT = 10_000.0  # beyond it, exp is written as a power
_WIDTH = 80


@dataclass(frozen=True)
class Case:
    """The tightest case of a verdict in numbers.

    Attributes:
        ratio: how many times as likely the output is from the one secret as from the other.
        distance: between them.
        allowed: exp(distance), the largest ratio that is allowed; None where it is beyond telling.
        excess: with a delta, by how much the likelihoods of all outputs together exceed that factor.
    """

    ratio: Fraction | float
    distance: Enclosure
    allowed: Enclosure | None
    excess: Enclosure | None

    def to_json(self) -> dict[str, Any]:
        """The case as plain values for JSON; what is beyond the floats as text."""
        numbers = {"ratio": self.ratio, "distance": self.distance, "allowed": self.allowed, "excess": self.excess}
        return {name: _float(number) for name, number in numbers.items() if number is not None}


def case_of(channel: Channel, verdict: Verdict) -> Case | None:
    """The tightest case of a verdict; None where nothing is constrained."""
    if verdict.witness is None:
        return None
    x, other, z = verdict.witness
    mine, theirs = channel.weights[channel.row(x)].tolist(), channel.weights[channel.row(other)].tolist()
    column = channel.column(z)
    ratio = Fraction(mine[column], theirs[column]) if theirs[column] else math.inf
    distance = verdict.metric.enclose(x, other, _BITS)
    if distance.upper > _LARGEST_EXPONENT:
        return Case(ratio, distance, None, None)
    allowed = enclose(lambda: verdict.metric.ball(x, other).exp(), _BITS)
    excess = None
    if verdict.delta:
        lower, upper = (_excess(mine, theirs, Fraction(factor)) for factor in (allowed.upper, allowed.lower))
        excess = Enclosure(lower / channel.total, upper / channel.total)
    return Case(ratio, distance, allowed, excess)


def in_words(name: str, channel: Channel, verdict: Verdict, case: Case | None) -> str:
    """The verdict for the terminal, in lines of at most 80 signs."""
    rows, columns = channel.shape
    judgement, without = str(verdict).splitlines()
    paragraphs = [
        f"{visible_name(name)}: a channel of {_count(rows, 'input')} and {_count(columns, 'output')}",
        judgement[0].upper() + judgement[1:],
        without if case is None else _case_words(verdict, case),
    ]
    if not verdict:
        paragraphs.append(_advice(verdict))
    wrapped = (textwrap.fill(text, _WIDTH, break_long_words=False) for text in paragraphs)
    first, *rest = wrapped
    return "\n\n".join(["\n".join([first, rest[0]]), *rest[1:]])


def named(verdict: Verdict, names: Mapping[Any, str]) -> Verdict:
    """The verdict with the names of the points in place of their labels, where there are names."""
    if verdict.witness is None or not names:
        return verdict
    x, other, z = (visible_name(names[label]) if label in names else label for label in verdict.witness)
    return replace(verdict, witness=(x, other, z))


def _advice(verdict: Verdict) -> str:
    certify = "metricdp.channels.certify finds the nearest channel that keeps this promise"
    if verdict.delta:
        return "What to do: promise less, with a larger level before the metric or a larger delta."
    if math.isinf(verdict.scale):
        return f"What to do: {certify}."
    return f"What to do: promise less, with a larger level before the metric; or mend it: {certify}."


def _case_words(verdict: Verdict, case: Case) -> str:
    assert verdict.witness is not None
    x, other, z = (repr(part) for part in verdict.witness)
    exact = bool(verdict) and verdict.scale_below >= 1
    if case.excess is not None and case.allowed is not None:
        allowed = _number(case.allowed, 6)
        excess, delta = _apart(case.excess, verdict.delta, exact)
        start = "Tightest" if verdict else "Worst"
        return (
            f"{start} for the secrets {x} and {other}, {_number(case.distance, 4)} apart: beyond the factor {allowed} "
            f"that is allowed there, the outputs are likelier from {x} by {excess} in all, and delta allows {delta}. "
            f"The output {z} exceeds it most."
        )
    start = "The tightest case" if verdict else "The worst case"
    if case.ratio == math.inf:
        return (
            f"{start}: the output {z} can come from the secret {x} and never from {other}, so whoever sees it knows. "
            f"They are {_number(case.distance, 4)} apart, and no factor is enough."
        )
    if case.distance.upper == 0:
        same = f"They are at distance 0, and must be indistinguishable{'; and they are.' if verdict else '.'}"
        return f"{start}: the output {z} is {_times(case.ratio, 12)} from the secret {x} as from {other}. {same}"
    if case.allowed is None:
        seen, allowed = _times(case.ratio, 6), f"exp({_number(case.distance, 4)})"
    else:
        number, allowed = _apart(case.ratio, case.allowed, exact)
        seen = "just as likely" if case.ratio == 1 else f"{number} times as likely"
    limit = f"a factor {allowed} is allowed" if verdict else f"no more than a factor {allowed} is allowed"
    return (
        f"{start}: the output {z} is {seen} from the secret {x} as from {other}. They are "
        f"{_number(case.distance, 4)} apart, so {limit}."
    )


def _times(ratio: Fraction | float, digits: int) -> str:
    return "just as likely" if ratio == 1 else f"{_number(ratio, digits)} times as likely"


Number = Fraction | float | Enclosure


def _apart(one: Number, two: Number, equal: bool) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to see which is larger; with few where they are equal."""
    for digits in _DIGITS:
        texts = _number(one, digits), _number(two, digits)
        if equal or texts[0] != texts[1]:
            break
    return texts


def _number(number: Number, digits: int) -> str:
    if isinstance(number, Enclosure):
        number = number.lower if number.lower == number.upper else Fraction(number.lower + number.upper) / 2
    if number == math.inf:
        return "infinitely"
    exact = Fraction(number)
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN)
    rounded = context.divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize(context)
    small = rounded == 0 or -6 < rounded.adjusted() < max(digits, 7)
    return f"{rounded:f}" if small else f"{rounded:e}"


def _excess(mine: list[int], theirs: list[int], factor: Fraction) -> Fraction:
    pairs = zip(mine, theirs, strict=True)
    return sum((max(Fraction(0), own - factor * across) for own, across in pairs), Fraction(0))


def _float(number: Number) -> float | str:
    try:
        value = float(number)
    except OverflowError:  # finite, and beyond the floats
        return _number(number, 6)
    return "infinite" if math.isinf(value) else value


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
