"""What a question shows of its noisy answers: computed with error bars carried through, sorted, some of the groups."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.policies.askable import Askable
from metricdp.policies.cells.ordered import DateCells
from metricdp.policies.sql.expressions import Applied, Asked, Combined, Expression
from metricdp.policies.sql.statements import Aggregate, Select
from metricdp.queries.select.amounts import Amount
from metricdp.queries.select.rolled_up import rolled_up, total_bar
from metricdp.queries.select.spreads import spread
from metricdp.queries.select.table_answers import TableAnswer, TableAnswers
from metricdp.queries.select.totals import bounds_of

if TYPE_CHECKING:
    from metricdp.queries.select.asking import Asking

__all__ = ["asked_names", "check_days", "shown_answers"]

Rows = tuple[tuple[TableAnswer, ...], ...]

Amounts = tuple[Amount | None, ...]
"""What an answer is made of, in the first group; None for a number that is public."""


def shown_answers(asking: Asking, rows: Rows, *rest: Any) -> TableAnswers:
    """The answers as the question shows them, from the noisy numbers of all its groups.

    What comes after the noise costs nothing and tells nothing more: it is computed from what is released.
    """
    select, policy, labels = asking.select, asking.policy, asking.division.labels
    asked = labels, rows
    if select.kept.totals:
        spans = [_span(one, policy) for one in select.aggregates]
        labels, rows = rolled_up(labels, rows, spans, [asking.public_total(one) for one in select.aggregates])
    made_of = [
        tuple(None if amount in asking.public_counts else amount for amount in asking.amounts_of(one, 0))
        for one in select.aggregates
    ]
    if select.kept.windows:
        rows = _with_totals(asking, labels, rows)
        made_of += [()] * len(select.kept.windows)
    computed = tuple(tuple(_answer(one.inner, row, made_of) for one in select.shown) for row in rows)
    places: Sequence[int] = range(len(labels))
    if select.kept.having is not None or select.kept.order or select.kept.limit is not None or select.kept.offset:
        places = select.kept.places(labels, [[_number(one.value) for one in row] for row in rows])
    shown = tuple(computed[place] for place in places)
    found = TableAnswers(select, policy, tuple(labels[place] for place in places), shown, *rest)
    return found if shown == asked[1] else replace(found, asked=asked)


def check_days(select: Select, policy: Askable) -> None:
    """Refuse what is computed from days, but for how many lie between two.

    Raises:
        ArgumentError: with what to write instead.
    """
    columns = [None if one.column is None else policy.column(one.column) for one in select.aggregates]
    days = [
        one.kind in ("percentile", "average") and isinstance(column, DateCells)
        for one, column in zip(select.aggregates, columns, strict=True)
    ]
    for one in select.shown:
        _is_day(one.inner, days)


def _is_day(expression: Expression, days: Sequence[bool]) -> bool:
    if isinstance(expression, Asked):
        return days[expression.place]
    if isinstance(expression, Combined):
        found = [_is_day(side, days) for side in (expression.left, expression.right)]
        lie_between = expression.sign == "-" and all(found)
    else:
        found, lie_between = [isinstance(expression, Applied) and _is_day(expression.inner, days)], False
    if any(found) and not lie_between:
        raise ArgumentError("days are not computed with, but for how many lie between two: max(day) - min(day)")
    return False


def _with_totals(asking: Asking, labels: Sequence[tuple[str, ...]], rows: Rows) -> Rows:
    """The rows with the totals that they ask for after them, the last total first."""
    kept, every = asking.select.kept, range(len(rows))
    left = kept.left([[_number(one.value) for one in row] for row in rows])
    totals: list[list[TableAnswer]] = [[] for _ in every]
    for place, by in kept.windows:
        known = None if by or kept.having is not None else asking.public_total(asking.select.aggregates[place])
        parts: dict[tuple[str, ...], list[TableAnswer]] = {}
        for group in left:
            parts.setdefault(tuple(labels[group][at] for at in by), []).append(rows[group][place])
        for group in every:
            own = parts.get(tuple(labels[group][at] for at in by), [])
            value = math.fsum(_number(one.value) for one in own) if known is None else known
            bar = total_bar(one.error_bar for one in own) if known is None else 0.0
            totals[group].insert(0, TableAnswer(value, bar, any(one.tells for one in own) or known is not None))
    return tuple((*row, *added) for row, added in zip(rows, totals, strict=True))


def asked_names(answers: TableAnswers) -> tuple[str, ...]:
    """What the noisy numbers behind the answers are called."""
    return tuple(one.name for one in answers.select.aggregates)


def _span(aggregate: Aggregate, policy: Any) -> Fraction | None:
    """How much a count or a sum can differ at most; None where the function of a column is summed."""
    if aggregate.kind == "count":
        return Fraction(policy.most)
    if aggregate.through is not None or aggregate.column not in policy.names:
        return None
    low, high = map(Fraction, bounds_of(policy.column(aggregate.column)))
    return Fraction(policy.most) * (max(high, Fraction(0)) - min(low, Fraction(0)))


def _answer(expression: Expression, row: tuple[TableAnswer, ...], made_of: Sequence[Amounts]) -> TableAnswer:
    if isinstance(expression, Asked):
        return row[expression.place]
    used = sorted(expression.asked())
    values = [_number(one.value) for one in row]
    value = float(expression.of(values))
    bars = {place: row[place].error_bar for place in used}
    bar = spread(expression.of, values, bars, _together(expression, values, bars, made_of))
    tells = all(row[place].tells for place in used) and math.isfinite(value)
    return TableAnswer(value, bar, tells)


def _together(
    expression: Expression, values: list[float], bars: dict[int, float], made_of: Sequence[Amounts]
) -> list[dict[int, float]]:
    """The numbers that move the result the same way when a noisy sum or count is off that they have in common.

    Where they move it against each other, they are taken for independent, which is no less.
    """
    felt = {place: _felt(made_of[place], values[place]) for place, bar in bars.items() if bar > 0}
    slopes: dict[int, float] = {}
    groups: list[dict[int, float]] = []
    for place, own in felt.items():
        if not any(own.keys() & others.keys() for other, others in felt.items() if other != place):
            continue
        ends = [
            float(expression.of([*values[:place], end, *values[place + 1 :]])) for end in _ends(values, bars, place)
        ]
        slopes[place] = float(np.nan_to_num(np.sign(ends[1] - ends[0])))
        added = {amount: slopes[place] * sign for amount, sign in own.items()}
        joined = {place: slopes[place]}
        for group in [*groups]:
            known = ((amount, slopes[other] * felt[other][amount]) for other in group for amount in felt[other])
            if any(added.get(amount, 0.0) * sign > 0 for amount, sign in known):
                groups.remove(group)
                joined |= group
        groups.append(joined)
    return [group for group in groups if len(group) > 1]


def _ends(values: list[float], bars: dict[int, float], place: int) -> tuple[float, float]:
    return values[place] - bars[place], values[place] + bars[place]


def _felt(amounts: Amounts, value: float) -> dict[Amount, float]:
    """The noisy sums and counts that a number is made of, each with the way in which the number goes with it."""
    if len(amounts) > 2 or not amounts or amounts[0] is None:
        return {}
    felt = {amounts[0]: 1.0}
    if len(amounts) == 2 and amounts[1] is not None:
        felt[amounts[1]] = float(np.sign(float(amounts[0].centre) - value))
    return felt


def _number(value: Any) -> float:
    return float(value.toordinal()) if isinstance(value, dt.date) else float(np.float64(value))
