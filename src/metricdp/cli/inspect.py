"""``metricdp inspect``: the guarantee a file claims, as a claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metricdp.cli.console import REFUSED
from metricdp.cli.options.streams import existing, existing_file
from metricdp.visible import visible, visible_name

if TYPE_CHECKING:
    from metricdp.tables.report.claim import Claim

__all__ = ["inspect"]

_NO_PROOF = (
    "This is what the file claims of itself. It is no proof: anybody can write such words into a file. Trust it as far "
    "as you trust where the file came from."
)


def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            callback=existing,
            help="A Parquet, Arrow or CSV file, or a folder of Parquet parts; - for the standard input.",
        ),
    ],
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="REPORT",
            callback=existing_file,
            help="Compare FILE with a report of its release: the .json file that `sanitize --report` wrote.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the claim as JSON.")] = False,
) -> None:
    """Print the guarantee that a sanitized file claims. A claim, not a proof.

    Parquet and Arrow files carry it in their metadata; a CSV file cannot, so give its report with --against. The claim
    is compared with the file: the names of the columns, the number of rows, and with --against the SHA-256 of the file.

    To begin with:

    - what a file says of itself: `metricdp inspect released.parquet`

    - whether it is the file that a report speaks of: `metricdp inspect released.csv --against report.json`

    Exit status: 0 if the file has a claim that fits it; 1 if it has none, or the claim does not fit; 2 if the file
    cannot be read.
    """
    from metricdp.cli.console import print_result, print_text
    from metricdp.cli.options.streams import taken
    from metricdp.tables.report.claim import read_claim

    with taken(file) as place:
        claim = read_claim(place, against)
    if json:
        print_result(_tree(claim))
    else:
        print_text(_text(file, claim, against))
    if claim.report is None or claim.doubts:
        raise typer.Exit(REFUSED)


def _text(file: Path, claim: Claim, against: Path | None) -> str:
    import textwrap

    name = visible_name(file.name)
    doubts = "\n".join(textwrap.fill(f"! {visible(doubt)}", 80, subsequent_indent="  ") for doubt in claim.doubts)
    if claim.report is None:
        csv = file.name.lower().endswith((".csv", ".tsv", ".csv.gz"))
        why = " CSV has no room for one: --against REPORT compares it with the report of its release." if csv else ""
        return textwrap.fill(f"{name} claims no guarantee.{why}", 80) + (f"\n\n{doubts}" if doubts else "")
    claims = f"{name} claims: {_NO_PROOF}"
    if against is not None:
        claims = f"{visible_name(against.name)} speaks of {name}. Trust it as far as you trust where it came from."
    fits = "" if claim.doubts else textwrap.fill(f"It fits the file: {', '.join(claim.compared)}.", 80)
    digest = f"SHA-256 of the file: {claim.sha256}" if claim.sha256 is not None else ""
    parts = [textwrap.fill(claims, 80), doubts, fits, digest, claim.report.text()]
    return "\n\n".join(part for part in parts if part)


def _tree(claim: Claim) -> dict[str, object]:
    return {
        "note": _NO_PROOF,
        "claim": None if claim.report is None else claim.report.to_json(),
        "version": claim.version,
        "columns": list(claim.columns),
        "rows": claim.rows,
        "sha256": claim.sha256,
        "compared": list(claim.compared),
        "doubts": list(claim.doubts),
    }
