"""What a frame and a column offer under ``.metricdp``, whatever library they are of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from metricdp.integrations.in_place import PolicyLike
from metricdp.integrations.released_columns import ReleasedColumn, how
from metricdp.ledger import Ledger
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.policies.draft import Draft
from metricdp.queries.select.table_answers import TableAnswers
from metricdp.sessions import Session
from metricdp.tables import Release, sanitize

__all__ = ["ColumnAccessor", "FrameAccessor"]


class FrameAccessor:
    """``frame.metricdp``: sanitize a frame, ask about it, and draft its policy.

    Args:
        frame: of pandas or Polars.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def sanitize(
        self,
        policy: PolicyLike,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        *,
        by: str | None = None,
        key: str | None = None,
    ) -> Release[Any]:
        """Release the frame as its policy says; ``.table`` of the result is a frame, ``.report`` says what is promised.

        Args:
            policy: a Policy, the path of one, or a dict of what its file would hold.
            ledger: a `Ledger` or its address; charged before the frame is handed out.
            account: which account of the ledger; the only one, where there is one.
            by: who makes the release, for its report.
            key: of the request, where it may be sent twice.
        """
        return sanitize(self._frame, policy, ledger=ledger, account=account, by=by, key=key)

    def ask(
        self,
        question: str,
        policy: PolicyLike,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        *,
        within: float | None = None,
    ) -> TableAnswers:
        """Answer a question in SQL about the frame, with error bars; see `metricdp.Session.ask`."""
        return Session(self._frame, policy, ledger, account).ask(question, within=within)

    def draft(self) -> str:
        """The text of a policy to be filled in, from the names and types of the columns alone."""
        return Draft.of_table(self._frame, "the table").text()


class ColumnAccessor(ABC):
    """``column.metricdp``: release the values of a column, each in its place.

    Args:
        column: a Series of pandas or Polars, or an expression of Polars.
    """

    def __init__(self, column: Any) -> None:
        self._column = column

    def release(
        self,
        by: Mechanism | PolicyLike,
        column: str | None = None,
        *,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
    ) -> Any:
        """Each value released, in a column of the same kind, name and order.

        Args:
            by: a mechanism; or a policy, of which ``column`` says the entry.
            column: of the policy.
            ledger: a `Ledger` or its address, charged with the policy's price first.
            account: which account of the ledger; the only one, where there is one.

        Raises:
            PolicyError: the policy requires a ledger, and none was given.
        """
        return self._released(by, how(by, column, ledger, account))

    @abstractmethod
    def _released(self, by: Any, chosen: ReleasedColumn | None) -> Any:
        """The column, released by a mechanism, or as the chosen entry of a policy says."""
