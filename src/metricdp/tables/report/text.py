"""The report as plain text, 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from metricdp.metrics.words import Measure, factor_words, odds_range, percent
from metricdp.tables.report.plain import delta_words, first_paragraph, origin_facts, whole_facts
from metricdp.tables.report.shown import shown

if TYPE_CHECKING:
    from metricdp.tables.report.columns import ColumnReport
    from metricdp.tables.report.report import Report
    from metricdp.tables.report.views import OddsView

__all__ = ["error_in_brief", "person_words", "row_words", "rows_words", "summary", "text"]

_WIDTH = 80
_HEAD = 11  # "Mechanism  "


def text(report: Report) -> str:
    """The whole report."""
    report = shown(report)
    lines = ["metricdp report", "=" * _WIDTH]
    lines += _warning(report)
    lines += ["", *_wrap(first_paragraph(report))]
    if report.origin is not None:
        lines += ["", *_title("How it was made"), *_facts(origin_facts(report))]
    lines += ["", *_title("What is promised"), *_wrap(row_words(report)), ""]
    lines += _formula(report)
    if report.person is not None:
        lines += ["", *_wrap(person_words(report)), "", f"  d(person, person') = {report.person.rows}·d(x, x')"]
    lines += ["", *_facts(whole_facts(report))]
    lines += ["", *_title("Column by column")]
    for column in report.columns:
        lines += [*_column(column, report), ""]
    lines += [*_title("The rest of the table"), *_rest(report), ""]
    lines += _title("What is not promised")
    for title, words in report.limits[:-1]:
        lines += [*_wrap(f"{title}. {words}", "  ", "* "), ""]
    title, words = report.limits[-1]
    lines += [*_title(title), *_wrap(words), ""]
    if report.origin is None:
        lines += [*_title("Made by"), *_facts(origin_facts(report))]
    if report.origin is not None and report.policy_text is not None:
        lines += ["", *_title("The policy"), *(f"  {line}" for line in report.policy_text.splitlines())]
    lines += _warning(report)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def summary(report: Report) -> str:
    """A few lines: the promise, and a row for each column."""
    report = shown(report)
    lines = _warning(report)
    names = f"{len(report.columns)} column{'s' if len(report.columns) > 1 else ''}"
    lines += _wrap(
        f"Promised for each row, over {names}: the odds between two secrets move by a factor exp(d) at most; levels "
        "are such factors, and d adds up over the columns."
    )
    if report.person is not None:
        lines += _wrap(
            f"For a person, with {_rows(report.person.rows)} at most, it is {report.person.rows} times as much."
        )
    lines += [line for words in delta_words(report) for line in _wrap(words)]
    if len(report.columns) > 1:
        lines += _wrap(dict(whole_facts(report))["A row"])
    lines += ["", *_table([("column", "level", "error to expect"), *map(_line, report.columns)])]
    for name, columns in (("kept", report.kept), ("dropped", report.dropped or ())):
        if columns:
            lines += ["", *_wrap(f"{name}: {', '.join(columns)}", " " * (len(name) + 2), "")]
    lines += ["", *_wrap(rows_words(report))]
    for column in report.columns:
        for note in column.attention:
            lines += ["", *_wrap(f"! {column.name}: {note}", "  ", "")]
    lines += _warning(report)
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def row_words(report: Report) -> str:
    """The guarantee of a row, in words."""
    words = (
        "For any two rows x and x' that could stand in the table, what is released is at most exp(d(x, x')) times as "
        "likely from one as from the other. So it moves nobody's odds between the two by a larger factor, whatever "
        "they knew before. Distances add up over the columns, and factors multiply."
    )
    return " ".join([words, *delta_words(report)])


def person_words(report: Report) -> str:
    """The guarantee of a person, in words."""
    person = report.person
    assert person is not None
    column = "" if person.column is None else f" (column {person.column})"
    excess = (
        "more are cut, by a draw that does not look at them"
        if person.excess == "cut"
        else "a table in which somebody has more is refused"
    )
    return (
        f"One person{column} has {_rows(person.rows)} at most; {excess}. All of them together are promised "
        f"{person.rows} times the distance, so where all of a person's rows differ, a factor becomes its "
        f"{_power(person.rows)} power:"
    )


def rows_words(report: Report) -> str:
    """How many rows there are, and in what order, which are public facts."""
    order = "shuffled" if report.order == "secret" else "in the order they had, which the policy declares public"
    if report.rows is None:
        return f"The number of rows is public; they are {order}."
    return f"{_rows(report.rows)} (this number is public), {order}."


def _formula(report: Report) -> list[str]:
    """D as a sum, one column a line."""
    widest = max(len(column.formula) for column in report.columns)
    lines = []
    for number, column in enumerate(report.columns):
        lead = "d(x, x') = " if number == 0 else "         + "
        line = f"  {lead}{column.formula:{widest}}  {column.name}"
        lines += [line] if len(line) <= _WIDTH else _wrap(f"{lead}{column.formula}  {column.name}", " " * 15, "  ")
    return lines


def _column(column: ColumnReport, report: Report) -> list[str]:
    names = "" if column.columns == (column.name,) else f" ({', '.join(column.columns)})"
    lines = _wrap(f"{column.name}{names}: {column.kind}")
    facts = [("Level", column.level), ("Mechanism", column.mechanism)]
    facts += [("Error" if number == 0 else "", error) for number, error in enumerate(column.error)]
    lines += [line for head, words in facts for line in _fact(head, words)]
    lines += _views(column.views, report)
    lines += _fact("Missing", column.missing)
    if column.outside is not None:
        lines += _fact("Outside", column.outside)
    lines += [line for note in column.attention for line in _fact("Attention", note)]
    return lines


def _views(views: Sequence[OddsView], report: Report) -> list[str]:
    heads = ["two secrets", "odds, at most", "from even odds, to"]
    rows = [[view.secrets, f"x {factor_words(view.factor)}", " .. ".join(odds_range(view.factor))] for view in views]
    if report.person is not None:
        heads.append(f"all {_rows(report.person.rows)}" if report.person.rows > 1 else "1 row")
        for row, view in zip(rows, views, strict=True):
            row.append("" if view.person_factor is None else f"x {factor_words(view.person_factor)}")
    for row, view in zip(rows, views, strict=True):
        if view.factor == float("inf"):
            row[1:3] = ["no bound", "0% .. 100%"]
    lines = _table([heads, *rows], indent=2 + _HEAD, last=_WIDTH - 2 - _HEAD)
    return [f"  {'Adversary':{_HEAD}}{lines[0].strip()}", *lines[1:]]


def _rest(report: Report) -> list[str]:
    lines = [*_fact("Kept", ", ".join(report.kept) + ": unchanged, NOT PROTECTED" if report.kept else "none")]
    if report.dropped is None:
        lines += _fact("Dropped", "whatever else the source had")
    else:
        lines += _fact("Dropped", ", ".join(report.dropped) or "none")
    if report.person is not None:
        name = report.person.column or "the column that says whose row it is"
        done = "dropped" if report.person.release == "drop" else "given new keys at random"
        lines += _fact("Person", f"{name}: {done}")
    return lines + _fact("Rows", rows_words(report))


def _line(column: ColumnReport) -> tuple[str, str, str]:
    return column.name, column.level.removeprefix("odds within a "), error_in_brief(column)


def error_in_brief(column: ColumnReport) -> str:
    """The error to expect, in a few words."""
    if column.kind == "set" and column.radius_95 is not None:
        return f"95%: at most {Measure(column.unit).say(column.radius_95)} wrong"
    if column.truth is not None:
        return f"the truth: {percent(column.truth)}"
    worst = ", worst reading" if column.kind == "series" else ""
    return "" if column.radius_95 is None else f"95% within {Measure(column.unit).say(column.radius_95)}{worst}"


def _table(rows: Sequence[Sequence[str]], indent: int = 0, last: int = _WIDTH) -> list[str]:
    """Columns of text, each as wide as its widest cell, or wrapped where all together are too wide."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    gaps = 2 * (len(widths) - 1)
    while sum(widths) + gaps > last and max(widths) > 12:
        widths[widths.index(max(widths))] -= 1
    lines = []
    for row in rows:
        cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for number in range(max(map(len, cells))):
            parts = [
                f"{cell[number] if number < len(cell) else '':{width}}"
                for cell, width in zip(cells, widths, strict=True)
            ]
            lines.append(" " * indent + "  ".join(parts).rstrip())
    return lines


def _facts(facts: Iterable[tuple[str, str]]) -> list[str]:
    return [line for head, words in facts for line in _fact(head, words)]


def _fact(head: str, words: str) -> list[str]:
    return _wrap(words, " " * (2 + _HEAD), f"  {head:{_HEAD}}")


def _title(words: str) -> list[str]:
    return [words, "-" * _WIDTH]


def _wrap(words: str, indent: str = "", first: str | None = None) -> list[str]:
    start = indent if first is None else first
    return textwrap.wrap(
        words, _WIDTH, initial_indent=start, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _warning(report: Report) -> list[str]:
    if report.private:
        return []
    from metricdp.tables.report.report import NOT_PRIVATE

    inner = _WIDTH - 8
    lines: Iterable[str] = textwrap.wrap(f"{NOT_PRIVATE} Never publish it.", inner)
    return ["", "!" * _WIDTH, *(f"!!! {line:{inner}} !!!" for line in lines), "!" * _WIDTH, ""]


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _power(count: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(count % 10 if count % 100 not in (11, 12, 13) else 0, "th")
    return f"{count}{ending}"
