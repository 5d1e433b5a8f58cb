"""Places: two columns, the latitude and the longitude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from metricdp.mechanisms.continuous.sphere import sphere_laplace
from metricdp.metrics import great_circle
from metricdp.policies.column_type import ColumnType
from metricdp.policies.entry import ColumnEntry
from metricdp.policies.levels import level_by_distance, wanted_distance
from metricdp.policies.open_questions import MISSING, OpenQuestion, within
from metricdp.policies.types._line import LEVEL_KEYS

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.mechanisms.mechanism import Mechanism
    from metricdp.sources.dialect import Dialect

__all__ = ["Place"]


@dataclass(frozen=True, kw_only=True)
class Place(ColumnType):
    """Latitude and longitude in degrees, by the Laplace mechanism on the globe.

    Attributes:
        resolution: in degrees; None for one that follows from the level.
    """

    resolution: Fraction | None = None

    type_name = "place"
    keys = (*LEVEL_KEYS, "missing", "resolution")
    questions = (
        OpenQuestion("columns", "which columns are the latitude and the longitude?"),
        within("m"),
        MISSING,
    )
    width = 2
    wants = "floating-point degrees"

    @classmethod
    def read(cls, entry: ColumnEntry) -> Self:
        """See `ColumnType.read`."""
        return cls(
            name=entry.name,
            columns=entry.columns,
            line=entry.line,
            release=entry.release(),
            missing=entry.missing(False),
            written=level_by_distance(entry, great_circle(), "m"),
            resolution=entry.quantity("resolution", "degrees"),
        )

    @property
    def level_wanted(self) -> str:
        """What to write where a level is wanted."""
        return wanted_distance("m")

    def _make_mechanism(self) -> Mechanism:
        assert self.written is not None
        return sphere_laplace(self.written.metric, self.resolution)

    @property
    def is_noise(self) -> bool:
        """It is, unless it is kept."""
        return self.release == "noise"

    @property
    def is_fine(self) -> bool:
        """Where nobody declares a coarser resolution."""
        return self.release == "noise" and self.resolution is None

    def accepts(self, arrow: pa.DataType) -> bool:
        """Floats."""
        import pyarrow as pa

        return bool(pa.types.is_floating(arrow))

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Floats."""
        import pyarrow as pa

        return pa.float64()

    def read_text(self, text: pa.Array, column: str, dialect: Dialect) -> pa.Array:
        """Decimals, exactly as they are written."""
        from metricdp.sources.texts import numbers

        return numbers(text, dialect)

    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        from metricdp.policies.arrow.exact_numbers import counted, given_as, numbers_in

        columns = [counted(numbers_in(array)) for array in arrays]
        if len({column.numbers.dtype.kind == "f" for column in columns}) > 1:  # one of each: of two types of source
            columns = [counted(column, floats=False) for column in columns]
        sphere: Any = self.mechanism
        cells = sphere.release_cells([column.numbers for column in columns], [column.unit for column in columns])
        return [given_as(column, sphere.resolution, None, arrow) for column, arrow in zip(cells.T, types, strict=True)]
