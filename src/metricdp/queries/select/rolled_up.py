"""Totals of groups, added up from their noisy answers: they agree with their parts, and cost nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from metricdp.queries.select.table_answers import TableAnswer

__all__ = ["TOTAL", "rolled_up", "total_bar", "widest_bar"]

TOTAL = "(all)"
"""What stands in the place of a group in the row of a total."""

Labels = tuple[tuple[str, ...], ...]
Rows = tuple[tuple[TableAnswer, ...], ...]


def total_bar(bars: Iterable[float]) -> float:
    """The error bar of a sum: its noise is within the root of the sum of squares in 95% of all cases at least.

    Each number is off by noise like Laplace's with that error bar, independent of the others'. The more there are of
    them, the less of a sum lies beyond a given multiple of its standard deviation, and of one alone 5% lies beyond its
    bar.

    >>> total_bar([3.0, 4.0]), total_bar([3.0, 0.0])
    (5.0, 3.0)
    """
    return math.hypot(*bars)


def widest_bar(labels: Labels, bars: Sequence[float], totals: bool, known: bool) -> float:
    """The widest error bar of what is shown of these groups.

    Args:
        labels: of the groups.
        bars: of their noisy answers.
        totals: whether totals of those that begin alike are shown, too.
        known: whether the total of all is public, so that all are made to agree with it.
    """
    if not totals:
        return max(bars, default=0.0)
    every = [[place] for place in range(len(labels))] + list(_parts(labels).values())
    return max(_bar_of(bars, part, known) for part in every)


def rolled_up(
    labels: Labels, rows: Rows, spans: Sequence[Fraction | None], known: Sequence[int | None]
) -> tuple[Labels, Rows]:
    """All groups, each total after its parts; the last is the total of all.

    Where that is public, as the number of all records can be, the noisy answers are moved by as little as makes them
    add up to it, those with more noise more (least squares). Then each has less noise than before.

    Args:
        labels: of the groups, those that begin alike together.
        rows: their noisy answers, all of which can be added up.
        spans: how much each answer can differ at most; None where that is not known.
        known: the total of all of each answer; None where it is secret.
    """
    parts, depth = _parts(labels), len(labels[0]) if labels else 0
    columns = [_agreeing(column, total) for column, total in zip(zip(*rows, strict=True), known, strict=True)]
    before, rows = rows, tuple(zip(*columns, strict=True))
    shown_labels: list[tuple[str, ...]] = []
    shown_rows: list[tuple[TableAnswer, ...]] = []
    for place, own in enumerate(labels):
        shown_labels.append(own)
        shown_rows.append(rows[place])
        for length in reversed(range(depth)):
            if parts[own[:length]][-1] == place:
                shown_labels.append(own[:length] + (TOTAL,) * (depth - length))
                shown_rows.append(
                    tuple(
                        _total([row[at] for row in before], column, parts[own[:length]], spans[at], known[at])
                        for at, column in enumerate(columns)
                    )
                )
    return tuple(shown_labels), tuple(shown_rows)


def _parts(labels: Labels) -> dict[tuple[str, ...], list[int]]:
    """The places of the groups that each total is of, by the labels with which they begin."""
    parts: dict[tuple[str, ...], list[int]] = {}
    for place, own in enumerate(labels):
        for length in range(len(own)):
            parts.setdefault(own[:length], []).append(place)
    return parts


def _agreeing(column: Sequence[TableAnswer], total: int | None) -> tuple[TableAnswer, ...]:
    """The answers, moved so that they add up to a total that is known."""
    bars = [one.error_bar for one in column]
    if total is None or not any(bars):
        return tuple(column)
    values: list[Any] = [one.value for one in column]
    lacking, weights = total - math.fsum(values), _weights(bars)
    return tuple(
        replace(one, value=value + lacking * weight, error_bar=_bar_of(bars, [place], True))
        for place, (one, value, weight) in enumerate(zip(column, values, weights, strict=True))
    )


def _weights(bars: Sequence[float]) -> list[float]:
    """The part of all squared noise that each has."""
    squares = [bar * bar for bar in bars]
    return [square / math.fsum(squares) for square in squares]


def _bar_of(bars: Sequence[float], part: Sequence[int], known: bool) -> float:
    """The error bar of the total of some answers, with these error bars before they were made to agree.

    Of noise with the squares s_i that is moved by its part w_i of what all noise adds up to, some of it adds up to a
    square of ``(sum of s_i) (1 - sum of w_i)``. It is made of more numbers than before, so `total_bar` holds for it.
    """
    bar = total_bar(bars[place] for place in part)
    if not known or not bar:
        return bar
    weights = _weights(bars)
    return bar * math.sqrt(max(0.0, 1 - math.fsum(weights[place] for place in part)))


def _total(
    before: Sequence[TableAnswer],
    column: Sequence[TableAnswer],
    part: Sequence[int],
    span: Fraction | None,
    known: int | None,
) -> TableAnswer:
    """The total of some groups, of answers as they were drawn and as they are shown."""
    if known is not None and len(part) == len(column):
        return TableAnswer(known, 0.0)
    found = [column[place] for place in part]
    values: list[Any] = [one.value for one in found]
    value = sum(values) if all(isinstance(one, int) for one in values) else math.fsum(values)
    bar = _bar_of([one.error_bar for one in before], part, known is not None)
    tells = all(one.tells for one in found) if span is None else 2 * Fraction(bar) < span
    return TableAnswer(value, bar, tells)
