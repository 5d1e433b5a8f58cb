"""A small client for the service."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from metricdp.errors import ServiceError

__all__ = ["Client"]


@dataclass(frozen=True)
class Client:
    """Calls a service.

    Attributes:
        url: where it is, such as ``http://127.0.0.1:8787``.
        token: that was given out by ``metricdp serve SETTINGS --add-token NAME``.
        timeout: seconds to wait for an answer.
    """

    url: str
    token: str = field(repr=False)
    timeout: float = 60.0

    def release(self, mechanism: str, subject: str, secrets: list[Any], *, key: str | None = None) -> list[Any]:
        """Release secrets of one subject; under a ``key``, the same request again gives the same answer and is free."""
        body = {"mechanism": mechanism, "subject": subject, "secrets": secrets}
        return list(self._call("POST", "/release", body, key)["released"])

    def ask(self, table: str, question: str, *, within: float | None = None, key: str | None = None) -> dict[str, Any]:
        """Ask about a table."""
        return self._call("POST", "/ask", {"table": table, "question": question, "within": within}, key)

    def preview(self, table: str, question: str, *, within: float | None = None) -> dict[str, Any]:
        """What asking would cost, and the error to expect."""
        return self._call("POST", "/preview", {"table": table, "question": question, "within": within})

    def balance(self, account: str | None = None) -> dict[str, Any]:
        """What an account has left; one's own where none is named."""
        query = "" if account is None else f"?{urllib.parse.urlencode({'account': account})}"
        return self._call("GET", f"/balance{query}")

    def verify(self, channel: dict[str, Any], metric: str) -> dict[str, Any]:
        """Whether a channel keeps a metric."""
        return self._call("POST", "/verify", {"channel": channel, "metric": metric})

    def _call(self, method: str, path: str, body: Any = None, key: str | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url.rstrip("/") + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return dict(json.load(answer)["result"])
        except urllib.error.HTTPError as error:
            raise _told(error) from None
        except (urllib.error.URLError, TimeoutError) as error:
            raise ServiceError(
                0, "Unreachable", f"the service does not answer: {getattr(error, 'reason', error)}"
            ) from None


def _told(error: urllib.error.HTTPError) -> ServiceError:
    try:
        told = json.load(error)["error"]
        return ServiceError(error.code, told["kind"], told["message"])
    except (ValueError, KeyError, TypeError):
        return ServiceError(error.code, "Unknown", "the service answered with an error")
