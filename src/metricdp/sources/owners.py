"""Whose rows they are, by digests under a key that is never written down: so that no identifier reaches a disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metricdp.errors import ColumnError, KindError, MetricDPError
from metricdp.exact.sealing import Digests
from metricdp.sources.plain_arrays import kind_of, plain_array, plain_type

__all__ = ["OwnerStream", "digests_of"]

_BYTES = 16


class OwnerStream:
    """A column of identifiers as digests, in batches, for an engine to count; null where one is missing.

    Args:
        batches: of the table.
        column: of them.

    Attributes:
        error: why the rows ended before their end, where they did: an engine would tell it with its values.
    """

    COLUMN = "owner"

    def __init__(self, batches: Iterable[pa.RecordBatch], column: str) -> None:
        self._rows, self._column = batches, column
        self.error: MetricDPError | None = None

    def capsule(self) -> object:
        """The digests as a stream that can be read once (Arrow's C stream interface)."""
        schema = pa.schema([(self.COLUMN, pa.binary(_BYTES))])
        return pa.RecordBatchReader.from_batches(schema, self._digested(schema)).__arrow_c_stream__()

    def _digested(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        digests = Digests()
        try:
            for batch in self._rows:
                yield pa.record_batch([_sealed(batch.column(self._column), digests)], schema=schema)
        except MetricDPError as error:
            self.error = ColumnError(self._column, error) if isinstance(error, KindError) else error
            raise self.error from None


def _sealed(owners: pa.Array, digests: Digests) -> pa.Array:
    if pa.types.is_null(owners.type):
        return pa.nulls(len(owners), pa.binary(_BYTES))
    if owners.type != plain_type(owners.type):
        owners = plain_array(owners)
    if pa.types.is_dictionary(owners.type):
        owners = owners.dictionary_decode()
    if pa.types.is_floating(owners.type) or not _has_text(owners.type):  # equal floats may have two texts
        raise KindError(f"identifiers are text or integers, and these are {kind_of(owners.type)}")
    present = np.asarray(owners.is_valid())
    words = np.zeros((len(owners), 2), dtype=np.uint64)
    words[present] = digests_of(owners.drop_null(), digests)
    valid = pa.array(present).buffers()[1] if owners.null_count else None
    return pa.Array.from_buffers(pa.binary(_BYTES), len(owners), [valid, pa.py_buffer(words)])


def _has_text(arrow: pa.DataType) -> bool:
    """Whether a column of a type becomes text, another for every value."""
    try:
        pa.array([], arrow).cast(pa.large_string())
    except pa.ArrowException:
        return False
    return not (pa.types.is_binary(arrow) or pa.types.is_large_binary(arrow) or pa.types.is_fixed_size_binary(arrow))


def digests_of(owners: pa.Array, digests: Digests) -> NDArray[np.uint64]:
    """The digests of a column of text or integers without missing ones: two words each."""
    if isinstance(owners, pa.ChunkedArray):
        owners = owners.combine_chunks()
    if pa.types.is_dictionary(owners.type):
        words: NDArray[np.uint64] = digests_of(owners.dictionary, digests)[np.asarray(owners.indices)]
        return words
    if pa.types.is_integer(owners.type):
        return digests.of_integers(np.asarray(owners))
    texts = owners.cast(pa.large_string())
    _, offsets, content = texts.buffers()
    if not len(texts):
        return np.zeros((0, 2), dtype=np.uint64)
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return digests.of_texts(np.frombuffer(content or b"", dtype=np.uint8), ends)
