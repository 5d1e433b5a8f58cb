"""Parts of a parsed statement: as text, as numbers, and as what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from metricdp.errors import ArgumentError

__all__ = ["number_of", "refuse", "shown"]


def refuse(node: Any, instead: str) -> ArgumentError:
    """The error for a part of a statement that is not answered."""
    from sqlglot import exp

    text = shown(node)
    if isinstance(node, exp.WithinGroup):
        return ArgumentError(f"{text}: a percentile is written percentile(x, 0.9)")
    if isinstance(node, exp.Window):
        return ArgumentError(
            f"{text}: no windows but sum(count(*)) over () and sum(sum(x)) over (partition by y), beside group by y: "
            "ask for the groups, and compute with their answers, which costs nothing"
        )
    if isinstance(node, exp.Filter):
        return ArgumentError(f"{text}: no filter here; put the condition into where, the columns into group by")
    if isinstance(node, exp.Subquery | exp.Select):
        return ArgumentError(f"{text}: no subqueries; {instead}")
    return ArgumentError(f"{text}: {instead}")


def shown(node: Any) -> str:
    """A part of the statement as SQL, shortened; it is the asker's own text, and public."""
    text = " ".join(node.sql(normalize_functions="lower").split())
    text = text.replace("(DISTINCT ", "(distinct ").replace("variance_pop(", "var_pop(")
    return text if len(text) <= 60 else f"{text[:57]}..."


def number_of(literal: Any) -> int | Decimal:
    """A number of the statement, exactly as it is written."""
    text = str(literal.this)
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 30 else Decimal(text)
    if isinstance(number, Decimal) and (len(text) > 60 or not -40 < number.adjusted() < 40):
        raise ArgumentError(f"{text[:20]}: so large or small a number is not compared")  # it would fill the memory
    return number
