"""What a ledger asks of the database that keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ["Run", "Store", "Values", "open_store"]

Rows = list[tuple[Any, ...]]
Values = Mapping[str, Any] | list[dict[str, Any]]
Run = Callable[[str, Values], Rows]
"""Runs a statement with ``:name`` for its values, and gives all its rows; with a list of values, once for each."""


class Store(Protocol):
    """A database with at most one writer at a time, each of whom waits in line for their turn."""

    def writing(self, *, new: bool = False) -> AbstractContextManager[Run]:
        """A transaction that nobody else writes in; durable when the block ends, and gone where it ends in an error."""

    def reading(self) -> AbstractContextManager[Run]:
        """A transaction that sees one state of the ledger."""

    def close(self) -> None:
        """End all connections of this process."""

    @property
    def shown(self) -> str:
        """The address, without a password."""


def open_store(url: str) -> Store:
    """The store of an address: ``postgresql://...``, ``sqlite:///path``, or the path of a file."""
    from metricdp.errors import ArgumentError

    scheme = url.partition("://")[0].partition("+")[0] if "://" in url else ""
    if scheme in ("postgresql", "postgres"):
        from metricdp.ledger.stores.postgres import PostgresStore

        return PostgresStore(url)
    if scheme not in ("", "sqlite"):
        raise ArgumentError(f"a ledger is kept in SQLite or PostgreSQL, not in {scheme}")
    if url in ("", ":memory:", "sqlite:///", "sqlite:///:memory:") or (scheme and not url.startswith("sqlite:///")):
        raise ArgumentError("a ledger of SQLite is a file: write sqlite:///path, or the path alone")
    from metricdp.ledger.stores.sqlite import SQLiteStore

    return SQLiteStore(url.removeprefix("sqlite:///") if scheme else url)
