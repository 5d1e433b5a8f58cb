"""Joins to public tables: every record has one row of each, or none, which its value in one column decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import BooleanCells, CategoryCells
from metricdp.policies.cells.ordered import DateCells, IntegerCells
from metricdp.policies.sql.cell_functions import CellCondition, CellFunction
from metricdp.policies.sql.nodes import shown
from metricdp.policies.sql.public_tables import PublicTable
from metricdp.policies.sql.row_functions import RowReader, Value

__all__ = ["Joined", "Joins", "is_public"]

_ABOUT_ONE = (
    "a question is about one table. If {name} is public, give it beside the question under that name (public=..). If "
    "it is about people too, join before, and let the policy be about the joined table, with [person] where somebody "
    "can have several rows"
)
_WRITE = "write join {name} on people.x = {name}.y, where x is a column of the policy"


@dataclass(frozen=True, eq=False)
class Joined:
    """A public table that a question joins.

    Attributes:
        alias: what the question calls it.
        table: which it is.
        base: the column of the policy whose value decides the row.
        row: the place of that row for each value; None where there is none.
        kept: whether records without a row are kept, by a left join.
        text: the join as SQL: by which column, and which rows of the public table it chooses.
    """

    alias: str
    table: PublicTable
    base: str
    row: Callable[[Value], int | None]
    kept: bool
    text: str

    @property
    def identity(self) -> str:
        """What the columns of that name depend on: the same text of two questions may mean another row."""
        return f"{self.text} {self.table.digest}"


def is_public(node: Any) -> bool:
    """Whether a column in the statement is one of a public table."""
    return "public" in node.meta


class Joins:
    """The public tables of a statement, and what its columns are functions of.

    Args:
        policy: whose table the question is about.
        given: the public tables, by their names without capitals.
    """

    def __init__(self, policy: Askable, given: Mapping[str, PublicTable]) -> None:
        self.policy, self._given = policy, given
        self.joined: dict[str, Joined] = {}
        self._private: set[str] = set()
        self._shared: set[str] = set()

    # Reading

    def read(self, statement: Any) -> list[CellCondition]:
        """Take up the joins of a statement, and mark its columns; the conditions that inner joins make."""
        from sqlglot import exp

        joins = statement.args.get("joins") or []
        if not joins:
            return []
        if statement.args.get("from_") is None:
            raise ArgumentError(
                "a join stands after from and the table that the question is about: from people join .."
            )
        source = statement.args["from_"].this
        self._private = {name.casefold() for name in (source.alias, source.name) if name}
        for join in joins:
            self._join(join)
        statement.set("joins", None)
        for column in statement.find_all(exp.Column):
            if column.find_ancestor(exp.Select) is statement:  # those of subqueries are the policy's
                self._mark(column)
        return [found for one in self.joined.values() for found in self._matched(one)]

    def _join(self, join: Any) -> None:
        from sqlglot import exp

        table = join.this
        name = table.name if isinstance(table, exp.Table) else shown(table)
        public = self._given.get(name.casefold()) if isinstance(table, exp.Table) else None
        if public is None:
            raise ArgumentError(f"a join with {name}: {_ABOUT_ONE.format(name=name)}")
        alias = (table.alias or name).casefold()
        if alias in self.joined or alias in self._private:
            raise ArgumentError(f"two tables are called {alias!r}: give one another name, as in join {name} r")
        side, kind = str(join.args.get("side") or "").upper(), str(join.args.get("kind") or "").upper()
        if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or join.args.get("method"):
            raise ArgumentError(f"{shown(join)}: write join or left join: records without a row are left out, or kept")
        using = join.args.get("using")
        if using:
            if len(using) != 1:
                raise ArgumentError(f"{shown(join)}: a join is by one column: make one of several before")
            sides = exp.column(using[0].name), exp.column(using[0].name, table=alias)
            conditions: list[Any] = []
        else:
            sides, conditions = self._sides(join, alias, public)
        row = self._matching(alias, public, *sides, conditions)
        self.joined[alias] = Joined(alias, public, *row, side == "LEFT", shown_whole(join))

    def _sides(self, join: Any, alias: str, public: PublicTable) -> tuple[tuple[Any, Any], list[Any]]:
        """The column that is there and the public one that it is matched with; and conditions on the public table."""
        from sqlglot import exp

        on = join.args.get("on")
        if on is None:
            raise ArgumentError(f"{shown(join)}: {_WRITE.format(name=alias)}")
        parts = list(on.flatten()) if isinstance(on, exp.And) else [on]
        found: list[tuple[Any, Any]] = []
        others = []
        for part in parts:
            bare = part.unnest()
            own = [self._owner(column, alias, public) == alias for column in bare.find_all(exp.Column)]
            ends = (bare.this, bare.expression) if isinstance(bare, exp.EQ) else ()
            if (
                len(ends) == 2
                and all(isinstance(one, exp.Column) for one in ends)
                and own in ([True, False], [False, True])
            ):
                found.append((ends[1], ends[0]) if own[0] else (ends[0], ends[1]))
            elif own and all(own):
                others.append(bare)
            else:
                raise ArgumentError(f"{shown(part)}: {_WRITE.format(name=alias)}; other conditions go to where")
        if len(found) != 1:
            raise ArgumentError(f"{shown(join)}: a join is by one column: {_WRITE.format(name=alias)}")
        return found[0], others

    def _matching(
        self, alias: str, public: PublicTable, here: Any, there: Any, conditions: list[Any]
    ) -> tuple[str, Callable[[Value], int | None]]:
        """The policy's column that decides the row, and the row for each of its values."""
        name = public.column(there.name)
        if name is None:
            raise ArgumentError(f"{shown(there)}: {self._lacks(public, there.name)}")
        self._mark(here)
        base, of = self._looked_up(here)
        cells = self.policy.column(base)
        if not isinstance(cells, CategoryCells | BooleanCells | IntegerCells | DateCells):
            raise ArgumentError(
                f"{shown(here)}: a join is by a column whose values the policy lists: categories, integers, days or "
                "truth values"
            )
        if not is_public(here) and here.name.casefold() == name.casefold():
            self._shared.add(name.casefold())  # it is the same in both
        text = not is_public(here) and isinstance(cells, CategoryCells) and isinstance(cells.values[0], str)
        keys = public.texts[name] if text and name in public.texts else public.columns[name]
        kinds = {_kind(key) for key in keys if key is not None}
        wanted = {_kind(value) for value in CellFunction.of(shown(here), cells, of).found if value is not None}
        if kinds and wanted and not kinds & wanted:
            raise ArgumentError(
                f"{shown(there)} holds {' and '.join(sorted(kinds))}, {shown(here)} {' and '.join(sorted(wanted))}: "
                "they never are equal; give the public table a column of the same kind"
            )
        return base, self._rows(alias, public, name, keys, of, conditions)

    def _rows(
        self, alias: str, public: PublicTable, name: str, keys: Any, of: Callable[[Value], Value], conditions: list[Any]
    ) -> Callable[[Value], int | None]:
        def cell(column: Any) -> Callable[[int], Value]:
            own = public.column(column.name)
            if own is None:
                raise ArgumentError(f"{shown(column)}: {self._lacks(public, column.name)}")
            return lambda row: public.columns[own][row]

        tests = [RowReader(cell).read(condition) for condition in conditions]
        places: dict[Value, int] = {}
        for row, key in enumerate(keys):
            if key is None or not all(test(row) is True for test in tests):
                continue
            if key in places:
                raise ArgumentError(
                    f"the public table {public.name!r} has {name} = {_text(key)} in several rows, so that a record "
                    f"would count several times: make one row for each {name}, or choose one in the join, as in "
                    f"on .. and {alias}.year = 2024"
                )
            places[key] = row
        return lambda value: None if of(value) is None else places.get(of(value))

    @staticmethod
    def _lacks(public: PublicTable, name: str) -> str:
        return f"the public table {public.name!r} has no column {name!r}; it has {', '.join(public.columns)}"

    def _matched(self, one: Joined) -> list[CellCondition]:
        """The condition that a record has a row, where some have none and are not kept."""
        cells = self.policy.column(one.base)
        found = CellFunction.of(f"{one.alias} has a row", cells, lambda value: one.row(value) is not None)
        if not any(found.found):
            raise ArgumentError(
                f"the public table {one.table.name!r} has no row for any value that the policy lists of {one.base!r}"
            )
        return [] if one.kept or all(found.found) else [CellCondition(one.base, found)]

    # Columns

    def _owner(self, column: Any, alias: str = "", public: PublicTable | None = None) -> str:
        """The alias of the public table that a column is of; empty for the policy's own.

        Raises:
            ArgumentError: it is in several of them.
        """
        tables = {name: one.table for name, one in self.joined.items()} | ({alias: public} if public else {})
        called = str(column.table).casefold()
        if called:
            if called in tables:
                return called
            if called in self._private:
                return ""
            raise ArgumentError(f"{shown(column)}: there is no table {column.table!r} in the question")
        found = [name for name, table in tables.items() if table.column(column.name) is not None]
        own = any(name.casefold() == column.name.casefold() for name in self.policy.names)
        if own and found and column.name.casefold() in self._shared:
            return ""
        if len(found) + own > 1:
            names = ", ".join(f"{name}.{column.name}" for name in [*found, *(sorted(self._private) if own else [])])
            raise ArgumentError(f"{column.name}: several tables have it; write one of {names}")
        return found[0] if found else ""

    def _mark(self, column: Any) -> None:
        from sqlglot import exp

        if is_public(column) or isinstance(column.this, exp.Star):
            return
        owner = self._owner(column)
        if owner:
            column.meta["public"] = owner

    def _looked_up(self, column: Any) -> tuple[str, Callable[[Value], Value]]:
        """The column of the policy that decides a column of the statement, and what it is for each of its values."""
        if not is_public(column):
            return self.policy.column(column.name).name, lambda value: value
        one = self.joined[column.meta["public"]]
        name = one.table.column(column.name)
        if name is None:
            raise ArgumentError(f"{shown(column)}: {self._lacks(one.table, column.name)}")
        values = one.table.columns[name]

        def found(value: Value) -> Value:
            row = one.row(value)
            return None if row is None else values[row]

        return one.base, found

    def bases(self, node: Any) -> set[str]:
        """The columns of the policy that an expression depends on."""
        from sqlglot import exp

        columns = (column for column in node.find_all(exp.Column) if not isinstance(column.this, exp.Star))
        return {self._looked_up(column)[0] for column in columns}

    def function(self, node: Any) -> CellFunction:
        """An expression as a function of one column of the policy.

        Raises:
            ArgumentError: it depends on several columns; or what it does is not known.
        """
        bases = self.bases(node)
        if len(bases) != 1:
            raise ArgumentError(
                f"{shown(node)}: it depends on {' and '.join(sorted(bases)) or 'no column'}: what is computed here is "
                "of the values of one column; group by each of them, or write a case"
            )
        reader = RowReader(lambda column: self._looked_up(column)[1])
        return CellFunction.of(shown_whole(node), self.policy.column(*bases), reader.read(node))


def shown_whole(node: Any) -> str:
    """A part of the statement as SQL, all of it: what tells one function from another."""
    return " ".join(node.sql(normalize_functions="lower").split())


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "truth values"
    if isinstance(value, int | Fraction):
        return "numbers"
    return {"str": "text", "date": "days", "datetime": "moments"}.get(type(value).__name__, type(value).__name__)


def _text(key: Value) -> str:
    return str(key) if isinstance(key, Fraction) else repr(key)
