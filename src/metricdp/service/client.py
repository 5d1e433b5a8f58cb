"""A small client for the service."""

from __future__ import annotations

import http.client
import ipaddress
import json
import math
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from metricdp.errors import ArgumentError, FileError, MetricDPError, ServiceError
from metricdp.sources.whole_files import appearing, check_output
from metricdp.visible import LONGEST_NAME, visible

__all__ = ["Client"]

Made = TypeVar("Made")
_TRIES, _PART = 4, 1 << 20
_LONGEST_LINE, _MOST_LINES = 1000, 100


@dataclass(frozen=True)
class Client:
    """Calls a service.

    Attributes:
        url: where it is, such as ``http://127.0.0.1:8787``.
        token: that was given out by ``metricdp serve SETTINGS --add-token NAME``.
        timeout: seconds to wait for an answer.
        pause: seconds between two looks at a job.
    """

    url: str
    token: str = field(repr=False)
    timeout: float = 60.0
    pause: float = 0.2

    def __post_init__(self) -> None:
        if not (isinstance(self.url, str) and self.url.startswith(("http://", "https://"))):
            raise ArgumentError("the url of a service begins with http:// or https://")
        if not _has_host(self.url):
            raise ArgumentError("the url of a service names a host, such as http://127.0.0.1:8787")
        _refuse_unprintable(self.token, "a token")
        for name, value, least in (("timeout", self.timeout, "above"), ("pause", self.pause, "from")):
            number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
            if not (0 <= number < math.inf and (number or least == "from")):
                raise ArgumentError(f"{name} is a number of seconds {least} 0")

    def release(self, mechanism: str, subject: str, secrets: list[Any], *, key: str | None = None) -> list[Any]:
        """Release secrets of one subject; under a ``key``, the same request again gives the same answer and is free."""
        body = {"mechanism": mechanism, "subject": subject, "secrets": secrets}
        released = self._call("POST", "/release", body, key).get("released")
        if not isinstance(released, list) or len(released) != len(secrets):
            raise _not_ours()
        return released

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

    def sanitize(
        self,
        table: str,
        source: str | Path,
        out: str | Path,
        *,
        key: str | None = None,
        progress: Callable[[int, int | None], object] | None = None,
    ) -> None:
        """Send a file, wait for its sanitized table, and write it, in Parquet; ``progress`` hears of rows done.

        Raises:
            FileError: there is such a file already, or no folder for it; nothing was sent.
            ServiceError: it was refused, or the job failed.
        """
        path = Path(source)
        form = "csv.gz" if path.name.lower().endswith(".csv.gz") else path.suffix.lower().removeprefix(".")
        query = urllib.parse.urlencode({"table": table, "form": form})
        check_output(Path(out), overwrite=False, source=path)  # before anything is charged
        with appearing(Path(out), overwrite=False) as temporary:
            with _opened(path) as body:
                job = self._call("POST", f"/sanitize?{query}", body, key)
            try:
                while job["state"] in ("uploading", "running"):
                    time.sleep(self.pause)
                    job = self._again(partial(self._call, "GET", f"/jobs/{job['job']}"))
                    if progress is not None:
                        progress(job["rows"], job["total"])
                if job["error"] is not None:
                    raise ServiceError(422, job["error"]["kind"], job["error"]["message"])
                place = f"/jobs/{job['job']}/result"
            except (LookupError, TypeError):
                raise _not_ours() from None
            self._again(partial(self._fetch, place, temporary))

    def verify(self, channel: dict[str, Any], metric: str) -> dict[str, Any]:
        """Whether a channel keeps a metric."""
        return self._call("POST", "/verify", {"channel": channel, "metric": metric})

    def _call(self, method: str, path: str, body: Any = None, key: str | None = None) -> dict[str, Any]:
        content = self._answer(method, path, body, key)
        try:
            return dict(json.loads(content)["result"])
        except (ValueError, LookupError, TypeError, RecursionError):
            raise _not_ours() from None

    def _again(self, call: Callable[[], Made]) -> Made:
        """Call once more where no answer came: what was charged is not given up for a connection that broke."""
        for _ in range(_TRIES - 1):
            try:
                return call()
            except ServiceError as error:
                if error.status:
                    raise
                time.sleep(self.pause)
        return call()

    def _fetch(self, path: str, out: Path) -> None:
        """Write an answer to a file as it comes, all of it."""
        with self._opened_answer("GET", path) as answer, out.open("wb") as file:
            while part := answer.read(_PART):
                try:
                    file.write(part)
                except OSError as error:
                    raise FileError(f"the sanitized table cannot be written: {error.strerror}") from None
            if file.tell() < int(answer.headers.get("Content-Length") or 0):
                raise http.client.IncompleteRead(b"")

    def _answer(self, method: str, path: str, body: Any = None, key: str | None = None) -> bytes:
        with self._opened_answer(method, path, body, key) as answer:
            return bytes(answer.read())

    @contextmanager
    def _opened_answer(self, method: str, path: str, body: Any = None, key: str | None = None) -> Iterator[Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if key is not None:
            _refuse_unprintable(key, "a key")
            headers["Idempotency-Key"] = key
        data = body
        if isinstance(body, dict):
            try:
                data = json.dumps(body).encode()
            except (TypeError, ValueError, RecursionError):
                raise ArgumentError("what is sent is made of text, numbers, lists and dicts") from None
        elif body is not None:  # a file, sent as it is read
            headers |= {
                "Content-Type": "application/octet-stream",
                "Content-Length": str(os.fstat(body.fileno()).st_size),
            }
        request = urllib.request.Request(self.url.rstrip("/") + path, data, headers, method=method)
        try:
            with _opener(self.url).open(request, timeout=self.timeout) as answer:
                yield answer
        except MetricDPError:
            raise
        except urllib.error.HTTPError as error:
            raise _told(error) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error) if isinstance(error, OSError) else "the answer broke off"
            raise ServiceError(0, "Unreachable", f"the service does not answer: {reason}") from None


class _Stays(urllib.request.HTTPRedirectHandler):
    """Follows nobody to another address: the token would go there, too."""

    def redirect_request(self, *_: Any) -> None:
        """None."""
        return None


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Goes by the proxy of the environment; to this machine it goes by none: it would see the token and the secrets."""
    host = urllib.parse.urlsplit(url).hostname or ""
    try:
        here = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = False
    return urllib.request.build_opener(_Stays, *([urllib.request.ProxyHandler({})] if here else []))


def _not_ours() -> ServiceError:
    return ServiceError(200, "Unknown", "what answers at this address is no service of metricdp")


def _told(error: urllib.error.HTTPError) -> ServiceError:
    try:
        told = json.load(error)["error"]
        lines = "\n".join(visible(line, _LONGEST_LINE) for line in told["message"].splitlines()[:_MOST_LINES])
        return ServiceError(error.code, visible(told["kind"], LONGEST_NAME), lines)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError, http.client.HTTPException):
        return ServiceError(error.code, "Unknown", "the service answered with an error")


def _has_host(url: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(url)
        _ = parts.port
        return bool(parts.hostname) and bool((parts.hostname or "").encode("idna"))
    except ValueError:
        return False


def _refuse_unprintable(text: str, what: str) -> None:
    """Refuse what cannot stand in a header, without showing it."""
    if not (isinstance(text, str) and text.isascii() and text.isprintable()):
        raise ArgumentError(f"{what} is made of letters, digits and signs of ASCII")


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise FileError(f"{path.name} cannot be read: {error.strerror}") from None
