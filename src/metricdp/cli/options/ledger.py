"""The ledger that a command charges or reads, and the account."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["ChargedAccountOption", "LedgerOption"]

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


def refuse_without_ledger(ledger: str | None, account: str | None, seed: int | None) -> None:
    """Say what is wrong where an account has no ledger, or a ledger would be charged for what is not private."""
    if account is not None and ledger is None:
        raise typer.BadParameter("it goes with --ledger, or METRICDP_LEDGER in the environment", param_hint="--account")
    if ledger is not None and seed is not None:
        raise typer.BadParameter("what a seed has touched is not private, and charged to nobody", param_hint="--seed")
