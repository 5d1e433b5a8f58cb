"""A table that was released, with the policy that says how: from the file itself, or given beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from metricdp.errors import ArgumentError, ColumnError, FileError, KindError, PolicyError
from metricdp.policies.column_type import ColumnType
from metricdp.policies.count_by import CountBy
from metricdp.policies.policy import Policy
from metricdp.policies.types._line import OnALine
from metricdp.sources.carried_claims import claim_in_schema, read_carried
from metricdp.sources.databases import database_table
from metricdp.sources.dialect import Dialect
from metricdp.sources.file_kinds import STANDARD, kind_of_file
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
    claims, doubts = _claims(released, policy is not None)
    if policy is not None:
        rules = Policy.of(policy)
        for claim in claims:
            _check_policy(claim, rules)
    elif not claims:
        raise _unsaid(released)
    else:
        rules = _claimed(claims[0])
        for claim in claims[1:]:
            _check_policy(claim, rules, "another part of it says")
    private = all(claim.get("private", True) is True for claim in claims)
    with kept(released, Declared(dialect=rules.dialect.released()), engine) as source:
        yield ReleasedTable(source, rules, engine, private, doubts)


def _unsaid(released: Any) -> Exception:
    """What is wrong with a table that does not say how it was released."""
    if isinstance(released, str | Path):
        here = Path(released)
        if str(released) != STANDARD and not here.exists() and database_table(released) is None:
            return FileError(f"there is no {here}")
    called = visible_name(Path(released).name) if isinstance(released, str | Path) else "the table"
    return ArgumentError(
        f"{called} does not say how it was released: it is no sanitized file, or of a kind that has no room for that; "
        "give the policy that it was released under (policy=..)"
    )


def _claims(released: Any, known: bool) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The claims of a file or frame: none, one, or those of a folder's parts where they differ; and what is doubtful.

    Args:
        released: the file or frame.
        known: whether the policy is given, so that claims that cannot be read are no more than doubtful.
    """
    found: list[Any] = []
    if isinstance(released, str | Path) and Path(released).exists():
        path = Path(released)
        if path.is_dir() or kind_of_file(path) not in _SILENT:
            carried = read_carried(path)
            found = [carried.claim, *carried.others]
            if carried.differ and None in found:
                raise ArgumentError(
                    f"{visible_name(path.name)} has parts that say how they were released and parts that do not: they "
                    "are not one release"
                )
    elif isinstance(getattr(released, "schema", None), pa.Schema):
        found = [claim_in_schema(released.schema)]
    elif isinstance(getattr(released, "attrs", None), dict) and "metricdp" in released.attrs:
        told = released.attrs["metricdp"]
        found = [told.get("report") if isinstance(told, dict) else told]
    claims = [_plain(one) for one in found if one is not None]
    readable = [claim for claim in claims if claim is not None]
    if len(readable) == len(claims):
        return readable, ()
    if not known:
        raise ArgumentError("what the table claims cannot be read: it was changed; give the policy (policy=..)")
    return readable, ("What the table claims cannot be read, so that it does not say whether the policy is the one.",)


def _plain(claim: Any) -> dict[str, Any] | None:
    """A claim as plain values; None where it is none."""
    try:
        found = json.loads(claim) if isinstance(claim, bytes | str) else claim
    except ValueError:
        return None
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


def _check_policy(claim: dict[str, Any], rules: Policy, whose: str = "the table says of itself") -> None:
    """Refuse a policy that is not the claimed one, column by column: by what is released, however it is written.

    Args:
        claim: of the table.
        rules: the policy.
        whose: claim it is.
    """
    if not isinstance(claim.get("released_policy"), str):
        return
    carried = {column.name: column for column in _claimed(claim).columns}
    for column in rules.columns:
        other = carried.get(column.name)
        if column.release == "drop" or other is None:
            continue
        one, two = _said(column), _said(other)
        if _as_released(column) != _as_released(other):
            raise ArgumentError(
                f"column {column.name!r}: the policy says {one}, and {whose} {two}: it is not the policy that it was "
                "released under"
            )


def _as_released(column: ColumnType) -> tuple[Any, ...]:
    """What a release hangs on: not how questions count the column, nor the words that its level is written in."""
    plain = replace(column, line=0, written=None, count_by=CountBy())
    if isinstance(plain, OnALine):  # what lies beyond the bounds is clamped in any case where it is not refused
        plain = replace(plain, outside="refuse")
    return plain, column.mechanism if column.release == "noise" else None


def _said(column: ColumnType) -> str:
    return f"{column}, missing values {_MISSING[column.missing]}" if column.release == "noise" else str(column)


_MISSING = {"refuse": "refused", "public": "public", "secret": "secret"}

_SILENT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
"""Kinds of files that have no room for a claim."""
