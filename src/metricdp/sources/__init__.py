"""Tables, channels and pictures in and out: opened without reading a value, read strictly, written whole or not at all.

`open_table` opens whatever holds a table: files, frames, readers, DuckDB, PostgreSQL, Spark, ibis. What it opens is
read in batches, in constant memory, as often as it is wanted; `open_sql` asks it where it is. No error holds a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.sources.channel_files import read_channel, write_channel
    from metricdp.sources.databases import DatabaseTable
    from metricdp.sources.dialect import Dialect
    from metricdp.sources.digests import digest
    from metricdp.sources.engines import TableEngine
    from metricdp.sources.engines.sql import SqlDialect, SqlTable, SqlType
    from metricdp.sources.opening import count_rows, open_sql, open_table
    from metricdp.sources.table import Declared, OpenTable
    from metricdp.sources.whole_files import appearing, check_output
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "DatabaseTable": "databases",
            "Declared": "table",
            "Dialect": "dialect",
            "TableEngine": "engines",
            "OpenTable": "table",
            "SqlDialect": "engines.sql",
            "SqlTable": "engines.sql",
            "SqlType": "engines.sql",
            "appearing": "whole_files",
            "check_output": "whole_files",
            "count_rows": "opening",
            "digest": "digests",
            "open_sql": "opening",
            "open_table": "opening",
            "read_channel": "channel_files",
            "write_channel": "channel_files",
        },
    )

__all__ = [
    "DatabaseTable",
    "Declared",
    "Dialect",
    "OpenTable",
    "SqlDialect",
    "SqlTable",
    "SqlType",
    "TableEngine",
    "appearing",
    "check_output",
    "count_rows",
    "digest",
    "open_sql",
    "open_table",
    "read_channel",
    "write_channel",
]
