"""``metricdp sanitize``: a private table out of a table and a policy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metricdp.cli.seeding import noise

if TYPE_CHECKING:
    from metricdp.tables.release import Release

__all__ = ["Engine", "sanitize"]

Progress = Callable[[int, int | None], None]


class Engine(StrEnum):
    """Where the work is done."""

    auto = "auto"
    local = "local"
    spark = "spark"


def sanitize(
    source: Annotated[
        Path,
        typer.Argument(metavar="IN", exists=True, help="A Parquet, CSV or Arrow file, or a folder of Parquet parts."),
    ],
    policy: Annotated[
        Path,
        typer.Option("--policy", "-p", metavar="P", exists=True, dir_okay=False, help="The policy, a TOML file."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="OUT", help="The file to make: .parquet, .arrow or .csv.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the policy against the table's columns, and stop.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it is there.")] = False,
    engine: Annotated[Engine, typer.Option(help="Where the work is done.")] = Engine.auto,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draw the noise from this seed, the same each time. **Not private.**"),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write the report too: .html, .json or .txt.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Release a table privately, as a policy says.

    The policy says for each column how far apart two values are, or that it is kept or dropped; a column it does
    not name is refused. Rows are streamed, so the table may be larger than memory, and shuffled unless the policy
    declares their order public. OUT appears whole or not at all, and carries the guarantee (see `metricdp inspect`).

    To begin with:

    - check, and release nothing: `metricdp sanitize people.csv --policy people.toml --dry-run`

    - release: `metricdp sanitize people.csv -o released.parquet --policy people.toml --report report.html`

    Leaves with 2 for a mistaken policy or command, with 1 for data or an output that cannot be.
    """
    from metricdp.cli.reports import (
        check_report_file,
        policy_mistakes,
        print_json,
        print_text,
        read_policy,
        write_report,
    )

    if out is None and not dry_run:
        raise typer.BadParameter("where to? Give -o OUT, or --dry-run", param_hint="--out")
    if seed is not None and engine is Engine.spark:
        raise typer.BadParameter("Spark's workers draw their own noise: no seed reaches them", param_hint="--seed")
    check_report_file(report, overwrite, source, out, policy)
    with policy_mistakes(policy):
        rules = read_policy(policy)
        from metricdp.tables import sanitize as release_table

        with noise(seed), _bar() as progress:
            release = release_table(
                source, rules, out=out, engine=engine.value, overwrite=overwrite, dry_run=dry_run, progress=progress
            )
    if report is not None:
        write_report(release.report, report)
    if json:
        print_json(release.report.to_json())
    else:
        print_text(_text(release, source, policy, report, dry_run))


def _text(release: Release, source: Path, policy: Path, report: Path | None, dry_run: bool) -> str:
    if dry_run:
        lines = [f"{policy} fits {source}. This was a dry run: nothing was released."]
    else:
        assert release.path is not None
        lines = [f"Written to {release.path}"]
        if release.path.suffix.lower() == ".csv":
            lines.append("CSV has no room for the guarantee: --report FILE keeps it beside the table.")
        else:
            lines.append(f"The file carries its guarantee: metricdp inspect {release.path}")
    if report is not None:
        lines.append(f"The report is in {report}")
    return "\n".join([*lines, "", release.report.summary()])


@contextmanager
def _bar() -> Iterator[Progress | None]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("sanitizing"), BarColumn(), TextColumn("{task.completed:,.0f} rows"), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
