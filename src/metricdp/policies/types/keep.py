"""Columns that are public."""

from __future__ import annotations

from dataclasses import dataclass

from metricdp.policies.types._plain import WithoutNoise

__all__ = ["Keep"]


@dataclass(frozen=True, kw_only=True)
class Keep(WithoutNoise):
    """A public column, released as it is."""

    type_name = "keep"
    does = "keep"
