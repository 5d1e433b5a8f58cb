"""Conditions of questions in SQL, as predicates on the columns of a policy."""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import Cells
from metricdp.policies.cells.ordered import DateCells, IntegerCells
from metricdp.policies.sql.predicates import NamedColumn, Predicate, col, true_cells

__all__ = ["column_name", "number_of", "predicate_of", "refuse", "shown"]

_COMPARE: dict[str, Callable[[NamedColumn, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FORMS = "=, <>, <, <=, >, >=, between, in, is null, and, or, not, with a column and values"


def predicate_of(node: Any, policy: Askable) -> tuple[Predicate, tuple[Cells, ...]]:
    """The predicate of a parsed condition, and the columns in it, with no more cells than it tells apart."""
    reader = _Reader(policy)
    predicate = reader.read(node)
    return predicate, tuple(_merged(policy.column(name), values) for name, values in reader.compared.items())


def _merged(column: Cells, compared: list[Any]) -> Cells:
    """The column with neighbouring cells made one, but for those that begin at or after a value compared with."""
    if not isinstance(column, IntegerCells | DateCells):
        return column
    rules: dict[str, Any] = {"outside": column.outside, "missing": column.missing, "other": column.other}
    if isinstance(column, DateCells):
        days = [column.value(value) for value in compared]
        wanted: set[Any] = {*days, *(day + dt.timedelta(days=1) for day in days)}
        rules["zone"] = column.zone
    else:
        numbers = [math.floor(Fraction(value)) for value in compared]
        wanted = {*numbers, *(number + 1 for number in numbers), *(math.ceil(Fraction(value)) for value in compared)}
    edges: list[Any] = [start for start in column.starts[1:] if start in wanted]
    return type(column)(column.name, column.bounds, edges=edges, **rules)


def column_name(node: Any, policy: Askable) -> str:
    """The policy's name of a column in the statement."""
    if len(node.parts) > 1:
        raise ArgumentError(f"{shown(node)}: there is one table, so a column is written alone: {node.name}")
    return policy.column(node.name).name


def refuse(node: Any, instead: str) -> ArgumentError:
    """The error for a part of a statement that is not answered."""
    from sqlglot import exp

    text = shown(node)
    if isinstance(node, exp.WithinGroup):
        return ArgumentError(f"{text}: a percentile is written percentile(x, 0.9)")
    if isinstance(node, exp.Window | exp.Filter):
        return ArgumentError(f"{text}: no windows and filters; put the condition into where, the columns into group by")
    if isinstance(node, exp.Subquery | exp.Select):
        return ArgumentError(f"{text}: no subqueries; {instead}")
    return ArgumentError(f"{text}: {instead}")


def shown(node: Any) -> str:
    """A part of the statement as SQL, shortened; it is the asker's own text, and public."""
    text = " ".join(node.sql(normalize_functions="lower").split())
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Reader:
    """Turns expressions into predicates, and remembers what each column is compared with."""

    def __init__(self, policy: Askable) -> None:
        self.policy = policy
        self.compared: dict[str, list[Any]] = {}

    def read(self, node: Any) -> Predicate:
        from sqlglot import exp

        if isinstance(node, exp.Paren):
            return self.read(node.this)
        if isinstance(node, exp.And):
            return self.read(node.this) & self.read(node.expression)
        if isinstance(node, exp.Or):
            return self.read(node.this) | self.read(node.expression)
        if isinstance(node, exp.Not):
            return ~self.read(node.this)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return self._decided(node.this, node, [], lambda column: column.is_missing())
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            low, high = self._value(node.args["low"], node), self._value(node.args["high"], node)
            return self._decided(node.this, node, [low, high], lambda column: column.between(low, high))
        if isinstance(node, exp.In):
            if any(value for key, value in node.args.items() if key not in ("this", "expressions")):
                raise refuse(node, "after in stands a list of values: x in (1, 2, 3)")
            values = [self._value(item, node) for item in node.expressions]
            return self._decided(node.this, node, values, lambda column: column.isin(values))
        return self._compared(node)

    def _compared(self, node: Any) -> Predicate:
        from sqlglot import exp

        signs = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        sign = signs.get(type(node))
        if sign is None:
            if isinstance(node, exp.Column):
                raise ArgumentError(f"{shown(node)}: a condition compares; write {shown(node)} = true")
            raise refuse(node, f"a condition is made of {_FORMS}")
        column, value = node.this, node.expression
        if isinstance(value, exp.Column) and not isinstance(column, exp.Column):
            column, value, sign = value, column, turned.get(sign, sign)
        plain, compare = self._value(value, node), _COMPARE[sign]
        return self._decided(column, node, [plain], lambda found: compare(found, plain))

    def _decided(
        self, node: Any, whole: Any, values: list[Any], condition: Callable[[NamedColumn], Predicate]
    ) -> Predicate:
        """A condition on one column, once it is known that its cells decide it."""
        from sqlglot import exp

        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise refuse(whole, f"a column of the policy stands alone on one side; a condition is made of {_FORMS}")
        name = column_name(node, self.policy)
        predicate = condition(col(name))
        true_cells([self.policy.column(name)], predicate)
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
        raise refuse(whole, f"a column is compared with values, not with others; a condition is made of {_FORMS}")


def number_of(literal: Any) -> int | Decimal:
    """A number of the statement, exactly as it is written."""
    text = str(literal.this)
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 30 else Decimal(text)
    if isinstance(number, Decimal) and (len(text) > 60 or not -40 < number.adjusted() < 40):
        raise ArgumentError(f"{text[:20]}: so large or small a number is not compared")  # it would fill the memory
    return number
