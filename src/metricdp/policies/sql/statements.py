"""Questions in SQL: the few statements that can be answered privately, and why the others cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from metricdp.errors import ArgumentError, MissingExtraError
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import Cells
from metricdp.policies.sql.conditions import column_name, number_of, predicate_of, refuse, shown
from metricdp.policies.sql.predicates import Predicate

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["Aggregate", "Select", "read_select"]

Kind = Literal["count", "sum", "average", "percentile"]

_AGGREGATES = "count(*), count(x), sum(x), avg(x), median(x), min(x), max(x), percentile(x, 0.9)"
_CLAUSES = {
    "joins": "a join: a question is about one table; join before, and give the policy the joined table",
    "laterals": "a join: a question is about one table; join before, and give the policy the joined table",
    "with_": "a subquery: write one select",
    "distinct": "select distinct: the groups of 'group by' come from the policy, each once",
    "having": "having: which groups are shown would depend on secrets; all are answered, choose among the answers",
    "order": "order by: answers come in the order of the policy's cells; sort them afterwards, which is free",
    "limit": "limit: all groups are answered; choose among the answers, which is free",
    "offset": "offset: all groups are answered; choose among the answers, which is free",
    "qualify": "qualify: all groups are answered; choose among the answers, which is free",
    "windows": "windows: write group by",
}


@dataclass(frozen=True)
class Aggregate:
    """One thing to know of each group.

    Attributes:
        kind: what it is. The average needs a sum and a count; minimum, median and maximum are percentiles.
        column: of which; None for ``count(*)``.
        p: which percentile, from 0 to 100.
        name: what the answer is called.
    """

    kind: Kind
    column: str | None
    p: Fraction | None
    name: str


@dataclass(frozen=True)
class Select:
    """A question, read against a policy.

    Attributes:
        aggregates: what is asked, in order.
        where: the condition; None for all records.
        conditions: the columns in the condition, with no more cells than it tells apart.
        groups: the columns to group by.
        text: the statement as it was written.
    """

    aggregates: tuple[Aggregate, ...]
    where: Predicate | None
    conditions: tuple[Cells, ...]
    groups: tuple[str, ...]
    text: str


def read_select(text: str, policy: Askable) -> Select:
    """Read ``select AGGREGATES [from ..] [where CONDITION] [group by COLUMNS]``.

    The name after ``from`` is whatever you like: there is one table. Conditions compare columns with values by ``=``,
    ``<>``, ``<``, ``<=``, ``>``, ``>=``, ``between``, ``in``, ``is null``, joined by ``and``, ``or``, ``not``.

    Raises:
        ArgumentError: anything else, with the reason and the nearest thing that can be asked.

    >>> from metricdp.policies.policy import Policy
    >>> policy = Policy.parse('''
    ... format = 2
    ... records = 1000
    ... columns.age = {type = "integer", bounds = [0, 120], within = 5, missing = "refuse"}
    ... ''')
    >>> read_select("select count(*), median(age) from people where age >= 18", policy.askable).aggregates[1]
    Aggregate(kind='percentile', column='age', p=Fraction(50, 1), name='median(age)')
    """
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ImportError:
        raise MissingExtraError("sqlglot", "queries") from None
    try:
        statements = [statement for statement in sqlglot.parse(text) if statement is not None]
        return _select(statements, text, policy)
    except SqlglotError:
        raise ArgumentError(
            "the question cannot be read as SQL; write: select count(*) from people where age >= 18 group by sex"
        ) from None
    except RecursionError:
        raise ArgumentError("the question is nested too deeply; write x in (1, 2, 3) in place of many 'or'") from None


def _select(statements: list[Any], text: str, policy: Askable) -> Select:
    from sqlglot import exp

    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        raise ArgumentError(f"a question is one select, such as: select {_AGGREGATES} from people")
    statement = statements[0]
    _refuse_clauses(statement)
    groups = tuple(_groups(statement, policy))
    aggregates = tuple(_aggregates(statement, policy, groups))
    condition = statement.args.get("where")
    where, conditions = (None, ()) if condition is None else predicate_of(condition.this, policy)
    return Select(aggregates, where, conditions, groups, text.strip())


def _refuse_clauses(statement: exp.Select) -> None:
    from sqlglot import exp

    for key, value in statement.args.items():
        if value and key not in ("expressions", "from_", "where", "group"):
            raise ArgumentError(_CLAUSES.get(key, f"{key.strip('_')}: it is no part of a question here"))
    source = statement.args.get("from_")
    if source is None:
        return
    table = source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise ArgumentError("a subquery after from: a question is about the one table that is given; write any name")
    if any(value for key, value in table.args.items() if key not in ("this", "db", "catalog", "alias")):
        raise ArgumentError("after from stands a name and nothing else")


def _groups(statement: exp.Select, policy: Askable) -> Iterator[str]:
    from sqlglot import exp

    group = statement.args.get("group")
    if group is None:
        return
    seen: set[str] = set()
    if any(value for key, value in group.args.items() if key != "expressions"):
        raise ArgumentError("after group by stand names of columns and nothing else")
    for item in group.expressions:
        if not isinstance(item, exp.Column):
            raise ArgumentError(f"group by {shown(item)}: groups are the cells of a column; write its name")
        name = column_name(item, policy)
        if name in seen:
            raise ArgumentError(f"group by names {name!r} twice")
        seen.add(name)
        yield name


def _aggregates(statement: exp.Select, policy: Askable, groups: tuple[str, ...]) -> Iterator[Aggregate]:
    from sqlglot import exp

    found: list[Aggregate] = []
    for item in statement.expressions:
        inner, alias = (item.this, item.alias) if isinstance(item, exp.Alias) else (item, "")
        if isinstance(inner, exp.Column) and not isinstance(inner.this, exp.Star):
            name = column_name(inner, policy)
            if name not in groups or alias:
                raise ArgumentError(
                    f"{shown(item)}: the values of records are secret; group by {name}, or ask for one of {_AGGREGATES}"
                )
            continue  # groups are shown anyway
        aggregate = _aggregate(inner, policy, alias)
        if aggregate.name in (*(other.name for other in found), *groups):
            raise ArgumentError(
                f"two answers are called {aggregate.name!r}: leave one out, or give it a name with 'as'"
            )
        found.append(aggregate)
        yield aggregate
    if not found:
        raise ArgumentError(f"nothing is asked of the groups: add one of {_AGGREGATES}")


def _aggregate(item: Any, policy: Askable, alias: str) -> Aggregate:
    from sqlglot import exp

    text = shown(item)
    if isinstance(item, exp.Count):
        if isinstance(item.this, exp.Star) and not item.expressions:
            return Aggregate("count", None, None, alias or "count(*)")
        return Aggregate("count", _argument(item, policy), None, alias or text)
    if isinstance(item, exp.Sum | exp.Avg):
        kind: Kind = "sum" if isinstance(item, exp.Sum) else "average"
        return Aggregate(kind, _argument(item, policy), None, alias or text)
    if isinstance(item, exp.Min | exp.Median | exp.Max):
        p = 0 if isinstance(item, exp.Min) else 50 if isinstance(item, exp.Median) else 100
        return Aggregate("percentile", _argument(item, policy), Fraction(p), alias or text)
    share = _percentile(item)
    if share is not None:
        return Aggregate("percentile", _column(share[0], policy, text), share[1], alias or text)
    raise refuse(item, f"one of {_AGGREGATES} is asked")


def _percentile(item: Any) -> tuple[Any, Fraction] | None:
    """The column and the share of ``percentile(x, 0.9)``, which is also spelt quantile."""
    from sqlglot import exp

    called = str(item.this).lower() if isinstance(item, exp.Anonymous) else ""
    if called in ("percentile", "quantile", "percentile_cont", "percentile_disc"):
        given = list(item.expressions)
    elif isinstance(item, exp.Quantile):
        given = [item.this, item.args.get("quantile")]
    elif isinstance(item, exp.PercentileCont | exp.PercentileDisc):
        given = [item.this, item.args.get("expression")]
    else:
        return None
    if len(given) != 2 or not isinstance(given[1], exp.Literal) or given[1].is_string:
        raise ArgumentError(f"{shown(item)}: a percentile is written percentile(x, 0.9), with a share from 0 to 1")
    share = Fraction(number_of(given[1]))
    if not 0 <= share <= 1:
        raise ArgumentError(f"{shown(item)}: a share lies between 0 and 1, as in percentile(x, 0.9)")
    return given[0], 100 * share


def _argument(item: Any, policy: Askable) -> str:
    if any(value for key, value in item.args.items() if key not in ("this", "big_int")):
        raise ArgumentError(f"{shown(item)}: an aggregate is of one column, as in {item.key}(x)")
    return _column(item.this, policy, shown(item))


def _column(item: Any, policy: Askable, text: str) -> str:
    from sqlglot import exp

    if isinstance(item, exp.Distinct):
        raise ArgumentError(
            f"{text}: distinct values cannot be bounded; write group by, and count the groups of interest"
        )
    if not isinstance(item, exp.Column) or isinstance(item.this, exp.Star):
        raise ArgumentError(f"{text}: an aggregate is of one column of the policy, not of an expression")
    return column_name(item, policy)
