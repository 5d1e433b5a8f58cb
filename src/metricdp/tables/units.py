"""Whose rows they are: nobody may have more than the policy says, counted over the whole table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metricdp.errors import ColumnError, DataError, NotFiniteError, OutOfDomainError
from metricdp.exact.bits import source as bits
from metricdp.exact.sealing import Digests
from metricdp.policies.person import Person
from metricdp.policies.policy import Policy
from metricdp.sources.owned_rows import MOST_ROWS, Owned, rows_over
from metricdp.sources.owners import digests_of
from metricdp.sources.plain_arrays import plain_array, plain_type
from metricdp.sources.table import OpenTable

__all__ = ["NewKeys", "check_owners", "rows_within_bound", "too_many", "without_nobody"]

Words = NDArray[np.uint64]


def rows_within_bound(
    source: OpenTable, unit: Person, scratch: Path, most_rows: int = MOST_ROWS
) -> Iterator[pa.RecordBatch]:
    """The table's rows, at most ``unit.rows`` of each person.

    People are counted by digests under a key that is never written down, on disk where there are many, in sealed files.
    Where somebody has more rows, the table is refused, or cut by a draw that is blind to values; no message says whose
    rows they were or how many.
    """
    source = source if source.stable and not source.once else source.spooled(scratch)
    counted = _Counted()
    for cut in rows_over(_owned(source, unit, counted), unit.rows, scratch, most_rows):
        if unit.excess == "refuse":
            raise too_many(unit)
        counted.drop(cut)
    yield from counted.kept(source.batches())


def too_many(unit: Person) -> ColumnError:
    """What is said where somebody has more rows than the policy allows."""
    rule = f'somebody has more than {unit.rows} rows; declare more, or excess = "cut"'
    return ColumnError(unit.column, OutOfDomainError(rule))


def check_owners(owners: pa.Array, unit: Person, first: int | None) -> None:
    """Refuse rows that are nobody's; the first of them is row ``first`` of the table, where that is known."""
    if pa.types.is_dictionary(owners.type) and owners.dictionary.null_count:
        owners = owners.dictionary_decode()
    if owners.null_count:
        missing = None if first is None else first + int(np.argmax(np.asarray(owners.is_null())))
        rule = 'the row belongs to no person, since this column is empty; [person] missing = "drop" leaves it out'
        raise ColumnError(unit.column, NotFiniteError(rule, missing))


class _Counted:
    """How many rows went by, and which of them are cut: a bit for each."""

    def __init__(self) -> None:
        self.rows = 0
        self._cut: NDArray[np.uint8] | None = None

    def drop(self, rows: NDArray[np.int64]) -> None:
        if self._cut is None:
            self._cut = np.zeros(self.rows // 8 + 1, dtype=np.uint8)
        elif len(self._cut) * 8 <= self.rows:
            self._cut = np.append(self._cut, np.zeros(self.rows // 8 + 1 - len(self._cut), dtype=np.uint8))
        for bit in range(8):  # of one place in a byte, no byte comes twice
            self._cut[rows[rows & 7 == bit] >> 3] |= np.uint8(1 << bit)

    def kept(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first = 0
        for batch in batches:
            last = first + batch.num_rows
            if self._cut is None:
                yield batch
            else:
                held = np.unpackbits(self._cut[first // 8 : last // 8 + 1], bitorder="little")
                cut = held[first % 8 : first % 8 + batch.num_rows].astype(bool)
                yield batch.filter(pa.array(~cut)) if cut.any() else batch
            first = last
        if first != self.rows:
            raise DataError("the table changed while it was read")


def _owned(source: OpenTable, unit: Person, counted: _Counted) -> Iterator[Owned]:
    digests = Digests()
    for batch in source.batches([unit.column]):
        owners = batch.column(0)
        rows = np.arange(counted.rows, counted.rows + len(owners))
        if unit.missing == "refuse":
            check_owners(owners, unit, counted.rows)
        counted.rows += len(owners)
        nobody = _nobodys(owners) if unit.missing == "drop" else None
        if nobody is not None:
            counted.drop(rows[nobody])
            owners, rows = owners.filter(pa.array(~nobody)), rows[~nobody]
        yield Owned(digests_of(owners, digests), bits().words(len(owners)), rows)


def without_nobody(batch: pa.RecordBatch, unit: Person) -> pa.RecordBatch:
    """The rows that are somebody's, where the policy has the others dropped; all of them where it has not."""
    nobody = _nobodys(batch.column(unit.column)) if unit.missing == "drop" else None
    return batch if nobody is None else batch.filter(pa.array(~nobody))


def _nobodys(owners: pa.Array) -> NDArray[np.bool_] | None:
    """The rows that are nobody's; None where there are none."""
    if pa.types.is_dictionary(owners.type) and owners.dictionary.null_count:
        owners = owners.dictionary_decode()
    return np.asarray(owners.is_null()) if owners.null_count else None


@dataclass(frozen=True)
class NewKeys:
    """New keys for identifiers: the same in all rows of one, and no way back without a secret that is never kept.

    The key is a keyed digest of the old one, so nothing has to be remembered, however many there are. Each column has a
    secret of its own, so that keys of two columns do not tell who is in both.

    Attributes:
        digests: for each column that gets new keys.
    """

    digests: dict[str, Digests]

    @classmethod
    def of(cls, policy: Policy) -> NewKeys:
        """For the person's column, where that is given new keys, and for all others that are."""
        person = policy.person
        columns = [*policy.rekeyed, *([person.column] if person is not None and person.release == "rekey" else [])]
        return cls({column: Digests(bits().words(8).tobytes()) for column in columns})

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with new keys."""
        for column, digests in self.digests.items():
            place = batch.schema.get_field_index(column)
            batch = batch.set_column(place, column, _new_keys(batch.column(place), digests))
        return batch


def _new_keys(old: pa.Array, digests: Digests) -> pa.Array:
    """Text for text, integers for integers, and none where there was none; in the plain type of the column."""
    if pa.types.is_null(old.type):
        return old
    if old.type != plain_type(old.type):
        return _new_keys(plain_array(old), digests)
    if pa.types.is_dictionary(old.type):
        return _new_keys(old.cast(old.type.value_type), digests).cast(old.type)
    if old.null_count:
        there = np.asarray(old.is_valid())
        made = _new_keys(old.filter(pa.array(there)), digests)
        return made.take(pa.array(np.cumsum(there) - 1, mask=~there))
    words = digests_of(old, digests)
    if pa.types.is_integer(old.type):
        return pa.array((words[:, 0] >> np.uint64(1)).astype(np.int64))
    digits = _HEX[np.ascontiguousarray(words).view(np.uint8)]  # two letters for each byte
    ends = np.arange(0, 32 * len(words) + 1, 32, dtype=np.int64)
    return pa.LargeStringArray.from_buffers(len(words), pa.py_buffer(ends), pa.py_buffer(digits)).cast(old.type)


_HEX = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), dtype=np.uint8).reshape(256, 2)
