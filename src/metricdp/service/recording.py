"""A line in the log and a count for each request, neither of which holds anything of its body or query.

That goes for requests at which the service fails, too: the server would print an error with its message, which may hold
a secret. So no error leaves here; the log says of which class it was, and where.
"""

from __future__ import annotations

import json
import time
import traceback
from logging import Logger
from pathlib import Path
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
        failure: what is answered where the service fails.
    """

    def __init__(self, app: Any, *, counters: Counters, log: Logger, failure: Any) -> None:
        self.app, self.counters, self.log, self.failure = app, counters, log, failure

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand the request on, and note its end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        came, status, begun = time.monotonic(), 500, False
        state = scope.setdefault("state", {})
        state["token"] = ""

        async def noted(message: Any) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status, begun = message["status"], True
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except Exception as error:
            self.log.error(json.dumps({"failed": type(error).__name__, "at": _place(error)}))
            if not begun:
                await self.failure(scope, receive, send)
        finally:
            path = getattr(scope.get("route"), "path", "other")
            self.counters.add("requests", path=path, status=str(status))
            passed = round(1000 * (time.monotonic() - came), 1)
            line = {"method": scope["method"], "path": path, "status": status, "ms": passed, "who": state["token"]}
            self.log.info(json.dumps(line))


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
