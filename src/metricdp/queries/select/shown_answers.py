"""What a question shows of its noisy answers: computed with error bars carried through, sorted, some of the groups."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.policies.sql.expressions import Asked, Expression
from metricdp.policies.sql.statements import Aggregate
from metricdp.queries.select.rolled_up import rolled_up
from metricdp.queries.select.spreads import spread
from metricdp.queries.select.table_answers import TableAnswer, TableAnswers
from metricdp.queries.select.totals import bounds_of

__all__ = ["asked_names", "shown_answers"]

Labels = tuple[tuple[str, ...], ...]
Rows = tuple[tuple[TableAnswer, ...], ...]


def shown_answers(
    select: Any, policy: Any, labels: tuple[tuple[str, ...], ...], rows: Rows, *rest: Any
) -> TableAnswers:
    """The answers as the question shows them, from the noisy numbers of all its groups.

    What comes after the noise costs nothing and tells nothing more: it is computed from what is released.
    """
    asked = labels, rows
    if select.kept.totals:
        labels, rows = rolled_up(labels, rows, [_span(one, policy) for one in select.aggregates])
    computed = tuple(tuple(_answer(one.inner, row) for one in select.shown) for row in rows)
    places: Sequence[int] = range(len(labels))
    if select.kept.having is not None or select.kept.order or select.kept.limit is not None or select.kept.offset:
        places = select.kept.places(labels, [[_number(one.value) for one in row] for row in rows])
    shown = tuple(computed[place] for place in places)
    found = TableAnswers(select, policy, tuple(labels[place] for place in places), shown, *rest)
    return found if shown == asked[1] else replace(found, asked=asked)


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


def _answer(expression: Expression, row: tuple[TableAnswer, ...]) -> TableAnswer:
    if isinstance(expression, Asked):
        return row[expression.place]
    used = sorted(expression.asked())
    if any(isinstance(row[place].value, dt.date) for place in used):
        raise ArgumentError("days are not computed with: ask for them as they are")
    values = [_number(one.value) for one in row]
    value = float(expression.of(values))
    bar = spread(expression.of, values, {place: row[place].error_bar for place in used})
    tells = all(row[place].tells for place in used) and math.isfinite(value)
    return TableAnswer(value, bar, tells)


def _number(value: Any) -> float:
    return float(value.toordinal()) if isinstance(value, dt.date) else float(np.float64(value))
