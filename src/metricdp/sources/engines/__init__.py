"""Engines that open tables: one file each, and one line below; other packages register theirs by an entry point."""

from __future__ import annotations

from typing import Any, Protocol

from metricdp.extensions import Registry
from metricdp.sources.table import Declared, OpenTable

__all__ = ["ENGINES", "TableEngine"]


class TableEngine(Protocol):
    """What opens tables of one kind. A registered engine is an object, not a class.

    A package outside registers one under the entry point group ``metricdp.engines``. Its tables are then read by
    ``sanitize(source, policy, engine="its name")`` and by questions, which DuckDB counts unless the `OpenTable` says
    how it is counted where it is.
    """

    def owns(self, source: Any) -> bool:
        """Whether a source is this engine's, without its being asked for by name."""
        ...

    def open(self, source: Any, declared: Declared) -> OpenTable:
        """Open a source, without reading a value of it."""
        ...


def _check(thing: Any) -> str:
    if isinstance(thing, type):
        return "it is a class; register an object of it"
    lacks = [name for name in ("owns", "open") if not callable(getattr(thing, name, None))]
    return f"it has no method {' and no method '.join(lacks)}" if lacks else ""


ENGINES: Registry[TableEngine] = Registry(
    "engines",
    "engine",
    {
        "duckdb": "metricdp.sources.engines.duckdb:ENGINE",
        "postgres": "metricdp.sources.engines.postgres:ENGINE",
        "spark": "metricdp.sources.engines.spark:ENGINE",
        "ibis": "metricdp.sources.engines.ibis:ENGINE",
    },
    _check,
)
"""Engines by their names."""
