"""Columns by their names, and fields of structs by theirs: ``address.lat`` is the field ``lat`` of ``address``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.sources.plain_arrays import plain_array

__all__ = ["Fields"]

Path = tuple[str, ...]


class Fields:
    """The columns of a schema, with those structs opened of which a policy names fields.

    A released struct is never null: where it was, all its fields are missing, and each is what its own rule makes of a
    missing value.

    Args:
        schema: of the table.
        named: the columns and fields that the policy names.
    """

    def __init__(self, schema: pa.Schema, named: tuple[str, ...]) -> None:
        self._schema = schema
        self._paths = {name: path for name in named if (path := _path(schema, name)) is not None}
        self._paths |= {name: (name,) for name in schema.names}

    @cached_property
    def names(self) -> list[str]:
        """What is released by itself: columns, and in place of opened structs their fields, in the table's order."""
        by_path = {path: name for name, path in self._paths.items()}
        return [by_path.get(path, ".".join(path)) for name in self._schema.names for path in self._leaves((name,))]

    def top(self, name: str) -> str:
        """The column that a field is in."""
        return self._paths[name][0] if name in self._paths else name.split(".")[0]

    def type_of(self, name: str) -> pa.DataType | None:
        """The type of a column or field; None where there is none."""
        path = self._paths.get(name)
        return None if path is None else _type_at(self._schema, path)

    def unnamed(self, known: Iterable[str]) -> Iterator[str]:
        """The columns and fields that are not among the known ones."""
        paths = {self._paths[name] for name in known if name in self._paths}
        for name in self._schema.names:
            for path in self._leaves((name,)):
                if path not in paths:
                    yield ".".join(path)

    def covered_twice(self, known: Iterable[str]) -> Iterator[str]:
        """The columns that are known themselves and by their fields."""
        paths = {self._paths[name] for name in known if name in self._paths}
        above = {path[:depth] for path in paths for depth in range(1, len(path))}
        for name in known:
            if self._paths.get(name) in above:
                yield name

    def array(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        """The values of a column or field; missing where a struct around it is."""
        import pyarrow.compute as pc

        first, *inner = self._paths[name]
        array = batch.column(first)
        for part in inner:
            absent = np.asarray(array.is_null()) if array.null_count else None
            array = pc.struct_field(array, part)
            if absent is not None and pa.types.is_run_end_encoded(array.type):  # which have no nulls of their own
                array = plain_array(array).take(pa.array(np.arange(len(array)), mask=absent))
        return array

    def schema_of(self, types: Mapping[str, pa.DataType]) -> pa.Schema:
        """The schema of a table that holds these columns and fields."""
        tree = self._nested(types)
        return pa.schema([pa.field(name, _struct(tree[name])) for name in self._schema.names if name in tree])

    def batch_of(self, arrays: Mapping[str, pa.Array], schema: pa.Schema) -> pa.RecordBatch:
        """A batch of that schema."""
        tree = self._nested(arrays)
        made = [_array(tree[field.name], field.type) for field in schema]
        return pa.record_batch(made, schema=schema)

    def _nested(self, leaves: Mapping[str, Any]) -> dict[str, Any]:
        """What belongs to each column or field, by column and field, in the order of the table."""
        tree: dict[str, Any] = {}
        for name in self.names:
            if name in leaves:
                *outer, last = self._paths[name]
                table = tree
                for part in outer:
                    table = table.setdefault(part, {})
                table[last] = leaves[name]
        return tree

    @cached_property
    def _opened(self) -> set[Path]:
        """The structs of which fields are named."""
        return {path[:depth] for path in self._paths.values() for depth in range(1, len(path))}

    def _leaves(self, path: Path) -> Iterator[Path]:
        if path not in self._opened:
            yield path
            return
        for field in _type_at(self._schema, path):
            yield from self._leaves((*path, field.name))


def _path(schema: pa.Schema, name: str) -> Path | None:
    """The column, or the column and the fields in it, that a name means: first of all a column of that very name."""
    if name in schema.names:
        return (name,)
    parts = name.split(".")
    for depth in range(len(parts) - 1, 0, -1):
        first = ".".join(parts[:depth])
        if schema.names.count(first) == 1:
            inner = _inside(schema.field(first).type, parts[depth:])
            if inner is not None:
                return (first, *inner)
    return None


def _inside(arrow: pa.DataType, parts: list[str]) -> Path | None:
    if not parts:
        return ()
    if not pa.types.is_struct(arrow):
        return None
    for depth in range(len(parts), 0, -1):
        name = ".".join(parts[:depth])
        place = arrow.get_field_index(name)
        if place >= 0:
            inner = _inside(arrow.field(place).type, parts[depth:])
            if inner is not None:
                return (name, *inner)
    return None


def _type_at(schema: pa.Schema, path: Path) -> Any:
    arrow = schema.field(path[0]).type
    for part in path[1:]:
        arrow = arrow.field(arrow.get_field_index(part)).type
    return arrow


def _struct(tree: Any) -> pa.DataType:
    if not isinstance(tree, dict):
        return tree
    return pa.struct([pa.field(name, _struct(inner)) for name, inner in tree.items()])


def _array(tree: Any, arrow: pa.DataType) -> pa.Array:
    if not isinstance(tree, dict):
        return tree
    fields = [_array(tree[field.name], field.type) for field in arrow]
    return pa.StructArray.from_arrays(fields, fields=list(arrow))
