"""Whose rows they are, by digests under a key that is never written down: so that no identifier reaches a disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metricdp.errors import ColumnError, KindError
from metricdp.exact.sealing import Digests
from metricdp.sources.owned_rows import MOST_ROWS, Owned, rows_over
from metricdp.sources.plain_arrays import kind_of, plain_array, plain_type
from metricdp.sources.scrubbing import scrubbed

__all__ = ["crowded", "digests_of"]


def crowded(batches: Iterable[pa.RecordBatch], column: str, most: int) -> tuple[bool, bool]:
    """Whether somebody has more than ``most`` rows, and whether a row is nobody's.

    Counted here and by no database, whose scratch files would hold, beside the digests, what its memory held before.
    """
    nobodys = False

    def owned() -> Iterator[Owned]:
        nonlocal nobodys
        digests = Digests()
        for batch in batches:
            owners = batch.column(column)
            nobodys = nobodys or bool(owners.null_count)
            found = _digested(owners, digests)
            yield Owned(found, np.zeros(len(found), dtype=np.uint64), np.zeros(len(found), dtype=np.int64))

    with tempfile.TemporaryDirectory(prefix="metricdp-") as scratch:
        try:
            somebody = any(over.size for over in rows_over(owned(), most, Path(scratch), MOST_ROWS))
        except KindError as error:
            raise ColumnError(column, error) from None
        except Exception as error:  # of any library: its message may hold a value
            raise scrubbed(error) from None
    return somebody, nobodys


def _digested(owners: pa.Array, digests: Digests) -> NDArray[np.uint64]:
    """The digests of the owners that are there, refused where equal ones could have two."""
    if pa.types.is_null(owners.type):
        return np.zeros((0, 2), dtype=np.uint64)
    if owners.type != plain_type(owners.type):
        owners = plain_array(owners)
    if pa.types.is_dictionary(owners.type):
        owners = owners.dictionary_decode()
    if pa.types.is_floating(owners.type) or not _has_text(owners.type):  # equal floats may have two texts
        raise KindError(f"identifiers are text or integers, and these are {kind_of(owners.type)}")
    return digests_of(owners.drop_null(), digests)


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
