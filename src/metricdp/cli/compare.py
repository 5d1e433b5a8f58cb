"""``metricdp compare``: a release beside its secrets, for the curator alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metricdp.cli.options.streams import existing, existing_file
from metricdp.cli.options.table import EngineOption

__all__ = ["compare"]


def compare(
    secret: Annotated[Path, typer.Argument(metavar="SECRET", callback=existing, help="The table before the release.")],
    released: Annotated[
        Path, typer.Argument(metavar="RELEASED", callback=existing, help="The sanitized table made from it.")
    ],
    question: Annotated[
        list[str] | None,
        typer.Option(
            "--question",
            "-q",
            metavar="QUESTION",
            help="`'select ..'`, as for metricdp estimate; may be given several times. By default the average of every "
            "column of numbers and the counts of every category.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the page, with pictures: .html.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="POLICY",
            callback=existing_file,
            help="What RELEASED was released under: .toml. Parquet and Arrow files say it themselves.",
        ),
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", metavar="C", help="Of each interval.")] = 0.95,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the page if it exists.")] = False,
    engine: EngineOption = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Compare a sanitized table with its secrets: for the curator only.

    **Nothing of it may be released.** For each question: the truth, the corrected value with its interval, and the
    value as released. For each column: how far its rows moved, and its histogram or map before, after and corrected.

    To begin with:

    - on the terminal: `metricdp compare people.csv released.parquet`

    - as a page: `metricdp compare people.csv released.parquet -q 'select avg(income) group by sex' -o private.html`

    Exit status: 0 if the tables were compared; 1 if a table has a value that it cannot have; 2 if the command, the
    policy, a question or a file is at fault.
    """
    from metricdp.cli.console import note, print_result, print_text, spinner
    from metricdp.cli.options.output import check_output, refuse_two_on_one
    from metricdp.cli.options.report import policy_mistakes, read_policy

    refuse_two_on_one(json, out=out)
    check_output("--out", out, (".html",), overwrite, secret, released, policy)
    rules = None
    if policy is not None:
        with policy_mistakes(policy):
            rules = read_policy(policy)
    from metricdp.estimates.comparison import compare as compared

    with spinner("comparing"):
        found = compared(
            secret,
            released,
            question or (),
            policy=rules,
            confidence=confidence,
            engine=None if engine == "auto" else engine,
        )
        page = None if out is None else found.html()
    if out is not None and page is not None:
        _write(page, out, overwrite)
        note(f"Written to {out}: it tells the secrets, and is not to be released")
    if json:
        print_result(found.to_json())
    elif out is None:
        print_text(str(found))


def _write(page: str, out: Path, overwrite: bool) -> None:
    from metricdp.cli.console import print_text
    from metricdp.cli.options.streams import is_dash
    from metricdp.sources.whole_files import appearing

    if is_dash(out):
        print_text(page)
        return
    with appearing(out, overwrite) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="backslashreplace")
