"""``metricdp demo``: a one-minute tour on real data."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from metricdp.cli.tour import Tour

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

    The noise is new each time, from the system's secure source. Both tables lie in the package.
    """
    from metricdp.cli.tour import take_tour

    with _spinner("drawing noise"):
        tour = take_tour(seed, out)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # an old terminal shows ? for a sign that it does not know
    _print_json(tour) if json else _print_text(tour)


def _spinner(what: str) -> AbstractContextManager[Any]:
    """A spinner on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


def _print_json(tour: Tour) -> None:
    import json
    from dataclasses import asdict

    typer.echo(json.dumps(asdict(tour), indent=2, ensure_ascii=False, default=float))


def _print_text(tour: Tour) -> None:
    from rich.console import Console

    from metricdp.cli.pages import show

    console = Console(highlight=False)
    if console.is_terminal:
        show(tour, console)
        return
    with console.capture() as text:
        show(tour, console)
    typer.echo("\n".join(line.rstrip() for line in text.get().splitlines()))  # no blanks at the ends of lines
