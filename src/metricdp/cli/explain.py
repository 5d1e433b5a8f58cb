"""``metricdp explain``: what a policy promises, before any data is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metricdp.cli.options.report import ReportOption
from metricdp.cli.options.streams import existing_file

__all__ = ["explain"]


def explain(
    policy: Annotated[
        Path,
        typer.Argument(
            metavar="POLICY",
            callback=existing_file,
            help="The policy: .toml; - for the standard input.",
        ),
    ],
    question: Annotated[
        str | None,
        typer.Option(
            "--question",
            "-q",
            metavar="QUESTION",
            help="Say how well this could be answered from a release: `'select ..'`, as for metricdp estimate.",
        ),
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", metavar="N", min=1, help="How many rows that release would have.")
    ] = None,
    within: Annotated[
        float | None,
        typer.Option("--within", metavar="X", help="Find the strongest protection that leaves the answer within X."),
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", metavar="C", help="Of each interval.")] = 0.95,
    report: ReportOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the report if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Say what a policy promises, column by column, before any data is read.

    The guarantee in plain words and as a formula, the error to expect, what an adversary can tell, and what is **not**
    promised. A policy with mistakes is refused with all of them, each with its line.

    To begin with:

    - on the terminal: `metricdp explain people.toml`

    - as a page with pictures of the noise: `metricdp explain people.toml --report promise.html`

    - what a release would be good for: `metricdp explain people.toml --rows 100000 --question 'select avg(income)'`

    - which level suffices: the same with `--within 100`

    Exit status: 0 if the policy is right; 2 if it has a mistake, or the report cannot be written.
    """
    from metricdp.cli.console import note, print_result, print_text
    from metricdp.cli.options.output import refuse_two_on_one
    from metricdp.cli.options.report import check_report, policy_mistakes, read_policy, write_report

    if question is not None:
        if report is not None:
            raise typer.BadParameter("--question and --report: choose one of them")
        if rows is None:
            raise typer.BadParameter("--question wants --rows, how many rows the release would have")
        _foresee(policy, question, rows, within, confidence, json)
        return
    if rows is not None or within is not None:
        raise typer.BadParameter("--rows and --within go with --question")
    refuse_two_on_one(json, report=report)
    check_report(report, overwrite, policy)
    with policy_mistakes(policy):
        rules = read_policy(policy)
        from metricdp.tables.report import Report

        promise = Report.of(rules)
    if report is not None:
        write_report(promise, report, overwrite)
        note(f"Written to {report}")
    if json:
        print_result(promise.to_json(), promise.guarantee_json())
    elif report is None:
        print_text(promise.text())


def _foresee(policy: Path, question: str, rows: int, within: float | None, confidence: float, json: bool) -> None:
    from metricdp.cli.console import print_result, print_text, spinner
    from metricdp.cli.options.report import policy_mistakes, read_policy
    from metricdp.estimates.foresight import foresee

    with policy_mistakes(policy):
        rules = read_policy(policy)
    with spinner("working it out"):
        found = foresee(rules, question, rows, confidence=confidence, within=within)
    if json:
        print_result(found.to_json())
        return
    print_text(f"{found.estimates.question}\n\n{found}")
    print_text(f"\n{100 * confidence:.6g}% intervals to expect from {rows:,} rows; no data was read.")
