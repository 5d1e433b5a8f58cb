"""Treatments of categories and of sets, from declared lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metricdp.errors import UnknownCategoryError
from metricdp.mechanisms.finite import Exponential
from metricdp.mechanisms.response import RandomizedResponse, SetResponse
from metricdp.tables.treatments.treatment import Arrays, Treatment, to_numpy

__all__ = ["Category", "SetOf"]


def holds(arrow: pa.DataType, values: Sequence[Any]) -> bool:
    """Whether an Arrow type of text or of integers can hold all of these."""
    if not all(isinstance(value, int) for value in values):
        return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow))
    if not pa.types.is_integer(arrow):
        return False
    range_ = np.iinfo(arrow.to_pandas_dtype())
    return all(range_.min <= value <= range_.max for value in values)


@dataclass(frozen=True)
class Category(Treatment):
    """A category from a declared list: by randomized response, or over a taxonomy by the exponential mechanism.

    Attributes:
        values: the declared values; None is one of them where a missing value is secret.
    """

    response: RandomizedResponse | Exponential = field(kw_only=True)
    kind: ClassVar[str] = "category"
    wants: ClassVar[str] = "text, integers or booleans"

    @property
    def mechanism(self) -> RandomizedResponse | Exponential:
        """``response``."""
        return self.response

    @property
    def values(self) -> tuple[Any, ...]:
        """The declared values, in order."""
        return self.response.values if isinstance(self.response, RandomizedResponse) else self.response.space.points

    @property
    def csv_type(self) -> pa.DataType:
        """That of the declared values."""
        return pa.array([value for value in self.values if value is not None]).type

    def accepts(self, arrow: pa.DataType) -> bool:
        """Text, integers and booleans of the kind of the declared values, also as dictionaries."""
        inner = arrow.value_type if pa.types.is_dictionary(arrow) else arrow
        kinds = {type(value) for value in self.values if value is not None}
        if kinds == {bool}:
            return bool(pa.types.is_boolean(inner))
        if pa.types.is_dictionary(arrow) and len(self.values) > np.iinfo(arrow.index_type.to_pandas_dtype()).max:
            return False
        return holds(inner, [value for value in self.values if value is not None])

    def _release(self, arrays: Arrays) -> list[pa.Array]:
        (array,) = arrays
        plain = array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array
        declared = pa.array(self.values, plain.type)  # None, if it is one of them, comes last
        places = pc.index_in(plain, value_set=declared, skip_nulls=False)
        if places.null_count:
            unknown = int(np.argmax(np.asarray(places.is_null())))
            raise UnknownCategoryError("not one of the declared values", unknown)
        drawn = self.response.release_places(to_numpy(places).astype(np.int64))
        if not pa.types.is_dictionary(array.type):
            return [declared.take(pa.array(drawn))]
        known = declared.drop_null()
        indices = pa.array(drawn, mask=drawn >= len(known)).cast(array.type.index_type)
        return [pa.DictionaryArray.from_arrays(indices, known, ordered=array.type.ordered)]


@dataclass(frozen=True)
class SetOf(Treatment):
    """A set of elements of a declared universe, as a list column, element by element."""

    response: SetResponse = field(kw_only=True)
    kind: ClassVar[str] = "set"
    wants: ClassVar[str] = "a list column of text or integers"

    @property
    def mechanism(self) -> SetResponse:
        """``response``."""
        return self.response

    def accepts(self, arrow: pa.DataType) -> bool:
        """Lists of what the universe holds."""
        is_list = pa.types.is_list(arrow) or pa.types.is_large_list(arrow)
        return bool(is_list and holds(arrow.value_type, self.response.universe))

    def _release(self, arrays: Arrays) -> list[pa.Array]:
        (array,) = arrays
        universe = pa.array(self.response.universe, array.type.value_type)
        parents = to_numpy(pc.list_parent_indices(array)).astype(np.int64)
        places = pc.index_in(pc.list_flatten(array), value_set=universe)
        if places.null_count:
            unknown = int(parents[int(np.argmax(np.asarray(places.is_null())))])
            raise UnknownCategoryError("an element is not in the declared universe", unknown)
        present = np.zeros((len(array), len(universe)), dtype=np.int64)
        present[parents, to_numpy(places)] = 1
        released = self.response.release_presence(present)
        _, elements = np.nonzero(released)
        offsets = np.concatenate([[0], np.cumsum(released.sum(axis=1))])
        kind = pa.LargeListArray if pa.types.is_large_list(array.type) else pa.ListArray
        width = pa.int64() if kind is pa.LargeListArray else pa.int32()
        made = kind.from_arrays(pa.array(offsets, width), universe.take(pa.array(elements)))
        return [made.cast(array.type)]
