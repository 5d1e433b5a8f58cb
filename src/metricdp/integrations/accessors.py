"""What a frame and a column offer under ``.metricdp``, whatever library they are of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metricdp.integrations.in_place import PolicyLike
from metricdp.ledger import Ledger
from metricdp.policies.policy import Policy
from metricdp.queries.select.table_answers import TableAnswers
from metricdp.sessions import Session
from metricdp.sources.opening import open_table
from metricdp.tables import Release, sanitize

__all__ = ["FrameAccessor"]


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
        with open_table(self._frame) as opened:
            return Policy.draft(
                {
                    name: None if name in opened.untyped.columns else opened.schema.field(name).type
                    for name in opened.schema.names
                }
            )
