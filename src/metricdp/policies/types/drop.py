"""Columns that are left out."""

from __future__ import annotations

from dataclasses import dataclass

from metricdp.policies.types._plain import WithoutNoise

__all__ = ["Drop"]


@dataclass(frozen=True, kw_only=True)
class Drop(WithoutNoise):
    """A column that is left out, and not even read."""

    type_name = "drop"
    does = "drop"
