"""``metricdp explain``: what a policy promises, before any data is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["explain"]


def explain(
    policy: Annotated[
        Path, typer.Argument(metavar="POLICY", exists=True, dir_okay=False, help="The policy, a TOML file.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page, with pictures.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it is there.")] = False,
) -> None:
    """Say what a policy promises, column by column, before any data is touched.

    The guarantee as a formula and in words, the error to expect, what an adversary can tell, and what is **not**
    promised. A mistaken policy is refused with every mistake, each with its line.

    To begin with:

    - on the terminal: `metricdp explain people.toml`

    - as a page with pictures of the noise: `metricdp explain people.toml --html promise.html`
    """
    from metricdp.cli.reports import (
        check_report_file,
        policy_mistakes,
        print_json,
        print_text,
        read_policy,
        write_report,
    )

    if html is not None and html.suffix.lower() != ".html":
        raise typer.BadParameter(f"{html}: a page ends in .html", param_hint="--html")
    check_report_file(html, overwrite, policy)
    with policy_mistakes(policy):
        rules = read_policy(policy)
        from metricdp.tables.report import Report

        report = Report.of(rules)
    if html is not None:
        write_report(report, html)
        typer.echo(f"Written to {html}", err=True)
    if json:
        print_json(report.to_json())
    elif html is None:
        print_text(report.text())
