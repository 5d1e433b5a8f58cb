"""Parsed SQL in the form that is read here: one way to say no, and nothing that would be passed over."""

from __future__ import annotations

from typing import Any

from metricdp.errors import ArgumentError
from metricdp.policies.sql.nodes import shown

__all__ = ["parsed"]

_OPERANDS = frozenset({"this", "expression", "expressions"})
_PLAIN = """
Abs Add And Anonymous Avg Boolean Ceil CountIf CovarPop CovarSamp Distinct EQ Exp Filter Floor From GT GTE Having ILike
Is LT LTE Like Ln Lower Max Median Min Mod Month Mul NEQ Neg Not Null Nullif Offset Or Order Paren PercentileCont
PercentileDisc Pow Quarter RegrIntercept RegrR2 RegrSlope Sqrt Star Stddev StddevPop StddevSamp Sub Sum TableAlias Trim
Tuple Upper Variance VariancePop Where WithinGroup Year Day Left Right Length
"""
_READ = {
    **dict.fromkeys(_PLAIN.split(), _OPERANDS),
    "Alias": _OPERANDS | {"alias"},
    "ApproxQuantile": _OPERANDS | {"quantile"},
    "Between": _OPERANDS | {"low", "high", "symmetric"},
    "CTE": _OPERANDS | {"alias", "materialized"},
    "Case": _OPERANDS | {"ifs", "default"},
    "Cast": _OPERANDS | {"to"},
    "Coalesce": _OPERANDS | {"is_nvl", "is_null"},
    "Column": _OPERANDS | {"table", "db", "catalog"},
    "Concat": _OPERANDS | {"safe", "coalesce"},
    "Corr": _OPERANDS,
    "Count": _OPERANDS | {"big_int"},
    "DPipe": _OPERANDS | {"safe"},
    "DateTrunc": _OPERANDS | {"unit"},
    "Div": _OPERANDS | {"typed", "safe"},
    "Extract": _OPERANDS,
    "Greatest": _OPERANDS | {"ignore_nulls"},
    "If": _OPERANDS | {"true", "false"},
    "In": _OPERANDS | {"query", "field", "unnest"},
    "Join": _OPERANDS | {"on", "using", "side", "kind", "method"},
    "Least": _OPERANDS | {"ignore_nulls"},
    "Limit": _OPERANDS,
    "Literal": _OPERANDS | {"is_string"},
    "Ordered": _OPERANDS | {"desc", "nulls_first"},
    "Quantile": _OPERANDS | {"quantile"},
    "Round": _OPERANDS | {"decimals"},
    "Subquery": _OPERANDS | {"alias"},
    "Substring": _OPERANDS | {"start", "length"},
    "TimestampTrunc": _OPERANDS | {"unit"},
    "TryCast": _OPERANDS | {"to", "safe"},
}
"""The parts that are read of each kind of node; kinds that are not here are refused, or looked at, where they stand."""


def parsed(text: str) -> list[Any]:
    """The statements of a text.

    Parsers say the same in several ways, and in new ways as they grow. A part of a statement that nobody here reads
    would change what it asks without a word, so it is refused.

    Raises:
        ArgumentError: a part that is not read.
        sqlglot.errors.SqlglotError: it is no SQL.

    >>> [statement.sql() for statement in parsed("select count(*) from people where city not like 'San %'")]
    ["SELECT COUNT(*) FROM people WHERE NOT city LIKE 'San %'"]
    """
    import sqlglot

    statements = [statement for statement in sqlglot.parse(text) if statement is not None]
    for statement in statements:
        for node in list(statement.walk()):
            _say_no_by_not(node)
            known = _READ.get(type(node).__name__)
            more = [] if known is None else [key for key, value in node.args.items() if value and key not in known]
            if more:
                part = more[0].strip("_")
                raise ArgumentError(f"{shown(node)}: {part} is more than is understood here: leave it out")
    return statements


def _say_no_by_not(node: Any) -> None:
    """Write ``not x like 'a'`` for ``x not like 'a'``, which some versions of the parser have as one node."""
    from sqlglot import exp

    if node.args.get("negate"):
        node.set("negate", None)
        node.replace(exp.Not(this=node.copy()))
