"""Columns of time series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from metricdp.errors import NotFiniteError, ShapeError
from metricdp.mechanisms.laplace import laplace
from metricdp.metrics import chebyshev
from metricdp.metrics.words import Measure
from metricdp.policies.column_type import ColumnType
from metricdp.policies.entry import ColumnEntry, Mistake
from metricdp.policies.levels import level_by_distance, wanted_distance
from metricdp.policies.open_questions import MISSING, OpenQuestion, within
from metricdp.policies.types._line import LEVEL_KEYS

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.mechanisms.mechanism import Mechanism
    from metricdp.sources.dialect import Dialect

__all__ = ["Series"]


@dataclass(frozen=True, kw_only=True)
class Series(ColumnType):
    """A time series of a declared length, as a list column: all readings at once, by the maximum norm.

    Attributes:
        length: how many readings it has.
        resolution: of a reading; None for one that follows from the level.
    """

    length: int
    resolution: Fraction | None = None

    type_name = "series"
    keys = (*LEVEL_KEYS, "missing", "resolution", "length")
    wants = "a list column of floating-point numbers"
    has_text = False
    questions = (OpenQuestion("length", "how many readings has a series?"), within(""), MISSING)

    @classmethod
    def read(cls, entry: ColumnEntry) -> Self:
        """See `ColumnType.read`."""
        length = entry.take("length")
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise Mistake("length", "length = .. is the number of readings of a series")
        level = level_by_distance(entry, chebyshev())
        return cls(
            name=entry.name,
            columns=entry.columns,
            line=entry.line,
            release=entry.release(),
            missing=entry.missing(False),
            written=None if level is None else replace(level, measure=Measure(level.measure.unit, "reading")),
            length=length,
            resolution=entry.quantity("resolution", ""),
        )

    @property
    def values_of_row(self) -> int:
        """Its readings."""
        return self.length

    @property
    def level_wanted(self) -> str:
        """What to write where a level is wanted."""
        return wanted_distance("")

    def _make_mechanism(self) -> Mechanism:
        assert self.written is not None
        return laplace(self.written.metric, dim=self.length, resolution=self.resolution)

    @property
    def is_noise(self) -> bool:
        """It is, unless it is kept."""
        return self.release == "noise"

    @property
    def is_fine(self) -> bool:
        """Where nobody declares a coarser resolution."""
        return self.release == "noise" and self.resolution is None

    def accepts(self, arrow: pa.DataType) -> bool:
        """Lists of floats."""
        import pyarrow as pa

        is_list = pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_fixed_size_list(arrow)
        if pa.types.is_fixed_size_list(arrow) and arrow.list_size != self.length:
            return False
        return bool(is_list and pa.types.is_floating(arrow.value_type))

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Lists of floats."""
        import pyarrow as pa

        return pa.list_(pa.float64())

    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        import pyarrow as pa
        import pyarrow.compute as pc

        from metricdp.policies.arrow.exact_numbers import given_as

        (array,), length = arrays, self.length
        wrong = np.asarray(pc.not_equal(pc.list_value_length(array), length))
        if wrong.any():
            raise ShapeError(f"a series of {length} readings is wanted", int(np.argmax(wrong)))
        flat = pc.list_flatten(array)
        if flat.null_count:
            raise NotFiniteError("a reading is missing", int(np.argmax(np.asarray(flat.is_null()))) // length)
        noise: Any = self.mechanism
        cells = noise.release_cells(flat.to_numpy(zero_copy_only=False).reshape(len(array), -1))
        readings = given_as(cells.ravel(), noise.resolution, None, types[0].value_type)
        if pa.types.is_fixed_size_list(types[0]):
            return [pa.FixedSizeListArray.from_arrays(readings, type=types[0])]
        large = pa.types.is_large_list(types[0])
        offsets = np.arange(len(array) + 1, dtype=np.int64 if large else np.int32) * length
        return [(pa.LargeListArray if large else pa.ListArray).from_arrays(pa.array(offsets), readings, type=types[0])]

    @property
    def level_words(self) -> str:
        """The level as the policy says it."""
        return f"{super().level_words} in every reading" if self.written is not None else ""
