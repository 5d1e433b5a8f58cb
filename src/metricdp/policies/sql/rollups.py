"""``group by rollup(state, county)``: groups, and the totals of those that begin alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.policies.sql.nodes import shown

__all__ = ["check_totals", "grouped_items"]


def grouped_items(items: Sequence[Any]) -> tuple[list[Any], bool]:
    """What records are grouped by, and whether totals are asked for, too.

    Raises:
        ArgumentError: totals of another kind, or of some of the columns alone.
    """
    from sqlglot import exp

    if len(items) == 1 and isinstance(items[0], exp.Rollup) and items[0].expressions:
        return [item.unnest() for item in items[0].expressions], True
    for item in items:
        if isinstance(item, exp.Rollup | exp.Cube | exp.GroupingSets):
            columns = ", ".join(dict.fromkeys(shown(one) for node in items for one in node.find_all(exp.Column)))
            raise ArgumentError(
                f"group by {shown(item)}: write group by rollup({columns}) for the totals of all groups that begin "
                f"alike; or group by {columns}, and add up the noisy answers: that costs nothing, and they agree"
            )
    return list(items), False


def check_totals(aggregates: Sequence[Any], windows: Sequence[Any]) -> None:
    """Refuse totals of what cannot be added up, and totals of totals.

    Raises:
        ArgumentError: with what to write instead.
    """
    if windows:
        raise ArgumentError("rollup adds up groups, and so does over (..): ask for one of the two")
    for one in aggregates:
        if one.kind not in ("count", "sum"):
            raise ArgumentError(
                f"{one.name}: rollup adds up the noisy counts and sums of groups, and of this there is no such total; "
                "write sum(x) / count(x) for an average, or ask for each kind of group by itself"
            )
