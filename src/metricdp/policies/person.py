"""Whose privacy is counted, where a person can have several rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Person", "holds_identifiers"]


@dataclass(frozen=True)
class Person:
    """The column that says which rows are one person's, and how many they may be.

    Attributes:
        column: its name.
        rows: the greatest number of rows a person may have.
        excess: whether a table in which somebody has more is refused, or cut by a blind draw.
        release: whether the column is dropped, or given new keys at random.
        missing: whether a table with a row that is nobody's is refused, or the row dropped.
        line: where in the policy it stands.
    """

    column: str
    rows: int
    excess: Literal["refuse", "cut"] = "refuse"
    release: Literal["drop", "rekey"] = "drop"
    missing: Literal["refuse", "drop"] = "refuse"
    line: int = 0


def holds_identifiers(arrow: pa.DataType, rekeyed: bool) -> bool:
    """Whether a column of identifiers may have this type."""
    import pyarrow as pa

    inner = arrow.value_type if pa.types.is_dictionary(arrow) else arrow
    if pa.types.is_integer(inner):
        return not rekeyed or arrow == pa.int64()
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))
