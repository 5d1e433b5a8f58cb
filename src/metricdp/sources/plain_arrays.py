"""What the rows of an array hold, and nothing beside it.

An Arrow array may carry more than its rows show: words of a dictionary that no row uses, values beneath a null, the
larger buffer that it is a slice of, notes on the fields of its type. None of it may leave with a public column, at any
depth of structs and lists.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

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
        return pa.list_(made[0], arrow.list_size) if arrow.list_size else None  # Arrow divides by the size, and crashes
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
    return _taken(_known(array))


def _known(array: pa.Array) -> pa.Array:
    """The same rows in the plain type, over buffers that may hold more.

    It is done here and not by casts: Arrow takes no rows out of views and runs inside of other types, and what it makes
    of a list view has one offset too few, so that whoever reads it reads beyond its end.
    """
    arrow = array.type
    plain: Any = plain_type(arrow)
    if arrow.equals(plain, check_metadata=True):
        return array
    if isinstance(arrow, pa.BaseExtensionType):
        return _known(array.storage)
    if arrow in _VIEWS:
        return array.cast(_VIEWS[arrow])
    if pa.types.is_run_end_encoded(arrow):
        rows = np.arange(array.offset, array.offset + len(array))
        return _known(array.values).take(pa.array(np.searchsorted(np.asarray(array.run_ends), rows, side="right")))
    if pa.types.is_dictionary(arrow):
        words = _known(array.dictionary)
        if not pa.types.is_dictionary(plain):
            return words.take(array.indices)
        return pa.DictionaryArray.from_arrays(array.indices, words, ordered=arrow.ordered)
    absent = array.is_null() if array.null_count else None
    if pa.types.is_struct(arrow):
        fields = [_known(array.field(place)) for place in range(arrow.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(plain), mask=absent)
    if pa.types.is_fixed_size_list(arrow):
        held = array.values.slice(array.offset * arrow.list_size, len(array) * arrow.list_size)
        return pa.FixedSizeListArray.from_arrays(_known(held), type=plain, mask=absent)
    if pa.types.is_list_view(arrow) or pa.types.is_large_list_view(arrow):
        sizes = np.where(np.asarray(array.is_valid()), np.asarray(array.sizes), 0)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(ends[-1]) + np.repeat(np.asarray(array.offsets) - ends[:-1], sizes)
        return _lists(plain, ends, _known(array.values).take(pa.array(places)), absent)
    offsets = np.array(array.offsets)
    if pa.types.is_map(arrow):
        keys, items = _known(array.keys), _known(array.items)
        return pa.MapArray.from_arrays(pa.array(offsets), keys, items, type=plain, mask=absent)
    return _lists(plain, offsets, _known(array.values), absent)


def _lists(plain: pa.DataType, offsets: NDArray[Any], values: pa.Array, absent: pa.Array | None) -> pa.Array:
    large = pa.types.is_large_list(plain)
    kind, width = (pa.LargeListArray, np.int64) if large else (pa.ListArray, np.int32)
    return kind.from_arrays(pa.array(offsets.astype(width)), values, type=plain, mask=absent)


def _taken(array: pa.Array) -> pa.Array:
    """An array of a plain type, row by row in buffers of its own."""
    if pa.types.is_null(array.type):
        return pa.nulls(len(array))
    if pa.types.is_dictionary(array.type):
        return _dictionary(array)
    # Taking row by row makes new buffers, and a place that is null takes nothing.
    taken = array.take(pa.array(np.arange(len(array)), mask=np.asarray(array.is_null()) if array.null_count else None))
    if pa.types.is_nested(array.type) and array.type.num_fields:
        return _nested(taken)
    return taken


def _nested(array: pa.Array) -> pa.Array:
    plain, absent = array.type, array.is_null() if array.null_count else None
    if pa.types.is_struct(array.type):
        fields = [_taken(array.field(place)) for place in range(array.type.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(plain), mask=absent)
    if pa.types.is_fixed_size_list(array.type):
        return pa.FixedSizeListArray.from_arrays(_taken(array.values), type=plain, mask=absent)
    if pa.types.is_map(array.type):
        return pa.MapArray.from_arrays(array.offsets, _taken(array.keys), _taken(array.items), type=plain, mask=absent)
    return _lists(plain, np.asarray(array.offsets), _taken(array.values), absent)


def _dictionary(array: pa.DictionaryArray) -> pa.Array:
    """The words that rows use, in an order that does not tell which row came first."""
    places = array.indices.filter(array.is_valid()).unique()
    words = _taken(array.dictionary.take(places.sort())).drop_null()
    if not array.type.ordered:
        words = words.unique().sort()
    indices = pc.index_in(array.dictionary.take(array.indices), value_set=words)
    return pa.DictionaryArray.from_arrays(indices.cast(array.type.index_type), words, ordered=array.type.ordered)
