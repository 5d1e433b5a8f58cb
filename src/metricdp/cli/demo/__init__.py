"""``metricdp demo``: a one-minute tour on real data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from metricdp.cli.demo.tour import Tour

__all__ = ["demo"]


def demo(
    json: Annotated[bool, typer.Option("--json", help="Print the same facts as JSON.")] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Draw the noise from this seed, so that it is the same each time. **Not private.**"
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the sanitized table, its report and a picture go.")
    ] = Path("metricdp-demo"),
) -> None:
    """Take a one-minute tour: a guarantee, a release, and what an adversary can learn.

    **Places.** Cities are released so that places 5 km apart stay within a factor 2 of each other, and an
    adversary draws conclusions by the rule of Bayes: the odds move no more than was promised.

    **People.** Five columns of a health insurance table, each with a distance and a mechanism of its own:
    money, counts, categories, yes or no, and numbers that may be secretly missing. What they promise together, and what
    the release is still good for.

    **A table.** All of it, sanitized by a policy into a folder, with the report to file and a picture of before and
    after (where `metricdp[tables,plots]` is installed).

    The noise is new each time, from the system's secure source. Both tables come with the package.

    To begin with:

    - the tour: `metricdp demo`

    - the same numbers each time, which is not private: `metricdp demo --seed 1 --out tour`

    Exit status: 0 if the tour was printed; 2 if a file is missing or cannot be written.
    """
    from metricdp.cli.console import print_result, spinner
    from metricdp.cli.demo.tour import take_tour

    with spinner("drawing noise"):
        tour = take_tour(seed, out)
    if json:
        from dataclasses import asdict

        print_result(asdict(tour))
    else:
        _print_text(tour)


def _print_text(tour: Tour) -> None:
    from rich.console import Console

    from metricdp.cli.console import print_text
    from metricdp.cli.demo.pages import show

    console = Console(highlight=False)
    if console.is_terminal:
        show(tour, console)
        return
    with console.capture() as text:
        show(tour, console)
    print_text("\n".join(line.rstrip() for line in text.get().splitlines()))  # no blanks at the ends of lines
