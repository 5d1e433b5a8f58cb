"""What the commands about tables share: policies read with all their mistakes, and reports written to files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metricdp.cli.console import MISTAKEN, as_json, complain
from metricdp.cli.options.output import check_output
from metricdp.cli.options.streams import existing_file
from metricdp.errors import PolicyError

if TYPE_CHECKING:
    from metricdp.policies.policy import Policy
    from metricdp.tables.report import Report

__all__ = [
    "ByOption",
    "PolicyOption",
    "ReportOption",
    "check_report",
    "policy_mistakes",
    "read_policy",
    "write_report",
]

PolicyOption = Annotated[
    Path,
    typer.Option("--policy", "-p", metavar="POLICY", callback=existing_file, help="The policy: .toml."),
]
ReportOption = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Write the report too: .html, .json or .txt.")
]
ByOption = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who makes this release, for the report.")]

_FORMS: dict[str, Callable[[Report], str]] = {
    ".html": lambda report: report.html(),
    ".json": lambda report: as_json(report.to_json()) + "\n",
    ".txt": lambda report: report.text(),
}


def read_policy(path: Path) -> Policy:
    """The policy in a file; `policy_mistakes` says its mistakes."""
    from metricdp.cli.options.streams import taken
    from metricdp.policies.policy import Policy

    with taken(path, ".toml") as file:
        return Policy.load(file)


@contextmanager
def policy_mistakes(path: Path) -> Iterator[None]:
    """Say every mistake of a policy on a line of its own, as a compiler would, and exit with status 2."""
    try:
        yield
    except PolicyError as error:
        for problem in error.problems:
            complain(problem, str(path), kind="PolicyError")
        raise typer.Exit(MISTAKEN) from None


def check_report(path: Path | None, overwrite: bool, *others: Path | None) -> None:
    """Refuse, before anything is done, a report that could not be written or would replace another file."""
    check_output("--report", path, tuple(_FORMS), overwrite, *others)


def write_report(report: Report, path: Path, overwrite: bool) -> None:
    """Write the report in the form that the name asks for; to the standard output as text."""
    from metricdp.cli.console import print_text
    from metricdp.cli.options.streams import is_dash
    from metricdp.sources.whole_files import appearing

    if is_dash(path):
        print_text(report.text())
        return
    form = _FORMS[path.suffix.lower()](report)
    with appearing(path, overwrite) as temporary:
        temporary.write_text(form, encoding="utf-8", errors="backslashreplace")
