"""A table that was released, with the policy that says how: from the file itself, or given beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from metricdp.errors import ArgumentError, ColumnError, KindError, PolicyError
from metricdp.policies.column_type import ColumnType
from metricdp.policies.policy import Policy
from metricdp.sources.carried_claims import claim_in_schema, read_carried
from metricdp.sources.dialect import Dialect
from metricdp.sources.opening import kept, open_table
from metricdp.sources.table import Declared
from metricdp.sources.typed_streams import TypedStream
from metricdp.visible import visible_name

__all__ = ["ReleasedTable", "read_released"]


@dataclass(frozen=True, eq=False)
class ReleasedTable:
    """A released table and its policy.

    Attributes:
        source: the table, which can be read more than once.
        policy: what was done with its columns.
        engine: what reads it; None for what the source calls for.
        private: False where the table says that its noise came from a seed.
        doubts: where the table and what it claims do not fit together.
        written: how a CSV file of it is written; None for the way in which releases are.
    """

    source: Any
    policy: Policy
    engine: Any = None
    private: bool = True
    doubts: tuple[str, ...] = ()
    written: Dialect | None = None

    @property
    def dialect(self) -> Dialect:
        """How a CSV file of it is written."""
        return self.policy.dialect.released() if self.written is None else self.written

    def column(self, name: str) -> ColumnType:
        """The entry of a column, by the name in the policy or in the table; capitals count only where they have to.

        Raises:
            ArgumentError: there is none, or it was left out.
        """
        columns = [column for column in self.policy.columns if column.release != "drop"]
        exact = {known: column for column in columns for known in (*column.columns, column.name)}
        folded = {known.casefold(): column for known, column in exact.items()}
        found = exact.get(name) or folded.get(name.casefold())
        if found is None:
            dropped = any(name in (column.name, *column.columns) for column in self.policy.columns)
            why = "the policy leaves it out" if dropped else "it was left out, or never there"
            raise ArgumentError(f"the released table has no column {name!r}: {why}; it has {', '.join(exact)}")
        return found

    def batches(self, columns: Sequence[ColumnType]) -> Iterator[list[list[pa.Array]]]:
        """The rows, in batches: for each of the columns, its arrays.

        Raises:
            ColumnError: one of them is not in the table.
        """
        dialect = self.dialect
        types: dict[str, pa.DataType] = {}
        for column in columns:
            for name in column.columns:
                types[name] = pa.string() if column.rekeyed else column.declared_type(name, dialect)
        with open_table(self.source, Declared(types, dialect), self.engine) as opened:
            missing = [name for name in types if name not in opened.schema.names]
            if missing:
                problem = KindError("the released table has no such column, though its policy speaks of one")
                raise ColumnError(missing[0], problem)
            for batch in TypedStream(opened, types).batches():
                yield [[batch.column(name) for name in column.columns] for column in columns]

    def check(self, column: ColumnType) -> None:
        """Refuse a column whose type in the table is none that the policy releases it in."""
        with open_table(self.source, Declared(dialect=self.dialect), self.engine) as opened:
            for name in column.columns:
                if name in opened.schema.names and name not in opened.untyped.columns:
                    arrow = opened.schema.field(name).type
                    if column.release == "noise" and not column.accepts(arrow):
                        rule = f"type {column.type_name!r} is released as {column.wants}, and this is {arrow}"
                        raise ColumnError(name, KindError(f"{rule}: it is not the policy that it was released under"))


@contextmanager
def read_released(
    released: Any, policy: Policy | str | Path | Mapping[str, Any] | None = None, engine: Any = None
) -> Iterator[ReleasedTable]:
    """The table with its policy: the one that is given, or the one that it carries.

    Args:
        released: a sanitized file or folder, a frame, or what else `metricdp.sources.open_table` takes.
        policy: what it was released under; None where the table carries that itself.
        engine: what reads it.

    Raises:
        ArgumentError: it carries no claim and no policy is given, or the policy does not fit the claim.
    """
    if isinstance(released, ReleasedTable):
        yield released
        return
    claim = _claim(released)
    if policy is not None:
        rules = Policy.of(policy)
    elif claim is None:
        called = visible_name(Path(released).name) if isinstance(released, str | Path) else "the table"
        raise ArgumentError(
            f"{called} does not say how it was released: it is no sanitized file, or of a kind that has no room for "
            "that; give the policy that it was released under (policy=..)"
        )
    else:
        rules = _claimed(claim)
    doubts = _doubts(claim, rules) if claim is not None and policy is not None else ()
    private = claim is None or claim.get("private", True) is True
    with kept(released, Declared(dialect=rules.dialect.released()), engine) as source:
        yield ReleasedTable(source, rules, engine, private, doubts)


def _claim(released: Any) -> dict[str, Any] | None:
    """The claim of a file or frame, as plain values; None where there is none."""
    text: bytes | str | None = None
    if isinstance(released, str | Path) and Path(released).exists():
        text = read_carried(Path(released)).claim
    elif isinstance(getattr(released, "schema", None), pa.Schema):
        text = claim_in_schema(released.schema)
    elif isinstance(getattr(released, "attrs", None), dict):
        told = released.attrs.get("metricdp")
        return told.get("report") if isinstance(told, dict) else None
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        raise ArgumentError(
            "what the table claims cannot be read: it is no JSON; give the policy (policy=..)"
        ) from None
    return found if isinstance(found, dict) else None


def _claimed(claim: dict[str, Any]) -> Policy:
    text = claim.get("released_policy") or claim.get("policy_text")
    if not isinstance(text, str):
        raise ArgumentError(
            "it was released by a version that did not write down how: give the policy that it was released under "
            "(policy=..)"
        )
    try:
        return Policy.parse(text)
    except PolicyError as error:
        raise ArgumentError(f"what the table claims cannot be followed: {error.problems[0]}") from None


def _doubts(claim: dict[str, Any], rules: Policy) -> tuple[str, ...]:
    """Refuse a policy that is not the one the table claims, column by column."""
    text = claim.get("released_policy")
    if not isinstance(text, str):
        return ()
    carried = {column.name: column for column in _claimed(claim).columns}
    for column in rules.columns:
        other = carried.get(column.name)
        if column.release == "drop" or other is None:
            continue
        if replace(column, line=0) != replace(other, line=0):
            raise ArgumentError(
                f"column {column.name!r}: the policy says {column}, and the table that it was released as {other}: it "
                "is not the policy that it was released under"
            )
    return ()
