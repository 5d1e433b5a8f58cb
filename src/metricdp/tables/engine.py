"""DuckDB as the place where rows wait: bounded memory, the rest on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metricdp.errors import MissingExtraError

__all__ = ["connect"]

_MEMORY = "256MB"


@contextmanager
def connect(scratch: Path) -> Iterator[Any]:
    """An empty database whose memory is bounded, and which spills to ``scratch``."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "tables") from None
    database = duckdb.connect(
        str(scratch / "rows.duckdb"),
        config={
            "memory_limit": _MEMORY,
            "temp_directory": str(scratch),
            "threads": 2,
            "preserve_insertion_order": False,
        },
    )
    try:
        yield database
    finally:
        database.close()
