"""Questions in SQL: the few statements that can be answered privately, and why the others cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from metricdp.errors import ArgumentError, MissingExtraError
from metricdp.exact.lists import as_a
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import Cells
from metricdp.policies.sql.bands import Band
from metricdp.policies.sql.cell_functions import CellBand, CellFunction
from metricdp.policies.sql.conditions import Conditions, column_name
from metricdp.policies.sql.expressions import Asked, Expression, Kept, Shown
from metricdp.policies.sql.joins import Joined, Joins, is_public
from metricdp.policies.sql.nodes import shown
from metricdp.policies.sql.parsing import parsed
from metricdp.policies.sql.predicates import Predicate
from metricdp.policies.sql.public_tables import PublicTable
from metricdp.policies.sql.rollups import check_totals, grouped_items

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["Aggregate", "Select", "read_select"]

Kind = Literal["count", "sum", "average", "percentile", "distinct", "moment"]

_CLAUSES = {
    "laterals": "a join: a question is about one table; join before, and give the policy the joined table",
    "distinct": "select distinct: write select x, count(*) .. group by x: groups come from the policy, each once",
    "qualify": "qualify: write having, which judges groups by their noisy answers",
    "windows": "windows: write group by",
}
_PLAIN = "counts, sums, averages and percentiles"
_READ = ("expressions", "from_", "where", "group", "having", "order", "limit", "offset", "with_")


@dataclass(frozen=True)
class Aggregate:
    """One thing to know of each group.

    Attributes:
        kind: what it is. The average needs a sum and a count; minimum, median and maximum are percentiles.
        column: of which; None for ``count(*)``.
        p: which percentile, from 0 to 100.
        name: what the answer is called.
        only: which records of the group it is of, by ``filter (where ..)`` or a ``case``; None for all.
        function: of a moment, which one: "var_pop", "corr" and so on; see `MOMENTS`.
        second: of a moment of two columns, the second as it is written; None elsewhere.
        through: the function of a column whose values are added up, or multiply those of ``column``; None elsewhere.
    """

    kind: Kind
    column: str | None
    p: Fraction | None
    name: str
    only: Predicate | None = None
    function: str = ""
    second: str | None = None
    through: CellFunction | None = None

    @property
    def what(self) -> tuple[Any, ...]:
        """All but the name: two that agree in it are the same number."""
        return self.kind, self.column, self.p, repr(self.only), self.function, self.second, *self._of

    @property
    def _of(self) -> tuple[str, ...]:
        return () if self.through is None else (self.through.column, self.through.text)

    @property
    def identity(self) -> str:
        """The same as text, whatever it is called: what an answer in a ledger is found by."""
        return repr(self.what)


@dataclass(frozen=True)
class Select:
    """A question, read against a policy.

    Attributes:
        aggregates: the numbers that get noise, each once.
        where: the condition; None for all records.
        conditions: the columns in conditions, with no more cells than they tell apart.
        groups: what records are grouped by: columns, and names of bands.
        text: the statement as it was written.
        shown: the columns of the answers, computed from the noisy numbers.
        bands: the groups that the question makes itself, by name.
        kept: which groups are shown, and in which order, by their noisy answers.
        compared: what each column is compared with, in all conditions.
        functions: those of single columns that it computes.
        public: the public tables that it joins, and how.
    """

    aggregates: tuple[Aggregate, ...]
    where: Predicate | None
    conditions: tuple[Cells, ...]
    groups: tuple[str, ...]
    text: str
    shown: tuple[Shown, ...] = ()
    bands: dict[str, Band | CellBand] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)
    functions: tuple[CellFunction, ...] = ()
    public: tuple[Joined, ...] = ()
    compared: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def records(self) -> tuple[str, ...]:
        """Which records are asked about and how they are grouped, as text, with how public tables are joined."""
        return (
            repr(self.where),
            *(repr(self.bands[name]) if name in self.bands else name for name in self.groups),
            *(one.identity for one in self.public),
        )

    def asking(self, aggregates: Sequence[Aggregate], text: str) -> Select:
        """A question for these aggregates about the same records and groups, all of which are shown."""
        shown_columns = tuple(Shown(one.name, Asked(place)) for place, one in enumerate(aggregates))
        return replace(self, aggregates=tuple(aggregates), text=text, shown=shown_columns, kept=Kept())

    def refuse_more(self) -> None:
        """Refuse whatever goes beyond aggregates by the cells of columns, for readers that know no more.

        Raises:
            ArgumentError: with the part that is too much.
        """
        more = {
            "bands of a case": any(isinstance(one, Band) for one in self.bands.values()),
            "functions of columns": bool(self.functions),
            "conditions of single answers": any(one.only is not None for one in self.aggregates),
            "variances, correlations and slopes": any(one.kind == "moment" for one in self.aggregates),
            "numbers of distinct values": any(one.kind == "distinct" for one in self.aggregates),
            "totals of groups": self.kept.totals or bool(self.kept.windows),
        }
        for words, there in more.items():
            if there:
                raise ArgumentError(f"{words}: not here; ask for {_PLAIN}, perhaps by group, and compute the rest")


def read_select(text: str, policy: Askable, public: Mapping[str, PublicTable] | None = None) -> Select:
    """Read ``select ANSWERS [from ..] [where ..] [group by ..] [having ..] [order by ..] [limit ..]``.

    The name after ``from`` is whatever you like: there is one table. Conditions compare columns with values by ``=``,
    ``<>``, ``<``, ``<=``, ``>``, ``>=``, ``between``, ``in``, ``like``, ``is null``, joined by ``and``, ``or``,
    ``not``. Answers are aggregates and what is computed from them. What comes after the noise costs nothing: ``having``
    and ``order by`` judge groups by their noisy answers. Values of one column can be computed with, as in
    ``year(joined)``, and a public table can be joined on a column of the policy.

    Args:
        text: the statement.
        policy: which columns there are.
        public: the public tables that it may join, by their names without capitals.

    Raises:
        ArgumentError: anything else, with the reason and the nearest thing that can be asked.

    >>> from metricdp.policies.policy import Policy
    >>> policy = Policy.parse('''
    ... format = 2
    ... records = 1000
    ... columns.age = {type = "integer", bounds = [0, 120], within = 5, missing = "refuse"}
    ... ''')
    >>> read_select("select count(*), median(age) from people where age >= 18", policy.askable).aggregates[1].p
    Fraction(50, 1)
    """
    try:
        import sqlglot
    except ImportError:
        raise MissingExtraError("sqlglot", "queries") from None
    text = as_a(str, text, "'select count(*) from people'")
    try:
        return _select(parsed(text), text, policy, Joins(policy, public or {}))
    except sqlglot.errors.SqlglotError as problem:
        raise ArgumentError(
            f"the question cannot be read as SQL{_where_it_ends(problem)}; write: select count(*) from people where "
            'age >= 18 group by sex limit 3, with names that are no plain words as "monthly pay"'
        ) from None
    except RecursionError:
        raise ArgumentError("the question is nested too deeply; write x in (1, 2, 3) in place of many 'or'") from None


def _where_it_ends(problem: Any) -> str:
    """Before which of the asker's own words reading ended."""
    found = next((one.get("highlight") for one in getattr(problem, "errors", ()) if one.get("highlight")), "")
    return f", from {found[:20]!r} on" if found else ""


def _select(statements: list[Any], text: str, policy: Askable, joins: Joins) -> Select:
    from sqlglot import exp

    from metricdp.policies.sql.answers import AGGREGATES, AnswerReader

    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        raise ArgumentError(f"a question is one select, such as: select {AGGREGATES} from people")
    statement = statements[0]
    from metricdp.policies.sql.subqueries import flattened

    wheres = flattened(statement)
    conditions = Conditions(policy, joins)
    matched = joins.read(statement)
    for one in matched:
        conditions.take(one.function)
    _refuse_clauses(statement)
    where: Predicate | None = None
    for found in [*matched, *(conditions.read(node) for node in wheres)]:
        where = found if where is None else where & found
    bands: dict[str, Band | CellBand] = {}
    grouped: dict[str, str] = {}
    groups = tuple(_groups(statement, policy, conditions, bands, grouped))
    answers = AnswerReader(policy, conditions, groups)
    shown_columns = tuple(_shown(statement, answers, groups, grouped))
    kept = _kept(statement, answers, shown_columns, groups)
    if kept.totals:
        check_totals(answers.found, kept.windows)
    return Select(
        tuple(answers.found),
        where,
        conditions.columns(),
        groups,
        text.strip(),
        shown_columns,
        bands,
        kept,
        tuple(conditions.functions),
        tuple(joins.joined.values()),
        conditions.compared,
    )


def _refuse_clauses(statement: exp.Select) -> None:
    for key, value in statement.args.items():
        if value and key not in _READ:
            raise ArgumentError(_CLAUSES.get(key, f"{key.strip('_')}: it is no part of a question here"))


# Groups


def _groups(
    statement: exp.Select,
    policy: Askable,
    conditions: Conditions,
    bands: dict[str, Band | CellBand],
    grouped: dict[str, str],
) -> Iterator[str]:
    """The names of the groups; ``bands`` and ``grouped``, by the text of what they are, are filled on the way."""
    from sqlglot import exp

    group = statement.args.get("group")
    if group is None:
        return
    seen: set[str] = set()
    if any(value for key, value in group.args.items() if key != "expressions"):
        raise ArgumentError("after group by stand names of columns and nothing else")
    for item in grouped_items(group.expressions)[0]:
        meant, name = _meant(item, statement)
        if isinstance(meant, exp.Column) and not isinstance(meant.this, exp.Star) and not is_public(meant):
            name = column_name(meant, policy)
            if policy.column(name).crowded:
                raise ArgumentError(f"group by {name}: too many values: declare count_by = 1000, or write a case")
        elif isinstance(meant, exp.Case | exp.If) and _names_groups(meant):
            name = name or shown(meant)
            bands[name] = conditions.band(meant, name)
        elif meant.find(exp.Column) is not None and not meant.find(*_no_values()):
            name = name or (meant.name if isinstance(meant, exp.Column) else shown(meant))
            bands[name] = CellBand(name, conditions.take(conditions.joins.function(meant)))
            _ = bands[name].labels  # or it is refused here
        else:
            raise ArgumentError(
                f"group by {shown(item)}: groups are the cells of a column, a function of them such as year(joined), "
                "or the bands of a case: write its name, or case when age < 18 then 'young' else 'old' end"
            )
        grouped[meant.sql()] = name
        if name in seen:
            raise ArgumentError(f"group by names {name!r} twice")
        seen.add(name)
        yield name


def _meant(item: Any, statement: exp.Select) -> tuple[Any, str]:
    """What a group is: an expression, or a column of the answers by its number or its name; and its name there."""
    from sqlglot import exp

    columns = statement.expressions
    if isinstance(item, exp.Literal) and not item.is_string and str(item.this).isdigit():
        place = int(str(item.this)) - 1
        if not 0 <= place < len(columns):
            raise ArgumentError(f"group by {shown(item)}: there is no such column of the answers; write its name")
        item = columns[place]
    if isinstance(item, exp.Column) and len(item.parts) == 1:
        aliases = (one for one in columns if isinstance(one, exp.Alias) and one.find(exp.AggFunc) is None)
        item = next((one for one in aliases if one.alias.casefold() == item.name.casefold()), item)
    inner, name = (item.this, item.alias) if isinstance(item, exp.Alias) else (item, "")
    if not name:
        name = next((one.alias for one in columns if isinstance(one, exp.Alias) and one.this == inner), "")
    return inner.unnest(), name


def _no_values() -> tuple[Any, ...]:
    """What is no value of a record."""
    from sqlglot import exp

    return exp.Query, exp.AggFunc, exp.Window, exp.Star, exp.Tuple


def _names_groups(case: Any) -> bool:
    """Whether each branch of a case is a label."""
    from sqlglot import exp

    whens = [case] if isinstance(case, exp.If) else case.args["ifs"]
    last = case.args.get("false" if isinstance(case, exp.If) else "default")
    labels = [*(one.args["true"] for one in whens), *([] if last is None else [last])]
    return all(isinstance(one, exp.Literal | exp.Null) for one in labels)


# Answers


def _shown(statement: exp.Select, answers: Any, groups: tuple[str, ...], grouped: dict[str, str]) -> Iterator[Shown]:
    from sqlglot import exp

    from metricdp.policies.sql.answers import AGGREGATES

    names: list[str] = []
    for item in statement.expressions:
        inner, alias = (item.this, item.alias) if isinstance(item, exp.Alias) else (item, "")
        if inner.unnest().sql() in grouped or (isinstance(inner, exp.Column) and inner.name in grouped.values()):
            continue  # groups are shown anyway
        if isinstance(inner, exp.Column) and not isinstance(inner.this, exp.Star):
            name = column_name(inner, answers.policy)
            if name not in groups:
                raise ArgumentError(
                    f"{shown(item)}: the values of records are secret; group by {name}, or ask for one of {AGGREGATES}"
                )
            continue
        found = answers.expression(inner, alias)
        name = alias or shown(inner)
        if name in (*names, *groups):
            raise ArgumentError(f"two answers are called {name!r}: leave one out, or give it a name with 'as'")
        names.append(name)
        yield Shown(name, found)
    if not names or not answers.found:
        raise ArgumentError(f"nothing is asked of the {'groups' if groups else 'records'}: add one of {AGGREGATES}")


def _kept(statement: exp.Select, answers: Any, columns: tuple[Shown, ...], groups: tuple[str, ...]) -> Kept:
    having = statement.args.get("having")
    order = statement.args.get("order")
    named = {one.name.casefold(): one.inner for one in columns}
    judged = None if having is None else answers.judged(having.this, named)
    keys: list[tuple[Expression | int, bool]] = []
    for item in order.expressions if order is not None else ():
        keys.append((_key(item.this, statement, answers, named, groups), bool(item.args.get("desc"))))
    group = statement.args.get("group")
    totals = group is not None and grouped_items(group.expressions)[1]
    return Kept(
        judged,
        tuple(keys),
        _whole(statement, "limit"),
        _whole(statement, "offset") or 0,
        totals,
        tuple(answers.windows),
    )


def _key(node: Any, statement: exp.Select, answers: Any, named: dict[str, Expression], groups: Any) -> Expression | int:
    """What groups are sorted by."""
    from sqlglot import exp

    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        place = int(str(node.this)) - 1
        if not 0 <= place < len(statement.expressions):
            raise ArgumentError(f"order by {shown(node)}: there is no such column of the answers")
        node = statement.expressions[place]
        node = node.args["alias"] if isinstance(node, exp.Alias) else node
    name = node.name if isinstance(node, exp.Column | exp.Identifier) else shown(node)
    folded = [group.casefold() for group in groups]
    if name.casefold() in folded:
        return folded.index(name.casefold())
    if name.casefold() in named:
        return named[name.casefold()]
    found: Expression = answers.expression(node, "", named)
    return found


def _whole(statement: exp.Select, key: str) -> int | None:
    from sqlglot import exp

    clause = statement.args.get(key)
    if clause is None:
        return None
    number = clause.expression
    if not isinstance(number, exp.Literal) or number.is_string or not str(number.this).isdigit():
        raise ArgumentError(f"{key} takes a whole number, such as {key} 10")
    return int(str(number.this))
