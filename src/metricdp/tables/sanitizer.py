"""A policy bound to a schema: the one Arrow function that every engine runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from metricdp.errors import ColumnError, DataError, PolicyError
from metricdp.policies.column_type import ColumnType
from metricdp.policies.person import holds_identifiers
from metricdp.policies.policy import Policy
from metricdp.sources.dialect import Dialect, Untyped
from metricdp.sources.plain_arrays import kind_of, plain_array, plain_type
from metricdp.sources.table import Declared
from metricdp.tables.struct_fields import Fields

__all__ = ["Sanitizer", "declared_by"]


@dataclass(frozen=True)
class Sanitizer:
    """What is done to tables of one schema. Pickles, and keeps nothing between batches.

    Attributes:
        policy: what was asked for.
        schema: of the input, without its metadata.
        untyped: the columns that are text because their source declares no type; the policy declares it.
    """

    policy: Policy
    schema: pa.Schema
    untyped: Untyped = field(default_factory=Untyped)

    @classmethod
    def of(cls, policy: Policy, schema: pa.Schema, untyped: Untyped | None = None) -> Sanitizer:
        """Check the policy against the schema.

        Raises:
            PolicyError: with every mismatch.
        """
        if len(set(schema.names)) < len(schema.names):
            raise PolicyError([f"the table has two columns called {_first_twice(schema.names)!r}"])
        made = cls(policy, schema.remove_metadata(), untyped or Untyped())
        problems = list(made._problems())
        if problems:
            raise PolicyError(problems)
        return made

    def _problems(self) -> Iterator[str]:
        person = self.policy.person
        if person is not None and person.column not in self.schema.names:
            yield f"line {person.line}, person: the table has no column {person.column!r}"
        elif person is not None:
            rekeyed = person.release == "rekey"
            if not holds_identifiers(self.schema.field(person.column).type, rekeyed):
                wanted = "text, or integers of 64 bits" if rekeyed else "text or integers"
                yield f"line {person.line}, person, column {person.column!r}: {wanted} are wanted"
        yield from (column.unserved for column in self.policy.columns if column.unserved is not None)
        for name, column in self._columns.items():
            where = f"line {column.line}, column {name!r}"
            if self._fields.type_of(name) is None:
                yield f"{where}: the table has no such column"
            elif column.release != "drop" and column.unserved is None:
                yield from (f"{where}: {problem}" for problem in self._mismatch(column, name))
        known = [*self._columns, *([] if person is None else [person.column])]
        for name in self._fields.unnamed(known):
            yield f'column {name!r}: the policy does not name it; write {_key(name)} = "drop" or "keep", or protect it'
        for name in self._fields.covered_twice(known):
            yield f"column {name!r}: the policy names it, and also fields of it: one of the two"

    def _mismatch(self, column: ColumnType, name: str) -> Iterator[str]:
        wants = f"type {column.type_name!r} wants {column.wants}"
        if self._is_text(name):
            if column.release == "noise" and not column.has_text:
                yield f"{wants}, and a column without a type of its own has none"
            elif column.release == "noise" and not column.accepts(self._types[name]):
                yield f"{wants}, and one without a type of its own is released as {kind_of(self._types[name])}"
            return
        arrow = self._fields.type_of(name)
        plain = plain_type(arrow)
        if plain is None:
            yield f"{kind_of(arrow)} can be neither kept nor protected; drop the column, or split it into several"
        elif (column.release == "noise" or column.rekeyed) and not column.accepts(plain):
            yield f"{wants}, and the table has {kind_of(arrow)}{_cure(column, plain)}"
        elif column.rekeyed and name not in self.schema.names:
            yield "a field of a struct is not given new keys; make it a column of its own"

    def _is_text(self, name: str) -> bool:
        """Whether the policy says what the column's type is: it comes as text, or without a single value."""
        return name in self.untyped.columns or pa.types.is_null(self._fields.type_of(name))

    @cached_property
    def _columns(self) -> dict[str, ColumnType]:
        return {name: column for column in self.policy.columns for name in column.columns}

    @cached_property
    def _fields(self) -> Fields:
        return Fields(self.schema, tuple(self._columns))

    @cached_property
    def schema_out(self) -> pa.Schema:
        """The released table's schema: what is not dropped, in the order it had, with no metadata."""
        return self._fields.schema_of({name: self._types[name] for name in self._types if name not in self._dropped})

    @property
    def declared(self) -> pa.Schema:
        """The source's columns, and the fields that the policy names, in the types that are declared for them."""
        return pa.schema([pa.field(name, arrow) for name, arrow in self._types.items()])

    @cached_property
    def _types(self) -> dict[str, pa.DataType]:
        """What each column or field is released as: a function of declared types alone."""
        types = {}
        for name in self._fields.names:
            arrow, column = self._fields.type_of(name), self._columns.get(name)
            public = column is None or column.release != "noise"
            if (column is not None and column.release == "drop") or (public and pa.types.is_null(arrow)):
                types[name] = arrow
            elif column is not None and self._is_text(name):
                types[name] = pa.string() if public else column.declared_type(name, self.untyped.dialect)
            else:
                types[name] = arrow if column is None else plain_type(arrow)
        return types

    @property
    def noise(self) -> dict[str, bool]:
        """Columns and fields of noise that hardly ever repeats, and whether its grid is too fine to compress."""
        return {name: item.is_fine for item in self.policy.columns if item.is_noise for name in item.columns}

    @property
    def needed(self) -> list[str]:
        """The columns that have to be read: all but the dropped ones."""
        dropped = {name for name, column in self._columns.items() if column.release == "drop"}
        needed = {self._fields.top(name) for name in self._fields.names if name not in dropped}
        return [name for name in self.schema.names if name in needed]

    @cached_property
    def _dropped(self) -> set[str]:
        dropped = {name for name, column in self._columns.items() if column.release == "drop"}
        person = self.policy.person
        return dropped | ({person.column} if person is not None and person.release == "drop" else set())

    def apply(self, batch: pa.RecordBatch, first_row: int = 0) -> pa.RecordBatch:
        """Release a batch of rows whose first one is row ``first_row`` of the table."""
        released: dict[str, pa.Array] = {}
        for column in self.policy.columns:
            if column.release != "drop":
                released |= zip(column.columns, self._released(column, batch, first_row), strict=True)
        person = self.policy.person
        if person is not None and person.release != "drop":
            released[person.column] = batch.column(person.column)
        return self._fields.batch_of(released, self.schema_out)

    def _released(self, column: ColumnType, batch: pa.RecordBatch, first_row: int) -> list[pa.Array]:
        try:
            arrays = [self._read(column, name, self._fields.array(batch, name)) for name in column.columns]
            return column.apply(arrays, [self._types[name] for name in column.columns])
        except DataError as error:
            raise ColumnError(column.name, error.shifted(first_row)) from None
        except (pa.ArrowException, ArithmeticError, LookupError, TypeError, ValueError):
            # Of a library, or a mistake of ours: either way its message may hold a value.
            rule = "a value of this column cannot be released as its type"
            raise ColumnError(column.name, DataError(rule)) from None

    def _read(self, column: ColumnType, name: str, array: pa.Array) -> pa.Array:
        if column.release != "noise":
            return array
        if self._is_text(name):
            return column.read_text(array.cast(pa.string()), name, self.untyped.dialect)
        hidden = pa.types.is_dictionary(array.type) and array.dictionary.null_count  # no row tells that it is missing
        return array if array.type == self._types[name] and not hidden else plain_array(array)


def declared_by(policy: Policy) -> Declared:
    """What a policy declares for columns that come without a type."""
    protected = [item for item in policy.columns if item.release == "noise"]
    types = {column: item.declared_type(column, Dialect()) for item in protected for column in item.columns}
    nullable = frozenset(column for item in protected if item.missing == "secret" for column in item.columns)
    return Declared(types, policy.dialect, nullable, policy.batch_rows)


def _cure(column: ColumnType, arrow: pa.DataType) -> str:
    """The type of the policy that would fit a column that has been refused, where it is another."""
    from metricdp.policies.draft import suggested_type

    if pa.types.is_struct(arrow):
        return '; name its fields, each as a column of its own: [columns."NAME.FIELD"]'
    fitting = suggested_type(arrow) or ("category" if kind_of(arrow) == "text" else None)
    return "" if fitting in (None, column.type_name) else f': type = "{fitting}" would fit'


def _key(name: str) -> Any:
    from metricdp.policies._toml import key

    return key(name)


def _first_twice(names: list[str]) -> str:
    return next(name for place, name in enumerate(names) if name in names[:place])
