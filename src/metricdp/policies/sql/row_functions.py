"""Functions of a record's own values, as SQL writes them: arithmetic, texts, days, cases and comparisons.

They are computed here for each value that a policy or a public table lists, and never by an engine, so that what they
come to is the same everywhere. Numbers are exact; what is unknown (null) makes most results unknown, as in SQL.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.policies.sql.days import PARTS, as_day, minus, plus, span_of, truncated
from metricdp.policies.sql.nodes import number_of, shown

__all__ = ["RowReader", "Value", "instead_of", "like_pattern"]

Value = Any
"""None, or a truth value, text, an exact number, a day or a moment."""

Function = Callable[[Any], Value]

_KNOWN = (
    "+, -, *, /, %, floor, ceil, round, abs, lower, upper, trim, left, right, substr, length, ||, year, month, "
    "quarter, day, extract, date_trunc, interval '30 days', coalesce, nullif, case, if, comparisons, in, between, like "
    "and is null"
)


_INSTEAD = {
    **dict.fromkeys(("datediff", "date_diff", "timestampdiff", "age"), "write x - date '2024-01-31', in days"),
    **dict.fromkeys(("dateadd", "date_add", "datesub", "date_sub", "timestampadd"), "write x + interval '30 days'"),
    **dict.fromkeys(("startswith", "starts_with"), "write x like 'a%'"),
    **dict.fromkeys(("contains", "strposition", "instr"), "write x like '%a%'"),
    **dict.fromkeys(
        ("regexplike", "regexp_matches", "similarto", "replace", "escape"), "write like, or x in ('a', 'b')"
    ),
    **dict.fromkeys(("date_part", "datepart"), "write extract(month from x)"),
    **dict.fromkeys(("week", "weekofyear"), "write extract(week from x)"),
    **dict.fromkeys(("dayofweek", "weekday", "dayofweekiso", "dayname"), "write extract(dow from x), 0 for Sunday"),
    **dict.fromkeys(
        ("strftime", "timetostr", "tochar", "to_char", "date_format", "monthname"), "write year(x), month(x)"
    ),
    **dict.fromkeys(("currentdate", "currenttimestamp", "now", "today"), "write the day, as date '2024-01-31'"),
}
"""What to write in place of functions that are not known, by sqlglot's name."""


def instead_of(node: Any) -> str | None:
    """What to write in place of a function that is not known; None of all others."""
    from sqlglot import exp

    return _INSTEAD.get(str(node.this).lower() if isinstance(node, exp.Anonymous) else node.key)


def _divided(one: Value, two: Value) -> Value:
    return None if two == 0 else Fraction(one) / two


def _modulo(one: Value, two: Value) -> Value:
    return None if two == 0 else one - two * math.trunc(Fraction(one) / two)


def _round(number: Value, places: Value = 0) -> Value:
    """Halves go away from 0, as in SQL."""
    if abs(places) > 15:
        raise ValueError("so many places would fill the memory")
    scaled = Fraction(number) * Fraction(10) ** int(places)
    whole = math.floor(abs(scaled) + Fraction(1, 2))
    return Fraction(whole if scaled >= 0 else -whole) / Fraction(10) ** int(places)


def _substring(text: str, start: Value, length: Value = None) -> str:
    first = int(start) - 1
    last = len(text) if length is None else first + int(length)
    return text[max(first, 0) : max(last, 0)]


def _left(text: str, length: Value) -> str:
    """The first letters; of a negative number, all but so many at the end."""
    return text[: int(length)]


def _right(text: str, length: Value) -> str:
    """The last letters; of a negative number, all but so many at the beginning."""
    return text[max(len(text) - int(length), 0) :] if length >= 0 else text[-int(length) :]


_STRICT: dict[str, Callable[..., Value]] = {
    "Add": plus,
    "Sub": minus,
    "Mul": operator.mul,
    "Div": _divided,
    "Mod": _modulo,
    "Neg": operator.neg,
    "Abs": abs,
    "Floor": math.floor,
    "Ceil": math.ceil,
    "Round": _round,
    "Lower": lambda text: text.lower(),
    "Upper": lambda text: text.upper(),
    "Trim": lambda text: text.strip(" "),
    "Length": lambda text: len(text),
    "Left": _left,
    "Right": _right,
    "Substring": _substring,
    "DPipe": lambda one, two: f"{_written(one)}{_written(two)}",
    "Concat": lambda *parts: "".join(map(_written, parts)),
    "Year": PARTS["year"],
    "Quarter": PARTS["quarter"],
    "Month": PARTS["month"],
    "Day": PARTS["day"],
}
"""By sqlglot's name; unknown wherever an argument is."""

_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "EQ": operator.eq,
    "NEQ": operator.ne,
    "LT": operator.lt,
    "LTE": operator.le,
    "GT": operator.gt,
    "GTE": operator.ge,
}


def _written(value: Value) -> str:
    if isinstance(value, Fraction) and value.denominator == 1:
        return str(value.numerator)
    if isinstance(value, str | int | dt.date) and not isinstance(value, bool):
        return str(value)
    raise TypeError("texts are joined with texts, whole numbers and days")


def like_pattern(pattern: str, any_case: bool) -> re.Pattern[str]:
    """A pattern of ``like``: % stands for any text, _ for any letter.

    >>> bool(like_pattern("San %", False).fullmatch("San Jose"))
    True
    """
    wanted = "".join(".*" if one == "%" else "." if one == "_" else re.escape(one) for one in pattern)
    return re.compile(wanted, re.DOTALL | (re.IGNORECASE if any_case else 0))


class RowReader:
    """Turns expressions into functions of whatever ``look_up`` takes columns from.

    Args:
        look_up: gives for a column in the statement a function that finds its value.

    >>> import sqlglot
    >>> reader = RowReader(lambda column: lambda row: row[column.name])
    >>> decade = reader.read(sqlglot.parse_one("floor(age / 10) * 10"))
    >>> print(decade({"age": 47}), decade({"age": None}))
    40 None
    """

    def __init__(self, look_up: Callable[[Any], Function]) -> None:
        self._look_up = look_up

    def read(self, node: Any) -> Function:
        """The function that an expression writes.

        Raises:
            ArgumentError: a function that is not known here; or, where it is called, values that it does not take.
        """
        inner = self._read(node)

        def checked(row: Any) -> Value:
            try:
                return inner(row)
            except (TypeError, ValueError, AttributeError, OverflowError, ArithmeticError):
                raise ArgumentError(
                    f"{shown(node)}: these values are not computed with or compared like that: numbers go with "
                    "numbers, text with text, days with days such as date '2024-01-31'"
                ) from None

        return checked

    def _read(self, node: Any) -> Function:
        from sqlglot import exp

        name = type(node).__name__
        if isinstance(node, exp.Paren):
            return self._read(node.this)
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return self._look_up(node)
        if isinstance(node, exp.Literal | exp.Boolean | exp.Null):
            constant = _constant(node)
            return lambda row: constant
        if name in _SIGNS:
            sign, one, two = _SIGNS[name], self._read(node.this), self._read(node.expression)
            return lambda row: _compared(sign, one(row), two(row))
        if isinstance(node, exp.And | exp.Or):
            return _junction([self._read(part) for part in node.flatten()], isinstance(node, exp.Or))
        if isinstance(node, exp.Not):
            inner = self._read(node.this)
            return lambda row: _negated(inner(row))
        if isinstance(node, exp.Div):
            _refuse_whole(node)
        found = self._special(node)
        if found is not None:
            return found
        if name in _STRICT:
            return _strict(_STRICT[name], [self._read(one) for one in _arguments(node)])
        return self._unknown(node)

    def _special(self, node: Any) -> Function | None:
        from sqlglot import exp

        if isinstance(node, exp.Is):
            inner, wanted = self._read(node.this), _constant(node.expression)
            if wanted is None:
                return lambda row: inner(row) is None
            return lambda row: inner(row) is not None and bool(inner(row)) is wanted
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            value, low, high = (self._read(one) for one in (node.this, node.args["low"], node.args["high"]))
            ends: list[Function] = [
                lambda row: _compared(operator.ge, value(row), low(row)),
                lambda row: _compared(operator.le, value(row), high(row)),
            ]
            return _junction(ends, False)
        if isinstance(node, exp.In) and not any(v for k, v in node.args.items() if k not in ("this", "expressions")):
            value, listed = self._read(node.this), [self._read(one) for one in node.expressions]
            equal = [lambda row, one=one: _compared(operator.eq, value(row), one(row)) for one in listed]
            return _junction(equal, True)
        if isinstance(node, exp.Like | exp.ILike) and isinstance(node.expression, exp.Literal):
            pattern = like_pattern(str(node.expression.this), isinstance(node, exp.ILike))
            return _strict(lambda text: pattern.fullmatch(text) is not None, [self._read(node.this)])
        if isinstance(node, exp.Coalesce):
            listed = [self._read(one) for one in (node.this, *node.expressions)]
            return lambda row: next((found for one in listed for found in [one(row)] if found is not None), None)
        if isinstance(node, exp.Nullif):
            one, two = self._read(node.this), self._read(node.expression)
            return lambda row: None if _compared(operator.eq, one(row), two(row)) else one(row)
        if isinstance(node, exp.Case | exp.If):
            return self._case(node)
        if isinstance(node, exp.Extract | exp.DateTrunc | exp.TimestampTrunc | exp.Cast):
            return self._of_day(node)
        span = span_of(node)
        return None if span is None else lambda row: span

    def _case(self, node: Any) -> Function:
        from sqlglot import exp

        branches = [node] if isinstance(node, exp.If) else node.args["ifs"]
        last = node.args.get("false" if isinstance(node, exp.If) else "default")
        of = None if isinstance(node, exp.If) or node.this is None else self._read(node.this)
        read = [(self._read(one.this), self._read(one.args["true"])) for one in branches]
        otherwise: Function = (lambda row: None) if last is None else self._read(last)

        def chosen(row: Any) -> Value:
            for condition, value in read:
                found = condition(row) if of is None else _compared(operator.eq, of(row), condition(row))
                if found is True:
                    return value(row)
            return otherwise(row)

        return chosen

    def _of_day(self, node: Any) -> Function:
        from sqlglot import exp

        if isinstance(node, exp.Cast):
            if node.is_type("date"):
                return _strict(as_day, [self._read(node.this)])
            if node.is_type(*exp.DataType.INTEGER_TYPES):
                return _strict(_round, [self._read(node.this)])
            if node.is_type(*exp.DataType.TEXT_TYPES):
                return _strict(_written, [self._read(node.this)])
            if not node.is_type(*exp.DataType.NUMERIC_TYPES):
                return self._unknown(node)
            digits, number = [one.name for one in node.to.expressions], self._read(node.this)
            if not all(one.isdigit() for one in digits):
                return self._unknown(node)
            places = int(digits[1]) if digits[1:] else 0
            return _strict(lambda value: _round(value, places), [number]) if digits else number
        if isinstance(node, exp.Extract):
            part = PARTS.get(str(node.this.name).lower())
            return self._unknown(node) if part is None else _strict(part, [self._read(node.expression)])
        begin = truncated(str(node.args["unit"].name).lower())
        return self._unknown(node) if begin is None else _strict(begin, [self._read(node.this)])

    def _unknown(self, node: Any) -> Function:
        raise ArgumentError(
            f"{shown(node)}: {instead_of(node) or f'of values of one column, these are computed: {_KNOWN}'}"
        )


def _refuse_whole(node: Any) -> None:
    """Refuse a division by a whole number where engines differ on what comes of whole numbers."""
    from sqlglot import exp

    by = node.expression
    whole = isinstance(by, exp.Literal) and not by.is_string and str(by.this).isdigit()
    if whole and not isinstance(node.parent, exp.Floor) and not isinstance(node.parent.unnest().parent, exp.Floor):
        raise ArgumentError(
            f"{shown(node)}: databases differ on whether whole numbers are divided without a rest: write "
            f"floor({shown(node.this)} / {by.this}), or {shown(node.this)} / {by.this}.0"
        )


def _arguments(node: Any) -> list[Any]:
    """The arguments of a function, in order."""
    keys = ("this", "expression", "start", "length", "decimals")
    found = [node.args[key] for key in keys if node.args.get(key) is not None]
    return [*found, *node.args.get("expressions", ())] if type(node).__name__ == "Concat" else found


def _strict(function: Callable[..., Value], arguments: Sequence[Function]) -> Function:
    def applied(row: Any) -> Value:
        found = [one(row) for one in arguments]
        return None if any(value is None for value in found) else function(*found)

    return applied


def _junction(parts: Sequence[Function], one_is_enough: bool) -> Function:
    """``or`` of truth values, some of which may be unknown; or ``and``."""

    def joined(row: Any) -> Value:
        found = [part(row) for part in parts]
        if any(value is one_is_enough for value in found):
            return one_is_enough
        return None if any(value is None for value in found) else not one_is_enough

    return joined


def _negated(truth: Value) -> Value:
    return None if truth is None else not truth


def _compared(sign: Callable[[Any, Any], bool], one: Value, two: Value) -> Value:
    if one is None or two is None:
        return None
    if isinstance(one, dt.date) and isinstance(two, str):
        two = type(one).fromisoformat(two)
    elif isinstance(two, dt.date) and isinstance(one, str):
        one = type(two).fromisoformat(one)
    if _kind(one) != _kind(two):
        raise TypeError("of different kinds")
    return bool(sign(one, two))


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | Fraction) else type(value).__name__


def _constant(node: Any) -> Value:
    from sqlglot import exp

    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else Fraction(number_of(node))
    raise ArgumentError(f"{shown(node)}: a value is wanted here, or null")
