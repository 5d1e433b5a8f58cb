"""Finding a ledger, knowing it for one, and bringing an older one up to date."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

from metricdp.errors import ArgumentError, FileError
from metricdp.ledger.accounts import Account
from metricdp.ledger.stores.schema import STEPS, VERSION
from metricdp.ledger.stores.store import Store
from metricdp.ledger.totals import AccountTotals, Price
from metricdp.metrics import Guarantee

__all__ = ["ENVIRONMENT", "address", "identity", "refuse_foreign"]

ENVIRONMENT = "METRICDP_LEDGER"
"""The variable of the environment that holds the address of the ledger where none is given."""

_LEAST = Fraction(1, 10**60)


def address(url: str | Path | None) -> str:
    """The address that was given, or that of the environment."""
    found = os.environ.get(ENVIRONMENT) if url is None else str(url)
    if not found:
        raise ArgumentError(f"which ledger? Give its address, or set {ENVIRONMENT}")
    return found


def identity(store: Store) -> str:
    """Which ledger this is; an older version is brought up to date, a later one is refused."""
    with store.reading() as run:
        rows = run("select id, version from ledger", {})
    if len(rows) != 1 or not isinstance(rows[0][1], int) or not rows[0][1] > 0:
        raise FileError(f"the ledger {store.shown} is damaged: it does not say which ledger it is, and of what version")
    ((found, version),) = rows
    if version > VERSION:
        raise FileError(
            f"the ledger {store.shown} is of version {version}, and this program writes version {VERSION}: install a "
            "newer metricdp. Nothing was changed"
        )
    if version < VERSION:
        _migrate(store)
    return str(found)


def _migrate(store: Store) -> None:
    with store.writing() as run:
        ((version,),) = run("select version from ledger", {})
        for step in STEPS[version:]:
            for statement in step:
                run(statement, {})
        run("update ledger set version = :version", {"version": VERSION})


def refuse_foreign(name: str, cap: Guarantee, parent: Account) -> None:
    """Refuse an account below one whose cap is in another metric, so that even the least charge would fail.

    Raises:
        ArgumentError: its cap cannot be compared with the parent's.
    """
    least = Price.of(Guarantee(cap.metric * _LEAST))
    problem = parent.cap.refusal(AccountTotals().plus(least, parent.cap), lambda key: least.terms[key][1].bound)
    if problem is not None:
        raise ArgumentError(f"{name!r} cannot be below {parent.name!r}, whose cap is in another metric: {problem}")
