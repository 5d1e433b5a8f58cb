"""What every treatment of a column has, and the two that do nothing to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metricdp.errors import InputError, NotFiniteError
from metricdp.mechanisms.mechanism import Mechanism

__all__ = ["Drop", "Keep", "Missing", "Outside", "Treatment", "like", "to_numpy"]

Missing = Literal["secret", "public", "refuse"]
Outside = Literal["refuse", "clamp"]
Arrays = Sequence[pa.Array]


@dataclass(frozen=True)
class Treatment(ABC):
    """What is done to one column, or to a group that belongs together.

    Attributes:
        name: what the policy calls it.
        columns: the columns it takes, and gives back.
        line: where in the policy it stands.
        missing: whether a missing value is a secret like any other, public (kept as it is), or refused.
    """

    name: str
    columns: tuple[str, ...]
    line: int = field(compare=False)
    missing: Missing = "refuse"
    kind: ClassVar[str]

    @property
    def mechanism(self) -> Mechanism | None:
        """What the columns are released by; None where they are not."""
        return None

    @property
    def csv_type(self) -> pa.DataType:
        """What a column of text is read as."""
        return pa.string()

    @property
    def is_noise(self) -> bool:
        """Whether releases hardly ever repeat, so that no dictionary makes them smaller."""
        return False

    @abstractmethod
    def accepts(self, arrow: pa.DataType) -> bool:
        """Whether a column may have this Arrow type."""

    @property
    @abstractmethod
    def wants(self) -> str:
        """The types it accepts, in words."""

    def apply(self, arrays: Arrays) -> list[pa.Array]:
        """The columns released: as many rows, and the types they had."""
        if not len(arrays[0]):
            return [pa.nulls(0, array.type) for array in arrays]  # no dictionary of the source comes along
        if self.missing == "secret":
            return self._release(arrays)
        absent = _any_null(arrays)
        if absent is None:
            return self._release(arrays)
        if self.missing == "refuse":
            raise NotFiniteError(
                'a value is missing; declare missing = "public" to leave such rows as they are', int(np.argmax(absent))
            )
        present = pa.array(~absent)
        if not (~absent).any():
            return [pa.nulls(len(array), array.type) for array in arrays]
        try:
            released = self._release([array.filter(present) for array in arrays])
        except InputError as error:
            row = None if error.row is None else int(np.flatnonzero(~absent)[error.row])
            raise type(error)(error.rule, row) from None
        places = pa.array(np.cumsum(~absent) - 1, mask=absent)
        return [array.take(places) for array in released]

    @abstractmethod
    def _release(self, arrays: Arrays) -> list[pa.Array]:
        """Release rows of which none is missing, unless a missing value is secret."""


@dataclass(frozen=True)
class Keep(Treatment):
    """A public column, kept as it is."""

    missing: Missing = "public"
    kind: ClassVar[str] = "keep"
    wants: ClassVar[str] = "any type"

    def accepts(self, arrow: pa.DataType) -> bool:
        """Any."""
        return True

    def apply(self, arrays: Arrays) -> list[pa.Array]:
        """The columns; dictionaries with what rows hold, and no more."""
        return [_rebuilt(array) if pa.types.is_dictionary(array.type) else array for array in arrays]

    _release = apply


@dataclass(frozen=True)
class Drop(Keep):
    """A column that is left out."""

    kind: ClassVar[str] = "drop"

    def apply(self, arrays: Arrays) -> list[pa.Array]:
        """Nothing."""
        return []

    _release = apply


def _rebuilt(array: pa.DictionaryArray) -> pa.DictionaryArray:
    encoded = array.cast(array.type.value_type).dictionary_encode()
    indices = encoded.indices.cast(array.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, encoded.dictionary, ordered=array.type.ordered)


def _any_null(arrays: Arrays) -> NDArray[np.bool_] | None:
    """The rows in which any of the columns is null; None where there is no such row."""
    if not any(array.null_count for array in arrays):
        return None
    absent = np.zeros(len(arrays[0]), dtype=bool)
    for array in arrays:
        absent |= np.asarray(array.is_null())
    return absent


def to_numpy(array: pa.Array) -> NDArray[Any]:
    """The values; NaN for null where they are numbers."""
    values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return values


def like(array: pa.Array, original: pa.Array) -> pa.Array:
    """The array in the type the column had; whole numbers beyond its range saturate."""
    if pa.types.is_integer(original.type):
        info = np.iinfo(original.type.to_pandas_dtype())
        low, high = int(info.min), min(int(info.max), 2**63 - 1)
        array = pc.max_element_wise(array.cast(pa.int64()), low, skip_nulls=False)
        array = pc.min_element_wise(array, high, skip_nulls=False)
    return array.cast(original.type)
