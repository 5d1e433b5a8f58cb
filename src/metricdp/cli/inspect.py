"""``metricdp inspect``: the guarantee a file claims, as a claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from metricdp.tables.report_claim import Claim

__all__ = ["inspect"]

_NO_PROOF = (
    "This is what the file claims of itself. It is no proof: anybody can write such words into a file. Trust it as far "
    "as you trust where the file came from."
)


def inspect(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", exists=True, help="A Parquet or Arrow file, or a folder of Parquet parts."),
    ],
    json: Annotated[bool, typer.Option("--json", help="Print the claim as JSON.")] = False,
) -> None:
    """Print the guarantee that a sanitized file claims. A claim, not a proof.

    The claim lies beside the schema of Parquet and Arrow files; CSV has no room for one. It is held against what
    the file shows: columns that it does not speak of, or another number of rows, are named.

    Leaves with 1 where the file claims nothing, or where its claim does not fit it.

    To begin with: `metricdp inspect released.parquet`
    """
    from metricdp.cli.reports import print_json, print_text
    from metricdp.errors import MissingExtraError

    try:
        from metricdp.tables.report_claim import read_claim
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "pyarrow", "tables") from None
    claim = read_claim(file)
    if json:
        print_json(_tree(claim))
    else:
        from metricdp.cli.channel_argument import printable

        print_text(printable(_text(file, claim)))
    if claim.report is None or claim.doubts:
        raise typer.Exit(1)


def _text(file: Path, claim: Claim) -> str:
    import textwrap

    doubts = "\n".join(textwrap.fill(f"! {doubt}", 80, subsequent_indent="  ") for doubt in claim.doubts)
    if claim.report is None:
        why = " CSV has no room for one." if file.suffix.lower() in (".csv", ".tsv") else ""
        return f"{file.name} claims no guarantee.{why}" + (f"\n\n{doubts}" if doubts else "")
    parts = [textwrap.fill(f"{file.name} claims: {_NO_PROOF}", 80), doubts, claim.report.text()]
    return "\n\n".join(part for part in parts if part)


def _tree(claim: Claim) -> dict[str, object]:
    return {
        "note": _NO_PROOF,
        "claim": None if claim.report is None else claim.report.to_json(),
        "version": claim.version,
        "columns": list(claim.columns),
        "rows": claim.rows,
        "doubts": list(claim.doubts),
    }
