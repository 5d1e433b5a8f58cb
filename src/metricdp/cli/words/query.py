"""What ``metricdp query`` found, as a table for people, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metricdp.cli.words.numbers import rounded

if TYPE_CHECKING:
    from metricdp.policies.askable import Askable
    from metricdp.queries.select.asking import Asking
    from metricdp.queries.select.table_answers import TableAnswer, TableAnswers

__all__ = ["csv_text", "json_text", "plan_in_words", "plan_tree", "what_was_found"]

_WIDTH = 80


def what_was_found(answers: TableAnswers, out: Path | None) -> str:
    """The answers, then what they promise and how they were made."""
    parts = [_head(answers), _table(answers)]
    if not all(found.tells for row in answers.found for found in row):
        parts.append(
            _filled(
                "? The error bar is half of all that the answer can be, or more: it tells next to nothing. Ask for "
                "fewer things or groups at once. In place of a percentile of some records, ask for a histogram: "
                "count(*) .. group by the column."
            )
        )
    parts.append(_promise(answers))
    parts.append("\n".join(_filled(f"{', '.join(part.answers)}: {_how(part)}") for part in answers.parts))
    if out is not None:
        parts.append(f"Written to {out}")
    return "\n\n".join(parts)


def plan_in_words(asking: Asking) -> str:
    """What a question would spend, without a look at the table."""
    from metricdp.queries.select.forecast import forecast

    guarantee = asking.policy.guarantee(asking.columns)
    groups = len(asking.division.labels)
    number = len(asking.select.shown)
    answers = f"{number * groups:,} answer{'s' * (number * groups > 1)}"
    spent = "nothing secret" if guarantee is None else str(guarantee)
    expected = forecast(asking)
    rows = [[one.name, f"± {rounded(one.error_bar, up=True, digits=3)}"] for one in expected.expected]
    told = dict.fromkeys(one.supposed for one in expected.expected if one.supposed)
    lines = [
        asking.select.text,
        f"The question can be answered: {answers} in {groups:,} group{'s' * (groups > 1)}.",
        "Error bars to expect, at 95%, the widest of all groups:",
        _aligned(["  " + rows[0][0], rows[0][1]], [["  " + name, bar] for name, bar in rows[1:]], 1),
        *(_filled(f"Those that depend on the table: {words}.") for words in told),
        *(_filled(f"{one.name}: {one.instead}.") for one in expected.expected if one.instead),
        *(_filled(f"Note: {warning}.") for warning in expected.warnings),
        _filled(f"Together they would spend: {spent}"),
        "This was a dry run: nothing was read, and nothing released.",
    ]
    return "\n".join(lines)


def plan_tree(asking: Asking) -> dict[str, Any]:
    """The same as plain values for JSON."""
    from metricdp.queries.select.forecast import forecast

    guarantee = asking.policy.guarantee(asking.columns)
    return {
        "question": asking.select.text,
        "dry_run": True,
        "groups": len(asking.division.labels),
        "answers": len(asking.select.shown) * len(asking.division.labels),
        "would_spend": None if guarantee is None else guarantee.to_json(),
    } | forecast(asking).to_json()


def csv_text(answers: TableAnswers) -> str:
    """A header, and a line for each group."""
    text = io.StringIO()
    header, rows = answers.to_rows()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def json_text(answers: TableAnswers) -> str:
    """The same as ``--json`` prints."""
    import json

    return json.dumps(answers.to_json(), indent=2, allow_nan=False) + "\n"


def _head(answers: TableAnswers) -> str:
    size = _size(answers.policy)
    bars = f"{size}; error bars hold with {answers.confidence:.0%}, each by itself"
    lines = [answers.select.text, _filled(bars)]
    if not answers.private:
        lines.insert(0, "NOT PRIVATE: the noise came from a seed, and whoever knows it can take it away.")
    return "\n".join(lines)


def _size(policy: Askable) -> str:
    if policy.records is not None:
        return f"{policy.records:,} records, which is public"
    return f"at most {policy.capacity:,} records, how many is secret"


def _table(answers: TableAnswers) -> str:
    header = [*answers.select.groups, *answers.names]
    rows = [
        [*labels, *(_amount(found) for found in row)] for labels, row in zip(answers.groups, answers.found, strict=True)
    ]
    return _aligned(header, rows, len(answers.select.groups))


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        cells = [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _amount(found: TableAnswer) -> str:
    mark = "" if found.tells else " ?"
    if isinstance(found.value, float) and not found.error_bar:
        return f"{rounded(found.value)}{mark}"
    return f"{found.words}{mark}"


def _promise(answers: TableAnswers) -> str:
    if answers.guarantee is None:
        return "Spent: nothing. What was asked is public."
    spent = (
        "Answered before, so that nothing more was spent. The answers are"
        if answers.again
        else ("Spent, once for all answers together:")
    )
    what = _filled(f"{spent} {answers.guarantee}")
    meanings = [[f"  {words}", _factor(factor)] for words, factor in answers.meanings()]
    standard = answers.policy.policy.standard is not None
    between = "two tables that differ in this" if standard else "two people who differ in one thing"
    means = _filled(f"For {between}, whoever sees the answers can move the odds between them by a factor, at most:")
    if answers.policy.rows > 1:
        bound = f"Each person has at most {answers.policy.rows} records; the factors are for all of them."
        what += f"\n{_filled(bound)}"
    others = [name for name in answers.policy.names if name not in answers.columns]
    rest = f"Nothing was read of {', '.join(others)}. " if others else ""
    again = (
        "for each question asked again"
        if standard
        else "for people who differ in more, and for each question asked again"
    )
    more = _filled(f"{rest}Factors multiply {again}.")
    return "\n".join([what, means, _aligned(*_split(meanings), 1), more])


def _split(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    return rows[0], rows[1:]


def _factor(factor: float) -> str:
    return "any, it is not protected" if factor == math.inf else rounded(factor, up=True, digits=4)


def _how(part: Any) -> str:
    return f"{part.mechanism}; {part.why}."


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
