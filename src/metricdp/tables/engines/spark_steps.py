"""What Spark's executors run: rows travel between steps in sealed parcels, which Spark may store but cannot read.

A parcel is a row of a frame: where it goes, the number of its first row, how many rows it has, and the rows, as Arrow
has them, sealed with the key of the run. After the released columns every row carries the columns of `EXTRAS`, all
drawn or computed in the first step, so that a task that is tried again in a later one gives the same parcels again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metricdp.errors import DataError, FileError
from metricdp.exact.bits import secure
from metricdp.exact.bits import source as bits
from metricdp.exact.sealing import Digests, Seal
from metricdp.policies.person import Person
from metricdp.policies.policy import Policy
from metricdp.sources.layout import BATCH_ROWS, laid_out
from metricdp.sources.owned_rows import Owned
from metricdp.sources.owners import digests_of
from metricdp.sources.sinks import write_file
from metricdp.tables.sanitizer import Sanitizer
from metricdp.tables.units import NewKeys, check_owners, too_many, without_nobody

__all__ = ["PARCEL", "CutRows", "DealRows", "DiscardRows", "FinishRows", "GatherRows", "ReleaseRows"]

_PILE_ROWS = 1 << 20
"""Of people who are counted together."""

PARCEL = pa.schema([("hand", pa.int64()), ("first", pa.int64()), ("rows", pa.int64()), ("content", pa.binary())])

EXTRAS = pa.schema(
    [
        ("key", pa.uint64()),  # uniform: says which rows of a person stay, and the order of rows where that is secret
        ("place", pa.int64()),  # the number of the source's part, and of the row in it
        ("owner", pa.uint64()),  # two words of the digest of whose row it is
        ("owner_too", pa.uint64()),
    ]
)

_PLACE_BITS = 40
_PARCEL_BYTES = 1 << 19
"""Small, because Java collects large arrays slowly."""

_NUMBER_BYTES = 12

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class ReleaseRows:
    """The first step: the plan, with noise and keys from the executor's own secure bits.

    Attributes:
        plan: gives what is done to each batch.
        seal: of the run.
        new_keys: for identifiers.
        digests: of people.
        source: reads the rows where Spark does not.
    """

    plan: Callable[[], Sanitizer]
    seal: Seal
    new_keys: NewKeys
    digests: Digests
    source: Callable[[Sanitizer], Batches] | None = None

    def __call__(self, batches: Batches) -> Batches:
        """Release rows of the source, in parcels."""
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        part, first, plan = int(context.partitionId()), 0, self.plan()
        for batch in batches if self.source is None else self.source(plan):
            if plan.policy.person is not None:
                batch = without_nobody(batch, plan.policy.person)
            released = self._released(plan, batch, first)
            extras = self._extras(plan.policy, batch, first + (part << _PLACE_BITS))
            names = [*released.schema.names, *EXTRAS.names]
            whole = pa.RecordBatch.from_arrays([*released.columns, *extras], names)
            yield from _parcels([(part, first, whole)], self.seal)
            first += batch.num_rows

    def _released(self, plan: Sanitizer, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        wanted = pa.schema([plan.schema.field(name) for name in batch.schema.names])
        batch = batch if batch.schema.types == wanted.types else batch.cast(wanted)
        if plan.policy.person is not None:
            check_owners(batch.column(plan.policy.person.column), plan.policy.person, None)
        return plan.apply(self.new_keys(batch), first)

    def _extras(self, policy: Policy, batch: pa.RecordBatch, first: int) -> list[pa.Array]:
        """The columns of `EXTRAS`; those that this policy does not need hold nothing."""
        rows, unit = batch.num_rows, policy.person
        drawn = unit is not None or policy.order == "secret"
        key = pa.array(bits().words(rows)) if drawn else pa.nulls(rows)
        if unit is None:
            return [key, *(pa.nulls(rows) for _ in range(3))]
        owners = batch.column(unit.column)
        check_owners(owners, unit, None)
        digests = digests_of(owners, self.digests)
        words = [pa.array(np.ascontiguousarray(digests[:, place])) for place in range(2)]
        return [key, pa.array(np.arange(first, first + rows)), *words]


@dataclass(frozen=True)
class DiscardRows(ReleaseRows):
    """The first step without its result: rows are released into nothing, and nothing but whose they are goes on."""

    def _released(self, plan: Sanitizer, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        super()._released(plan, batch, first)
        return pa.RecordBatch.from_arrays([], names=[])


@dataclass(frozen=True)
class DealRows:
    """Rows dealt to hands: by the owner's digest, by their random key, or by their number in the released table.

    Attributes:
        seal: of the run.
        hands: the word for each hand, by which Spark finds its part.
        by: what decides.
        starts: the number in the released table of the first row of each part of the source.
        part_rows: how many rows a hand takes, where their number decides.
    """

    seal: Seal
    hands: NDArray[np.int64]
    by: Literal["owner", "key", "number"]
    starts: dict[int, int] = field(default_factory=dict)
    part_rows: int = 1

    def __call__(self, batches: Batches) -> Batches:
        """Parcels of the same rows, each for one hand."""
        for hand, first, rows in _gathered(_opened(batches, self.seal)):
            chosen, numbers = self._chosen(hand, first, rows)
            order = np.argsort(chosen, kind="stable")
            dealt = rows.take(pa.array(order))
            ends = np.cumsum(np.bincount(chosen, minlength=len(self.hands)))
            for place in np.flatnonzero(np.diff(ends, prepend=0)):
                start = int(ends[place - 1]) if place else 0
                part = dealt.slice(start, int(ends[place]) - start)
                yield from _parcels([(int(self.hands[place]), int(numbers[order[start]]), part)], self.seal)

    def _chosen(self, hand: int, first: int, rows: pa.RecordBatch) -> tuple[NDArray[Any], NDArray[Any]]:
        numbers = np.arange(rows.num_rows)
        if self.by == "number":
            numbers = numbers + self.starts[hand] + first
            return numbers // self.part_rows, numbers
        word = _extra(rows, self.by)
        return ((word >> np.uint64(32)) * np.uint64(len(self.hands)) >> np.uint64(32)).astype(np.int64), numbers


@dataclass(frozen=True)
class CutRows:
    """At most so many rows of each person, of whom all rows are here; those with the least keys stay."""

    seal: Seal
    unit: Person

    def __call__(self, batches: Batches) -> Batches:
        """Parcels of the rows that stay."""
        held: pa.Table | None = None
        for rows in _piled(_opened(batches, self.seal)):
            held = rows if held is None else pa.concat_tables([held, rows]).combine_chunks()
            owners = np.column_stack([_extra(held, "owner"), _extra(held, "owner_too")])
            over = Owned(owners, _extra(held, "key"), np.arange(held.num_rows)).over(self.unit.rows)
            if over.size and self.unit.excess == "refuse":
                raise too_many(self.unit)
            if over.size:
                held = held.take(pa.array(np.delete(np.arange(held.num_rows), over)))
        if held is not None:
            yield from _by_part(held, self.seal)


@dataclass(frozen=True)
class GatherRows:
    """Rows of a part of the source, all of which are here, in the order that they had there."""

    seal: Seal

    def __call__(self, batches: Batches) -> Batches:
        """Parcels of the same rows, in order."""
        tables = [pa.Table.from_batches([rows]) for _, _, rows in _opened(batches, self.seal)]
        if tables:
            yield from _by_part(pa.concat_tables(tables).combine_chunks(), self.seal)


@dataclass(frozen=True)
class FinishRows:
    """The last step: the rows of a part of the released table, in their order; written to a file, or given on.

    Attributes:
        seal: of the run.
        schema: of the released table.
        order: "secret" or "public".
        hands: the word of each part.
        folder: where files are written; None gives the rows on.
        metadata: stored in the files.
        batch_rows: how many rows are given on, or written, at once.
        noise: columns of noise, as `write_file` takes them.
    """

    seal: Seal
    schema: pa.Schema
    order: str
    hands: NDArray[np.int64]
    batch_rows: int
    folder: Path | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    noise: dict[str, bool] = field(default_factory=dict)

    def __call__(self, batches: Batches) -> Batches:
        """The rows of the part, or what was written."""
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        part = int(context.partitionId())
        found = list(_opened(batches, self.seal))
        if any(hand != self.hands[part] for hand, _, _ in found):
            raise DataError("Spark divides rows in a way that is not known here")
        if not found:
            return
        found.sort(key=lambda parcel: parcel[1])
        table = pa.Table.from_batches([rows for _, _, rows in found]).combine_chunks()
        del found
        if self.order == "secret":
            table = table.take(pa.array(np.argsort(_extra(table, "key"), kind="stable")))
        released = pa.table(table.columns[: len(self.schema)], schema=self.schema)
        if self.folder is None:
            yield from laid_out(released).to_batches(self.batch_rows)
            return
        name = f"part-{part:05d}.parquet"
        written = self.folder / f"{secure().integer(64):016x}-{name}"
        with write_file(written, self.schema, dict(self.metadata), self.noise, rows=self.batch_rows) as writer:
            for batch in released.to_batches(self.batch_rows):
                writer.write_batch(batch)
        written.replace(self.folder / name)  # a task that runs twice writes the same rows twice, and one file stays
        yield pa.record_batch([[part], [0], [table.num_rows], [name.encode()]], schema=PARCEL)


def _extra(rows: pa.RecordBatch | pa.Table, name: str) -> NDArray[Any]:
    """One of the columns after the released ones; by place, because a released one may have the same name."""
    place = rows.num_columns - len(EXTRAS) + EXTRAS.get_field_index(name)
    return np.asarray(rows.column(place))


def _by_part(rows: pa.Table, seal: Seal) -> Batches:
    """Parcels of the rows of each part of the source, in the order that they had there."""
    rows = rows.take(pa.array(np.argsort(_extra(rows, "place"), kind="stable"))).combine_chunks()
    parts = _extra(rows, "place") >> _PLACE_BITS
    starts = np.flatnonzero(np.diff(parts, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(parts)], strict=True):
        first = 0
        for batch in rows.slice(int(start), int(end - start)).to_batches():
            yield from _parcels([(int(parts[start]), first, batch)], seal)
            first += batch.num_rows


def _parcels(wanted: Iterable[tuple[int, int, pa.RecordBatch]], seal: Seal) -> Batches:
    """Parcels of rows, several where they are large."""
    for hand, first, rows in wanted:
        if not rows.num_rows:
            continue
        pieces = min(rows.num_rows, 1 + rows.nbytes // _PARCEL_BYTES)
        size = -(-rows.num_rows // pieces)
        for start in range(0, rows.num_rows, size):
            piece = rows.slice(start, size)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, piece.schema) as writer:
                writer.write_batch(piece)
            number = secure().integer(128) >> (128 - 8 * _NUMBER_BYTES)
            content = number.to_bytes(_NUMBER_BYTES, "little") + seal.close(number, sink.getvalue())
            yield pa.record_batch([[hand], [first + start], [piece.num_rows], [content]], schema=PARCEL)


def _opened(batches: Batches, seal: Seal) -> Iterator[tuple[int, int, pa.RecordBatch]]:
    for batch in batches:
        for place in range(batch.num_rows):
            hand, first, _ = (batch.column(column)[place].as_py() for column in range(3))
            content = memoryview(batch.column(3)[place].as_buffer())
            number = int.from_bytes(content[:_NUMBER_BYTES], "little")
            try:
                opened = seal.open(number, content[_NUMBER_BYTES:])
            except ValueError:
                raise FileError("what Spark stored was changed while it was in use") from None
            with pa.ipc.open_stream(pa.py_buffer(opened)) as reader:
                yield hand, first, reader.read_next_batch()


def _gathered(
    parcels: Iterator[tuple[int, int, pa.RecordBatch]],
) -> Iterator[tuple[int, int, pa.RecordBatch]]:
    """Parcels that follow one another as one, so that what is dealt from them is not too small."""
    waiting: list[pa.RecordBatch] = []
    start = (0, 0)
    count = size = 0
    for hand, first, rows in parcels:
        full = count >= 2 * BATCH_ROWS or size >= 128 * _PARCEL_BYTES
        if waiting and (full or (hand, first) != (start[0], start[1] + count)):
            yield (*start, _one(waiting))
            waiting, count, size = [], 0, 0
        if not waiting:
            start = (hand, first)
        waiting.append(rows)
        count, size = count + rows.num_rows, size + rows.nbytes
    if waiting:
        yield (*start, _one(waiting))


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _piled(parcels: Iterator[tuple[int, int, pa.RecordBatch]]) -> Iterator[pa.Table]:
    """The rows of parcels, many at a time."""
    waiting: list[pa.RecordBatch] = []
    for _, _, rows in parcels:
        waiting.append(rows)
        if sum(batch.num_rows for batch in waiting) >= _PILE_ROWS:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()
