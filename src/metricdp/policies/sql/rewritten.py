"""Aggregates of expressions that are arithmetic of plain aggregates: sum(2 * x + 1) is 2 * sum(x) + count(x)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import BooleanCells
from metricdp.policies.cells.ordered import NumberCells, decimal_text
from metricdp.policies.sql.joins import is_public
from metricdp.policies.sql.nodes import number_of, shown

__all__ = ["rewritten"]


@dataclass(frozen=True)
class _Line:
    """``slope * column + shift``.

    Attributes:
        slope: of the column; 0 where there is none.
        shift: what is added.
        column: as it stands in the statement.
    """

    slope: Fraction
    shift: Fraction
    column: Any = None


def rewritten(node: Any, policy: Askable) -> Any:
    """The same number by plain aggregates and arithmetic; None where it is plain already, or nothing is known.

    >>> import sqlglot
    >>> from metricdp.policies.policy import Policy
    >>> policy = Policy.parse('''
    ... format = 2
    ... records = 9
    ... columns.pay = {type = "integer", bounds = [0, 9], epsilon = 1, missing = "secret"}
    ... ''')
    >>> rewritten(sqlglot.parse_one("sum(2 * pay + 1)"), policy.askable).sql()
    '2 * SUM(pay) + 1 * COUNT(pay)'
    """
    from sqlglot import exp

    filtered = isinstance(node, exp.Filter)
    inner = node.this if filtered else node
    found = _plain(inner, policy)
    if found is None or not filtered:
        return found

    def limited(part: Any) -> Any:
        return exp.Filter(this=part, expression=node.expression.copy()) if isinstance(part, exp.AggFunc) else part

    return found.transform(lambda part: part if isinstance(part.parent, exp.Filter) else limited(part))


def _plain(node: Any, policy: Askable) -> Any:
    from sqlglot import exp

    if isinstance(node, exp.CountIf):
        return _where(exp.Count(this=exp.Star()), node.this)
    if not isinstance(node, exp.Sum | exp.Avg) or len([value for value in node.args.values() if value]) != 1:
        return None
    inner, kind = node.this, type(node)
    if isinstance(inner, exp.If):
        return kind(this=_as_case(inner))
    if isinstance(inner, exp.Case):
        return _share(node, inner)
    if isinstance(inner, exp.Column) and not is_public(inner):
        truths = not policy.by_rows and isinstance(policy.column(inner.name), BooleanCells)
        return _of_truths(node, inner, policy) if truths else None
    if isinstance(inner, exp.Coalesce) and len(inner.expressions) == 1:
        return _filled(node, inner, policy)
    line = _line(inner, policy)
    if line is None or line.column is None:
        return None
    if isinstance(node, exp.Avg):
        return _sum(_times(line.slope, exp.Avg(this=line.column.copy())), _number(line.shift) if line.shift else None)
    added = _times(line.shift, exp.Count(this=line.column.copy())) if line.shift else None
    return _sum(_times(line.slope, exp.Sum(this=line.column.copy())), added)


def _as_case(node: Any) -> Any:
    from sqlglot import exp

    return exp.Case(ifs=[exp.If(this=node.this, true=node.args["true"])], default=node.args.get("false"))


def _share(node: Any, case: Any) -> Any:
    """``avg(case when c then 1 else 0 end)``: the part of all records for which c holds."""
    from sqlglot import exp

    branches, last = case.args["ifs"], case.args.get("default")
    ends = [branches[0].args["true"], last]
    if not isinstance(node, exp.Avg) or len(branches) != 1 or case.this is not None:
        return None
    if not all(isinstance(one, exp.Literal) and not one.is_string for one in ends):
        return None
    if [number_of(one) for one in ends] != [1, 0]:
        return None
    counted = exp.Count(this=exp.Star())
    return exp.Div(this=_where(counted, branches[0].this), expression=counted.copy())


def _of_truths(node: Any, column: Any, policy: Askable) -> Any:
    """``sum(b)`` and ``avg(b)`` of truth values: how many are true, or which part of those that are there."""
    from sqlglot import exp

    true = _where(exp.Count(this=exp.Star()), column.copy())
    if isinstance(node, exp.Sum):
        return true
    every: Any = exp.Count(this=exp.Star())
    if policy.column(column.name).missing is not None:
        every = _where(every, exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())))
    return exp.Div(this=true, expression=every)


def _filled(node: Any, inner: Any, policy: Askable) -> Any:
    """``sum(coalesce(x, c))``: the sum, and c for each record that has no value."""
    from sqlglot import exp

    line, instead = _line(inner.this, policy), _line(inner.expressions[0], policy)
    if line is None or instead is None or instead.column is not None or not isinstance(inner.this, exp.Column):
        return None
    every = exp.Count(this=exp.Star())
    found: Any = exp.Sum(this=inner.this.copy())
    if instead.shift:
        lacking = exp.Paren(this=exp.Sub(this=every.copy(), expression=exp.Count(this=inner.this.copy())))
        found = _sum(found, _times(instead.shift, lacking))
    return found if isinstance(node, exp.Sum) else exp.Div(this=exp.Paren(this=found), expression=every)


def _where(aggregate: Any, condition: Any) -> Any:
    from sqlglot import exp

    return exp.Filter(this=aggregate, expression=exp.Where(this=condition.copy()))


def _number(value: Fraction) -> Any:
    from sqlglot import exp

    if 10**60 % value.denominator:
        return exp.Paren(
            this=exp.Div(this=_number(Fraction(value.numerator)), expression=_number(Fraction(value.denominator)))
        )
    found = exp.Literal.number(decimal_text(abs(value)))
    return exp.Neg(this=found) if value < 0 else found


def _times(factor: Fraction, node: Any) -> Any:
    from sqlglot import exp

    return exp.Mul(this=_number(factor), expression=node)


def _sum(one: Any, two: Any) -> Any:
    from sqlglot import exp

    return one if two is None else exp.Add(this=one, expression=two)


def _line(node: Any, policy: Askable) -> _Line | None:
    """The expression as a line in one column of the policy; None where it is something else."""
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return _line(node.this, policy)
    if isinstance(node, exp.Literal) and not node.is_string:
        return _Line(Fraction(0), Fraction(number_of(node)))
    if isinstance(node, exp.Column):
        return None if is_public(node) or isinstance(node.this, exp.Star) else _Line(Fraction(1), Fraction(0), node)
    if isinstance(node, exp.Cast) and node.is_type(*exp.DataType.REAL_TYPES):
        return _line(node.this, policy)
    if isinstance(node, exp.Neg):
        return _scaled(_line(node.this, policy), Fraction(-1))
    if not isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return None
    one, two = _line(node.this, policy), _line(node.expression, policy)
    if one is None or two is None:
        return None
    if isinstance(node, exp.Mul):
        return (
            _scaled(two, one.shift) if one.column is None else _scaled(one, two.shift) if two.column is None else None
        )
    if isinstance(node, exp.Div):
        if two.column is not None or not two.shift:
            return None
        _refuse_whole(node, one, policy)
        return _scaled(one, 1 / two.shift)
    two = two if isinstance(node, exp.Add) else _scaled(two, Fraction(-1))
    assert two is not None
    if one.column is not None and two.column is not None and one.column != two.column:
        raise ArgumentError(
            f"{shown(node)}: an aggregate is of one column: write sum({shown(one.column)}) + sum({shown(two.column)}), "
            "each with its factor"
        )
    return _Line(one.slope + two.slope, one.shift + two.shift, one.column or two.column)


def _scaled(line: _Line | None, factor: Fraction) -> _Line | None:
    return None if line is None else _Line(line.slope * factor, line.shift * factor, line.column)


def _refuse_whole(node: Any, line: _Line, policy: Askable) -> None:
    """Refuse whole numbers by a whole number: databases differ on whether a rest is left out, record by record."""
    by = str(node.expression.unnest().this)
    if line.column is not None and by.isdigit() and not isinstance(policy.column(line.column.name), NumberCells):
        raise ArgumentError(
            f"{shown(node)}: databases differ on whether whole numbers are divided without a rest: write "
            f"sum({shown(line.column)}) / {by}, or {shown(node.this)} / {by}.0"
        )
