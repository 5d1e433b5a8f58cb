"""``metricdp synthesize``: a synthetic table out of a table and a policy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
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
from metricdp.cli.options.report import PolicyOption
from metricdp.cli.options.seed import noise
from metricdp.cli.options.table import EngineOption, TableArgument, TableOption, called, read_source

if TYPE_CHECKING:
    from metricdp.queries.synthetic_data.synthetic_table import SyntheticTable

__all__ = ["synthesize"]

_ENDINGS = (".parquet", ".pq", ".arrow", ".ipc", ".feather", ".csv", ".csv.gz")


def synthesize(
    source: TableArgument,
    policy: PolicyOption,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="OUT", help="The file to make: .parquet, .arrow or .csv.")
    ],
    marginals: Annotated[
        str,
        typer.Option(
            metavar="ORDER",
            help="2 for all pairs of columns, 3 for all triples; or a list such as `sex+age,sex+town,day`.",
        ),
    ] = "2",
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="The columns of OUT, as `sex,age`; all that the policy declares."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT and the report if they exist.")] = False,
    table: TableOption = None,
    engine: EngineOption = "auto",
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draw the noise from this seed, the same each time. **Not private.**"),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write the report too: .html, .json or .txt.")
    ] = None,
    ledger: LedgerOption = None,
    account: ChargedAccountOption = None,
    witness: WitnessOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Make rows that were never anybody's, with counts near those of a table.

    The counts of all pairs of columns (or of what `--marginals` says) are measured once with noise, as the policy
    allows; rows are then dealt out from the distribution that fits them best. OUT has the table's own columns and
    types, those that the policy declares, and appears whole or not at all.

    To begin with:

    - `metricdp synthesize people.csv -p people.toml -o made.csv`

    - with a report: `metricdp synthesize people.csv -p people.toml -o made.parquet --report made.html`

    - only some counts: `metricdp synthesize people.csv -p people.toml -o made.csv --marginals sex+age,town`

    What is not in the marginals is not in the rows: with pairs, three columns agree only as far as their pairs say.
    Where a cell of the policy holds several values (ages 20 to 29), one is drawn evenly. Each run spends the promise
    once more; with `--ledger spent.db --account city` it is charged before OUT appears.

    Exit status: 0 if OUT was made; 1 if the table breaks a rule of the policy, or the account cannot bear it; 2 if the
    command, the policy or a file is at fault.
    """
    from metricdp.cli.console import print_result, spinner
    from metricdp.cli.options.output import check_output, refuse_two_on_one
    from metricdp.cli.options.report import policy_mistakes, read_policy
    from metricdp.cli.options.streams import say

    refuse_without_ledger(ledger, account, seed, witness)
    refuse_two_on_one(json, out=out, report=report)
    place = read_source(source, table)
    read = place if isinstance(place, Path) else None
    check_output("--out", out, _ENDINGS, overwrite, read, policy)
    check_output("--report", report, (".html", ".json", ".txt"), overwrite, read, out, policy)
    charged = nullcontext() if ledger is None else open_ledger(ledger, witness)
    with policy_mistakes(policy), charged as book, noise(seed), spinner("measuring and fitting"):
        from metricdp.queries.synthetic_data.synthesize import synthesize as make_rows

        made = make_rows(
            place,
            read_policy(policy),
            _marginals(marginals),
            out,
            engine,
            book,
            columns=None if columns is None else [name.strip() for name in columns.split(",")],
            account=account,
            overwrite=overwrite,
        )
    if report is not None:
        _write(made, report, overwrite)
    if json:
        promise = None if made.guarantee is None else made.guarantee.to_json()
        print_result(made.to_json() | {"table": called(place), "out": str(out)}, promise)
    else:
        say(f"Written to {out}\n\n{made.text()}", out, report)


def _marginals(text: str) -> int | list[list[str]]:
    """An order, or sets of columns, as they are written."""
    if text.strip().isdigit():
        return int(text)
    return [[name.strip() for name in one.split("+")] for one in text.split(",")]


def _write(made: SyntheticTable, report: Path, overwrite: bool) -> None:
    from metricdp.cli.console import as_json
    from metricdp.sources.whole_files import appearing

    forms: dict[str, Callable[[], str]] = {
        ".html": made.html,
        ".txt": made.text,
        ".json": lambda: as_json(made.to_json()) + "\n",
    }
    with appearing(report, overwrite) as temporary:
        temporary.write_text(forms[report.suffix.lower()](), encoding="utf-8")
