"""Conditions of questions in SQL, as predicates on the columns of a policy."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from metricdp.errors import InputError
from metricdp.queries.predicates import Predicate, col
from metricdp.queries.query_policy import QueryPolicy

__all__ = ["column_name", "number_of", "predicate_of", "refuse", "shown"]

_FORMS = "=, <>, <, <=, >, >=, between, in, is null, and, or, not, with a column and values"


def predicate_of(node: Any, policy: QueryPolicy) -> tuple[Predicate, tuple[str, ...]]:
    """The predicate of a parsed condition, and the columns in it."""
    reader = _Reader(policy)
    predicate = reader.read(node)
    return predicate, tuple(reader.columns)


def column_name(node: Any, policy: QueryPolicy) -> str:
    """The policy's name of a column in the statement."""
    if len(node.parts) > 1:
        raise InputError(f"{shown(node)}: there is one table, so a column is written alone: {node.name}")
    return policy.column(node.name).name


def refuse(node: Any, instead: str) -> InputError:
    """The error for a part of a statement that is not answered."""
    from sqlglot import exp

    text = shown(node)
    if isinstance(node, exp.WithinGroup):
        return InputError(f"{text}: a percentile is written percentile(x, 0.9)")
    if isinstance(node, exp.Window | exp.Filter):
        return InputError(f"{text}: no windows and filters; put the condition into where, the columns into group by")
    if isinstance(node, exp.Subquery | exp.Select):
        return InputError(f"{text}: no subqueries; {instead}")
    return InputError(f"{text}: {instead}")


def shown(node: Any) -> str:
    """A part of the statement as SQL, shortened; it is the asker's own text, and public."""
    text = " ".join(node.sql(normalize_functions="lower").split())
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Reader:
    """Turns expressions into predicates, and remembers the columns."""

    def __init__(self, policy: QueryPolicy) -> None:
        self.policy = policy
        self.columns: dict[str, None] = {}

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
            return col(self._column(node.this, node)).is_missing()
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            low, high = self._value(node.args["low"], node), self._value(node.args["high"], node)
            return col(self._column(node.this, node)).between(low, high)
        if isinstance(node, exp.In):
            if any(value for key, value in node.args.items() if key not in ("this", "expressions")):
                raise refuse(node, "after in stands a list of values: x in (1, 2, 3)")
            return col(self._column(node.this, node)).isin([self._value(item, node) for item in node.expressions])
        return self._compared(node)

    def _compared(self, node: Any) -> Predicate:
        from sqlglot import exp

        signs = {exp.EQ: "==", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        sign = signs.get(type(node))
        if sign is None:
            if isinstance(node, exp.Column):
                raise InputError(f"{shown(node)}: a condition compares; write {shown(node)} = true")
            raise refuse(node, f"a condition is made of {_FORMS}")
        column, value = node.this, node.expression
        if isinstance(value, exp.Column) and not isinstance(column, exp.Column):
            column, value, sign = value, column, turned.get(sign, sign)
        found = col(self._column(column, node))
        return found._compared(sign, self._value(value, node))  # type: ignore[arg-type]

    def _column(self, node: Any, whole: Any) -> str:
        from sqlglot import exp

        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise refuse(whole, f"a column of the policy stands alone on one side; a condition is made of {_FORMS}")
        name = column_name(node, self.policy)
        self.columns[name] = None
        return name

    def _value(self, node: Any, whole: Any) -> Any:
        from sqlglot import exp

        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -number_of(node.this)
        if isinstance(node, exp.Literal):
            return str(node.this) if node.is_string else number_of(node)
        if isinstance(node, exp.Boolean):
            return bool(node.this)
        if isinstance(node, exp.Null):
            raise InputError(f"{shown(whole)}: nothing equals null; write is null, or is not null")
        if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.is_type("date"):
            try:
                return dt.date.fromisoformat(str(node.this.this))
            except ValueError:
                raise InputError(f"{shown(node)}: a day is written date '2024-01-31'") from None
        raise refuse(whole, f"a column is compared with values, not with others; a condition is made of {_FORMS}")


def number_of(literal: Any) -> int | Decimal:
    """A number of the statement, exactly as it is written."""
    text = str(literal.this)
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 30 else Decimal(text)
    if isinstance(number, Decimal) and (len(text) > 60 or not -40 < number.adjusted() < 40):
        raise InputError(f"{text[:20]}: so large or small a number is not compared")  # it would fill the memory
    return number
