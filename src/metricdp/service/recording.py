"""A line in the log and a count for each request, neither of which holds anything of its body or query."""

from __future__ import annotations

import json
import time
from logging import Logger
from typing import Any

from metricdp.service.counters import Counters

__all__ = ["Recorded"]


class Recorded:
    """Middleware that notes how long a request took, and how it ended.

    What comes after it leaves in the request's state ``token``, the name of whoever asked.

    Args:
        app: what comes after it.
        counters: where requests are counted by path and status.
        log: where the lines go.
    """

    def __init__(self, app: Any, *, counters: Counters, log: Logger) -> None:
        self.app, self.counters, self.log = app, counters, log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand the request on, and note its end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        came, status = time.monotonic(), 500
        state = scope.setdefault("state", {})
        state["token"] = ""

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            path = getattr(scope.get("route"), "path", "other")
            self.counters.add("requests", path=path, status=str(status))
            passed = round(1000 * (time.monotonic() - came), 1)
            line = {"method": scope["method"], "path": path, "status": status, "ms": passed, "who": state["token"]}
            self.log.info(json.dumps(line))
