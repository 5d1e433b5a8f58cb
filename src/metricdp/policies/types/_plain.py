"""What columns have in common that are released without noise, whatever their type is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from metricdp.errors import PolicyError
from metricdp.policies.column_type import ColumnType
from metricdp.policies.entry import ColumnEntry, Release

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.mechanisms.mechanism import Mechanism
    from metricdp.policies.cells.listed import Cells
    from metricdp.sources.dialect import Dialect

__all__ = ["WithoutNoise"]


@dataclass(frozen=True, kw_only=True)
class WithoutNoise(ColumnType):
    """A column of any type, of which the policy says no more than what is done with it."""

    does: ClassVar[Release]

    @classmethod
    def read(cls, entry: ColumnEntry) -> Self:
        """See `ColumnType.read`."""
        return cls(name=entry.name, columns=entry.columns, line=entry.line, release=cls.does, missing="public")

    def _make_mechanism(self) -> Mechanism:
        raise AssertionError("it has no mechanism")

    def accepts(self, arrow: pa.DataType) -> bool:
        """Any."""
        return True

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """Text."""
        import pyarrow as pa

        return pa.string()

    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        raise AssertionError("it has no mechanism")

    def _make_cells(self) -> Cells:
        raise PolicyError(
            [f'to be asked about, it needs a type with its values, and release = "{self.does}" beside them']
        )
