"""Conditions of questions in SQL, as predicates on the columns of a policy."""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable, Collection
from decimal import Decimal
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import CategoryCells, Cells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, JustAfter, NumberCells, decimal_text
from metricdp.policies.sql.bands import Band
from metricdp.policies.sql.cell_functions import CellCondition, CellFunction
from metricdp.policies.sql.joins import Joins, is_public
from metricdp.policies.sql.nodes import number_of, refuse, shown
from metricdp.policies.sql.predicates import NamedColumn, Predicate, any_of, col, true_cells
from metricdp.policies.sql.row_functions import RowReader, instead_of, like_pattern

__all__ = ["Conditions", "column_name"]

_COMPARE: dict[str, Callable[[NamedColumn, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FORMS = "=, <>, <, <=, >, >=, between, in, like, is null, and, or, not, with a column and values"


def _merged(column: Cells, compared: list[Any], cuts: Collection[Any] = ()) -> Cells:
    """The column with neighbouring cells made one, but for those that begin at or after a value compared with.

    And but for those that begin at a cut.
    """
    if isinstance(column, NumberCells):
        return _cut(column, compared)
    if not isinstance(column, IntegerCells | DateCells):
        return column
    rules: dict[str, Any] = {"outside": column.outside, "missing": column.missing, "other": column.other}
    if isinstance(column, DateCells):
        days = [column.value(value) for value in compared]
        wanted: set[Any] = {*days, *(day + dt.timedelta(days=1) for day in days)}
        rules |= {"zone": column.zone, "moments": column.moments}
    else:
        try:
            exact = [Fraction(value) for value in compared]
        except (TypeError, ValueError):
            raise ArgumentError(f"column {column.name!r} is compared with numbers, such as 12 or 0.5") from None
        numbers = [math.floor(value) for value in exact]
        wanted = {*numbers, *(number + 1 for number in numbers), *map(math.ceil, exact)}
    wanted |= {*cuts}
    if column.crowded:
        edges: list[Any] = sorted(start for start in wanted if column.bounds[0] < start <= column.bounds[1])
    else:
        edges = [start for start in column.starts[1:] if start in wanted]
    return type(column)(column.name, column.bounds, edges=edges, **rules)


def _cut(column: NumberCells, compared: list[Any]) -> Cells:
    """A column of numbers cut where it is compared, unless the policy cuts it."""
    if column.edges or not compared:
        return column
    low, high = column.bounds
    try:
        edges = sorted({column.value(value) for value in compared if low < Fraction(value) <= high})
    except ValueError:
        raise ArgumentError(f"column {column.name!r} is compared with numbers, such as 12 or 0.5") from None
    rules: dict[str, Any] = {"outside": column.outside, "missing": column.missing, "other": column.other}
    return NumberCells(column.name, column.bounds, edges=edges, **rules)


def column_name(node: Any, policy: Askable) -> str:
    """The policy's name of a column in the statement, which may stand after that of the table."""
    if is_public(node):
        raise ArgumentError(
            f"{shown(node)} is of a public table: it is added up, averaged, counted, compared and grouped by; for all "
            f"else, ask for count(*) .. group by {shown(node)}, and compute from that, which costs nothing more"
        )
    return policy.column(node.name).name


def _computed(node: Any) -> Any:
    """The value of an expression without columns, such as ``date '2024-01-31' + interval '1 month'``."""
    found = RowReader(lambda column: lambda row: None).read(node)(None)
    if isinstance(found, int | Fraction) and not isinstance(found, bool):
        if 10**60 % Fraction(found).denominator:
            raise ArgumentError(f"{shown(node)}: this has no end of decimals: write it as a decimal such as 0.3333")
        found = int(found) if found == int(found) else Decimal(decimal_text(found))
    if not isinstance(found, bool | int | Decimal | str | dt.date):
        raise ArgumentError(f"{shown(node)}: this is no value that a column can be compared with")
    return found


class Conditions:
    """Turns expressions into predicates, and remembers what each column is compared with."""

    def __init__(self, policy: Askable, joins: Joins | None = None) -> None:
        self.policy, self.joins = policy, Joins(policy, {}) if joins is None else joins
        self.compared: dict[str, list[Any]] = {}
        self.functions: dict[CellFunction, None] = {}

    def columns(self) -> tuple[Cells, ...]:
        """The columns in all conditions, with no more cells than they tell apart."""
        cuts: dict[str, set[Any]] = {}
        for one in self.functions:
            cuts.setdefault(one.column, set()).update(one.cuts)
        return tuple(
            _merged(self.policy.column(name), values, cuts.get(name, ())) for name, values in self.compared.items()
        )

    def take(self, function: CellFunction) -> CellFunction:
        """Have the cells told apart for which a function differs."""
        self.compared.setdefault(function.column, [])
        self.functions[function] = None
        return function

    def read(self, node: Any) -> Predicate:
        """The predicate of a parsed condition."""
        from sqlglot import exp

        if isinstance(node, exp.Paren):
            return self.read(node.this)
        if isinstance(node, exp.And):
            return ~any_of([~self.read(part) for part in node.flatten()])
        if isinstance(node, exp.Or):
            return any_of([self.read(part) for part in node.flatten()])
        if isinstance(node, exp.Not):
            return ~self.read(node.this)
        if isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ):  # is [not] distinct from: null is like any other value
            found = self.missing(node.this)
            if not isinstance(node.expression, exp.Null):
                found = self.read(exp.EQ(this=node.this.copy(), expression=node.expression.copy())) & ~found
            return found if isinstance(node, exp.NullSafeEQ) else ~found
        if self._computes(node):
            return self._of_cells(node)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return self.missing(node.this)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Boolean):
            truth = bool(node.expression.this)
            self._decided(node.this, node, [truth], lambda column: column == truth)  # or it is refused here
            return self._of_cells(node)  # a missing value is not true, where it would be unknown whether it equals that
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            low, high = self._value(node.args["low"], node), self._value(node.args["high"], node)
            if self._numeric(node.this, low, high):
                ends = (self._of_number(node.this, node, sign, end) for sign, end in ((">=", low), ("<=", high)))
                return ~any_of([~end for end in ends])
            return self._decided(node.this, node, [low, high], lambda column: column.between(low, high))
        if isinstance(node, exp.In):
            if any(value for key, value in node.args.items() if key not in ("this", "expressions")):
                raise refuse(node, "after in stands a list of values: x in (1, 2, 3)")
            values = [self._value(item, node) for item in node.expressions]
            if self._numeric(node.this, *values):
                return any_of([self._of_number(node.this, node, "=", value) for value in values])
            return self._decided(node.this, node, values, lambda column: column.isin(values))
        if isinstance(node, exp.Like | exp.ILike):
            self._alike(node)  # or it is refused here
            return self._of_cells(node)  # of values outside nobody knows what they are like
        return self._compared(node)

    def missing(self, column: Any) -> Predicate:
        """Whether a record has no value in a column of the policy."""
        return self._decided(column, column, [], lambda found: found.is_missing())

    def _computes(self, node: Any) -> bool:
        """Whether a condition is more than a column of the policy beside values, and of one column still."""
        from sqlglot import exp

        ends = () if isinstance(node, exp.Coalesce) else (node, node.this, node.args.get("expression"))
        plain = [one for one in ends if isinstance(one, exp.Column) and not is_public(one)]
        columns = list(node.find_all(exp.Column))
        if not columns or (len(columns) == len(plain) == 1) or node.find(exp.Query, exp.AggFunc, exp.Window):
            return False
        try:
            return len(self.joins.bases(node)) == 1
        except ArgumentError as error:
            values = (node.args.get("expression"), *node.args.get("expressions", ()))
            texts = [one.name for one in values if isinstance(one, exp.Column) and not one.table]
            if not texts:
                raise
            raise ArgumentError(f"{error}; text stands between single quotes, as in '{texts[0]}'") from None

    def _of_cells(self, node: Any) -> CellCondition:
        """A condition as a function of the values of one column."""
        function = self.take(self.joins.function(node))
        condition = CellCondition(function.column, function)
        condition.decide(function.cells)  # or it is refused here
        return condition

    def band(self, case: Any, name: str) -> Band:
        """The groups that a ``case`` makes."""
        from sqlglot import exp

        def label(node: Any) -> str:
            if isinstance(node, exp.Null) or node is None:
                return "(none)"
            if not isinstance(node, exp.Literal):
                raise ArgumentError(f"{shown(case)}: each branch of a case names a group, as in then 'young'")
            return str(node.this)

        whens = [case] if isinstance(case, exp.If) else case.args["ifs"]
        last = case.args.get("false" if isinstance(case, exp.If) else "default")
        of = None if isinstance(case, exp.If) else case.this
        conditions = [one.this if of is None else exp.EQ(this=of.copy(), expression=one.this) for one in whens]
        named = [label(one.args["true"]) for one in whens]
        read = [self.read(condition) for condition in conditions]
        return Band(name, tuple(zip(read, named, strict=True)), label(last))

    def _alike(self, node: Any) -> None:
        """Refuse a pattern that no declared value of a column of text is like."""
        from sqlglot import exp

        column, pattern = node.this, node.expression
        if not isinstance(column, exp.Column) or not isinstance(pattern, exp.Literal) or not pattern.is_string:
            raise refuse(node, "like compares a column with a pattern, as in city like 'San %'")
        cells = self.policy.column(column_name(column, self.policy))
        listed = cells.values if isinstance(cells, CategoryCells) else ()
        texts = [value for value in listed if isinstance(value, str)]
        if not texts:
            raise ArgumentError(f"{shown(node)}: like is for columns whose values are listed text")
        wanted = like_pattern(str(pattern.this), isinstance(node, exp.ILike))
        if not any(wanted.fullmatch(text) for text in texts):
            raise ArgumentError(f"{shown(node)}: none of the values that the policy lists is like that")

    def _compared(self, node: Any) -> Predicate:
        from sqlglot import exp

        signs = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        sign = signs.get(type(node))
        other = next((words for words in map(instead_of, node.walk()) if words), None)
        if other is not None:
            raise refuse(node, other)
        if node.find(exp.Column) is None and not node.find(exp.Query, exp.AggFunc):
            raise ArgumentError(f"{shown(node)}: this is the same for every record: leave it out")
        if sign is None:
            if isinstance(node, exp.Column):
                return self._decided(node, node, [True], lambda found: found == True)  # noqa: E712 it makes a predicate
            raise refuse(node, f"a condition is made of {_FORMS}")
        column, value = node.this, node.expression
        if isinstance(value, exp.Column) and not isinstance(column, exp.Column):
            column, value, sign = value, column, turned.get(sign, sign)
        plain, compare = self._value(value, node), _COMPARE[sign]
        if self._numeric(column, plain):
            return self._of_number(column, node, sign, plain)
        return self._decided(column, node, [plain], lambda found: compare(found, plain))

    def _numeric(self, node: Any, *values: Any) -> bool:
        """Whether a column of numbers, which no declared cells cut, is compared with numbers."""
        from sqlglot import exp

        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return False
        cells = self.policy.column(column_name(node, self.policy))
        plain = all(isinstance(value, int | Decimal) and not isinstance(value, bool) for value in values)
        return plain and isinstance(cells, NumberCells) and not cells.edges

    def _of_number(self, column: Any, node: Any, sign: str, value: int | Decimal) -> Predicate:
        """A comparison of numbers of any size by >= alone, since cells hold their lower ends."""
        name = column_name(column, self.policy)
        low, high = self.policy.column(name).bounds  # type: ignore[attr-defined]
        if low < Fraction(value) <= high and not self.policy.metric(name).without_null().all_alike:
            raise ArgumentError(
                f"{shown(node)}: {name} is protected by distance, and such numbers are not cut in two: ask for "
                f'percentiles, sums, averages of {name}, or let the policy declare metric = "1 discrete", or integers'
            )
        if sign in (">=", "<"):
            at_least = self._decided(column, node, [value], lambda found: found >= value)
        else:
            after = JustAfter(value)
            at_least = self._decided(column, node, [after], lambda found: found >= after)
        if sign in (">=", ">"):
            return at_least
        if sign in ("<", "<="):
            return ~at_least
        equal = self._decided(column, node, [value], lambda found: found >= value) & ~at_least
        return equal if sign == "=" else ~equal

    def _decided(
        self, node: Any, whole: Any, values: list[Any], condition: Callable[[NamedColumn], Predicate]
    ) -> Predicate:
        """A condition on one column, once it is known that its cells decide it."""
        from sqlglot import exp

        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise refuse(whole, f"a column of the policy stands alone on one side; a condition is made of {_FORMS}")
        name = column_name(node, self.policy)
        predicate = condition(col(name))
        cells = self.policy.column(name)
        alike = isinstance(cells, NumberCells) and self.policy.metric(name).without_null().all_alike
        if alike or cells.crowded:
            cells = _merged(cells, values)
        true_cells([cells], predicate)
        self.compared.setdefault(name, []).extend(values)
        return predicate

    def _value(self, node: Any, whole: Any) -> Any:
        from sqlglot import exp

        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -number_of(node.this)
        if isinstance(node, exp.Literal):
            return str(node.this) if node.is_string else number_of(node)
        if isinstance(node, exp.Boolean):
            return bool(node.this)
        if isinstance(node, exp.Null):
            raise ArgumentError(f"{shown(whole)}: nothing equals null; write is null, or is not null")
        if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.is_type("date"):
            try:
                return dt.date.fromisoformat(str(node.this.this))
            except ValueError:
                raise ArgumentError(f"{shown(node)}: a day is written date '2024-01-31'") from None
        if isinstance(node, exp.Binary | exp.Paren | exp.Neg) and not node.find(exp.Column, exp.Query, exp.AggFunc):
            return _computed(node)
        if (
            isinstance(node, exp.Cast)
            and isinstance(node.this, exp.Literal)
            and node.is_type(*exp.DataType.TEMPORAL_TYPES)
        ):
            raise refuse(whole, "moments are counted by day: compare with a day, as in x >= date '2024-01-31'")
        raise refuse(whole, f"a column is compared with values, not with others; a condition is made of {_FORMS}")
