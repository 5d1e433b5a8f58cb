"""Several questions as one: what each of them asks for, once, under names of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from metricdp.errors import ArgumentError
from metricdp.policies.askable import Askable
from metricdp.policies.sql.conditions import Conditions
from metricdp.policies.sql.statements import Aggregate, Select

__all__ = ["join_selects", "unlike"]


def join_selects(questions: Sequence[Select], policy: Askable) -> Select:
    """One question for several about the same records and groups: every number that one of them needs, once.

    Raises:
        ArgumentError: there are none, or they are about other records or groups.
    """
    if not questions:
        raise ArgumentError("there are no questions")
    first = questions[0]
    if any(one.records != first.records for one in questions):
        raise ArgumentError("only questions with the same condition and the same groups can be asked as one")
    conditions = Conditions(policy)
    aggregates: list[Aggregate] = []
    for one in questions:
        for name, values in one.compared.items():
            conditions.compared.setdefault(name, []).extend(values)
        for function in one.functions:
            conditions.take(function)
        for aggregate in one.aggregates:
            if all(aggregate.what != known.what for known in aggregates):
                aggregates.append(unlike(aggregate, aggregates))
    joined = first.asking(aggregates, "; ".join(dict.fromkeys(one.text for one in questions)))
    return replace(
        joined,
        conditions=conditions.columns(),
        functions=tuple(conditions.functions),
        compared=conditions.compared,
    )


def unlike(aggregate: Aggregate, others: Sequence[Aggregate]) -> Aggregate:
    """The aggregate, under another name where one of the others has its own: answers are told apart by their names."""
    names, name, number = {one.name for one in others}, aggregate.name, 1
    while name in names:
        number += 1
        name = f"{aggregate.name} ({number})"
    return replace(aggregate, name=name)
