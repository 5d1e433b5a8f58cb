"""``metricdp papers``: every experiment, table and figure of the five papers, re-run beside what was printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from metricdp.papers import Outcome, PaperReport

__all__ = ["papers"]


def papers(
    paper: Annotated[
        int | None, typer.Argument(metavar="[1-5]", min=1, max=5, help="One paper; all if left out.")
    ] = None,
    item: Annotated[str | None, typer.Option("--item", metavar="NAME", help="One item of it, such as fig6a.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Reduced sizes, by the same code: about a minute.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Write papers.html, .json and .md, and the pictures, there."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the items, and run none.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of DIR that exist.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Re-run the papers: what they print, what we get, whether they agree, by which theorem, and how long it took.

    Where a paper and exact arithmetic differ, the claim carries independent computations, which are run too. Data that
    a paper does not print are made from seeds, so that two runs give the same numbers.

    To begin with:

    - what there is: `metricdp papers --list`

    - everything, in about a minute: `metricdp papers --quick --out papers`, and open `papers/papers.html`

    - one figure as it was printed: `metricdp papers 3 --item fig6b --out fig6b`

    Exit status: 0 if all items ran, whether or not they agree with print; 2 if the command is at fault.
    """
    from metricdp.cli.console import mistakes, print_result, print_text, spinner
    from metricdp.papers import items_of, run, run_all
    from metricdp.papers.item import TITLES

    if item is not None and paper is None:
        raise typer.BadParameter("say of which paper, as in: metricdp papers 3 --item fig6a", param_hint="--item")
    if listed:
        numbers = TITLES if paper is None else [paper]
        if json:
            print_result([{"paper": i.paper, "item": i.name, "title": i.title, "source": i.source}
                          for n in numbers for i in items_of(n)])  # fmt: skip
        else:
            print_text("\n\n".join(_list(number) for number in numbers))
        return
    _refuse_before(out, overwrite, paper)
    with mistakes("papers"), spinner("reading the papers") as show:
        if item is not None:
            from metricdp.papers.running import report_of

            report = report_of([run(paper or 0, item, quick=quick, progress=show)], quick)
        else:
            report = run_all(None if paper is None else [paper], quick=quick, progress=show, ended=_ended(json))
        written = _written(report, out, overwrite)
    if json:
        print_result(report.to_json())
        return
    if item is not None:
        print_text(str(report.outcomes[0]))
    else:
        print_text(str(report).split("\n\n")[-1])
    if written:
        print_text(written)


def _list(number: int) -> str:
    from metricdp.papers import items_of
    from metricdp.papers.item import TITLES

    items = items_of(number)
    width = max(len(item.name) for item in items)
    return "\n".join([f"{number}. {TITLES[number]}", *(f"  {i.name:<{width}}  {i.title} ({i.source})" for i in items)])


def _refuse_before(out: Path | None, overwrite: bool, paper: int | None) -> None:
    """Say before the work what could not be written after it; of pictures, those of the paper that is asked for."""
    if out is None:
        return
    from metricdp.cli.console import mistakes
    from metricdp.errors import FileError
    from metricdp.papers.writing import FILES, GALLERY

    with mistakes("--out"):
        if out.exists() and not out.is_dir():
            raise FileError(f"{out.name} is a file: a folder is wanted")
        taken = [name for name in FILES if (out / name).exists()]
        pictures = sorted((out / GALLERY).glob(f"{paper or '[1-5]'}-*.png"))
        taken += [f"{GALLERY}/{picture.name}" for picture in pictures[:3]]
        if taken and not overwrite:
            raise FileError(f"{out.name} has {', '.join(taken)} already: choose another folder, or overwrite=True")


def _ended(json: bool) -> Callable[[Outcome], object]:
    from metricdp.cli.console import print_text

    def say(outcome: Outcome) -> None:
        print_text(f"{outcome}\n")

    return (lambda outcome: None) if json else say


def _written(report: PaperReport, out: Path | None, overwrite: bool) -> str:
    if out is None:
        return ""
    from metricdp.papers.writing import write

    files = write(report, out, overwrite=overwrite)
    return f"{len(files)} files are written to {out}; open {out / 'papers.html'}."
