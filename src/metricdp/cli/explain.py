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

    Exit status: 0 if the policy is right; 2 if it has a mistake, or the report cannot be written.
    """
    from metricdp.cli.console import note, print_result, print_text
    from metricdp.cli.options.output import refuse_two_on_one
    from metricdp.cli.options.report import check_report, policy_mistakes, read_policy, write_report

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
