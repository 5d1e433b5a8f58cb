"""Who is let in: pages of this studio alone, in browsers that know its token."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from metricdp.exact.bits import secure

__all__ = ["COOKIE", "Guard"]

COOKIE = "metricdp_studio"
"""The cookie that tells browsers apart; it opens nothing by itself."""

_HTTP = 80
_BROWSER = re.compile("[0-9a-f]{32}")
_WORDS = b"Open the address that `metricdp studio` printed: it has a token that is wanted here.\n"

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Refuses what does not come from the studio's own pages, on the web and on web sockets alike.

    - The token is the first part of every path. Other users of the machine and other pages do not know it.
    - ``Host`` has to be this machine: a name that somebody points to it (DNS rebinding) is refused.
    - ``Origin``, where a browser sends one, has to be the studio's own; web sockets always have one.

    Whatever is answered forbids the browser to load from, or to send to, any other place.

    Args:
        application: what is guarded.
        token: what the paths begin with.
        port: that is listened on.
    """

    def __init__(self, application: Application, token: str, port: int) -> None:
        self.application, self.token = application, token
        ports = (f":{port}", "") if port == _HTTP else (f":{port}",)  # browsers leave out the usual one
        self.hosts = {f"{name}{ending}" for name in ("127.0.0.1", "localhost") for ending in ports}
        sockets = " ".join(f"ws://{host}" for host in sorted(self.hosts))
        self._headers = [
            (b"referrer-policy", b"no-referrer"),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (
                b"content-security-policy",
                "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
                "style-src 'self' 'unsafe-inline'; "
                f"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' {sockets}; object-src 'none'; "
                "base-uri 'none'; form-action 'self'; frame-ancestors 'none'".encode(),
            ),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, or refuse."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not self.lets_in(scope["type"], scope["path"], headers):
            await _refuse(scope["type"], send)
            return
        browser, known = _browser(headers.get("cookie", ""))
        scope.setdefault("state", {})["browser"] = browser

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers]
                if not known:
                    cookie = f"{COOKIE}={browser}; Path=/{self.token}; HttpOnly; SameSite=Strict"
                    message["headers"].append((b"set-cookie", cookie.encode()))
            await send(message)

        await self.application(scope, receive, sending)

    def lets_in(self, kind: str, path: str, headers: dict[str, str]) -> bool:
        """Whether a request may come in.

        >>> guard = Guard(None, "secret", 8000)
        >>> guard.lets_in("http", "/secret/ask", {"host": "127.0.0.1:8000"})
        True
        >>> guard.lets_in("http", "/secret/ask", {"host": "127.0.0.1:8000", "origin": "http://other.example"})
        False
        >>> guard.lets_in("http", "/guess/ask", {"host": "127.0.0.1:8000"})
        False
        """
        if kind not in ("http", "websocket") or headers.get("host", "").lower() not in self.hosts:
            return False
        origin = headers.get("origin")
        if origin is None:
            if kind == "websocket":
                return False
        elif origin.lower() not in {f"http://{host}" for host in self.hosts}:
            return False
        sent = path.removeprefix("/").partition("/")[0]
        return hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), self.token.encode())


def _browser(cookies: str) -> tuple[str, bool]:
    """Which browser it is, and whether it had the cookie already."""
    try:
        sent = SimpleCookie(cookies).get(COOKIE)
    except CookieError:
        sent = None
    if sent is not None and _BROWSER.fullmatch(sent.value):
        return sent.value, True
    return f"{secure().integer(128):032x}", False


async def _refuse(kind: str, send: Send) -> None:
    if kind == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(_WORDS)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": _WORDS})
