"""Columns of sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from metricdp.errors import UnknownCategoryError
from metricdp.mechanisms.set_response import set_response
from metricdp.metrics import symmetric_difference
from metricdp.metrics.words import Measure
from metricdp.policies.column_type import ColumnType
from metricdp.policies.entry import ColumnEntry
from metricdp.policies.levels import equal_level
from metricdp.policies.open_questions import FACTOR, MISSING, listed
from metricdp.policies.types._finite import arrow_of, can_hold, words_for

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.mechanisms.mechanism import Mechanism
    from metricdp.mechanisms.set_response import SetResponse
    from metricdp.sources.dialect import Dialect

__all__ = ["SetOf"]

_MOST_BITS = 1 << 22
"""Of sets that are released at once: each takes a byte for a while."""


@dataclass(frozen=True, kw_only=True)
class SetOf(ColumnType):
    """A set of elements of a declared universe, as a list column, element by element.

    Attributes:
        values: the elements there can be.
    """

    values: tuple[Any, ...]

    type_name = "set"
    keys = ("epsilon", "factor", "missing", "values")
    has_text = False
    questions = (listed("which elements can there be?"), FACTOR, MISSING)

    @classmethod
    def read(cls, entry: ColumnEntry) -> Self:
        """See `ColumnType.read`."""
        level = equal_level(entry)
        written = None
        if level is not None:
            each = level.metric.level * symmetric_difference()
            written = replace(level, metric=each, measure=Measure("elements"))
        return cls(
            name=entry.name,
            columns=entry.columns,
            line=entry.line,
            release=entry.release(),
            missing=entry.missing(False),
            written=written,
            values=entry.values(),
        )

    @property
    def values_of_row(self) -> int:
        """All elements there can be."""
        return len(self.values)

    @property
    def wants(self) -> str:  # type: ignore[override]
        """What holds every declared element."""
        return f"a list column of {words_for(self.values)}"

    def _make_mechanism(self) -> Mechanism:
        assert self.written is not None
        return set_response(self.values, self.written.metric)

    def accepts(self, arrow: pa.DataType) -> bool:
        """Lists of what the universe holds."""
        import pyarrow as pa

        is_list = pa.types.is_list(arrow) or pa.types.is_large_list(arrow)
        return bool(is_list and can_hold(arrow.value_type, self.values))

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Lists of what the universe holds."""
        import pyarrow as pa

        return pa.list_(arrow_of(self.values[0]))

    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        import pyarrow as pa
        import pyarrow.compute as pc

        (array,) = arrays
        universe, response = pa.array(self.values, array.type.value_type), cast("SetResponse", self.mechanism)
        owners = np.asarray(pc.list_parent_indices(array))
        places = pc.index_in(pc.list_flatten(array), value_set=universe)
        if places.null_count:
            unknown = int(owners[int(np.argmax(np.asarray(places.is_null())))])
            raise UnknownCategoryError("an element is not in the declared universe", unknown)
        bits, counts, drawn = response.mask_bits, [], []
        rows_at_once = max(1, _MOST_BITS // bits)
        for start in range(0, len(array), rows_at_once):
            rows = min(rows_at_once, len(array) - start)
            first, last = np.searchsorted(owners, (start, start + rows))
            present = np.zeros(rows * bits, dtype=bool)
            present[(owners[first:last] - start) * bits + np.asarray(places)[first:last]] = True
            released = response.release_masks(response.masks(present))
            counts.append(
                np.bitwise_count(released).sum(axis=1) if released.shape[1] > 1 else np.bitwise_count(released)[:, 0]
            )
            found = np.flatnonzero(np.unpackbits(released.view(np.uint8), bitorder="little").view(bool))
            drawn.append((found & (bits - 1) if bits <= 64 else found % bits).astype(np.int32))
        ends = np.concatenate([[0], np.cumsum(np.concatenate(counts), dtype=np.int64)])
        elements = universe.take(pa.array(np.concatenate(drawn)))
        if pa.types.is_large_list(types[0]):
            return [pa.LargeListArray.from_arrays(pa.array(ends), elements, type=types[0])]
        return [pa.ListArray.from_arrays(pa.array(ends).cast(pa.int32()), elements, type=types[0])]

    @property
    def outside_words(self) -> str:
        """A list has no outside."""
        return "a value that is not in the policy's list makes the table refused"
