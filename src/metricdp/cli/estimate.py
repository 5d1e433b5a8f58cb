"""``metricdp estimate``: what a released table says, corrected for its noise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metricdp.cli.options.streams import existing, existing_file
from metricdp.cli.options.table import EngineOption

__all__ = ["estimate"]


def estimate(
    released: Annotated[
        Path,
        typer.Argument(
            metavar="RELEASED",
            callback=existing,
            help="A sanitized Parquet or Arrow file, or a folder of Parquet parts; a CSV file with --policy.",
        ),
    ],
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="`'select .. [from ..] [where ..] [group by ..]'`, see above.")
    ],
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
    population: Annotated[
        bool,
        typer.Option("--population", help="Intervals for what the rows were drawn from, not for the rows themselves."),
    ] = False,
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--known",
            metavar="COUNT:CONDITION",
            help="How many rows meet a condition, as you know from elsewhere; several times for several.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw corrected values, intervals and values as released: .svg, .png, .pdf."
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the picture if it exists.")] = False,
    engine: EngineOption = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Say what a sanitized table tells about its secrets: corrected for the noise, with intervals.

    Taken at face value, a sanitized table misleads: noise widens what is narrow, evens out shares, and piles up at
    bounds. How it was released is public, so all of that can be corrected. It costs no privacy, however often you ask.

    To begin with:

    - a share: `metricdp estimate released.parquet 'select count(*) where age >= 40'`

    - averages by group: `metricdp estimate released.parquet 'select count(*), avg(income) group by health'`

    - a picture of them: `metricdp estimate released.parquet 'select count(*) group by age' --plot ages.svg`

    - with a count that is public: `metricdp estimate released.parquet 'select count(*) group by health, sex' --known
    "2911: sex = 'female'"`

    - a CSV file: `metricdp estimate released.csv 'select median(age)' --policy people.toml`

    What can be asked is what `metricdp query` answers: counts, sums, averages and percentiles, with conditions and
    groups. Beside each corrected value stands the one as released. A wide interval comes with the reason.

    Exit status: 0 if the question was answered; 1 if the table has a value that no release has; 2 if the command, the
    policy, the question or a file is at fault.
    """
    from metricdp.cli.console import note, print_result, print_text, spinner
    from metricdp.cli.options.output import check_output
    from metricdp.cli.options.report import policy_mistakes, read_policy
    from metricdp.cli.options.streams import taken
    from metricdp.cli.options.table import called

    if plot is not None:
        from metricdp.plots.saving import PICTURES

        check_output("--plot", plot, PICTURES, overwrite, released)
    rules = None
    if policy is not None:
        with policy_mistakes(policy):
            rules = read_policy(policy)
    from metricdp.estimates.asking import estimate as corrected

    with taken(released) as place, spinner("estimating"):
        found = corrected(
            place,
            question,
            confidence=confidence,
            policy=rules,
            truth="population" if population else "table",
            engine=None if engine == "auto" else engine,
            known=_known(known),
        )
    if plot is not None:
        from metricdp.plots.saving import save

        save(found.figure(), plot, overwrite=overwrite)
        note(f"Drawn to {plot}")
    if json:
        print_result(found.to_json() | {"table": called(released)})
    else:
        print_text(f"{found}\n\n{100 * confidence:.6g}% intervals; {called(released)} has {found.rows:,} rows.")


def _known(given: list[str] | None) -> dict[str, float] | None:
    """Counts by their conditions."""
    if not given:
        return None
    found: dict[str, float] = {}
    for text in given:
        count, colon, condition = text.partition(":")
        try:
            found[condition.strip()] = float(count)
        except ValueError:
            colon = ""
        if not colon or not condition.strip():
            raise typer.BadParameter(
                f"--known is a number of rows, a colon and a condition, such as \"2911: sex = 'female'\", not {text!r}"
            )
    return found
