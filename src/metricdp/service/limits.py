"""How many requests, how large and how slow; and when an answer leaves."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

__all__ = ["Held", "Quantum", "RateLimit", "RequestLimit"]


class RateLimit:
    """So many requests a second for each name, with a second's worth to spare.

    >>> clock = iter([0.0, 0.0, 0.0, 1.0])
    >>> limit = RateLimit(1.0, lambda: next(clock))
    >>> limit.wait("ann"), limit.wait("ann"), limit.wait("bob"), limit.wait("ann")
    (0.0, 1.0, 0.0, 0.0)
    """

    def __init__(self, rate: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._now = rate, now
        self._room = max(1.0, rate)
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, name: str) -> float:
        """Take one; 0 where there is one, otherwise the seconds until there is."""
        now = self._now()
        left, then = self._left.get(name, (self._room, now))
        left = min(self._room, left + (now - then) * self._rate)
        if left < 1:
            self._left[name] = (left, now)
            return (1 - left) / self._rate
        self._left[name] = (left - 1, now)
        return 0.0


class Quantum:
    """Answers leave at whole multiples of a time after their request came.

    One draw in a hundred thousand is decided in ball arithmetic, which takes longer. Without this, the time of an
    answer would tell, a little, how near to the edge of a cell its secret plus noise lies.

    Attributes:
        seconds: the time.
        overruns: how many answers took more than one.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.overruns = 0

    def multiples(self, passed: float) -> int:
        """How many quanta an answer takes that is ready after so many seconds."""
        return max(1, math.ceil(passed / self.seconds))

    async def hold(self, came: float) -> None:
        """Wait for the next multiple."""
        multiples = self.multiples(time.monotonic() - came)
        self.overruns += multiples > 1
        await asyncio.sleep(max(0.0, came + multiples * self.seconds - time.monotonic()))


class Held:
    """Middleware that holds every answer of some paths for its quantum, refusals too: whole, with all its bytes made.

    Args:
        app: what comes after it.
        quantum: that answers are held for, from when the whole request has come.
        paths: whose answers.
    """

    def __init__(self, app: Any, *, quantum: Quantum, paths: frozenset[str]) -> None:
        self.app, self.quantum, self.paths = app, quantum, paths

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand the request on, and hold its answer."""
        if scope["type"] != "http" or scope["path"] not in self.paths:
            await self.app(scope, receive, send)
            return
        came, start, left = time.monotonic(), None, False

        async def held(message: Any) -> None:
            nonlocal start, left
            if message["type"] == "http.response.start":
                start = message
                return
            if not left:
                await self.quantum.hold(came)
                left = True
                await send(start)
            await send(message)

        try:
            await self.app(scope, receive, held)
        except Exception:
            if not left:
                await self.quantum.hold(came)
            raise


class RequestLimit:
    """Middleware that refuses a request of too many bytes, and one that takes too long to arrive.

    Args:
        app: what comes after it.
        largest: bytes.
        slowest: seconds for the whole of the body.
        refusal: the response for a status and words.
        streamed: paths whose bodies are read by whoever serves them, under limits of their own.
    """

    def __init__(
        self, app: Any, *, largest: int, slowest: float, refusal: Any, streamed: frozenset[str] = frozenset()
    ) -> None:
        self.app, self.largest, self.slowest, self.refusal, self.streamed = app, largest, slowest, refusal, streamed

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Read the body, and hand it on."""
        if scope["type"] != "http" or scope["path"] in self.streamed:
            await self.app(scope, receive, send)
            return
        sizes = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(not value.isdigit() or int(value) > self.largest for value in sizes):
            await self.refusal(413, "the request is too large")(scope, receive, send)
            return
        body, deadline = bytearray(), time.monotonic() + self.slowest
        while True:
            try:
                async with asyncio.timeout(max(0.001, deadline - time.monotonic())):
                    message = await receive()
            except TimeoutError:
                await self.refusal(408, "the request took too long to arrive")(scope, receive, send)
                return
            if message["type"] != "http.request":
                return
            body += message.get("body", b"")
            if len(body) > self.largest:
                await self.refusal(413, "the request is too large")(scope, receive, send)
                return
            if not message.get("more_body"):
                break
        told = False

        async def again() -> Any:
            nonlocal told
            if told:
                return await receive()
            told = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self.app(scope, again, send)
