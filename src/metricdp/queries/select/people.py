"""People with several rows: nobody may have more than the policy says, which is counted where the table is."""

from __future__ import annotations

from functools import partial
from typing import Any

from metricdp.errors import ColumnError, NotFiniteError, OutOfDomainError
from metricdp.policies.policy import Policy
from metricdp.sources.engines.sql import SqlTable
from metricdp.sources.opening import open_sql
from metricdp.sources.table import Declared

__all__ = ["check_people"]


def check_people(source: Any, policy: Policy, engine: Any = None) -> None:
    """Refuse a table in which somebody has more rows than the policy says, or a row is nobody's.

    A question cannot leave rows out: answers are about all records. How many somebody has, and who, is not told.

    Raises:
        ColumnError: see above.
    """
    person = policy.person
    if person is None:
        return
    import pyarrow as pa

    with open_sql(source, Declared({person.column: pa.string()}, policy.dialect), engine) as table:
        counted = partial(_asked, table) if table.owners is None else table.owners
        somebody, nobodys = counted(person.column, person.rows)
    if nobodys:
        rule = "a row belongs to no person, since this column is empty, and a question cannot leave it out"
        raise ColumnError(person.column, NotFiniteError(rule))
    if somebody:
        rule = f"somebody has more than {person.rows} rows; declare more, or leave some out before"
        raise ColumnError(person.column, OutOfDomainError(rule))


def _asked(table: SqlTable, column: str, most: int) -> tuple[bool, bool]:
    """Whether somebody has more rows, and whether a row is nobody's, counted by the engine of the table."""
    name = table.dialect.quoted(column)
    found = table.read(
        "select max(records) as most, max(case when person is null then 1 else 0 end) as nobodys "
        f"from (select {name} as person, count(*) as records from {table.relation} as source group by {name}) "
        "as people"
    )
    return (found["most"][0] or 0) > most, bool(found["nobodys"][0])
