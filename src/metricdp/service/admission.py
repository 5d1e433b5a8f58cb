"""Who is let in, by a token, before anything else of a request is looked at."""

from __future__ import annotations

import json
from logging import Logger
from typing import Any

from metricdp.errors import FileError
from metricdp.service.limits import RateLimit
from metricdp.service.tokens import Tokens

__all__ = ["Admission"]

_UNREADABLE = "tokens cannot be told from others now; ask whoever runs the service"
_UNKNOWN = "a valid token is wanted: Authorization: Bearer TOKEN"


class Admission:
    """Middleware that answers whoever has no token, in the same words wherever and whatever they ask.

    No byte of the body is read for them, and a path that is not there is refused as one that is. What comes after it
    finds in the request's state ``caller``, the token, and ``token``, its name for the log.

    Args:
        app: what comes after it.
        tokens: those who may ask.
        rate: how often.
        open_paths: that need no token.
        log: what cannot be read is said there.
        refusal: the response for a status, words and headers.
    """

    def __init__(
        self, app: Any, *, tokens: Tokens, rate: RateLimit, open_paths: frozenset[str], refusal: Any, log: Logger
    ) -> None:
        self.app, self.tokens, self.rate, self.open_paths, self.refusal = app, tokens, rate, open_paths, refusal
        self.log = log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let the request in, or refuse it."""
        if scope["type"] == "http" and scope["path"] not in self.open_paths:
            sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            scheme, _, token = sent.decode("latin-1").partition(" ")
            try:
                found = self.tokens.find(token.strip()) if scheme.lower() == "bearer" else None
            except FileError as error:  # whoever runs the service has to mend it; nobody is let in until then
                self.log.error(json.dumps({"failed": str(error)}))
                await self.refusal(503, _UNREADABLE)(scope, receive, send)
                return
            if found is None:
                await self.refusal(401, _UNKNOWN, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
                return
            scope["state"]["caller"], scope["state"]["token"] = found, found.name
            wait = self.rate.wait(found.name)
            if wait:
                headers = {"Retry-After": str(max(1, round(wait)))}
                await self.refusal(429, "too many requests", headers)(scope, receive, send)
                return
        await self.app(scope, receive, send)
