"""Answers as a ledger stores them, and back."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.shown_answers import asked_names, shown_answers
from metricdp.queries.select.table_answers import Part, TableAnswer, TableAnswers, groups_tree

__all__ = ["stored", "taken_up"]


def stored(answers: TableAnswers) -> dict[str, Any]:
    """What a ledger keeps of answers: the values with their error bars, and how they were made."""
    tree = answers.to_json()
    kept = {name: tree[name] for name in ("question", "confidence", "parts", "private")}
    labels, rows = answers.asked or (answers.groups, answers.found)
    kept["asked"] = [one.identity for one in answers.select.aggregates]
    return kept | {"groups": groups_tree(answers.select.groups, labels, asked_names(answers), rows)}


def taken_up(asking: Asking, tree: Mapping[str, Any]) -> TableAnswers:
    """The answers that were stored for this question, or for one that asked for all this and more.

    They are found by what was asked: another question may have given the same name to something else.
    """
    try:
        places = {one.name: tree["asked"].index(one.identity) for one in asking.select.aggregates}
        rows = tuple(tuple(_found(group["answers"][place]) for place in places.values()) for group in tree["groups"])
        called = {tree["groups"][0]["answers"][place]["name"]: name for name, place in places.items()}
        parts = tuple(
            Part(
                tuple(called[name] for name in part["answers"] if name in called),
                {name: Fraction(share) for name, share in part["shares"].items()},
                part["mechanism"],
                part["optimal"],
                part["why"],
            )
            for part in tree["parts"]
            if any(name in called for name in part["answers"])
        )
        return shown_answers(
            asking,
            rows,
            parts,
            asking.columns,
            asking.guarantee,
            tree["confidence"],
            tree["private"],
        )
    except (LookupError, TypeError, ValueError):
        raise ArgumentError("the ledger holds something else than answers to this question") from None


def _found(one: Mapping[str, Any]) -> TableAnswer:
    """An answer; JSON has no infinity, so that an error bar without end is none there."""
    value, bar = one["value"], one["error_bar"]
    return TableAnswer(
        dt.date.fromisoformat(value) if isinstance(value, str) else math.nan if value is None else value,
        math.inf if bar is None else bar,
        one["tells"],
    )
