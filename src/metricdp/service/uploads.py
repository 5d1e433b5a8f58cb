"""Uploads as streams: to a file, within a size and a time, while others are served."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any

import anyio
from fastapi import FastAPI, Header, Query, Request
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from metricdp.service.jobs import FORMS, TableJob, TableJobs
from metricdp.service.settings import Settings
from metricdp.service.verbs import Refused, Verbs

__all__ = ["add_uploads"]

_UNKNOWN = "there is no such job, or it is not yours"
_BODY = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}, "required": True}

Key = Annotated[str | None, Header(alias="Idempotency-Key", description="Of the request, where it may be sent twice.")]


def add_uploads(app: FastAPI, settings: Settings, verbs: Verbs, jobs: TableJobs, who: Any) -> None:
    """Add ``/sanitize`` and the jobs that it begins to a service.

    Args:
        app: the service.
        settings: its limits.
        verbs: what is done.
        jobs: what is under way.
        who: the dependency that says whose token was sent.
    """

    def own(token: Any, name: str) -> TableJob:
        found = jobs.of(token.name, name)
        if found is None:
            raise Refused(_UNKNOWN)
        return found

    @app.post("/sanitize", summary="Sanitize a table", status_code=202, openapi_extra={"requestBody": _BODY})
    async def sanitize(
        request: Request,
        token: who,
        table: Annotated[str, Query(description="One that the settings name: the policy of it is followed.")],
        form: Annotated[str, Query(description=f"What the body is: {', '.join(FORMS)}.")] = "csv",
        key: Key = None,
    ) -> dict[str, Any]:
        """The body is the table. It is released by a job under the policy of the named table.

        The whole table is checked first, then the token's account is charged, then the result is made.
        """
        work = verbs.sanitizing(token, table, key)
        job = jobs.begin(token.name, form)
        if job is None:
            raise HTTPException(
                429, "as many tables are under way, or wait to be fetched, as may be", {"Retry-After": "10"}
            )
        try:
            await _store(request.stream(), job.source, settings.largest_upload, settings.slowest_upload)
        except BaseException:
            jobs.drop(job)
            raise
        jobs.run(job, work)
        return {"format": 1, "result": job.to_json()}

    @app.get("/jobs/{job}", summary="How far a job is")
    async def progress(token: who, job: str) -> dict[str, Any]:
        """For the token that began it."""
        return {"format": 1, "result": own(token, job).to_json()}

    @app.get("/jobs/{job}/result", summary="Fetch a sanitized table", response_class=FileResponse)
    async def result(token: who, job: str) -> FileResponse:
        """In Parquet, with its report in it, and always the whole of it; it is gone when it has been sent."""
        found = own(token, job)
        if found.state != "done":
            raise HTTPException(409, f"the job is {found.state}")
        return _Result(found, jobs)

    @app.delete("/jobs/{job}", summary="Give up a job")
    async def drop(token: who, job: str) -> dict[str, Any]:
        """Its files are removed; what has been charged stays charged."""
        jobs.drop(own(token, job))
        return {"format": 1, "result": {}}


class _Result(FileResponse):
    """A sanitized table, all of it; whoever went away before its end may fetch it again, for it is charged once."""

    def __init__(self, job: TableJob, jobs: TableJobs) -> None:
        super().__init__(job.result, media_type="application/vnd.apache.parquet", filename="released.parquet")
        self.job, self.jobs = job, jobs

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send it, and forget the job when the last byte has left."""
        whole, gone = False, asyncio.ensure_future(_disconnected(receive))

        async def noted(message: Any) -> None:
            nonlocal whole
            whole = message["type"] == "http.response.body" and not message.get("more_body") and not gone.done()
            await send(message)

        self.job.state = "sent"  # to nobody else from here on
        headers = [(name, value) for name, value in scope["headers"] if name not in (b"range", b"if-range")]
        try:
            await super().__call__({**scope, "headers": headers}, receive, noted)
        finally:
            gone.cancel()
            if whole:
                self.jobs.drop(self.job)
            else:
                self.job.state = "done"


async def _disconnected(receive: Any) -> None:
    """Wait until whoever asked has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _store(
    chunks: AsyncIterator[bytes], path: Path, largest: int, slowest: float, now: Callable[[], float] = time.monotonic
) -> None:
    """Write a stream to a file, refused where it is too large or takes too long to arrive."""
    deadline, size = now() + slowest, 0
    try:
        async with await anyio.open_file(path, "xb") as file:
            while True:
                try:
                    chunk = await asyncio.wait_for(anext(chunks, None), max(0.001, deadline - now()))
                except TimeoutError:
                    raise HTTPException(408, "the request took too long to arrive") from None
                if chunk is None:
                    break
                size += len(chunk)
                if size > largest:
                    raise HTTPException(413, "the request is too large")
                await file.write(chunk)
    except ClientDisconnect:
        raise HTTPException(400, "the request ended before its body did") from None
