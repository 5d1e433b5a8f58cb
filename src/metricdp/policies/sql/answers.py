"""The answers of a statement: aggregates, and what is computed from them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import CategoryCells
from metricdp.policies.cells.ordered import IntegerCells, NumberCells
from metricdp.policies.sql.cell_functions import CellCondition, CellFunction
from metricdp.policies.sql.conditions import Conditions, column_name
from metricdp.policies.sql.expressions import Applied, Asked, Combined, Constant, Expression, Overall
from metricdp.policies.sql.joins import is_public
from metricdp.policies.sql.nodes import number_of, refuse, shown
from metricdp.policies.sql.predicates import Predicate
from metricdp.policies.sql.rewritten import rewritten
from metricdp.policies.sql.statements import Aggregate, Kind
from metricdp.policies.sql.together import unlike

__all__ = ["AGGREGATES", "MOMENTS", "AnswerReader"]

AGGREGATES = (
    "count(*), count(x), count(distinct x), sum(x), avg(x), median(x), min(x), max(x), percentile(x, 0.9), stddev(x), "
    "corr(x, y)"
)

MOMENTS = {
    "Variance": "var_samp",
    "VariancePop": "var_pop",
    "Stddev": "stddev_samp",
    "StddevSamp": "stddev_samp",
    "StddevPop": "stddev_pop",
    "CovarPop": "covar_pop",
    "CovarSamp": "covar_samp",
    "Corr": "corr",
    "RegrSlope": "regr_slope",
    "RegrIntercept": "regr_intercept",
    "RegrR2": "regr_r2",
}
"""What is computed from sums of squares and products, by sqlglot's name for it, as SQL calls it."""

_HISTOGRAM = "ask for a histogram, count(*) .. group by {}, and compute it from that, which costs nothing more"


_INSTEAD = {
    "mode": "write count(*) .. group by x order by 2 desc limit 1",
    "approxdistinct": "write count(distinct x)",
    "star": "the values of records are secret: name what you want to know, such as count(*), avg(x) .. group by y",
    "column": f"the values of records are secret; one of {AGGREGATES} is asked, by group where you name columns",
    "groupconcat": "the values of records are secret: write count(*) .. group by x",
    "arrayagg": "the values of records are secret: write count(*) .. group by x",
    "logicalor": "what one record decides is secret: write sum(case when .. then 1 else 0 end), the number of them",
    "logicaland": "what one record decides is secret: write sum(case when .. then 1 else 0 end), the number of them",
    "anyvalue": "the value of one record is secret: write median(x), or count(*) .. group by x",
    "first": "the value of one record is secret: write min(x), median(x), or count(*) .. group by x",
    "last": "the value of one record is secret: write max(x), median(x), or count(*) .. group by x",
    "histogram": "write count(*) .. group by x",
}
"""What to write in place of what is not answered, by sqlglot's name."""


class AnswerReader:
    """Reads aggregates and expressions, and remembers each aggregate once.

    Attributes:
        found: the aggregates so far.
        windows: totals of their answers over groups; see `Kept`.
    """

    def __init__(self, policy: Askable, conditions: Conditions, groups: tuple[str, ...]) -> None:
        self.policy, self.conditions, self.groups = policy, conditions, groups
        self.found: list[Aggregate] = []
        self.windows: list[tuple[int, tuple[int, ...]]] = []

    def expression(self, node: Any, alias: str = "", named: Mapping[str, Expression] | None = None) -> Expression:
        """An aggregate, or arithmetic of aggregates and numbers; of columns of the answers, where they have names."""
        from sqlglot import exp

        signs = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Pow: "power"}
        several = {exp.Greatest: "greatest", exp.Least: "least"}
        functions: dict[Any, Any] = {exp.Abs: "abs", exp.Sqrt: "sqrt", exp.Floor: "floor", exp.Ceil: "ceil"}
        functions |= {exp.Exp: "exp", exp.Ln: "ln"}
        if isinstance(node, exp.Paren):
            return self.expression(node.this, alias, named)
        if isinstance(node, exp.Literal) and not node.is_string:
            return Constant(float(number_of(node)))
        if isinstance(node, exp.Neg):
            return Applied("-", self.expression(node.this, "", named))
        if type(node) in signs:
            sides = (self.expression(side, "", named) for side in (node.this, node.expression))
            return Combined(signs[type(node)], *sides)
        if type(node) in several:
            each = [self.expression(one, "", named) for one in (node.this, *node.expressions)]
            return functools.reduce(functools.partial(Combined, several[type(node)]), each)
        if type(node) in functions:
            return Applied(functions[type(node)], self.expression(node.this, "", named))
        if isinstance(node, exp.Round):
            return Applied("round", self.expression(node.this, "", named), _places(node))
        if isinstance(node, exp.Cast) and node.is_type(*exp.DataType.INTEGER_TYPES):
            return Applied("round", self.expression(node.this, "", named), 0)
        if isinstance(node, exp.Cast | exp.Coalesce | exp.Nullif):
            return self.expression(node.this, "", named)  # an answer is a number, whatever it is called
        if named is not None and isinstance(node, exp.Column) and node.name.casefold() in named:
            return named[node.name.casefold()]
        if isinstance(node, exp.Window):
            return self._window(node)
        plain = rewritten(node, self.policy)
        if plain is not None:
            return self.expression(plain, alias, named)
        return Asked(self._place(self._aggregate(node, alias)))

    def _window(self, node: Any) -> Expression:
        """``sum(count(*)) over (partition by x)``: the total of noisy answers over groups, which costs nothing."""
        from sqlglot import exp

        more = any(value for key, value in node.args.items() if key not in ("this", "partition_by", "over"))
        inner = node.this.this if isinstance(node.this, exp.Sum) else None
        if more or not isinstance(inner, exp.Count | exp.Sum):
            raise refuse(node, "")
        added, groups = self.expression(inner), [name.casefold() for name in self.groups]
        names = [
            one.name.casefold() if isinstance(one, exp.Column) else "" for one in node.args.get("partition_by") or ()
        ]
        if not isinstance(added, Asked) or not set(names) <= set(groups):
            raise refuse(node, "")
        self.windows.append((added.place, tuple(groups.index(name) for name in names)))
        return Overall(len(self.windows) - 1)

    def judged(self, node: Any, named: Mapping[str, Expression]) -> Expression:
        """A condition on noisy answers, after ``having``."""
        from sqlglot import exp

        both = {exp.And: "and", exp.Or: "or"}
        signs = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
        if isinstance(node, exp.Paren):
            return self.judged(node.this, named)
        if isinstance(node, exp.Not):
            return Applied("not", self.judged(node.this, named))
        if type(node) in both:
            sides = (self.judged(side, named) for side in (node.this, node.expression))
            return Combined(both[type(node)], *sides)
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            value, low, high = (
                self.expression(one, "", named) for one in (node.this, node.args["low"], node.args["high"])
            )
            return Combined("and", Combined(">=", value, low), Combined("<=", value, high))
        ends = [node.this, node.args.get("expression")]
        if any(isinstance(one, exp.Column) and one.name.casefold() not in named for one in ends):
            raise refuse(node, "having judges noisy answers: a condition on a column goes to where")
        if type(node) in signs:
            sides = (self.expression(side, "", named) for side in (node.this, node.expression))
            return Combined(signs[type(node)], *sides)
        raise refuse(node, "having compares noisy answers with numbers, as in having count(*) >= 100")

    def _place(self, aggregate: Aggregate) -> int:
        for place, known in enumerate(self.found):
            if known.what == aggregate.what:
                return place
        self.found.append(unlike(aggregate, self.found))
        return len(self.found) - 1

    def _aggregate(self, node: Any, alias: str) -> Aggregate:
        from sqlglot import exp

        name, only = alias or shown(node), None
        if isinstance(node, exp.Filter):
            only = self.conditions.read(node.expression.this)
            node = node.this
        if isinstance(node, exp.WithinGroup):
            column, share = _within_group(node)
            return self._checked(Aggregate("percentile", self._column(column, shown(node)), share, name, only))
        if isinstance(node, exp.Count | exp.Sum | exp.Avg) and isinstance(node.this, exp.Case):
            node, chosen = self._case(node)
            only = chosen if only is None else only & chosen
        if isinstance(node, exp.Count):
            if isinstance(node.this, exp.Distinct):
                return self._distinct(node.this, name, only)
            if isinstance(node.this, exp.Star | exp.Literal) and not node.expressions:
                return Aggregate("count", None, None, alias or ("count(*)" if only is None else name), only)
            if self._computed(node.this):
                return Aggregate("count", None, None, name, self._there(self._function(node.this), only))
            return self._counted(node, name, only)
        if isinstance(node, exp.Sum | exp.Avg):
            kind: Kind = "sum" if isinstance(node, exp.Sum) else "average"
            if self._computed(node.this):
                return self._through(kind, node.this, name, only)
            return Aggregate(kind, self._argument(node), None, name, only)
        if isinstance(node, exp.Min | exp.Median | exp.Max):
            p = 0 if isinstance(node, exp.Min) else 50 if isinstance(node, exp.Median) else 100
            return self._checked(Aggregate("percentile", self._argument(node), Fraction(p), name, only))
        share_of = _percentile(node)
        if share_of is not None:
            column = self._column(share_of[0], shown(node))
            return self._checked(Aggregate("percentile", column, share_of[1], name, only))
        if type(node).__name__ in MOMENTS:
            return self._moment(node, name, only)
        called = str(node.this).lower() if isinstance(node, exp.Anonymous) else node.key
        raise refuse(node, _INSTEAD.get(called, f"one of {AGGREGATES} is asked, and what is computed from such"))

    def _counted(self, node: Any, name: str, only: Predicate | None) -> Aggregate:
        """``count(x)``: how many records have a value; of what is no number, all but those where it is missing."""
        column = self._argument(node)
        cells = self.policy.column(column)
        if self.policy.by_rows or cells.missing is None or cells.mixes_missing or column in self.groups:
            return Aggregate("count", column, None, name, only)
        whole = isinstance(cells, CategoryCells) and isinstance(cells.values[0], int)
        if cells.other is None and (whole or isinstance(cells, IntegerCells | NumberCells)):
            return Aggregate("count", column, None, name, only)
        there = ~self.conditions.missing(node.this)
        return Aggregate("count", None, None, name, there if only is None else only & there)

    # Functions of one column

    def _computed(self, node: Any) -> bool:
        """Whether what is aggregated is computed from a record's values, or is of a public table."""
        from sqlglot import exp

        bare = node is None or (isinstance(node, exp.Column) and not is_public(node))
        return not bare and not isinstance(node, exp.Distinct) and node.find(exp.Column) is not None

    def _function(self, node: Any) -> CellFunction:
        if len(self.conditions.joins.bases(node)) != 1:
            raise ArgumentError(
                f"{shown(node)}: an aggregate is of one column of the policy, or of its product with a column of a "
                "public table: compute with its answers, as in sum(x) / count(*), or make the column before"
            )
        return self.conditions.take(self.conditions.joins.function(node))

    def _there(self, function: CellFunction, only: Predicate | None) -> Predicate | None:
        """The condition that a function has a value, where it lacks some, beside another."""
        if None not in function.found:
            return only
        found = tuple(value is not None for value in function.found)
        there = replace(function, text=f"{function.text} is not null", found=found)
        condition = CellCondition(function.column, self.conditions.take(there))
        return condition if only is None else only & condition

    def _through(self, kind: Kind, node: Any, name: str, only: Predicate | None) -> Aggregate:
        """The sum or the average of a function of one column, or of its product with another."""
        from sqlglot import exp

        column, inner = None, node.unnest()
        if isinstance(inner, exp.Mul) and len(self.conditions.joins.bases(inner)) == 2:
            ends = [one.unnest() for one in (inner.this, inner.expression)]
            own = [one for one in ends if isinstance(one, exp.Column) and not is_public(one)]
            if len(own) == 1:
                column = self._column(own[0], shown(node))
                inner = next(one for one in ends if one is not own[0])
        function = self._function(inner)
        if any(isinstance(value, bool) or not isinstance(value, int | Fraction | None) for value in function.found):
            raise ArgumentError(f"{shown(inner)} holds no numbers to add up: write count(*) .. group by {shown(inner)}")
        if not any(value is not None for value in function.found):
            raise ArgumentError(f"{shown(inner)} has no value for any record that there can be")
        return Aggregate(kind, column, None, name, self._there(function, only), through=function)

    def _distinct(self, node: Any, name: str, only: Predicate | None) -> Aggregate:
        """``count(distinct x)``: how many cells of the column have a record."""
        if len(node.expressions) != 1:
            raise ArgumentError(f"{name}: distinct values are counted of one column: count(distinct x)")
        column = self._column(node.expressions[0], name)
        if only is not None:
            raise ArgumentError(f"{name}: distinct values of some records are asked with where, or by group")
        if column in self.groups:
            raise ArgumentError(f"{name}: a group of {column} has one value of it: write count(*) .. group by {column}")
        return Aggregate("distinct", column, None, name)

    def _moment(self, node: Any, name: str, only: Predicate | None) -> Aggregate:
        """A variance, a covariance, a correlation or what a line through the points says."""
        function = MOMENTS[type(node).__name__]
        column = self._column(node.this, shown(node))
        other = node.args.get("expression")
        if other is None and function.startswith(("covar", "corr", "regr")):
            raise ArgumentError(f"{shown(node)}: it is of two columns: {function}(x, y)")
        second = None if other is None else self._column(other, shown(node))
        if second == column:
            raise ArgumentError(f"{shown(node)}: of a column with itself, write var_pop({column})")
        return Aggregate("moment", column, None, name, only, function, second)

    def _case(self, node: Any) -> tuple[Any, Predicate]:
        """``sum(case when c then x end)`` as ``sum(x)`` of the records where c holds; with 1 for x, their number."""
        from sqlglot import exp

        case = node.this
        branches, default = case.args["ifs"], case.args.get("default")
        nothing = default is None or isinstance(default, exp.Null)
        zero = isinstance(default, exp.Literal) and str(default.this) == "0" and isinstance(node, exp.Sum)
        if len(branches) != 1 or case.this is not None or not (nothing or zero):
            raise ArgumentError(
                f"{shown(node)}: an aggregate of a case has one condition: sum(case when age >= 18 then pay else 0 end)"
            )
        value = branches[0].args["true"]
        only = self.conditions.read(branches[0].this)
        if isinstance(value, exp.Literal):
            if isinstance(node, exp.Avg) or (isinstance(node, exp.Sum) and str(value.this) != "1"):
                raise ArgumentError(f"{shown(node)}: write sum(case when .. then 1 else 0 end) for a number of records")
            return exp.Count(this=exp.Star()), only
        return type(node)(this=value), only

    def _checked(self, aggregate: Aggregate) -> Aggregate:
        if aggregate.only is not None:
            raise ArgumentError(f"{aggregate.name}: a percentile of some records is asked with where, or by group")
        return aggregate

    def _argument(self, node: Any) -> str:
        if any(value for key, value in node.args.items() if key not in ("this", "big_int")):
            raise ArgumentError(f"{shown(node)}: an aggregate is of one column, as in {node.key}(x)")
        return self._column(node.this, shown(node))

    def _column(self, node: Any, text: str) -> str:
        from sqlglot import exp

        if isinstance(node, exp.Distinct):
            named = [one.name for one in node.expressions if isinstance(one, exp.Column)]
            raise ArgumentError(
                f"{text}: which values are there depends on single records: "
                f"{_HISTOGRAM.format(named[0] if named else 'x')}: cells well above their error bar are there"
            )
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise ArgumentError(
                f"{text}: an aggregate is of one column of the policy, not of an expression: compute with its answers, "
                "as in sum(x) / count(*), or make the column before"
            )
        return column_name(node, self.policy)


def _percentile(item: Any) -> tuple[Any, Fraction] | None:
    """The column and the share of ``percentile(x, 0.9)``, which is also spelt quantile."""
    from sqlglot import exp

    called = str(item.this).lower() if isinstance(item, exp.Anonymous) else ""
    if called in ("percentile", "quantile", "percentile_cont", "percentile_disc", "quantile_cont", "quantile_disc"):
        given = list(item.expressions)
    elif isinstance(item, exp.Quantile | exp.ApproxQuantile):
        given = [item.this, item.args.get("quantile")]
    elif isinstance(item, exp.PercentileCont | exp.PercentileDisc):
        given = [item.this, item.args.get("expression")]
    else:
        return None
    if len(given) == 2 and isinstance(given[0], exp.Literal):  # as some write it
        given = given[::-1]
    if len(given) != 2:
        raise ArgumentError(f"{shown(item)}: a percentile is written percentile(x, 0.9), with a share from 0 to 1")
    return given[0], _share(given[1], item)


def _within_group(item: Any) -> tuple[Any, Fraction]:
    """The column and the share of ``percentile_cont(0.9) within group (order by x)``."""
    from sqlglot import exp

    inner, order = item.this, item.expression
    if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc) or len(order.expressions) != 1:
        raise refuse(item, "a percentile is written percentile(x, 0.9)")
    (key,) = order.expressions
    share = _share(inner.this, item)
    return key.this, 100 - share if key.args.get("desc") else share


def _share(node: Any, item: Any) -> Fraction:
    from sqlglot import exp

    if not isinstance(node, exp.Literal) or node.is_string:
        raise ArgumentError(f"{shown(item)}: a percentile is written percentile(x, 0.9), with a share from 0 to 1")
    share = Fraction(number_of(node))
    if not 0 <= share <= 1:
        raise ArgumentError(f"{shown(item)}: a share lies between 0 and 1, as in percentile(x, 0.9)")
    return 100 * share


def _places(node: Any) -> int:
    from sqlglot import exp

    decimals = node.args.get("decimals")
    if decimals is None:
        return 0
    sign, number = (-1, decimals.this) if isinstance(decimals, exp.Neg) else (1, decimals)
    if not isinstance(number, exp.Literal) or not str(number.this).isdigit() or int(str(number.this)) > 15:
        raise ArgumentError(f"{shown(node)}: round takes a whole number of places, as in round(avg(x), 1)")
    return sign * int(str(number.this))
