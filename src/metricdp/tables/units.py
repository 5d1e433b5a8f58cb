"""Whose rows they are: nobody may have more than the policy says, counted over the whole table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metricdp.errors import ColumnError, InputError, NotFiniteError, OutOfDomainError
from metricdp.exact.bits import source as bits
from metricdp.tables.engine import connect
from metricdp.tables.policy import Unit
from metricdp.tables.sources import Source

__all__ = ["Rekey", "rows_within_bound"]


def rows_within_bound(source: Source, unit: Unit, scratch: Path) -> Iterator[pa.RecordBatch]:
    """The table's rows, at most ``unit.rows`` of each person.

    Counted in DuckDB, which spills to disk. Where somebody has more, the table is refused, or cut by a draw that is
    blind to values; no message says whose rows they were or how many.
    """
    with connect(scratch) as database:
        database.execute("create table owners (owner varchar, row bigint, key ubigint)")
        first = 0
        source = source if source.stable else _spooled(source, scratch)
        for batch in source.batches([unit.column]):
            owners = batch.column(0)
            if owners.null_count:
                missing = first + int(np.argmax(np.asarray(owners.is_null())))
                raise ColumnError(unit.column, NotFiniteError("nobody's row: the unit is missing", missing))
            part = pa.table(
                {
                    "owner": owners.cast(pa.string()),
                    "row": np.arange(first, first + len(owners)),
                    "key": bits().words(len(owners)),
                }
            )
            database.execute("insert into owners select * from part")
            del part
            first += len(owners)
        over = f"select 1 from owners group by owner having count(*) > {unit.rows} limit 1"
        if not database.execute(over).fetchall():
            yield from source.batches()
            return
        if unit.excess == "refuse":
            rule = f'somebody has more than {unit.rows} rows; declare more, or excess = "cut"'
            raise ColumnError(unit.column, OutOfDomainError(rule))
        kept = database.execute(
            "select row from (select row, row_number() over (partition by owner order by key) as place from owners) "
            f"where place <= {unit.rows} order by row"
        )
        yield from _only(source.batches(), _numbers(kept))


def _spooled(source: Source, scratch: Path) -> Source:
    """The source written down once, because its rows may come in another order when they are read again."""
    path = scratch / "read.rows"

    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(str(path)) as memory, pa.ipc.open_stream(memory) as reader:
            for batch in reader:
                yield batch if columns is None else batch.select(columns)

    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, source.schema) as writer:
        for batch in source.batches():
            writer.write_batch(batch)
    return Source(source.schema, source.rows, read)


def _numbers(cursor: Any) -> Iterator[np.ndarray[Any, np.dtype[np.int64]]]:
    while True:
        part = cursor.fetchmany(1 << 16)
        if not part:
            return
        yield np.array([row for (row,) in part], dtype=np.int64)


def _only(
    batches: Iterator[pa.RecordBatch], kept: Iterator[np.ndarray[Any, np.dtype[np.int64]]]
) -> Iterator[pa.RecordBatch]:
    """The rows whose numbers come, in order, from ``kept``."""
    first, waiting = 0, np.zeros(0, dtype=np.int64)
    for batch in batches:
        last = first + batch.num_rows
        while waiting.size == 0 or waiting[-1] < last:
            more = next(kept, None)
            if more is None:
                break
            waiting = np.concatenate([waiting, more])
        here = int(np.searchsorted(waiting, last))
        yield batch.take(pa.array(waiting[:here] - first))
        first, waiting = last, waiting[here:]


class Rekey:
    """New keys for people: the same for all rows of one, and no way back without a secret that is never kept.

    The key is a keyed hash of the old one, so nothing has to be remembered, however many people there are.
    """

    def __init__(self) -> None:
        self._secret = bits().words(8).tobytes()

    def __call__(self, owners: pa.Array) -> pa.Array:
        """The new keys of a column: text for text, integers for integers."""
        encoded = owners.dictionary_encode()
        old = [str(value).encode() for value in encoded.dictionary.to_pylist()]
        digests = [hashlib.blake2b(value, key=self._secret, digest_size=16).digest() for value in old]
        if pa.types.is_integer(owners.type):
            new = pa.array([int.from_bytes(digest[:8], "little") >> 1 for digest in digests], pa.int64())
        else:
            new = pa.array([digest.hex() for digest in digests], pa.string())
        if pa.types.is_integer(owners.type) and owners.type != pa.int64():
            raise InputError("a unit column of integers is re-keyed only where it has 64 bits")
        return pc.take(new, encoded.indices).cast(owners.type)
