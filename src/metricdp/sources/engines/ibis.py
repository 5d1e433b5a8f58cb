"""Tables of ibis: each is a query of DuckDB, PostgreSQL or Spark, and is read and counted there."""

from __future__ import annotations

from typing import Any

from metricdp.errors import ArgumentError
from metricdp.sources.engines.sql import UNREADABLE
from metricdp.sources.scrubbing import scrubbed
from metricdp.sources.table import Declared, OpenTable

__all__ = ["ENGINE", "Ibis", "table_of"]


class Ibis:
    """Tables of ibis, whose expressions are turned into SQL for the engine that has them."""

    def owns(self, source: Any) -> bool:
        """Whether it is a table of ibis."""
        return type(source).__module__.startswith("ibis.") and hasattr(source, "get_backend")

    def open(self, source: Any, declared: Declared) -> OpenTable:
        """Open the query that the table stands for."""
        if not self.owns(source):
            raise ArgumentError(f"a table of ibis is wanted, not {type(source).__name__}")
        backend = source.get_backend()
        try:
            query = backend.compile(source)
        except Exception as error:
            raise scrubbed(error, UNREADABLE) from None
        if backend.name == "duckdb":
            from metricdp.sources.engines.duckdb import DuckDB

            return DuckDB().open(backend.con.sql(query), declared)
        if backend.name == "postgres":
            from metricdp.sources.engines.postgres import of_query

            return of_query(backend.con, query, declared)
        if backend.name == "pyspark":
            from metricdp.sources.engines.spark import Spark

            return Spark().open(backend.con.sql(query), declared)
        raise ArgumentError(f"tables of ibis are read in DuckDB, PostgreSQL and Spark, not in {backend.name}")


ENGINE = Ibis()


def table_of(connection: Any, name: Any) -> Any:
    """The table of that name at a connection of ibis."""
    if not isinstance(name, str):
        raise ArgumentError("with a connection of ibis, the source is the name of a table there")
    try:
        return connection.table(name)
    except Exception as error:
        raise scrubbed(error, UNREADABLE) from None
