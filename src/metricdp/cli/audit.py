"""``metricdp audit``: evidence from outside about a box that somebody else wrote."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from metricdp.metrics import Guarantee

__all__ = ["audit"]


def audit(
    box: Annotated[
        list[str],
        typer.Argument(
            metavar="BOX",
            help="`package.module:function`, or `'command:program with arguments'`, or two files of samples.",
        ),
    ],
    metric: Annotated[
        str | None,
        typer.Option("--metric", "-m", metavar="METRIC", help="What is claimed, as in `'ln 2/200 great_circle'`."),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", "-e", metavar="E", help="The level before the metric: `0.5`, `'ln 2'`.")
    ] = None,
    delta: Annotated[str | None, typer.Option("--delta", metavar="D", help="The delta of the claim.")] = None,
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            "--pairs",
            metavar="X~Y",
            help="Two secrets with ~ between them, as in `'(0, 0) ~ (1, 0)'`; repeat it.",
        ),
    ] = None,
    rows: Annotated[bool, typer.Option("--rows", help="The function takes many secrets at a time.")] = False,
    confidence: Annotated[float, typer.Option("--confidence", metavar="C", help="Of the bound.")] = 0.999,
    samples: Annotated[
        int | None, typer.Option("--samples", "-n", metavar="N", help="Releases to draw at most.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", metavar="SECONDS", help="Seconds to draw for at most.")
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option("--event", metavar="E", help="An event to look at too, as in `'z > 3'`, or `time`; repeat it."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a page with plots and attacks: a .html file.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the report if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the evidence as JSON.")] = False,
) -> None:
    """Test from outside how private a mechanism is, whoever wrote it.

    The mechanism is a box that is only called, with pairs of secrets in random order. Events that tell the two apart
    are searched on past releases, and the best one is tested on new ones: "the true scale is at least s times what is
    claimed, at confidence 0.999, shown by this pair and this event". That is evidence, not proof: where none is found,
    the claim may be false all the same. The confidence is valid whenever you stop; Ctrl-C gives what was found so far.

    To begin with:

    - a function of yours: `metricdp audit mymodule:release --metric '0.1 absolute' --pairs '0 ~ 1'`

    - a program that reads a secret a line and writes a release a line:
      `metricdp audit 'command:./noise --epsilon 1' --metric absolute --pairs '0 ~ 1'`

    - samples that somebody drew: `metricdp audit zeros.csv ones.csv --metric absolute --pairs '0 ~ 1'`

    Exit status: 0 if there is no evidence against the claim; 1 if there is; 2 if the command or the box is at fault.
    """
    from metricdp.cli.console import REFUSED, mistakes, print_result, print_text
    from metricdp.cli.options.output import check_output

    check_output("--report", report, (".html",), overwrite)
    with mistakes("--metric"):
        claim = _claim(metric, epsilon, delta)
    with mistakes("--pairs"):
        given = _pairs(pairs)
    with mistakes(" ".join(box)), _aside():
        from metricdp.audit.audit import audit as decide
        from metricdp.audit.boxes.as_box import as_box

        target = _target(box, rows)
        taken = as_box(target)
        if taken.importable is None and len(box) == 1 and ":" in box[0]:
            taken.importable = _import_code(box[0], rows)
        evidence = decide(
            target if not given else taken,
            given,
            claim,
            confidence=confidence,
            samples=samples,
            time_limit=time_limit,
            events=event or (),
        )
        if report is not None:
            from metricdp.audit.attacks import attack
            from metricdp.audit.boxes.samples import Samples
            from metricdp.audit.report import page
            from metricdp.sources.whole_files import appearing

            pair = evidence.pair or (evidence.searched[0].pair if evidence.searched else None)
            attacks = () if pair is None or isinstance(taken, Samples) else attack(taken, pair)
            with appearing(report.absolute(), overwrite) as file:
                file.write_text(page(evidence, attacks), encoding="utf-8")
    if json:
        print_result(evidence.to_json())
    else:
        print_text(str(evidence))
    if not evidence:
        raise typer.Exit(REFUSED)


@contextmanager
def _aside() -> Iterator[None]:
    """What a box prints, and what programs print that it starts, is no part of the result and goes to stderr."""
    import os

    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of the two is closed
        kept = None
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)


def _claim(metric: str | None, epsilon: str | None, delta: str | None) -> Guarantee | None:
    from metricdp.cli.options.metric import read_guarantee
    from metricdp.errors import ArgumentError

    if metric is None:
        if epsilon is not None or delta is not None:
            raise ArgumentError("--epsilon and --delta go with --metric")
        return None
    return read_guarantee(metric, epsilon, delta)


def _pairs(texts: list[str] | None) -> list[tuple[Any, Any]] | None:
    from metricdp.channels.cells import read_label
    from metricdp.errors import ArgumentError

    if not texts:
        return None
    pairs = []
    for text in texts:
        parts = text.split("~")
        if len(parts) != 2:
            raise ArgumentError(f"{text!r} is no pair: write two secrets with ~ between them, as in '0 ~ 1'")
        pairs.append((read_label(parts[0].strip()), read_label(parts[1].strip())))
    return pairs


def _target(box: list[str], as_rows: bool) -> Any:
    """What the argument names."""
    import importlib

    from metricdp.audit import rows
    from metricdp.errors import ArgumentError

    if len(box) == 2:
        return tuple(box)
    if len(box) != 1:
        raise ArgumentError("a box is one argument, or two files of samples")
    if box[0].startswith("command:"):
        return box[0]
    module, _, name = box[0].partition(":")
    if not name:
        raise ArgumentError("write package.module:function, 'command:...', or two files of samples")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ArgumentError(str(error)) from None
    except (Exception, SystemExit) as error:  # whoever wrote it, an audit that did not begin found nothing
        raise ArgumentError(f"{module} raised {type(error).__name__} as it was imported: {error}") from None
    return rows(found) if as_rows else found


def _import_code(text: str, as_rows: bool) -> str:
    module, _, name = text.partition(":")
    function = f'__import__("importlib").import_module("{module}").{name}'
    return f"lambda secret: {function}(np.array([secret]))[0]" if as_rows else function
