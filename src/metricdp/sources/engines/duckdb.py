"""DuckDB: relations and files of its own; and what counts the rows of local files and frames."""

from __future__ import annotations

import glob
import itertools
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from metricdp.errors import ColumnError, FileError, KindError, MissingExtraError
from metricdp.sources.databases import DatabaseTable, database_table
from metricdp.sources.engines.sql import UNREADABLE, SqlDialect, SqlTable, SqlType
from metricdp.sources.owners import crowded
from metricdp.sources.scrubbing import scrubbed
from metricdp.sources.table import Declared, OpenTable
from metricdp.sources.typed_streams import TypedStream

__all__ = ["ENGINE", "DuckDB", "counted_batches", "counted_parquet"]

_MEMORY = "256MB"
_VIEW = "__metricdp_source"


class DuckDB:
    """Relations, and tables of DuckDB's own files."""

    def owns(self, source: Any) -> bool:
        """Whether it is a relation, or a table of a file of DuckDB's own."""
        if hasattr(source, "to_arrow_reader") or hasattr(source, "fetch_arrow_reader"):
            return True
        found = database_table(source)
        return found is not None and found.scheme in ("", "duckdb")

    def open(self, source: Any, declared: Declared) -> OpenTable:
        """Open a relation or a table of a file; files and frames of others are read as they are without an engine."""
        if not self.owns(source):
            from metricdp.sources.opening import open_local

            return open_local(source, declared)
        found = database_table(source)
        return _of_relation(source, declared) if found is None else _of_file(found, declared)


ENGINE = DuckDB()


def _of_relation(relation: Any, declared: Declared) -> OpenTable:
    try:
        names, schema = relation.columns, _reader(relation.limit(0), 1).schema
        types = dict(zip(names, map(str, relation.types), strict=True))
    except Exception as error:  # its connection may be closed, or broken
        raise scrubbed(error, UNREADABLE) from None
    _check_capitals(names)
    wrapped = {name: ColumnError(name, _WRAPS) for name, kind in types.items() if "UHUGEINT" in kind}

    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        for name in names if columns is None else columns:
            if name in wrapped:
                raise wrapped[name]
        chosen = relation if columns is None else relation.select(*map(SqlDialect().quoted, columns))
        return iter(_reader(chosen, declared.batch_rows))

    @contextmanager
    def counted() -> Iterator[SqlTable]:
        columns = tuple((name, _type(kind)) for name, kind in types.items())
        yield SqlTable(
            _VIEW,
            columns,
            lambda query: _columns(relation.query(_VIEW, query)),
            owners=lambda name, most: crowded(read([name]), name, most),
        )

    return OpenTable(schema, None, read, stable=False, unreadable=wrapped, counted=counted)


_WRAPS = KindError("DuckDB gives out integers of 128 bits without a sign wrapped around; cast them to HUGEINT")


def _check_capitals(names: Sequence[str]) -> None:
    """Refuse columns that DuckDB takes for one: of ``pay`` and ``Pay``, it reads the first for either."""
    first: dict[bytes, str] = {}
    for name in names:
        twin = first.setdefault(name.encode().lower(), name)  # of letters beyond ASCII it tells capitals apart
        if twin != name:
            raise ColumnError(
                name, KindError(f"DuckDB does not tell it from column {twin!r}, which differs in capitals: rename it")
            )


def _reader(relation: Any, rows: int) -> Any:
    return (getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader)(rows)


def _columns(relation: Any) -> Mapping[str, Sequence[Any]]:
    found = (getattr(relation, "to_arrow_table", None) or relation.fetch_arrow_table)()
    return {name: found.column(name).to_pylist() for name in found.column_names}


def _of_file(found: DatabaseTable, declared: Declared) -> OpenTable:
    path = Path(found.database.removeprefix("duckdb://"))
    if not path.is_file():
        raise FileError(f"there is no {path}")
    raw = _connected(str(path), read_only=True)
    try:
        name = ".".join(map(SqlDialect().quoted, found.table.split(".")))
        opened = _of_relation(raw.sql(f"select * from {name}"), declared)
    except Exception:  # of any kind: its message may hold what it found
        raw.close()
        raise FileError(f"{path.name} has no table {found.table!r}, or it may not be read") from None
    return replace(opened, path=path, release=raw.close)


def _connected(path: str = ":memory:", **settings: Any) -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "queries") from None
    try:
        return duckdb.connect(path, **settings)
    except duckdb.Error:
        raise FileError(
            f"{Path(path).name} cannot be opened: it is no DuckDB file, or another program uses it"
        ) from None


@contextmanager
def _session() -> Iterator[Any]:
    """An empty database whose memory is bounded."""
    with tempfile.TemporaryDirectory(prefix="metricdp-") as scratch:
        limits = {"memory_limit": _MEMORY, "temp_directory": scratch, "preserve_insertion_order": False}
        raw = _connected(config=limits)
        try:
            yield raw
        finally:
            raw.close()


def _described(raw: Any, relation: str) -> tuple[tuple[str, SqlType], ...]:
    try:
        found = raw.execute(f"describe select * from {relation}").fetchall()
    except Exception as error:
        raise scrubbed(error, UNREADABLE) from None
    return tuple((name, _type(kind)) for name, kind, *_ in found)


@contextmanager
def counted_parquet(
    path: Path, types: Mapping[str, pa.DataType], read: Callable[[list[str] | None], Iterator[pa.RecordBatch]]
) -> Iterator[SqlTable]:
    """A Parquet file, or a folder of parts, which DuckDB reads by itself, and no more columns than it is asked for.

    Args:
        path: of the file or folder.
        types: of columns in the names of folders.
        read: reads it without DuckDB.
    """
    with _session() as raw:
        relation = f"read_parquet({_text(glob.escape(str(path)))}, hive_partitioning = false)"
        if path.is_dir():
            relation = _parts(path, types)
        yield SqlTable(
            relation,
            _described(raw, relation),
            lambda query: _columns(raw.sql(query)),
            owners=lambda name, most: crowded(read([name]), name, most),
        )


def _parts(path: Path, types: Mapping[str, pa.DataType]) -> str:
    """A folder of parts; columns in the names of folders have the types that are declared."""
    folders = {
        part.partition("=")[0] for found in path.glob("**/*.parquet") for part in found.parts[:-1] if "=" in part
    }
    known = [(SqlDialect().quoted(name), kind) for name, kind in types.items() if name in folders]
    declared = ", ".join(f"{name}: {_in_duckdb(kind)}" for name, kind in known)
    options = f", hive_types = {{{declared}}}" if declared else ""
    pattern = _text(f"{glob.escape(str(path))}/**/*.parquet")
    return f"read_parquet({pattern}, hive_partitioning = true, hive_types_autocast = false{options})"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _in_duckdb(arrow: pa.DataType) -> str:
    if pa.types.is_decimal(arrow):
        return f"DECIMAL({arrow.precision}, {arrow.scale})"
    return _NAMES[arrow]


_NAMES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.bool_(): "BOOLEAN",
}


@contextmanager
def counted_batches(table: OpenTable, types: Mapping[str, pa.DataType]) -> Iterator[SqlTable]:
    """The batches of a file or frame, streamed into DuckDB each time that it asks for them.

    Args:
        table: where they come from.
        types: the columns that are needed, with the types of those that the source gives none.
    """
    stream = TypedStream(table, types)
    relation = next(name for name in _relations() if not any(name in column for column in types))
    with _session() as raw:
        raw.register(relation, stream.capsule(empty=True))
        columns = _described(raw, relation)

        def run(query: str) -> Mapping[str, Sequence[Any]]:
            first, *others = query.split(relation)  # a stream is read once, so each mention gets one of its own
            for number, rest in enumerate(others):
                raw.register(f"{relation}{number}", stream.capsule())
                first += f"{relation}{number}{rest}"
            try:
                return _columns(raw.sql(first))
            except Exception as error:
                raise (scrubbed(error, UNREADABLE) if stream.error is None else stream.error) from None

        def owners(name: str, most: int) -> tuple[bool, bool]:
            return crowded(stream.batches() if table.once else table.batches([name]), name, most)

        yield SqlTable(relation, columns, run, row=TypedStream.ROW, owners=owners)


def _relations() -> Iterator[str]:
    """Names for a relation, one of which no column has a part of."""
    return (f"{_VIEW}_{number}_" for number in itertools.count())


def _type(written: str) -> SqlType:
    """The type that DuckDB calls so."""
    decimal = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", written)
    if decimal:
        return SqlType("decimal", precision=int(decimal[1]), scale=int(decimal[2]))
    return SqlType("text") if written.startswith("ENUM(") else _TYPES.get(written, SqlType("other"))


_TYPES = {
    "VARCHAR": SqlType("text"),
    "BLOB": SqlType("bytes"),
    "BOOLEAN": SqlType("boolean"),
    "FLOAT": SqlType("float", narrow=True),
    "DOUBLE": SqlType("float"),
    "DATE": SqlType("date"),
    "TIMESTAMP": SqlType("moment"),
    "TIMESTAMP_S": SqlType("moment"),
    "TIMESTAMP_MS": SqlType("moment"),
    "TIMESTAMP_NS": SqlType("moment", fine=True),
    "TIMESTAMP WITH TIME ZONE": SqlType("instant"),
} | {
    f"{unsigned}{name}": SqlType.integer(bits, signed=not unsigned)
    for name, bits in {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}.items()
    for unsigned in ("", "U")
}
