"""A table, a policy and a ledger together: ask, sanitize, preview, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.sessions.preview import Preview
    from metricdp.sessions.session import Session
else:
    __getattr__, __dir__ = lazily(__name__, {"Preview": "preview", "Session": "session"})

__all__ = ["Preview", "Session"]
