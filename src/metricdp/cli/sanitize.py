"""``metricdp sanitize``: a private table out of a table and a policy."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metricdp.cli.options.ledger import (
    ChargedAccountOption,
    LedgerOption,
    WitnessOption,
    open_ledger,
    refuse_without_ledger,
)
from metricdp.cli.options.report import ByOption, PolicyOption, ReportOption
from metricdp.cli.options.seed import noise
from metricdp.cli.options.streams import is_dash
from metricdp.cli.options.table import EngineOption, TableArgument, TableOption, called, read_source
from metricdp.errors import FileError
from metricdp.visible import visible

if TYPE_CHECKING:
    from metricdp.policies import Policy
    from metricdp.tables.report import Report

__all__ = ["sanitize"]

_ENDINGS = (".parquet", ".pq", ".arrow", ".ipc", ".feather", ".csv", ".csv.gz")

Progress = Callable[[int, int | None], None]


def sanitize(
    source: TableArgument,
    policy: PolicyOption,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="OUT", help="The file to make: .parquet, .arrow or .csv; - prints CSV."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Check the policy against the table, and stop: its columns and their types; and every row of a CSV "
            "file, which has no types.",
        ),
    ] = False,
    check_first: Annotated[
        bool,
        typer.Option(
            "--check-first",
            help="Read the whole table before any noise is drawn, and refuse it there if it breaks a rule.",
        ),
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT and the report if they exist.")] = False,
    table: TableOption = None,
    engine: EngineOption = "auto",
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draw the noise from this seed, the same each time. **Not private.**"),
    ] = None,
    report: ReportOption = None,
    by: ByOption = None,
    source_digest: Annotated[
        bool,
        typer.Option(
            "--source-digest",
            help="Put the SHA-256 of TABLE into the report. Whoever guesses the whole table can then confirm it.",
        ),
    ] = False,
    ledger: LedgerOption = None,
    account: ChargedAccountOption = None,
    witness: WitnessOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Release a table privately, as a policy says.

    The policy says for each column how far apart two values are, or that it is kept or dropped; a column it does
    not name is refused. Rows are streamed, so the table may be larger than memory, and shuffled unless the policy
    declares their order public. OUT appears whole or not at all, and carries the guarantee (see `metricdp inspect`).

    To begin with:

    - check, and release nothing: `metricdp sanitize people.csv --policy people.toml --dry-run`

    - release: `metricdp sanitize people.csv -o released.parquet --policy people.toml --report report.html`

    - in a pipe: `zcat people.csv.gz | metricdp sanitize - --policy people.toml -o - > released.csv`

    - and keep account: `metricdp sanitize people.csv -o out.parquet -p people.toml --ledger spent.db --account city`

    With a ledger the whole table is checked first, then the account is charged, and OUT appears when it is on record.

    Exit status: 0 if the table was released, or would be with --dry-run; 1 if it breaks a rule of the policy, or the
    account cannot bear it; 2 if the command, the policy or a file is at fault.
    """
    from metricdp.cli.console import note, print_result
    from metricdp.cli.options.output import check_output, refuse_two_on_one
    from metricdp.cli.options.report import check_report, policy_mistakes, read_policy, write_report
    from metricdp.cli.options.streams import delivered, say

    if out is None and not dry_run:
        raise typer.BadParameter("give -o OUT, or --dry-run to release nothing", param_hint="--out")
    if seed is not None and engine == "spark":
        raise typer.BadParameter("Spark's workers draw their own noise: no seed reaches them", param_hint="--seed")
    refuse_without_ledger(ledger, account, seed, witness)
    refuse_two_on_one(json, out=out, report=report)
    place = read_source(source, table)
    read = place if isinstance(place, Path) else None
    if engine != "spark":
        check_output("--out", out, _ENDINGS, overwrite, read, policy)
    check_report(report, overwrite, read, out, policy)
    with policy_mistakes(policy):
        rules = read_policy(policy)
        from metricdp.tables import sanitize as release_table

        earlier = [] if dry_run or ledger is not None or out is None else _earlier(out, rules)
        charged = nullcontext() if dry_run or ledger is None else open_ledger(ledger, witness)
        with charged as book, delivered(out or Path("nowhere"), ".csv") as target, noise(seed), _bar() as progress:
            release = release_table(
                place,
                rules,
                out=None if out is None else target,
                engine=engine,
                overwrite=overwrite,
                dry_run=dry_run,
                check_first=check_first,
                by=by,
                source_digest=source_digest,
                ledger=book,
                account=account,
                progress=progress,
            )
    for path in earlier:
        note(
            f"{path.name} is a release under the same policy. If it is of the same table, the two together tell twice "
            "as much; --ledger keeps account of that"
        )
    made = release.report
    if is_dash(out) and made.origin is not None:
        made = replace(made, origin=replace(made.origin, output="standard output"))
    if report is not None:
        try:
            write_report(made, report, overwrite)
        except FileError as error:
            done = "" if dry_run else f". {out} is there and complete: do not release it a second time for the report"
            raise FileError(f"{error}{done}") from None
    if json:
        found = made.to_json() | ({"checked": release.checked} if dry_run else {})
        print_result(found, made.guarantee_json())
    else:
        more = "; --check-first reads them" if release.checked == "types" else ""
        fits = f"{visible(str(policy))} fits {visible(called(place))}: {release.check_words}{more}"
        say(_text(made, fits, out, report, dry_run), out, report)


def _earlier(out: Path, rules: Policy) -> list[Path]:
    """Releases under the same policy in the folder of the output, which may be of the same table."""
    from metricdp.tables.earlier import earlier_releases

    return earlier_releases(out.absolute().parent, rules)


def _text(made: Report, fits: str, out: Path | None, report: Path | None, dry_run: bool) -> str:
    if dry_run:
        lines = [*textwrap.wrap(f"{fits}. This was a dry run: nothing was released.", 80)]
    else:
        assert out is not None
        path = visible(str(out))
        lines = [] if is_dash(out) else [f"Written to {path}"]
        if is_dash(out) or out.name.lower().endswith((".csv", ".csv.gz")):
            lines.append("CSV has no room for the guarantee: --report FILE keeps it beside the table.")
        else:
            lines.append(f"The file carries its guarantee: metricdp inspect {path}")
    if report is not None:
        lines.append(f"The report is in {visible(str(report))}")
    return "\n".join([*lines, "", made.summary()])


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
