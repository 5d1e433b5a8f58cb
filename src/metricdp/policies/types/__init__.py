"""The types that a column can have, one file each. A line here, or an entry point of another package, registers one."""

from __future__ import annotations

from typing import Any

from metricdp.extensions import Registry
from metricdp.policies.column_type import ColumnType

__all__ = ["TYPES"]


def _check(kind: Any) -> str:
    if not isinstance(kind, type) or not issubclass(kind, ColumnType):
        return "it is no subclass of metricdp.policies.ColumnType"
    return "" if isinstance(getattr(kind, "type_name", None), str) else "it has no type_name"


TYPES: Registry[type[ColumnType]] = Registry(
    "column_types",
    "column type",
    {
        "number": "metricdp.policies.types.number:Number",
        "integer": "metricdp.policies.types.integer:Integer",
        "date": "metricdp.policies.types.date:Date",
        "time": "metricdp.policies.types.time:Time",
        "duration": "metricdp.policies.types.duration:Duration",
        "time_of_day": "metricdp.policies.types.time_of_day:TimeOfDay",
        "category": "metricdp.policies.types.category:Category",
        "boolean": "metricdp.policies.types.boolean:Boolean",
        "place": "metricdp.policies.types.place:Place",
        "set": "metricdp.policies.types.set_of:SetOf",
        "series": "metricdp.policies.types.series:Series",
        "keep": "metricdp.policies.types.keep:Keep",
        "drop": "metricdp.policies.types.drop:Drop",
        "rekey": "metricdp.policies.types.rekey:Rekey",
    },
    _check,
)
"""What ``type`` may be in a policy."""
