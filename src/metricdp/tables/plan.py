"""A policy bound to a schema: the one Arrow function that every engine runs."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from metricdp.errors import ColumnError, InputError, PolicyError
from metricdp.tables.policy import Policy
from metricdp.tables.treatments import Drop, Treatment

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """What is done to tables of one schema. Pickles, and keeps nothing between batches.

    Attributes:
        policy: what was asked for.
        schema: of the input, without its metadata.
    """

    policy: Policy
    schema: pa.Schema

    @classmethod
    def of(cls, policy: Policy, schema: pa.Schema) -> Plan:
        """Check the policy against the schema; every mismatch is reported at once."""
        problems = []
        if len(set(schema.names)) < len(schema.names):
            raise PolicyError([f"the table has two columns called {_first_twice(schema.names)!r}"])
        unit = policy.unit
        named = {column: item for item in policy.treatments for column in item.columns}
        if unit is not None and unit.column not in schema.names:
            problems.append(f"unit: the table has no column {unit.column!r}")
        elif unit is not None and not _tells_people(schema.field(unit.column).type, unit.release == "rekey"):
            wanted = "text, or integers of 64 bits" if unit.release == "rekey" else "text or integers"
            problems.append(f"unit, column {unit.column!r}: {wanted} are wanted")
        for column, item in named.items():
            if column not in schema.names:
                problems.append(f"line {item.line}, column {column!r}: the table has no such column")
            elif not item.accepts(schema.field(column).type):
                problems.append(
                    f"line {item.line}, column {column!r}: type {item.kind!r} wants {item.wants}, "
                    f"and the table has {schema.field(column).type}"
                )
        problems += [
            f'column {name!r}: the policy does not name it; write {name} = "drop" or "keep", or protect it'
            for name in schema.names
            if name not in named and (unit is None or name != unit.column)
        ]
        if problems:
            raise PolicyError(problems)
        return cls(policy, schema.remove_metadata())

    @property
    def schema_out(self) -> pa.Schema:
        """The released table's schema: the columns that are not dropped, in the order they had, with no metadata."""
        return pa.schema([pa.field(name, self.schema.field(name).type) for name in self._kept])

    @property
    def _kept(self) -> list[str]:
        dropped = {column for item in self.policy.treatments if isinstance(item, Drop) for column in item.columns}
        unit = self.policy.unit
        if unit is not None and unit.release == "drop":
            dropped.add(unit.column)
        return [name for name in self.schema.names if name not in dropped]

    def apply(self, batch: pa.RecordBatch, first_row: int = 0) -> pa.RecordBatch:
        """Release a batch of rows whose first one is row ``first_row`` of the table."""
        released: dict[str, pa.Array] = {}
        for item in self.policy.treatments:
            released |= zip(item.columns, self._released(item, batch, first_row), strict=False)
        unit = self.policy.unit
        if unit is not None:
            released[unit.column] = batch.column(unit.column)
        return pa.record_batch([released[name] for name in self._kept], schema=self.schema_out)

    def _released(self, item: Treatment, batch: pa.RecordBatch, first_row: int) -> list[pa.Array]:
        try:
            return item.apply([batch.column(column) for column in item.columns])
        except InputError as error:
            raise ColumnError(item.name, error.shifted(first_row)) from None


def _tells_people(arrow: pa.DataType, rekeyed: bool) -> bool:
    """Whether a unit column may have this type."""
    inner = arrow.value_type if pa.types.is_dictionary(arrow) else arrow
    if pa.types.is_integer(inner):
        return not rekeyed or arrow == pa.int64()
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))


def _first_twice(names: list[str]) -> str:
    return next(name for place, name in enumerate(names) if name in names[:place])
