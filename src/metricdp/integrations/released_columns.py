"""One column of a policy, as the accessors of columns release it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.integrations.in_place import InPlace, PolicyLike
from metricdp.ledger import Ledger
from metricdp.mechanisms.mechanism import Mechanism, is_mechanism

__all__ = ["ReleasedColumn", "how"]


@dataclass(frozen=True)
class ReleasedColumn:
    """An entry of a policy with its account.

    Attributes:
        private: the policy, of this entry alone.
        name: of the table's column that it is about.
    """

    private: InPlace
    name: str

    def frame(self, frame: Any) -> Any:
        """A frame of this one column, released and charged."""
        return self.private.frame(frame, f"the column {self.private.policy.columns[0].name}")


def how(
    by: Mechanism | PolicyLike, column: str | None, ledger: Ledger | str | Path | None, account: str | None
) -> ReleasedColumn | None:
    """How a column is released under a policy; None where a mechanism does it.

    Args:
        by: a mechanism, or a policy.
        column: the entry of the policy.
        ledger: what is charged, where a policy says the price.
        account: of the ledger.

    Raises:
        ArgumentError: a policy without a column, a mechanism with one, or a column that is made of several.

    >>> rules = {"format": 2, "columns": {"age": {"type": "integer", "within": "5 years"}}}
    >>> how(rules, "age", None, None).name
    'age'
    """
    if is_mechanism(by):
        if column is not None or ledger is not None or account is not None:
            raise ArgumentError("a mechanism has no columns and no account: give a policy, and the name of its column")
        return None
    if column is None:
        raise ArgumentError("which column of the policy? release(policy, 'income')")
    private = InPlace.of(by, ledger, account).only(column)  # type: ignore[arg-type]
    columns = private.policy.columns[0].columns
    if len(columns) > 1:
        raise ArgumentError(f"{column!r} is made of {', '.join(columns)}: sanitize a frame that has them")
    return ReleasedColumn(private, columns[0])
