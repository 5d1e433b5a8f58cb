"""Totals of groups, added up from their noisy answers: they agree with their parts, and cost nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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


def widest_bar(bars: Iterable[float], totals: bool) -> float:
    """The widest error bar of what is shown of these groups: with totals, that of the total of all."""
    return total_bar(bars) if totals else max(bars, default=0.0)


def rolled_up(labels: Labels, rows: Rows, spans: Sequence[Fraction | None]) -> tuple[Labels, Rows]:
    """All groups, each total after its parts; the last is the total of all.

    Args:
        labels: of the groups, those that begin alike together.
        rows: their noisy answers, all of which can be added up.
        spans: how much each answer can differ at most; None where that is not known.
    """
    parts: dict[tuple[str, ...], list[int]] = {}
    depth = len(labels[0]) if labels else 0
    for place, own in enumerate(labels):
        for length in range(depth):
            parts.setdefault(own[:length], []).append(place)
    shown_labels: list[tuple[str, ...]] = []
    shown_rows: list[tuple[TableAnswer, ...]] = []
    for place, own in enumerate(labels):
        shown_labels.append(own)
        shown_rows.append(rows[place])
        for length in reversed(range(depth)):
            if parts[own[:length]][-1] == place:
                shown_labels.append(own[:length] + (TOTAL,) * (depth - length))
                columns = zip(*(rows[part] for part in parts[own[:length]]), strict=True)
                shown_rows.append(tuple(_total(found, span) for found, span in zip(columns, spans, strict=True)))
    return tuple(shown_labels), tuple(shown_rows)


def _total(found: Sequence[TableAnswer], span: Fraction | None) -> TableAnswer:
    values: list[Any] = [one.value for one in found]
    value = sum(values) if all(isinstance(one, int) for one in values) else math.fsum(values)
    bar = total_bar(one.error_bar for one in found)
    tells = all(one.tells for one in found) if span is None else 2 * Fraction(bar) < span
    return TableAnswer(value, bar, tells)
