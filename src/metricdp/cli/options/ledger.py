"""The ledger that a command charges or reads, and the account."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from metricdp.ledger import Ledger

__all__ = ["ChargedAccountOption", "LedgerOption", "WitnessOption", "open_ledger"]

LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        "-l",
        metavar="URL",
        envvar="METRICDP_LEDGER",
        show_envvar=False,
        help="A SQLite file or `postgresql://host/name`; METRICDP_LEDGER in the environment otherwise.",
    ),
]

ChargedAccountOption = Annotated[
    str | None,
    typer.Option(
        "--account", "-a", metavar="NAME", help="The account of the ledger that is charged before anything is released."
    ),
]


WitnessOption = Annotated[
    Path | None,
    typer.Option("--witness", metavar="FILE", help="A file outside of the ledger that remembers its heads."),
]


def open_ledger(url: str | None, witness: Path | None = None) -> Ledger:
    """The ledger at an address; refused where it lacks what its witness saw. A witness that is new is told of."""
    from metricdp.cli.console import mistakes, note
    from metricdp.ledger import Ledger

    new = witness is not None and not witness.exists()
    with mistakes("--ledger"):
        found = Ledger(url, witness=witness)
    if new and witness is not None:
        note(f"{witness.name} is a new witness: it knows nothing of what was charged before")
    return found


def refuse_without_ledger(
    ledger: str | None, account: str | None, seed: int | None, witness: Path | None = None
) -> None:
    """Say what is wrong where an account has no ledger, or a ledger would be charged for what is not private."""
    for name, value in (("--account", account), ("--witness", witness)):
        if value is not None and ledger is None:
            raise typer.BadParameter("it goes with --ledger, or METRICDP_LEDGER in the environment", param_hint=name)
    if ledger is not None and seed is not None:
        raise typer.BadParameter("what a seed has touched is not private, and charged to nobody", param_hint="--seed")
