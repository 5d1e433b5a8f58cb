"""What the rows of an array hold, and nothing beside it.

An Arrow array may carry more than its rows show: words of a dictionary that no row uses, values beneath a null, the
larger buffer that it is a slice of. None of it may leave with a public column, at any depth of structs and lists.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["kind_of", "plain_array", "plain_type", "shown_by_pandas"]


def plain_type(arrow: pa.DataType) -> pa.DataType | None:
    """The type in which such a column is released: one that every engine and file knows; None where there is none.

    Views become what they are views of, runs the values that are repeated, extension types what they are stored as.
    """
    if isinstance(arrow, pa.BaseExtensionType):
        return plain_type(arrow.storage_type)
    if pa.types.is_run_end_encoded(arrow):
        return plain_type(arrow.value_type)
    if pa.types.is_union(arrow):
        return None
    if arrow in _VIEWS:
        return _VIEWS[arrow]
    if pa.types.is_dictionary(arrow):
        value = plain_type(arrow.value_type)
        if value is None or pa.types.is_nested(value) or pa.types.is_dictionary(value):
            return value
        return pa.dictionary(arrow.index_type, value, arrow.ordered)
    if not pa.types.is_nested(arrow):
        return arrow
    fields = [arrow.field(place) for place in range(arrow.num_fields)]
    if pa.types.is_map(arrow):
        fields = [arrow.key_field, arrow.item_field]
    inner = [plain_type(field.type) for field in fields]
    if None in inner:
        return None
    made = [pa.field(field.name, kind, field.nullable) for field, kind in zip(fields, inner, strict=True)]
    if pa.types.is_struct(arrow):
        return pa.struct(made)
    if pa.types.is_map(arrow):
        return pa.map_(*made, keys_sorted=arrow.keys_sorted)
    if pa.types.is_fixed_size_list(arrow):
        return pa.list_(made[0], arrow.list_size)
    large = pa.types.is_large_list(arrow) or pa.types.is_large_list_view(arrow)
    return pa.large_list(made[0]) if large else pa.list_(made[0])


_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def kind_of(arrow: pa.DataType) -> str:
    """A type in words; of a nested one only what it is, since the names inside may be somebody's.

    >>> kind_of(pa.date32()), kind_of(pa.timestamp("us", "UTC")), kind_of(pa.dictionary(pa.int32(), pa.string()))
    ('dates', 'dates with times', 'text')
    """
    if isinstance(arrow, pa.BaseExtensionType):
        return "an extension type"
    if pa.types.is_dictionary(arrow):
        return kind_of(arrow.value_type)
    return next((words for kind, words in _WORDS.items() if getattr(pa.types, f"is_{kind}")(arrow)), "an unknown type")


def shown_by_pandas(moments: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same, but released moments with a zone end where pandas shows them: beyond, printing breaks it down.

    The ends are those of Series (`metricdp.mechanisms.forms.pandas`), to the day, and depend on the type alone.
    """
    if not pa.types.is_timestamp(moments.type) or moments.type.tz is None:
        return moments
    first, last = (pa.scalar(end, pa.timestamp(moments.type.unit)) for end in _SHOWN)
    late = pc.max_element_wise(moments.cast(pa.int64()), first.value, skip_nulls=False)
    return pc.min_element_wise(late, last.value, skip_nulls=False).cast(moments.type)


_SHOWN = (dt.datetime(1678, 1, 1), dt.datetime(2261, 12, 31))

_WORDS = {
    "boolean": "true and false",
    "integer": "whole numbers",
    "floating": "floating-point numbers",
    "decimal": "decimal numbers",
    "date": "dates",
    "timestamp": "dates with times",
    "time": "times of day",
    "duration": "durations",
    "string": "text",
    "large_string": "text",
    "string_view": "text",
    "binary": "bytes",
    "large_binary": "bytes",
    "fixed_size_binary": "bytes",
    "binary_view": "bytes",
    "interval": "calendar intervals",
    "null": "missing values alone",
    "struct": "a struct",
    "map": "a map",
    "union": "a union",
    "run_end_encoded": "runs of repeated values",
    "list": "a list",
    "large_list": "a list",
    "fixed_size_list": "a list",
    "list_view": "a list",
    "large_list_view": "a list",
}


def plain_array(array: pa.Array) -> pa.Array:
    """The array in its plain type, with buffers of its own that hold what its rows show and no more."""
    arrow = array.type
    if isinstance(arrow, pa.BaseExtensionType):
        return plain_array(array.storage)
    if pa.types.is_run_end_encoded(arrow):
        return plain_array(pc.run_end_decode(array))
    if arrow in _VIEWS:
        return plain_array(array.cast(_VIEWS[arrow]))
    if pa.types.is_null(arrow):
        return pa.nulls(len(array))
    if pa.types.is_list_view(arrow) or pa.types.is_large_list_view(arrow):
        flat = pa.large_list if pa.types.is_large_list_view(arrow) else pa.list_
        return plain_array(array.cast(flat(arrow.value_field)))
    if pa.types.is_dictionary(arrow):
        return _dictionary(array)
    # Taking row by row makes new buffers, and a place that is null takes nothing.
    taken = array.take(pa.array(np.arange(len(array)), mask=np.asarray(array.is_null()) if array.null_count else None))
    if pa.types.is_nested(arrow) and arrow.num_fields:
        return _nested(taken)
    return taken


def _nested(array: pa.Array) -> pa.Array:
    plain: Any = plain_type(array.type)
    absent = array.is_null() if array.null_count else None
    if pa.types.is_struct(array.type):
        fields = [plain_array(array.field(place)) for place in range(array.type.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(plain), mask=absent)
    if pa.types.is_fixed_size_list(array.type):
        return pa.FixedSizeListArray.from_arrays(plain_array(array.values), type=plain, mask=absent)
    if pa.types.is_map(array.type):
        return pa.MapArray.from_arrays(
            array.offsets, plain_array(array.keys), plain_array(array.items), type=plain, mask=absent
        )
    kind = pa.LargeListArray if pa.types.is_large_list(array.type) else pa.ListArray
    return kind.from_arrays(array.offsets, plain_array(array.values), type=plain, mask=absent)


def _dictionary(array: pa.DictionaryArray) -> pa.Array:
    """The words that rows use, in an order that does not tell which row came first."""
    plain: Any = plain_type(array.type)
    if not pa.types.is_dictionary(plain):
        return plain_array(array.dictionary.take(array.indices))
    places = array.indices.filter(array.is_valid()).unique()
    words = plain_array(array.dictionary.take(places.sort())).drop_null()
    if not array.type.ordered:
        words = words.unique().sort()
    rows = array.dictionary.take(array.indices).cast(words.type)
    indices = pc.index_in(rows, value_set=words)
    return pa.DictionaryArray.from_arrays(indices.cast(plain.index_type), words, ordered=plain.ordered)
