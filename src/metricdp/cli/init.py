"""``metricdp init``: a policy to be filled in, from the columns of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.options.table import TableArgument, TableOption, called, read_source
from metricdp.errors import DataError, FileError

if TYPE_CHECKING:
    from metricdp.policies.draft import Draft, DraftColumn

__all__ = ["init"]


def init(
    source: TableArgument,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The policy to write: .toml; - prints it.")
    ] = Path("policy.toml"),
    table: TableOption = None,
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", metavar="NAME", help="Of a CSV file whose text is not UTF-8, such as cp1252."),
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Go through the columns here, one by one, and write the answers.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the draft as JSON, beside writing it.")] = False,
) -> None:
    """Draft a policy for a table, from the names and types of its columns alone. No value is read.

    Every decision stands in the draft as a question, with a `?` for its answer: what a column can hold, how near two
    values must be to look alike, what is done with a missing one. Until all are answered, `explain`, `sanitize` and
    `query` refuse the policy and say on which lines. A CSV file has no types, so what each column is, is asked too;
    that its fields stand between semicolons, tabs or bars is seen from its header.

    To begin with:

    - a file to edit: `metricdp init people.parquet -o people.toml`

    - question by question: `metricdp init people.csv -o people.toml --ask`

    - a CSV file that Excel wrote on Windows: `metricdp init people.csv -o people.toml --encoding cp1252`

    Exit status: 0 if the draft was written; 2 if the table cannot be opened, or the file cannot be written.
    """
    from metricdp.cli.console import note, print_result, print_text
    from metricdp.cli.options.output import check_output, refuse_two_on_one
    from metricdp.cli.options.streams import is_dash

    refuse_two_on_one(json, out=out)
    check_output("--out", out, (".toml",), overwrite)
    draft = _drafted(source, table, encoding)
    text = draft.text(*_asked(draft)) if ask else draft.text()
    if is_dash(out):
        print_text(text)
        return
    from metricdp.sources.whole_files import appearing

    with appearing(out, overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")
    if json:
        names = [column.name for column in draft.columns]
        print_result({"out": str(out), "columns": names, "answered": ask, "policy": text})
    then = "next" if ask else "answer its questions, and then"
    note(f"Written to {out}; {then}: metricdp explain {out}")


def _drafted(source: str, table: str | None, encoding: str | None) -> Draft:
    """The draft for a table, which is opened and not read."""
    from metricdp.policies.draft import Draft

    meant = read_source(source, table)
    try:
        return Draft.of_table(meant, called(meant), encoding)
    except DataError as error:  # the header, which is not read as text; nothing was refused of anybody's
        cure = "; give its encoding, as in --encoding cp1252" if "not UTF-8" in error.rule and encoding is None else ""
        raise FileError(f"{called(meant)}: {error.rule.partition(';')[0]}{cure}") from None


def _asked(draft: Draft) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The answers of whoever sits at the terminal: about each column, and about the table as a whole."""
    _say(f"{len(draft.columns)} columns. All answers come from what you know about such tables, never from this one.")
    table = _about_the_table([column.name for column in draft.columns])
    answers: dict[str, dict[str, Any]] = {}
    settled = {table["column"]}  # a place settles two columns
    for column in draft.columns:
        if column.name not in settled:
            answers[column.name] = _about(column)
            settled |= {column.name, *answers[column.name].get("columns", [])}
    return answers, table


def _about_the_table(names: list[str]) -> dict[str, Any]:
    """How many records there are, and whose rows they are."""
    found: dict[str, Any] = {"column": None}
    found["records"] = _number("How many records are there, if that is public and questions will be asked?")
    question = "Which column says whose row it is, if a person can have several?"
    column = typer.prompt(question, default="", show_default=False, err=True)
    while column and column not in names:
        _say("the table has no such column")
        column = typer.prompt(question, default="", show_default=False, err=True)
    if column:
        found["column"] = column
        while "rows" not in found:
            rows = _number("How many rows may one person have?")
            if rows is not None:
                found["rows"] = rows
    return found


def _number(question: str) -> int | None:
    """A whole number, or nothing."""
    while True:
        written = typer.prompt(question, default="", show_default=False, err=True)
        if not written:
            return None
        if written.strip().isascii() and written.strip().isdigit() and int(written) > 0:
            return int(written)
        _say("a whole number, 1 or more; or nothing")


def _about(column: DraftColumn) -> dict[str, Any]:
    """One column, again and again until the answers make an entry."""
    from metricdp.policies.types import TYPES
    from metricdp.visible import visible_name

    holds = f" ({column.holds})" if column.holds else ""
    _say(f"\n{visible_name(column.name)}{holds}")
    while True:
        suggested = column.suggested or "drop"
        kind = typer.prompt(f"  type: {', '.join(TYPES.names)}", default=suggested, err=True).strip()
        if kind not in TYPES:
            _say(f"  there is no type {kind!r}")
            continue
        answers = {"type": kind, **_answers(column, kind)}
        problems = _mistakes(column, answers)
        if not problems:
            return answers
        for problem in problems:
            _say(f"  {problem}")


def _answers(column: DraftColumn, kind: str) -> dict[str, Any]:
    from metricdp.policies.draft import answered, answered_list

    found: dict[str, Any] = {}
    for question in column.questions(kind):
        written = typer.prompt(f"  {question.key}: {question.by_itself}", default="", show_default=False, err=True)
        if not written and question.optional:
            continue
        if question.key in ("values", "columns", "bounds"):
            found[question.key] = answered_list(
                written, bounds=question.key == "bounds", numbers=column.holds == "whole numbers"
            )
        else:
            found[question.key] = answered(written)
    return found


def _mistakes(column: DraftColumn, answers: dict[str, Any]) -> list[str]:
    """What is wrong with the answers about one column; nothing where they make an entry."""
    from metricdp.errors import PolicyError
    from metricdp.policies import Policy

    try:
        Policy.of({"format": 2, "columns": {column.name: answers}})
    except PolicyError as error:
        return [problem.partition(f"column {column.name!r}: ")[2] or problem for problem in error.problems]
    return []


def _say(words: str) -> None:
    typer.echo(words, err=True)
