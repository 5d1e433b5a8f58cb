"""The least that must be spent for an error bar that is wanted: from the policy and public facts, or after a count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.policies.sql.statements import Aggregate
from metricdp.policies.sql.together import unlike
from metricdp.queries.select.amounts import Amount
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.table_answers import TableAnswers
from metricdp.sessions.shown_bars import shown_bars

__all__ = ["counts_at_least", "counts_needed", "least"]

_STEPS = 24
"""Halvings in the search for the least that must be spent: to one part in 16 million."""

_UNSURE = Fraction(1, 200)
"""How likely it is at most that one of the counts is less than it was taken to be."""


def least(asking: Asking, within: Fraction, most: Fraction, fewest: Mapping[Amount, Fraction] | None = None) -> Asking:
    """The question with the least scale whose error bars are all within what is wanted.

    Args:
        asking: the question.
        within: the widest error bar that is wanted.
        most: the largest scale that may be spent.
        fewest: how many there are at least of those whose number is secret, as `counts_at_least` finds it.

    Raises:
        ImpossibleError: ``most`` is not enough; or how far something is off depends on what is secret.
    """
    if within <= 0 or most <= 0:
        raise ArgumentError("an error bar is positive, and so is the most that it may cost")

    def scaled(scale: Fraction) -> Asking:
        return replace(asking, scale=scale)

    def bars(scale: Fraction) -> dict[str, float | None]:
        return shown_bars(asking, scaled(scale).error_bars(fewest))

    def fits(scale: Fraction) -> bool:
        return all(bar is not None and bar <= within for bar in bars(scale).values())

    if not fits(most):
        found = bars(most)
        told = ", ".join(f"{name} ± {'unknown' if bar is None else f'{bar:.4g}'}" for name, bar in found.items())
        done = "" if fewest is None else "; the count, which was asked for first, is charged and on record"
        raise ImpossibleError(
            f"for {float(most):.4g} times the policy's metric the error bars are {told}, not within "
            f"{float(within):.6g}: allow more with most=, or ask for fewer things or groups at once{done}"
        )
    low, high = Fraction(0), most
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return scaled(high)


def counts_needed(asking: Asking) -> tuple[Aggregate, ...]:
    """The counts that averages of the question are divided by and that are secret, as they are asked for."""
    bars = asking.error_bars()
    needed: list[Aggregate] = []
    for aggregate in asking.select.aggregates:
        amounts = asking.amounts_of(aggregate, 0)
        if bars[aggregate.name] is None and amounts:
            (*_, count) = amounts
            name = "count(*)" if count.column is None else f"count({count.column})"
            wanted = Aggregate("count", count.column, None, name, aggregate.only)
            if all(wanted.what != known.what for known in needed):
                needed.append(unlike(wanted, needed))
    return tuple(needed)


def counts_at_least(counting: Asking, counted: TableAnswers) -> dict[Amount, Fraction]:
    """What every count is at least, with a probability of 99.5% for all together; and 1 at least."""
    found: dict[Amount, Fraction] = {}
    each = 1 - _UNSURE / (len(counting.division.labels) * len(counting.select.aggregates))
    for aggregate in counting.select.aggregates:
        reach = counting.error_bars(confidence=each)[aggregate.name]
        assert reach is not None  # it is a count
        for group, answer in enumerate(counted[aggregate.name]):
            (amount,) = counting.amounts_of(aggregate, group)
            assert isinstance(answer.value, int | float)
            found[amount] = max(Fraction(answer.value) - Fraction(reach), Fraction(1))
    return found
