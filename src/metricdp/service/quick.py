"""A route that reads its request with as little ado as can be: a key, and a body of one model."""

from __future__ import annotations

from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

__all__ = ["is_json", "quick_route"]

_TEXT = {"include_url": False, "include_context": False, "include_input": False}


def quick_route(model: type[BaseModel]) -> type[APIRoute]:
    """A kind of route whose endpoint takes ``body``, ``token`` and ``key``, and gives a response.

    It is described like every other route. FastAPI's own way to an endpoint takes most of the time of a short request.

    Args:
        model: of the body.
    """

    class Quick(APIRoute):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            self.app = self._answer

        async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            body = await _whole(receive)
            if not is_json(headers.get(b"content-type", "")):
                raise RequestValidationError([{"type": "json_type", "loc": ("body",), "msg": "", "input": None}])
            try:
                given = model.model_validate_json(body)
            except ValidationError as error:
                found = error.errors(**_TEXT)
                raise RequestValidationError([one | {"loc": ("body", *one["loc"])} for one in found]) from None
            response = await self.endpoint(
                body=given, token=scope["state"]["caller"], key=headers.get(b"idempotency-key")
            )
            await response(scope, receive, send)

    return Quick


async def _whole(receive: Any) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def is_json(kind: str) -> bool:
    """Whether a content type is JSON.

    >>> [is_json(kind) for kind in ("application/json; charset=utf-8", "application/geo+json", "text/plain", "")]
    [True, True, False, False]
    """
    form = kind.partition(";")[0].strip().lower()
    return form == "application/json" or (form.startswith("application/") and form.endswith("+json"))
