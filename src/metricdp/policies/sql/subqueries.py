"""Subqueries that only choose rows or columns, so that the question stays one pass over the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["flattened"]

_INSTEAD = (
    "a subquery: it may choose rows and columns (select * from people where age >= 18), and nothing else; where it "
    "counts or groups, ask it as the question, and compute with its answers, which costs nothing more"
)


def flattened(statement: exp.Select) -> list[Any]:
    """All conditions of a statement and of the subqueries that it selects from, the innermost first.

    Raises:
        ArgumentError: a subquery that does more than choosing rows and columns.
    """
    from sqlglot import exp

    clause = statement.args.get("with_")
    known = {} if clause is None else {one.alias.casefold(): one.this for one in clause.expressions}
    wheres: list[Any] = []
    for _ in range(20):
        own = statement.args.get("where")
        wheres = [] if own is None and not wheres else ([own.this] if own is not None else []) + wheres
        source = statement.args.get("from_")
        if source is None:
            return wheres
        table = source.this
        if isinstance(table, exp.Subquery):
            inner: Any = table.this
        elif isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier):
            _check_table(table)
            inner = known.pop(table.name.casefold(), None)
            if inner is None:
                return wheres
        else:
            raise ArgumentError("after from stands the one table that is given: write any name")
        _check(inner)
        statement = inner
    raise ArgumentError("subqueries are nested too deeply")


def _check_table(table: exp.Table) -> None:
    if any(value for key, value in table.args.items() if key not in ("this", "db", "catalog", "alias")):
        raise ArgumentError("after from stands a name and nothing else")


def _check(inner: Any) -> None:
    from sqlglot import exp

    if not isinstance(inner, exp.Select):
        raise ArgumentError(_INSTEAD)
    if any(value for key, value in inner.args.items() if key not in ("expressions", "from_", "where")):
        raise ArgumentError(_INSTEAD)
    if inner.args.get("from_") is None or not all(isinstance(one, exp.Star | exp.Column) for one in inner.expressions):
        raise ArgumentError(_INSTEAD)
