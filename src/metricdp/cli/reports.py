"""What the commands about tables share: policies read with all their mistakes, and reports written to files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from metricdp.errors import MissingExtraError, OutputError, PolicyError

if TYPE_CHECKING:
    from metricdp.tables.policy import Policy
    from metricdp.tables.report import Report

__all__ = ["check_report_file", "policy_mistakes", "print_json", "print_text", "read_policy", "write_report"]

_FORMS: dict[str, Callable[[Report], str]] = {
    ".html": lambda report: report.html(),
    ".json": lambda report: _json(report.to_json()) + "\n",
    ".txt": lambda report: report.text(),
}


def read_policy(path: Path) -> Policy:
    """The policy in a file; mistakes are for `policy_mistakes` to say."""
    try:
        from metricdp.tables.policy import Policy
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "pyarrow", "tables") from None
    try:
        return Policy.load(path)
    except UnicodeDecodeError:
        raise PolicyError(["not text in UTF-8"]) from None


@contextmanager
def policy_mistakes(path: Path) -> Iterator[None]:
    """Say every mistake of a policy on a line of its own, as a compiler would, and leave with 2."""
    try:
        yield
    except PolicyError as error:
        for problem in error.problems:
            typer.echo(f"{path}: {problem}", err=True)
        raise typer.Exit(2) from None


def check_report_file(path: Path | None, overwrite: bool, *others: Path | None) -> None:
    """Refuse, before anything is done, a report that could not be written or would replace another file."""
    if path is None:
        return
    if path.suffix.lower() not in _FORMS:
        raise typer.BadParameter(f"{path}: a report ends in {', '.join(_FORMS)}")
    if any(other is not None and other.resolve() == path.resolve() for other in others):
        raise typer.BadParameter(f"{path} is already the table or the policy")
    if not path.absolute().parent.is_dir():
        raise OutputError(f"there is no folder {path.parent}")
    if path.exists() and not overwrite:
        raise OutputError(f"{path} exists already; choose another name, or --overwrite")


def write_report(report: Report, path: Path) -> None:
    """Write the report in the form that the name asks for."""
    form = _FORMS[path.suffix.lower()](report)
    unfinished = path.with_name(f".{path.name}.part")
    try:
        unfinished.write_text(form, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def print_text(text: str) -> None:
    """Print; an old terminal shows ? for a sign that it does not know."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    typer.echo(text.rstrip("\n"))


def print_json(tree: Any) -> None:
    """Print as JSON, in ASCII, so that no sign in it can steer a terminal."""
    typer.echo(_json(tree))


def _json(tree: Any) -> str:
    import json

    return json.dumps(tree, indent=2, allow_nan=False)
