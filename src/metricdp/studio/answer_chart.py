"""Answers with their error bars, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metricdp.mechanisms.picture import short_number
from metricdp.studio.drawing import ACCENT, MARK, svg, words

__all__ = ["answer_chart"]

_ROW = 26.0
_WIDTH, _NAMES, _EDGE = 480.0, 150.0, 60.0
_MOST_ROWS = 60
_LONGEST = 20


def answer_chart(title: str, labels: Sequence[str], answers: Sequence[Any]) -> str:
    """A bar for each group, with the interval that holds the truth with the answers' confidence.

    Args:
        title: what was asked.
        labels: of the groups.
        answers: with ``value`` and ``error_bar``; of days, the picture shows the words alone.

    >>> from metricdp.queries.select.table_answers import TableAnswer
    >>> answer_chart("count(*)", ["F"], [TableAnswer(10, 2.0)]).count("<rect")
    1
    """
    shown = list(zip(labels, answers, strict=True))[:_MOST_ROWS]
    numbers = [(float(one.value), float(one.error_bar)) for _, one in shown if isinstance(one.value, int | float)]
    low: float = min([0.0, *(value - bar for value, bar in numbers)])
    high: float = max([0.0, *(value + bar for value, bar in numbers)])
    room = _WIDTH - _NAMES - _EDGE

    def across(value: float) -> float:
        return _NAMES + (value - low) / ((high - low) or 1) * room

    parts, told = [words(title, _NAMES, 14, "start")], []
    for row, (label, one) in enumerate(shown):
        y = 24 + _ROW * row
        name = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
        parts.append(words(name, _NAMES - 6, y + 15, "end"))
        told.append(f"{label}: {one.value} ± {one.error_bar:.3g}")
        if not isinstance(one.value, int | float):
            parts.append(words(f"{one.value} ± {one.error_bar:.3g} days", _NAMES, y + 15, "start"))
            continue
        start, end = sorted((across(0), across(float(one.value))))
        parts.append(
            f'<rect x="{start:.1f}" y="{y:.1f}" width="{end - start:.1f}" height="{_ROW - 8}" '
            f'style="fill: {ACCENT}" fill-opacity=".55"/>'
        )
        left, right, middle = across(one.value - one.error_bar), across(one.value + one.error_bar), y + (_ROW - 8) / 2
        parts.append(
            f'<path d="M{left:.1f} {middle - 5:.1f}v10m0 -5H{right:.1f}m0 -5v10" fill="none" '
            f'style="stroke: {MARK}" stroke-width="2"/>'
        )
        parts.append(words(short_number(float(one.value)), min(right + 5, _WIDTH - _EDGE + 8), y + 14, "start"))
    return svg(_WIDTH, 30 + _ROW * len(shown), f"{title}: {'; '.join(told)}", parts)
