"""Columns of identifiers that are replaced by new keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from metricdp.policies.types._plain import WithoutNoise

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Rekey"]


@dataclass(frozen=True, kw_only=True)
class Rekey(WithoutNoise):
    """An identifier of which every value is given a new key at random, the same in all rows that have it.

    Who or what it was is hidden; which rows have the same one is public, and so is where it is missing.
    """

    type_name = "rekey"
    does = "keep"
    wants = "text, or integers of 64 bits"
    rekeyed = True

    def accepts(self, arrow: pa.DataType) -> bool:
        """Text, and integers of 64 bits."""
        from metricdp.policies.person import holds_identifiers

        return holds_identifiers(arrow, rekeyed=True)
