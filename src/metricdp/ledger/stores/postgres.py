"""A ledger in PostgreSQL: writers wait in line for one lock, and a commit is on the disk before it is reported."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from metricdp.errors import ArgumentError, FileError, MissingExtraError
from metricdp.ledger.stores.store import Rows, Run, Values

__all__ = ["PostgresStore"]

_LOCK = 0x6D65747269636470  # "metricdp": PostgreSQL gives its advisory locks in the order in which they were asked for


class PostgresStore:
    """See `metricdp.ledger.stores.store.Store`."""

    def __init__(self, url: str) -> None:
        self._url = "postgresql+psycopg://" + url.partition("://")[2]
        self._known: Any = None
        self._process = os.getpid()
        self._durable = False

    @property
    def shown(self) -> str:
        """The address, without a password."""
        return str(self._engine().url.render_as_string(hide_password=True)).replace("postgresql+psycopg", "postgresql")

    @contextmanager
    def writing(self, *, new: bool = False) -> Iterator[Run]:
        """A transaction that nobody else writes in."""
        with self._errors(writes=True), self._connection("READ COMMITTED") as connection, connection.begin():
            run = _runner(connection)
            run("select pg_advisory_xact_lock(:lock)", {"lock": _LOCK})
            self._refuse_unless_durable(run)
            if new and run("select 1 from information_schema.tables where table_name = 'ledger'", {}):
                raise FileError(
                    f"{self.shown} holds a ledger already: a second one would forget what the first one knows"
                )
            yield run

    @contextmanager
    def reading(self) -> Iterator[Run]:
        """A transaction that sees one state of the ledger."""
        with self._errors(writes=False), self._connection("REPEATABLE READ") as connection:
            yield _runner(connection)

    @contextmanager
    def _connection(self, isolation: str) -> Iterator[Any]:
        """A connection with this isolation, whatever the server's own is: a writer has to see what it waited for."""
        with self._engine().connect() as connection:
            yield connection.execution_options(isolation_level=isolation)

    def close(self) -> None:
        """End all connections of this process."""
        if self._known is not None:
            self._known.dispose(close=self._process == os.getpid())
            self._known = None

    def _engine(self) -> Any:
        if self._process != os.getpid():  # a connection does not survive a fork
            if self._known is not None:
                self._known.dispose(close=False)
            self._known, self._process = None, os.getpid()
        if self._known is None:
            try:
                import psycopg  # noqa: F401
                import sqlalchemy
            except ImportError as error:
                raise MissingExtraError(error.name or "sqlalchemy", "postgres") from None
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._known = sqlalchemy.create_engine(self._url, pool_pre_ping=True)
            except (ValueError, sqlalchemy.exc.SQLAlchemyError):  # their words can hold a part of the password
                raise ArgumentError(
                    "the address of the ledger is none of PostgreSQL: write postgresql://user:password@host:5432/name, "
                    "with @, : and / in a name or password as %40, %3A and %2F"
                ) from None
        return self._known

    def _refuse_unless_durable(self, run: Run) -> None:
        run("set local synchronous_commit to on", {})
        if not self._durable:
            ((fsync,),) = run("select setting from pg_settings where name = 'fsync'", {})
            if fsync != "on":
                raise FileError(
                    "this server runs with fsync=off and forgets commits when the power fails: no ledger there"
                )
            self._durable = True

    @contextmanager
    def _errors(self, writes: bool) -> Iterator[None]:
        """Errors of the database in our words: its own messages can hold the address, and with it a password."""
        self._engine()  # says what is missing where sqlalchemy is
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except SQLAlchemyError as error:
            original = getattr(error, "orig", None)
            state = getattr(original, "sqlstate", None) or ""
            if state.startswith("53"):
                reason = "the disk or the memory of the server is full; nothing was written"
            elif state == "42P01":
                reason = "there is no ledger, or a part of it is missing; make one with: metricdp ledger create"
            elif state:
                reason = f"PostgreSQL refused with {state}, {type(original).__name__}; nothing was written"
            elif writes:
                reason = "the server went away: ask again with the same request key, which costs nothing twice"
            else:
                reason = "the server cannot be reached"
            raise FileError(f"the ledger {self.shown}: {reason}") from None


def _runner(connection: Any) -> Run:
    from sqlalchemy import text

    def run(statement: str, values: Values) -> Rows:
        done = connection.execute(_prepared(statement, text), values)
        return [tuple(row) for row in done] if done.returns_rows else []

    return run


_PREPARED: dict[str, Any] = {}


def _prepared(statement: str, text: Any) -> Any:
    if statement not in _PREPARED:
        _PREPARED[statement] = text(statement)
    return _PREPARED[statement]
